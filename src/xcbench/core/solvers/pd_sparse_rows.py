"""The loops of PD-Sparse: blocks of rows one after the other, and the loss.

They are plain Python; the Numba engine compiles the same functions.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from xcbench.core.engines import Compiled
from xcbench.core.solvers.pd_sparse_block import correct, cut, shift

Arrays = tuple[np.ndarray, ...]


@cache
def functions(engine: str) -> tuple[Compiled, ...]:
    """`visit_rows`, `fill_table` and `total_loss`, compiled for ``numba``."""
    if engine != "numba":
        return visit_rows, fill_table, total_loss
    from xcbench.core.kernels.compiling import inlined, kernel

    for part in (shift, cut, correct, find, score_classes, rescore, join, add, keep, square_norm):
        inlined(part)
    return kernel(visit_rows), kernel(fill_table), kernel(total_loss)


def visit_rows(
    state: tuple[int, int],
    visits: Arrays,
    x: Arrays,
    duals: Arrays,
    numbers: tuple[Arrays, np.ndarray],
    constants: tuple[int, float, float],
    room: Arrays,
) -> tuple[int, int]:
    """Correct the blocks of rows from the first of `state` on.

    Parameters
    ----------
    state : rows that were visited, and numbers in chains.
    visits : rows; uniform numbers by which features are sampled, and where those of each row begin.
        Where a row has none, its search takes all features.
    x : rows of features, and (N,) how many of the first classes in use are labels.
    numbers : chains, and the table of places in them (`find`).
    constants : classes that join, the strength of the l1 penalty, and C.
    room : scores and places, each of K numbers. A place is -1 for all classes, in the end too.

    Returns
    -------
    done : the row that lacked room, or how many there are.
    filled : numbers in chains now.
    """
    rows, uniform, first_draw = visits
    start, features, values, labels = x
    chosen, alpha, used = duals
    chain, table = numbers
    select, strength, C = constants
    scores, place = room
    first, filled = state
    for r in range(first, len(rows)):
        i = rows[r]
        n, a, b = used[i], start[i], start[i + 1]
        if n + select > chosen.shape[1] or filled + (n + select) * (b - a) > len(chain[4]):
            return r, filled
        row = (features[a:b], values[a:b])
        curvature = square_norm(values[a:b])
        if curvature == 0.0 or labels[i] == 0:
            continue
        draws = uniform[first_draw[r] : first_draw[r + 1]]
        score_classes(row, draws, chain, strength, scores)
        n = join(chosen[i], alpha[i], n, select, scores, place)
        if len(draws) > 0:
            rescore(row, chosen[i, :n], chain, table, strength, scores)
        change = correct(chosen[i, :n], alpha[i, :n], labels[i], scores, curvature, C)
        filled = add(row, chosen[i, :n], change, chain, table, filled)
        used[i] = keep(chosen[i], alpha[i], change, labels[i], place)
    return len(rows), filled


def square_norm(values: np.ndarray) -> float:
    """|x|²."""
    total = 0.0
    for value in values:
        total += value * value
    return total


def join(
    chosen: np.ndarray,
    alpha: np.ndarray,
    n: int,
    select: int,
    scores: np.ndarray,
    place: np.ndarray,
) -> int:
    """Let the classes of the highest scores join the n in use; how many there are then."""
    for p in range(n):
        place[chosen[p]] = p
    for _ in range(select):
        best, highest = -1, -np.inf
        for k in range(len(scores)):
            if scores[k] > highest and place[k] < 0:
                best, highest = k, scores[k]
        if best < 0:
            break
        place[best] = n
        chosen[n], alpha[n] = best, 0.0
        n += 1
    return n


def add(
    row: Arrays,
    classes: np.ndarray,
    change: np.ndarray,
    chain: Arrays,
    table: np.ndarray,
    filled: int,
) -> int:
    """Add x change to v; how many numbers are in chains then."""
    features, values = row
    head, after, class_of, feature_of, value = chain
    for j in range(len(features)):
        for p in range(len(classes)):
            if change[p] != 0.0:
                h = find(features[j], classes[p], class_of, feature_of, table)
                if table[h] >= 0:
                    value[table[h]] += values[j] * change[p]
                    continue
                table[h], feature_of[filled] = filled, features[j]
                class_of[filled], value[filled] = classes[p], values[j] * change[p]
                after[filled] = head[features[j]]
                head[features[j]] = filled
                filled += 1
    return filled


def keep(
    chosen: np.ndarray, alpha: np.ndarray, change: np.ndarray, labels: int, place: np.ndarray
) -> int:
    """Change the duals, and keep the classes of labels and of duals that are not 0."""
    kept = labels
    for p in range(len(change)):
        place[chosen[p]] = -1
        alpha[p] += change[p]
        if p >= labels and alpha[p] != 0.0:
            chosen[kept], alpha[kept] = chosen[p], alpha[p]
            kept += 1
    return kept


def score_classes(
    row: Arrays, draws: np.ndarray, chain: Arrays, strength: float, scores: np.ndarray
) -> None:
    """Scores w_k·x of all classes. Draws sample features for them, without bias.

    Of q draws each takes a feature with probability |x_f| / ||x||_1, and adds ||x||_1 / q sign(x_f)
    w_kf.
    """
    features, values = row
    head, after, class_of, _, value = chain
    scores[:] = 0.0
    upto, sampled = np.cumsum(np.abs(values)), len(draws) > 0
    total = upto[-1]
    for d in range(len(draws) if sampled else len(features)):
        j = d
        if sampled:
            j = min(np.searchsorted(upto, draws[d] * total, side="right"), len(features) - 1)
        factor = np.sign(values[j]) * total / len(draws) if sampled else values[j]
        s = head[features[j]]
        while s >= 0:
            excess = abs(value[s]) - strength
            if excess > 0:
                scores[class_of[s]] += factor * (excess if value[s] > 0 else -excess)
            s = after[s]


def rescore(
    row: Arrays,
    classes: np.ndarray,
    chain: Arrays,
    table: np.ndarray,
    strength: float,
    scores: np.ndarray,
) -> None:
    """Scores of some classes from all features."""
    features, values = row
    _, _, class_of, feature_of, value = chain
    for k in classes:
        scores[k] = 0.0
        for j in range(len(features)):
            s = table[find(features[j], k, class_of, feature_of, table)]
            if s >= 0:
                excess = abs(value[s]) - strength
                if excess > 0:
                    scores[k] += values[j] * (excess if value[s] > 0 else -excess)


def find(
    feature: int, k: int, class_of: np.ndarray, feature_of: np.ndarray, table: np.ndarray
) -> int:
    """Where the table has the place of a feature's number of class k, or room for it (-1)."""
    last = len(table) - 1
    h = (int(feature) * 40503 + int(k) * 2654435761) & last
    while table[h] >= 0 and (class_of[table[h]] != k or feature_of[table[h]] != feature):
        h = (h + 1) & last
    return h


def fill_table(
    filled: int, class_of: np.ndarray, feature_of: np.ndarray, table: np.ndarray
) -> None:
    """Enter all numbers."""
    for s in range(filled):
        table[find(feature_of[s], class_of[s], class_of, feature_of, table)] = s


def total_loss(x: Arrays, w: Arrays, y: Arrays, scores: np.ndarray) -> float:
    """Sum over rows of max(0, 1 + the highest other score - the lowest of a label)."""
    start, features, values = x
    first, classes, weights = w
    true_start, true = y
    total = 0.0
    for i in range(len(start) - 1):
        scores[:] = 0.0
        for j in range(start[i], start[i + 1]):
            for p in range(first[features[j]], first[features[j] + 1]):
                scores[classes[p]] += values[j] * weights[p]
        lowest = np.inf
        for p in range(true_start[i], true_start[i + 1]):
            lowest = min(lowest, scores[true[p]])
            scores[true[p]] = -np.inf
        highest = -np.inf
        for k in range(len(scores)):
            highest = max(highest, scores[k])
        total += max(0.0, 1.0 + highest - lowest)
    return total
