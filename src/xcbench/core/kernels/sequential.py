"""The loop over single observations, for the formulas of any method."""

from __future__ import annotations

from functools import cache
from typing import Any

import numba
import numpy as np
from numba import njit, types

from xcbench.core.kernels.compiling import (
    SIGNATURES,
    STAND_INS,
    compiled,
    kernel,
)
from xcbench.core.kernels.rows import add, adds, dot, dots


@kernel
def _fold(V: Any, b: Any, scale: Any) -> None:
    if 1e-6 < abs(scale[0]) < 1e6:
        return
    factor = np.empty(1, V.dtype)
    factor[0] = scale[0]
    for k in range(V.shape[0]):
        for j in range(V.shape[1]):
            V[k, j] *= factor[0]
    for k in range(b.size):
        b[k] *= factor[0]
    scale[0] = 1.0


@kernel
def _odds(
    scores: Any,
    log_weight: Any,
    u: float,
    rate: float,
    square_norm: float,
    parameter: float,
    scored: bool,
    formula: Any,
    scored_formula: Any,
    slope: Any,
) -> tuple[float, float]:
    """As `Odds` or `ScoredOdds` of `xcbench.core.objectives`, of one observation."""
    S = scores.size - 1
    top, top_drawn = -np.inf, -np.inf
    for c in range(S):
        if log_weight[c] > -np.inf:
            difference = scores[c + 1] - scores[0]
            top_drawn = max(top_drawn, difference)
            top = max(top, difference + log_weight[c])
    slope[:] = 0.0
    log_odds, log_drawn = top, top_drawn
    if S > 1 and top > -np.inf and top < np.inf:
        total, total_drawn = 0.0, 0.0
        for c in range(S):
            if log_weight[c] > -np.inf:
                difference = scores[c + 1] - scores[0]
                total += np.exp(difference + log_weight[c] - top)
                total_drawn += np.exp(difference - top_drawn)
        log_odds, log_drawn = top + np.log(total), top_drawn + np.log(total_drawn)
    if scored:
        value, of_true, pull, u_next = scored_formula(
            scores[0], log_odds, log_drawn, u, rate, parameter
        )
    else:
        value, pull, u_next = formula(log_odds, log_drawn, u, rate, square_norm, parameter)
        of_true = -pull
    if log_odds == -np.inf:  # no class left: the observation changes nothing
        return value, u
    slope[0] = of_true
    for c in range(S):
        if log_weight[c] > -np.inf:
            share = np.exp(scores[c + 1] - scores[0] + log_weight[c] - log_odds)
            slope[c + 1] = share * pull
    return value, u_next


@kernel
def _pairs(scores: Any, log_weight: Any, shift: float, formula: Any, slope: Any) -> float:
    """As `xcbench.core.objectives.Pairs`, of one observation: its value."""
    S = scores.size - 1
    total = 0.0
    slope[0] = 0.0
    for c in range(S):
        value, of_true, of_drawn = formula(
            scores[0] - shift, scores[c + 1] - shift, log_weight[c], 1.0 / S
        )
        total += value
        slope[0] += of_true
        slope[c + 1] = of_drawn
    return total


def _descend(
    V: Any,
    b: Any,
    scale: Any,
    begin: Any,
    end: Any,
    features: Any,
    values: Any,
    index: Any,
    classes: Any,
    log_weight: Any,
    local: Any,
    square_norm: Any,
    rate: float,
    shrinkage: float,
    parameter: float,
    of_pairs: bool,
    shifted: bool,
    scored: bool,
    odds_formula: Any,
    scored_formula: Any,
    pairs_formula: Any,
) -> float:
    """Update by one observation after the other; gives the sum of their values.

    Row i belongs to observation ``index[i]``, with true class ``classes[i, 0]``. Weights are
    ``scale · V``; ``shrinkage`` is the ridge's factor of an update.
    """
    width = classes.shape[1]
    scores, slope = np.empty(width), np.empty(width)
    changes = np.empty(width, V.dtype)
    total = 0.0
    for i in range(index.size):
        y = classes[i, 0]
        if width == 2:
            scores[0], scores[1] = dots(V[y], V[classes[i, 1]], features, values, begin[i], end[i])
        else:
            for c in range(width):
                scores[c] = dot(V[classes[i, c]], features, values, begin[i], end[i])
        for c in range(width):
            if b.size:
                scores[c] += b[classes[i, c]]
            scores[c] *= scale[0]
        if of_pairs:
            shift = local[index[i]] if shifted else 0.0
            value = _pairs(scores, log_weight[i], shift, pairs_formula, slope)
            if shifted:
                local[index[i]] = shift + rate * slope.sum()
        else:
            value, local[index[i]] = _odds(
                scores,
                log_weight[i],
                local[index[i]],
                rate,
                square_norm[i],
                parameter,
                scored,
                odds_formula,
                scored_formula,
                slope,
            )
        total += value
        if shrinkage != 1.0:
            scale[0] *= shrinkage
            _fold(V, b, scale)
        for c in range(1, width):  # a drawn class that is the true one
            if classes[i, c] == y:
                slope[0] += slope[c]
                slope[c] = 0.0
        for c in range(width):
            changes[c] = -rate * slope[c] / scale[0]
            if b.size:
                b[classes[i, c]] += changes[c]
        if width == 2 and slope[0] != 0.0 and slope[1] != 0.0:
            k = classes[i, 1]
            adds(V[y], V[k], changes[0], changes[1], features, values, begin[i], end[i])
        else:
            for c in range(width):
                if slope[c] != 0.0:
                    add(V[classes[i, c]], changes[c], features, values, begin[i], end[i])
    return total


def descend(*numbers: Any) -> float:
    """Run `_descend`; the last argument is the objective's `xcbench.core.objectives.Scalar`.

    Compiled once for all formulas: they are called through pointers. Otherwise each formula would
    need a kernel of its own, which Numba's cache cannot find again.
    """
    *arrays, scalar = numbers
    arrays += [scalar.parameter, scalar.family == "pairs", scalar.shifted]
    arrays += [scalar.family == "scored_odds"]
    formulas = {**STAND_INS, scalar.family: scalar.formula}
    pointers = (compiled(formula, SIGNATURES[name]) for name, formula in formulas.items())
    kinds = tuple(map(numba.typeof, arrays))
    return float(_descend_of(kinds)(*arrays, *pointers))


@cache
def _descend_of(kinds: tuple[Any, ...]) -> Any:
    formulas = (types.FunctionType(signature) for signature in SIGNATURES.values())
    signature = (*kinds, *formulas)
    return njit(signature, cache=True, error_model="numpy")(_descend)
