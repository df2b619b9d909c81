"""The loop over minibatches, for the formulas of any method."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from xcbench.core.kernels.compiling import (
    SIGNATURES,
    STAND_INS,
    kernel,
    pointer,
)
from xcbench.core.kernels.minibatch import by_class, scatter, scores_at
from xcbench.core.kernels.records import Formulas, Kind, Room, Rows, Samples, Scaled, Step
from xcbench.core.kernels.rows import add, adds, dot, dots
from xcbench.core.objectives import Scalar


@kernel
def _fold(weights: Scaled) -> None:
    V, b, scale = weights
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
def _log_odds(scores: np.ndarray, log_weight: np.ndarray) -> tuple[float, float]:
    """Log of the sum of omega_k e^{f_k - f_y} over the drawn classes, and that without weights."""
    S = scores.size - 1
    top, top_drawn = -np.inf, -np.inf
    for c in range(S):
        if log_weight[c] > -np.inf:
            difference = scores[c + 1] - scores[0]
            top_drawn = max(top_drawn, difference)
            top = max(top, difference + log_weight[c])
    if S == 1 or not -np.inf < top < np.inf:
        return top, top_drawn
    total, total_drawn = 0.0, 0.0
    for c in range(S):
        if log_weight[c] > -np.inf:
            difference = scores[c + 1] - scores[0]
            total += np.exp(difference + log_weight[c] - top)
            total_drawn += np.exp(difference - top_drawn)
    return top + np.log(total), top_drawn + np.log(total_drawn)


@kernel
def _share(
    scores: np.ndarray,
    log_weight: np.ndarray,
    log_odds: float,
    of_true: float,
    of_odds: float,
    grad: np.ndarray,
) -> None:
    """Gradients in the scores: a drawn class has its share of the grad in the log-odds."""
    grad[:] = 0.0
    if log_odds == -np.inf:  # no class left: the sample changes nothing
        return
    grad[0] = of_true
    for c in range(scores.size - 1):
        if log_weight[c] > -np.inf:
            grad[c + 1] = np.exp(scores[c + 1] - scores[0] + log_weight[c] - log_odds) * of_odds


@kernel
def _pairs(
    scores: np.ndarray,
    log_weight: np.ndarray,
    shift: float,
    formula: Callable[..., tuple[float, float, float]],
    grad: np.ndarray,
) -> float:
    """As `xcbench.core.objectives.Pairwise`, of one sample: its value."""
    S = scores.size - 1
    total = 0.0
    grad[0] = 0.0
    for c in range(S):
        value, of_true, of_drawn = formula(
            scores[0] - shift, scores[c + 1] - shift, log_weight[c], 1.0 / S
        )
        total += value
        grad[0] += of_true
        grad[c + 1] = of_drawn
    return total


@kernel(forceinline=True)
def _evaluate(
    i: int,
    scores: np.ndarray,
    samples: Samples,
    rate: float,
    grad: np.ndarray,
    formulas: Formulas,
) -> tuple[float, float]:
    """Value of sample i and its next local state; writes its gradients in the scores.

    A drawn class that is the true one moves once, as the true one.
    """
    kind, odds, scored_odds, pairs = formulas
    index, classes, log_weights, square_norm, local = samples
    log_weight, u, y = log_weights[i], local[index[i]], classes[i, 0]
    if kind.of_pairs:
        value = _pairs(scores, log_weight, u if kind.shifted else 0.0, pairs, grad)
        u_next = u + rate * grad.sum() if kind.shifted else u
    else:
        log_odds, log_drawn = _log_odds(scores, log_weight)
        if kind.of_scores:
            value, of_true, of_odds, u_next = scored_odds(
                scores[0], log_odds, log_drawn, u, rate, kind.parameter
            )
        else:
            value, of_odds, u_next = odds(
                log_odds, log_drawn, u, rate, square_norm[i], kind.parameter
            )
            of_true = -of_odds
        _share(scores, log_weight, log_odds, of_true, of_odds, grad)
        u_next = u if log_odds == -np.inf else u_next
    for c in range(1, grad.size):
        if classes[i, c] == y:
            grad[0] += grad[c]
            grad[c] = 0.0
    return value, u_next


@kernel
def _singles(
    weights: Scaled,
    rows: Rows,
    samples: Samples,
    step: Step,
    formulas: Formulas,
) -> float:
    """As `_minibatches`, of one sample each; scores are summed in float64."""
    V, b, scale = weights
    begin, end, features, values = rows
    index, classes, _, _, local = samples
    rate, width = step.rate, classes.shape[1]
    scores, grad = np.empty(width), np.empty(width)
    changes = np.empty(width, V.dtype)
    total = 0.0
    for i in range(index.size):
        y, first, last = classes[i, 0], begin[i], end[i]
        if width == 2:
            scores[0], scores[1] = dots(V[y], V[classes[i, 1]], features, values, first, last)
        else:
            for c in range(width):
                scores[c] = dot(V[classes[i, c]], features, values, first, last)
        for c in range(width):
            if b.size:
                scores[c] += b[classes[i, c]]
            scores[c] *= scale[0]
        value, local[index[i]] = _evaluate(i, scores, samples, rate, grad, formulas)
        total += value
        if step.shrinkage != 1.0:
            scale[0] *= step.shrinkage
            _fold(weights)
        for c in range(width):
            changes[c] = -rate * grad[c] / scale[0]
            if b.size:
                b[classes[i, c]] += changes[c]
        if width == 2 and grad[0] != 0.0 and grad[1] != 0.0:
            adds(V[y], V[classes[i, 1]], changes, features, values, first, last)
        else:
            for c in range(width):
                if grad[c] != 0.0:
                    add(V[classes[i, c]], changes[c], features, values, first, last)
    return total


@kernel
def _minibatches(
    weights: Scaled,
    rows: Rows,
    samples: Samples,
    step: Step,
    room: Room,
    formulas: Formulas,
) -> float:
    """Update by one minibatch after the other; gives the sum of their values.

    Row i belongs to sample ``index[i]``, with true class ``classes[i, 0]``.
    """
    V, b, scale = weights
    begin, end, features, values = rows
    index, classes, _, _, local = samples
    rate, size, width = step.rate, step.size, classes.shape[1]
    scores, grad = np.empty((size, width)), np.empty((size, width))
    changes, moved = np.empty((size, width), V.dtype), np.empty(size)
    order = np.arange(size * width)
    total = 0.0
    for first in range(0, index.size, size):
        last = first + size
        part = begin[first:last], end[first:last], features, values
        chosen = classes[first:last]
        if step.by_class:
            order = by_class(chosen, *room)
        scores_at(V, part, (chosen, order, scores))
        for i in range(size):
            for c in range(width):
                if b.size:
                    scores[i, c] += b[chosen[i, c]]
                scores[i, c] *= scale[0]
            value, moved[i] = _evaluate(first + i, scores[i], samples, rate, grad[i], formulas)
            total += value
        for i in range(size):  # only now: a sample may occur twice
            local[index[first + i]] = moved[i]
        if step.shrinkage != 1.0:
            scale[0] *= step.shrinkage
            _fold(weights)
        for i in range(size):
            for c in range(width):
                changes[i, c] = -rate * grad[i, c] / scale[0]
        scatter((V, b), part, (chosen, order, changes))
    return total


@kernel
def _descend(
    weights: Scaled,
    rows: Rows,
    samples: Samples,
    step: Step,
    room: Room,
    formulas: Formulas,
) -> float:
    if step.size == 1:
        return _singles(weights, rows, samples, step, formulas)
    return _minibatches(weights, rows, samples, step, room, formulas)


def descend(
    weights: Scaled, rows: Rows, samples: Samples, step: Step, room: Room, scalar: Scalar
) -> float:
    """Run `_descend`, compiled once for all formulas, which it calls through pointers.

    Otherwise each formula would need its own kernel, which Numba's cache would not recognise.
    """
    return float(_descend(weights, rows, samples, step, room, formulas_of(scalar)))


def formulas_of(scalar: Scalar) -> Formulas:
    """Kind of an objective, and a pointer to a formula of each family."""
    family = scalar.family
    kind = Kind(scalar.parameter, scalar.shifted, family == "pairs", family == "scored_odds")
    formulas = {**STAND_INS, family: scalar.formula}
    pointers = {name: pointer(formula, SIGNATURES[name]) for name, formula in formulas.items()}
    return Formulas(kind, **pointers)
