"""The few hot loops, compiled with Numba; import this module only where Numba is installed.

Each is the counterpart of a verb of `xcbench.linear.LinearModel`, or of the loop over single
observations. Rows are ``values[begin[i]:end[i]]`` at ``features[begin[i]:end[i]]``; dense rows have
no ``features``. Formulas of methods come in as compiled functions, so nothing here knows a method.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

import numba
import numpy as np
from numba import njit, types
from numba.extending import register_jitable


def _cache_dir() -> str:
    """Where compiled code is kept: a folder for each state of the code that it was made of.

    Numba looks at the file of the compiled function alone, not at those it calls.
    """
    here = Path(__file__).parent
    sources = [Path(__file__), *sorted((here / "objectives").glob("*.py"))]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:12]
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    for folder in (home, Path(tempfile.gettempdir()) / f"xcbench-{os.getuid()}"):
        try:
            where = folder / "xcbench" / f"numba-{numba.__version__}-{digest}"
            where.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(where, os.W_OK):
            return str(where)
    return ""


if "NUMBA_CACHE_DIR" not in os.environ:
    numba.config.CACHE_DIR = _cache_dir()  # type: ignore[attr-defined]

number = types.float64
triple = types.UniTuple(number, 3)
ODDS = triple(number, number, number, number, number, number)
PAIRS = triple(number, number, number, number)


@cache
def compiled(formula: Callable[..., Any], signature: Any) -> Any:
    """Compile a method's formula for single numbers, with the functions it calls.

    Raises
    ------
    numba.core.errors.NumbaError
        If it uses what Numba does not know.
    """
    _register(formula, set())
    return njit(signature, cache=True, error_model="numpy")(formula)


def _register(function: FunctionType | Callable[..., Any], seen: set[Any]) -> None:
    """Let compiled code call the plain functions that a function refers to."""
    assert isinstance(function, FunctionType)
    for name in function.__code__.co_names:
        called = function.__globals__.get(name)
        if isinstance(called, FunctionType) and called not in seen:
            seen.add(called)
            _register(called, seen)
            register_jitable(error_model="numpy")(called)


def _kernel(function: Any) -> Any:
    return njit(cache=True, error_model="numpy")(function)


# ---------------------------------------------------------------- one row, one class
@njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def _dot(w: Any, features: Any, values: Any, a: int, b: int) -> float:
    """w·x, summed in float64."""
    total = 0.0
    if features is None:
        for j in range(b - a):
            total += np.float64(w[j]) * np.float64(values[a + j])
        return total
    second = third = fourth = 0.0
    whole = a + (b - a) // 4 * 4
    for j in range(a, whole, 4):
        total += np.float64(w[features[j]] * values[j])
        second += np.float64(w[features[j + 1]] * values[j + 1])
        third += np.float64(w[features[j + 2]] * values[j + 2])
        fourth += np.float64(w[features[j + 3]] * values[j + 3])
    for j in range(whole, b):
        total += np.float64(w[features[j]] * values[j])
    return (total + second) + (third + fourth)


@njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def _short_dot(w: Any, features: Any, values: Any, a: int, b: int) -> float:
    """w·x, summed in the precision of the weights, in as many sums as a register holds."""
    total = w.dtype.type(0)
    if features is None:
        for j in range(b - a):
            total += w[j] * values[a + j]
    else:
        for j in range(a, b):
            total += w[features[j]] * values[j]
    return np.float64(total)


@_kernel
def _dots(w: Any, other: Any, features: Any, values: Any, a: int, b: int) -> tuple[float, float]:
    """As `_dot`, of two classes in one pass: twice as many weights are on their way at a time."""
    if features is None:
        return _dot(w, features, values, a, b), _dot(other, features, values, a, b)
    total = second = of_other = second_of_other = 0.0
    whole = a + (b - a) // 2 * 2
    for j in range(a, whole, 2):
        k, v = features[j], values[j]
        total += np.float64(w[k] * v)
        of_other += np.float64(other[k] * v)
        k, v = features[j + 1], values[j + 1]
        second += np.float64(w[k] * v)
        second_of_other += np.float64(other[k] * v)
    for j in range(whole, b):
        k, v = features[j], values[j]
        total += np.float64(w[k] * v)
        of_other += np.float64(other[k] * v)
    return total + second, of_other + second_of_other


@_kernel
def _add(w: Any, change: Any, features: Any, values: Any, a: int, b: int) -> None:
    """W += change · x."""
    if features is None:
        for j in range(b - a):
            w[j] += change * values[a + j]
    else:
        for j in range(a, b):
            w[features[j]] += change * values[j]


@_kernel
def _adds(
    w: Any, other: Any, change: Any, of_other: Any, features: Any, values: Any, a: int, b: int
) -> None:
    """As `_add`, to two different classes in one pass."""
    if features is None:
        _add(w, change, features, values, a, b)
        _add(other, of_other, features, values, a, b)
    else:
        for j in range(a, b):
            k, v = features[j], values[j]
            w[k] += change * v
            other[k] += of_other * v


# ---------------------------------------------------------------- minibatches
@_kernel
def by_class(classes: Any, head: Any, tail: Any) -> Any:
    """Places of all pairs in ``classes`` (B, C), class after class, each in its own order.

    ``head`` and ``tail`` are room for K numbers; ``head`` is -1 everywhere, before and after, so
    that the work depends on the pairs alone.
    """
    width, pairs = classes.shape[1], classes.size
    following, distinct = np.empty(pairs, np.int64), np.empty(pairs, np.int64)
    found = 0
    for p in range(pairs):
        k = classes[p // width, p % width]
        following[p] = -1
        if head[k] < 0:
            head[k] = p
            distinct[found] = k
            found += 1
        else:
            following[tail[k]] = p
        tail[k] = p
    order = np.empty(pairs, np.int64)
    place = 0
    for k in distinct[:found]:
        p = head[k]
        head[k] = -1
        while p >= 0:
            order[place] = p
            place += 1
            p = following[p]
    return order


@_kernel
def scores_at(
    V: Any, begin: Any, end: Any, features: Any, values: Any, classes: Any, order: Any, scores: Any
) -> None:
    """Scores (B, C) of chosen classes, without scale and bias; summed as `_short_dot` does."""
    for p in order:
        i, c = p // classes.shape[1], p % classes.shape[1]
        scores[i, c] = _short_dot(V[classes[i, c]], features, values, begin[i], end[i])


@_kernel
def scatter(
    V: Any,
    b: Any,
    begin: Any,
    end: Any,
    features: Any,
    values: Any,
    classes: Any,
    order: Any,
    numbers: Any,
) -> None:
    """w_c += number · x, pair after pair."""
    for p in order:
        i, c = p // classes.shape[1], p % classes.shape[1]
        k = classes[i, c]
        _add(V[k], numbers[i, c], features, values, begin[i], end[i])
        if b.size:
            b[k] += numbers[i, c]


# ---------------------------------------------------------------- one observation at a time
@_kernel
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


@_kernel
def _odds(
    scores: Any,
    log_weight: Any,
    u: float,
    rate: float,
    square_norm: float,
    formula: Any,
    parameter: float,
    slope: Any,
) -> tuple[float, float]:
    """As `xcbench.objectives.Odds`, of one observation: value and new local state."""
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
    value, pull, u_next = formula(log_odds, log_drawn, u, rate, square_norm, parameter)
    if log_odds == -np.inf:  # no class left: the observation changes nothing
        return value, u
    slope[0] = -pull
    for c in range(S):
        if log_weight[c] > -np.inf:
            share = np.exp(scores[c + 1] - scores[0] + log_weight[c] - log_odds)
            slope[c + 1] = share * pull
    return value, u_next


@_kernel
def _pairs(scores: Any, log_weight: Any, formula: Any, slope: Any) -> float:
    """As `xcbench.objectives.Pairs`, of one observation: its value."""
    S = scores.size - 1
    total = 0.0
    slope[0] = 0.0
    for c in range(S):
        value, of_true, of_drawn = formula(scores[0], scores[c + 1], log_weight[c], 1.0 / S)
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
    of_odds: bool,
    odds_formula: Any,
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
            scores[0], scores[1] = _dots(V[y], V[classes[i, 1]], features, values, begin[i], end[i])
        else:
            for c in range(width):
                scores[c] = _dot(V[classes[i, c]], features, values, begin[i], end[i])
        for c in range(width):
            if b.size:
                scores[c] += b[classes[i, c]]
            scores[c] *= scale[0]
        if of_odds:
            value, local[index[i]] = _odds(
                scores,
                log_weight[i],
                local[index[i]],
                rate,
                square_norm[i],
                odds_formula,
                parameter,
                slope,
            )
        else:
            value = _pairs(scores, log_weight[i], pairs_formula, slope)
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
            _adds(V[y], V[k], changes[0], changes[1], features, values, begin[i], end[i])
        else:
            for c in range(width):
                if slope[c] != 0.0:
                    _add(V[classes[i, c]], changes[c], features, values, begin[i], end[i])
    return total


def descend(*arguments: Any) -> float:
    """Run `_descend`, compiled once for all formulas: they are called through pointers.

    Otherwise each formula would need a kernel of its own, which Numba's cache cannot find again.
    """
    kinds = tuple(numba.typeof(argument) for argument in arguments[:-2])
    return float(_descend_of(kinds)(*arguments))


@cache
def _descend_of(kinds: tuple[Any, ...]) -> Any:
    signature = (*kinds, types.FunctionType(ODDS), types.FunctionType(PAIRS))
    return njit(signature, cache=True, error_model="numpy")(_descend)


# ---------------------------------------------------------------- evaluation
@njit(cache=True, error_model="numpy", fastmath={"nnan", "nsz", "reassoc"})
def _largest(scores: Any, size: int) -> Any:
    top = scores[0]
    for j in range(1, size):
        top = max(top, scores[j])
    return top


@njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _sum_exp(scores: Any, size: int, top: Any, mantissa: Any, power: Any) -> float:
    """Sum of e^{score - top} in float64, for float32 scores <= top.

    The polynomial of Cephes' expf on [-log(2)/2, log(2)/2], relative error 1e-7; the power of two
    goes straight into the exponent's bits.
    """
    for j in range(size):
        x = max(scores[j] - top, np.float32(-87.0))
        n = np.floor(x * np.float32(1.44269504) + np.float32(0.5))
        r = x - n * np.float32(0.693359375) + n * np.float32(2.12194440e-4)
        p = np.float32(1.9875691500e-4)
        p = p * r + np.float32(1.3981999507e-3)
        p = p * r + np.float32(8.3334519073e-3)
        p = p * r + np.float32(4.1665795894e-2)
        p = p * r + np.float32(1.6666665459e-1)
        p = p * r + np.float32(5.0000001201e-1)
        mantissa[j] = p * r * r + r + np.float32(1.0)
        power[j] = (np.int32(n) + np.int32(127)) << np.int32(23)
    scale = power.view(np.float32)
    total = 0.0
    for j in range(size):
        total += np.float64(mantissa[j] * scale[j])
    return total


@_kernel
def absorb(
    scores: Any,
    size: int,
    first: int,
    i: int,
    y: Any,
    top: Any,
    total: Any,
    best: Any,
    true_score: Any,
    mantissa: Any,
    power: Any,
) -> None:
    """Take the scores of classes first..first+size-1 of row i into its running log-sum-exp."""
    largest = _largest(scores, size)
    if largest > top[i]:
        total[i] *= np.exp(np.float64(top[i]) - np.float64(largest))
        top[i] = largest
        j = 0
        while j < size - 1 and scores[j] != largest:
            j += 1
        best[i] = first + j
    total[i] += _sum_exp(scores, size, top[i], mantissa, power)
    if first <= y[i] < first + size:
        true_score[i] = scores[y[i] - first]


@_kernel
def absorb_block(
    scores: Any, first_row: int, y: Any, top: Any, total: Any, best: Any, true_score: Any
) -> None:
    """Take whole rows of scores (B, K), of dense data."""
    K = scores.shape[1]
    mantissa, power = np.empty(K, np.float32), np.empty(K, np.int32)
    for i in range(scores.shape[0]):
        absorb(scores[i], K, 0, first_row + i, y, top, total, best, true_score, mantissa, power)


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def _panel_scores(panel: Any, features: Any, values: Any, a: int, b: int, scores: Any) -> None:
    """Add a row's scores against a panel (D, P) of transposed weights.

    Four features at a time, so that the scores are read and written once for the four.
    """
    whole = a + (b - a) // 4 * 4
    for j in range(a, whole, 4):
        v, w = values[j], panel[features[j]]
        v1, w1 = values[j + 1], panel[features[j + 1]]
        v2, w2 = values[j + 2], panel[features[j + 2]]
        v3, w3 = values[j + 3], panel[features[j + 3]]
        for c in range(scores.size):
            scores[c] += (v * w[c] + v1 * w1[c]) + (v2 * w2[c] + v3 * w3[c])
    for j in range(whole, b):
        v, w = values[j], panel[features[j]]
        for c in range(scores.size):
            scores[c] += v * w[c]


@_kernel
def absorb_panel(
    V: Any,
    b: Any,
    scale: Any,
    first: int,
    panel: Any,
    begin: Any,
    end: Any,
    features: Any,
    values: Any,
    y: Any,
    top: Any,
    total: Any,
    best: Any,
    true_score: Any,
) -> None:
    """Take the scores of a panel of classes, for all sparse rows."""
    P = panel.shape[1]
    for c in range(P):
        for j in range(panel.shape[0]):
            panel[j, c] = V[first + c, j]
    mantissa, power = np.empty(P, np.float32), np.empty(P, np.int32)
    scores = np.empty(P, np.float32)
    for i in range(begin.size):
        for c in range(P):
            scores[c] = b[first + c] if b.size else np.float32(0.0)
        _panel_scores(panel, features, values, begin[i], end[i], scores)
        if scale != 1.0:
            for c in range(P):
                scores[c] *= scale
        absorb(scores, P, first, i, y, top, total, best, true_score, mantissa, power)
