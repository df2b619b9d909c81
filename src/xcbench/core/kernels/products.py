"""Products of a sparse row with the weights of at most 64 classes, summed in registers.

Loops of Numba keep such sums in memory, which takes nearly twice as long; so this writes LLVM's
code, which any processor runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.base import BaseContext
from numba.core.typing import Signature
from numba.extending import intrinsic

from xcbench.core.engines import Compiled
from xcbench.core.kernels.compiling import kernel
from xcbench.core.kernels.records import Rows

FLOATS = 16  # float32 numbers of a register of 512 bits
REGISTERS = 4  # that hold the sums of a row, at most
INDEX, VECTOR = ir.IntType(64), ir.VectorType(ir.FloatType(), FLOATS)
FUSED = ("contract",)  # a product and its addition are rounded once

Array = types.Array
Values = Sequence[ir.Value]
Typed = tuple[Signature, Callable[..., object]]  # and what writes the code


def array_at(context: BaseContext, builder: ir.IRBuilder, kind: Array, array: ir.Value) -> ir.Value:
    """Where the numbers of an array begin."""
    return context.make_array(kind)(context, builder, array).data


def repeated(builder: ir.IRBuilder, number: ir.Value, vector: ir.VectorType) -> ir.Value:
    """The number at every place of a vector."""
    unknown = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(unknown, number, ir.IntType(32)(0))
    places = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    return builder.shuffle_vector(first, unknown, places)


@intrinsic
def float_of_bits(context: BaseContext, bits: types.Type) -> Typed:
    """The float32 that these 32 bits are."""

    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, arguments: Values
    ) -> ir.Instruction:
        return builder.bitcast(arguments[0], ir.FloatType())

    return types.float32(types.int32), generate


def _of(registers: int) -> Compiled:
    """Make what adds to row n of the scores, so many registers, the row's products."""

    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, arguments: Values
    ) -> None:
        scores, panel, features, values = (
            array_at(context, builder, kind, array)
            for kind, array in zip(signature.args[:4], arguments[:4], strict=True)
        )
        n, begin, end = cgutils.unpack_tuple(builder, arguments[4])

        def vectors(numbers: ir.Value, row: ir.Value) -> list[ir.Instruction]:
            """Places of the vectors of a row."""
            first = builder.bitcast(numbers, VECTOR.as_pointer())
            at = builder.mul(row, INDEX(registers))
            return [builder.gep(first, [builder.add(at, INDEX(r))]) for r in range(registers)]

        def loaded(place: ir.Value) -> ir.Instruction:
            return builder.load(place, align=4)

        places = vectors(scores, n)
        sums = [cgutils.alloca_once_value(builder, loaded(place)) for place in places]
        with cgutils.for_range_slice(builder, begin, end, INDEX(1)) as (j, _):
            of_feature = signature.args[2].dtype
            feature = builder.load(builder.gep(features, [j]))
            feature = context.cast(builder, feature, of_feature, types.int64)
            value = repeated(builder, builder.load(builder.gep(values, [j])), VECTOR)
            for total, weights in zip(sums, vectors(panel, feature), strict=True):
                product = builder.fmul(value, loaded(weights), FUSED)
                builder.store(builder.fadd(builder.load(total), product, FUSED), total)
        for total, place in zip(sums, places, strict=True):
            builder.store(builder.load(total), place, align=4)

    @intrinsic
    def add(
        context: BaseContext,
        scores: Array,
        panel: Array,
        features: Array,
        values: Array,
        place: types.Type,
    ) -> Typed:
        integers = types.UniTuple(types.int64, 3)
        return types.void(scores, panel, features, values, integers), generate

    return add


_one, _two, _three, _four = map(_of, range(1, REGISTERS + 1))


@kernel
def add_products(scores: np.ndarray, panel: np.ndarray, rows: Rows, first_row: int) -> None:
    """Add to scores (B, P) the products of as many rows, from first_row on, with a panel (D, P).

    All numbers are float32; P is a multiple of `FLOATS`, up to `REGISTERS` of them.
    """
    begin, end, features, values = rows
    registers = scores.shape[1] // FLOATS
    for n in range(scores.shape[0]):
        i = first_row + n
        place = n, np.int64(begin[i]), np.int64(end[i])
        if registers == 1:
            _one(scores, panel, features, values, place)
        elif registers == 2:
            _two(scores, panel, features, values, place)
        elif registers == 3:
            _three(scores, panel, features, values, place)
        else:
            _four(scores, panel, features, values, place)
