"""The block of a row in the dual of PD-Sparse: its best change is a projection.

Plain Python; the Numba engine compiles the same functions.
"""

from __future__ import annotations

import numpy as np


def correct(
    classes: np.ndarray,
    alpha: np.ndarray,
    labels: int,
    scores: np.ndarray,
    curvature: float,
    C: float,
) -> np.ndarray:
    """Change of the alpha of a row that is best under the curvature |x|²: a projection.

    Minimises sum_k (scores_k + 1[k no label]) d_k + |x|²/2 d_k² over alpha + d that are feasible.
    """
    target = np.empty(len(classes))
    for p in range(len(classes)):
        k = classes[p]
        if p < labels:
            target[p] = alpha[p] - scores[k] / curvature
        else:  # with the other sign, so that all are to be at least 0
            target[p] = (scores[k] + 1.0) / curvature - alpha[p]
    up, down = target[:labels], target[labels:]
    t = shift(up, down)
    mass = 0.0
    for p in range(labels):
        mass += max(0.0, up[p] - t)
    above, below = t, -t
    if mass > C:
        above, below = cut(up, C), cut(down, C)
    change = np.empty(len(classes))
    for p in range(len(classes)):
        if p < labels:
            change[p] = max(0.0, target[p] - above) - alpha[p]
        else:
            change[p] = -max(0.0, target[p] - below) - alpha[p]
    return change


def shift(up: np.ndarray, down: np.ndarray) -> float:
    """Find t where sum (up - t)_+ = sum (down + t)_+, one between the breakpoints if all are 0."""
    low, high = np.inf, -np.inf
    for u in up:
        low, high = min(low, u), max(high, u)
    for u in down:
        low, high = min(low, -u), max(high, -u)
    t = 0.5 * (low + high)
    for _ in range(200):
        rest, slope = 0.0, 0.0
        for u in up:
            if u > t:
                rest += u - t
                slope += 1.0
        for u in down:
            if u > -t:
                rest -= u + t
                slope += 1.0
        if rest > 0:
            low = t
        elif rest < 0:
            high = t
        if slope == 0.0 or rest == 0.0:
            break
        step = t + rest / slope  # exact where no breakpoint lies between
        if step == t:
            break
        t = step if low < step < high else 0.5 * (low + high)
    return t


def cut(target: np.ndarray, C: float) -> float:
    """Find t where sum (target - t)_+ = C, from below: terms that fall out stay out."""
    t, terms = -np.inf, len(target) + 1
    while True:
        total, inside = 0.0, 0
        for u in target:
            if u > t:
                total += u
                inside += 1
        if inside == 0 or inside >= terms:  # more of them: a term is t but for rounding
            return t
        t, terms = (total - C) / inside, inside
