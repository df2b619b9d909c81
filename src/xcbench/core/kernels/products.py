"""Products of a sparse row with the weights of at most 64 classes, summed in registers.

Loops of Numba keep such sums in memory, which takes nearly twice as long; so this writes LLVM's
code, which any processor runs.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from xcbench.core.kernels.compiling import kernel

FLOATS = 16  # float32 numbers of a register of 512 bits
REGISTERS = 4  # that hold the sums of a row, at most
INDEX, VECTOR = ir.IntType(64), ir.VectorType(ir.FloatType(), FLOATS)
UNKNOWN = ir.Constant(VECTOR, ir.Undefined)
FIRST = ir.Constant(ir.VectorType(ir.IntType(32), FLOATS), [0] * FLOATS)  # for every place
FUSED = ("contract",)  # a product and its addition are rounded once


@intrinsic
def float_of_bits(context: Any, bits: Any) -> Any:
    """The float32 that these 32 bits are."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.FloatType())

    return types.float32(types.int32), generate


def _of(registers: int) -> Any:
    """``add_products`` for a panel that is so many registers wide."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        scores, panel, features, values = (
            context.make_array(kind)(context, builder, array).data
            for kind, array in zip(signature.args[:4], arguments[:4], strict=True)
        )

        begin, end = arguments[4:]

        def vectors(number: Any) -> list[Any]:
            """Places of the vectors that begin with this number."""
            first = builder.bitcast(number, VECTOR.as_pointer())
            return [builder.gep(first, [INDEX(r)]) for r in range(registers)]

        def loaded(place: Any) -> Any:
            return builder.load(place, align=4)

        def repeated(number: Any) -> Any:
            first = builder.insert_element(UNKNOWN, number, ir.IntType(32)(0))
            return builder.shuffle_vector(first, UNKNOWN, FIRST)

        sums = [cgutils.alloca_once_value(builder, loaded(place)) for place in vectors(scores)]
        with cgutils.for_range_slice(builder, begin, end, INDEX(1)) as (j, _):
            of_feature = signature.args[2].dtype
            feature = builder.load(builder.gep(features, [j]))
            feature = context.cast(builder, feature, of_feature, types.int64)
            value = repeated(builder.load(builder.gep(values, [j])))
            row = builder.gep(panel, [builder.mul(feature, INDEX(registers * FLOATS))])
            for total, weights in zip(sums, vectors(row), strict=True):
                product = builder.fmul(value, loaded(weights), FUSED)
                builder.store(builder.fadd(builder.load(total), product, FUSED), total)
        for total, place in zip(sums, vectors(scores), strict=True):
            builder.store(builder.load(total), place, align=4)

    @intrinsic
    def add(
        context: Any, scores: Any, panel: Any, features: Any, values: Any, begin: Any, end: Any
    ) -> Any:
        arrays = scores, panel, features, values
        return types.void(*arrays, types.int64, types.int64), generate

    return add


_one, _two, _three, _four = map(_of, range(1, REGISTERS + 1))


@kernel
def add_products(scores: Any, panel: Any, features: Any, values: Any, begin: int, end: int) -> None:
    """Scores += sum_j values[j] · panel[features[j]], j = begin..end-1, of a panel (D, P).

    All numbers are float32; P is a multiple of `FLOATS`, up to `REGISTERS` of them.
    """
    registers = scores.size // FLOATS
    if registers == 1:
        _one(scores, panel, features, values, begin, end)
    elif registers == 2:
        _two(scores, panel, features, values, begin, end)
    elif registers == 3:
        _three(scores, panel, features, values, begin, end)
    else:
        _four(scores, panel, features, values, begin, end)
