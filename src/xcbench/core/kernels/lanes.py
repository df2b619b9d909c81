"""Products and updates of one sparse row and one class in all lanes, summed in registers.

A loop over lanes reads and writes its sums in memory for every feature, which takes four times as
long; so this writes LLVM's code, as `xcbench.core.kernels.products` does.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.base import BaseContext
from numba.core.typing import Signature
from numba.extending import intrinsic

from xcbench.core.engines import SIDE_BY_SIDE, Compiled
from xcbench.core.kernels.products import INDEX, Array, Typed, Values, array_at, repeated


class _Row:
    """Code that reads values and weights of one row in all lanes, as vectors.

    Parameters
    ----------
    kinds : types of weights (D, SIDE_BY_SIDE), features and values.
    arrays : their values.
    """

    def __init__(
        self, context: BaseContext, builder: ir.IRBuilder, kinds: Values, arrays: Values
    ) -> None:
        self.context, self.builder, self.kinds = context, builder, kinds
        self.weights, self.features, self.values = (
            array_at(context, builder, kind, array)
            for kind, array in zip(kinds, arrays, strict=True)
        )
        self.vector = vector_of(context, kinds[0])
        self.align = kinds[0].dtype.bitwidth // 8

    def place(self, j: ir.Value) -> ir.Value:
        """Where the weights of the row's number j are."""
        feature = self.builder.load(self.builder.gep(self.features, [j]))
        feature = self.context.cast(self.builder, feature, self.kinds[1].dtype, types.int64)
        first = self.builder.bitcast(self.weights, self.vector.as_pointer())
        return self.builder.gep(first, [feature])

    def product(self, j: ir.Value, factors: ir.Value) -> ir.Value:
        """Factors times the row's number j, in the precision of the weights."""
        value = self.builder.load(self.builder.gep(self.values, [j]))
        value = self.context.cast(self.builder, value, self.kinds[2].dtype, self.kinds[0].dtype)
        return self.builder.fmul(factors, repeated(self.builder, value, self.vector))

    def loaded(self, place: ir.Value) -> ir.Value:
        """Weights of all lanes."""
        return self.builder.load(place, align=self.align)


def vector_of(context: BaseContext, kind: Array) -> ir.VectorType:
    """A number of every lane, as an array of this type has them."""
    return ir.VectorType(context.get_value_type(kind.dtype), SIDE_BY_SIDE)


def _dots(
    context: BaseContext,
    w: Array,
    features: Array,
    values: Array,
    place: types.Type,
    sums: Array,
) -> Typed:
    """Into ``sums``: w[:, r]·x of every lane r, in the precision of that array.

    A row has two sums, of its even and its odd places, as `rows.short_dot` and `rows.dots` have.
    ``place`` are its begin and its end.
    """

    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, arguments: Values
    ) -> None:
        row = _Row(context, builder, signature.args[:3], arguments[:3])
        begin, end = cgutils.unpack_tuple(builder, arguments[3])
        vector = vector_of(context, sums)
        even, odd = (cgutils.alloca_once_value(builder, vector(None)) for _ in range(2))

        def add(j: ir.Value, total: ir.Value) -> None:
            product = row.product(j, row.loaded(row.place(j)))
            if vector != row.vector:
                product = builder.fpext(product, vector)
            builder.store(builder.fadd(builder.load(total), product), total)

        length = builder.sub(end, begin)
        paired = builder.add(begin, builder.and_(length, INDEX(-2)))
        with cgutils.for_range_slice(builder, begin, paired, INDEX(2)) as (j, _):
            add(j, even)
            add(builder.add(j, INDEX(1)), odd)
        with cgutils.for_range_slice(builder, paired, end, INDEX(1)) as (j, _):
            add(j, even)
        target = array_at(context, builder, sums, arguments[4])
        total = builder.fadd(builder.load(even), builder.load(odd))
        builder.store(total, builder.bitcast(target, vector.as_pointer()), align=row.align)

    pair = types.UniTuple(types.int64, 2)
    return types.void(w, features, values, pair, sums), generate


def _add(
    context: BaseContext,
    w: Array,
    features: Array,
    values: Array,
    place: types.Type,
    changes: Array,
) -> Typed:
    """w[:, r] += changes[r] · x, in every lane r; ``place`` are begin and end of the row."""

    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, arguments: Values
    ) -> None:
        row = _Row(context, builder, signature.args[:3], arguments[:3])
        begin, end = cgutils.unpack_tuple(builder, arguments[3])
        factors = array_at(context, builder, changes, arguments[4])
        factors = row.loaded(builder.bitcast(factors, row.vector.as_pointer()))
        with cgutils.for_range_slice(builder, begin, end, INDEX(1)) as (j, _):
            place = row.place(j)
            moved = builder.fadd(row.loaded(place), row.product(j, factors))
            builder.store(moved, place, align=row.align)

    pair = types.UniTuple(types.int64, 2)
    return types.void(w, features, values, pair, changes), generate


# Arguments: w (D, SIDE_BY_SIDE), features, values, (begin, end) and a number of every lane.
lane_dots: Compiled = intrinsic(_dots)
lane_add: Compiled = intrinsic(_add)
