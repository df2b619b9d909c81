"""Arguments of kernels: records that compiled code can take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Room = tuple[np.ndarray, np.ndarray]  # two buffers


class Weights(NamedTuple):
    """V (K, D) and b (K,), of size 0 where there are no biases."""

    V: np.ndarray
    b: np.ndarray


class Scaled(NamedTuple):
    """Weights ``scale · V`` and ``scale · b``; scale (1,) changes too."""

    V: np.ndarray
    b: np.ndarray
    scale: np.ndarray


class Rows(NamedTuple):
    """Row i is ``values[begin[i]:end[i]]`` at those ``features``; dense rows have no features."""

    begin: np.ndarray
    end: np.ndarray
    features: Any
    values: np.ndarray


class SparseArrays(NamedTuple):
    """Row i is ``values[start[i]:start[i + 1]]`` at those ``features``."""

    start: np.ndarray
    features: np.ndarray
    values: np.ndarray


class Pairs(NamedTuple):
    """Pairs of a row and a class (B, C), the order to visit them, and a number for each."""

    classes: np.ndarray
    order: np.ndarray
    numbers: np.ndarray


class Samples(NamedTuple):
    """Samples as in `xcbench.core.batch.Batch`, with log-weights (B, S) and all local states."""

    index: Any  # a tuple has a method of this name
    classes: np.ndarray
    log_weight: np.ndarray
    square_norm: np.ndarray
    local: np.ndarray


class Step(NamedTuple):
    """Batch size, whether to visit pairs by class, learning rate, factor of the weight decay.

    In lockstep the last two are arrays, with a number a lane.
    """

    size: int
    by_class: bool
    rate: Any
    shrinkage: Any


class Kind(NamedTuple):
    """Constants of an objective's `Scalar`, and its family."""

    parameter: float
    shifted: bool
    of_pairs: bool
    of_scores: bool


class Formulas(NamedTuple):
    """An objective's kind, and a formula of each family, of which its kind calls one."""

    kind: Kind
    odds: Callable[..., tuple[float, ...]]
    scored_odds: Callable[..., tuple[float, ...]]
    pairs: Callable[..., tuple[float, ...]]


class Running(NamedTuple):
    """True classes (N,), and running statistics of R models.

    These are the highest scores (R, N, k) in descending order and their classes, the sum (R, N) of
    e^{score - highest}, and f_y (R, N).
    """

    y: np.ndarray
    highest: np.ndarray
    best: np.ndarray
    total: np.ndarray
    true_score: np.ndarray


class Panel(NamedTuple):
    """Classes first, last + 1 of R models: transposed weights (D, P), biases (P,), scales (R,)."""

    weights: np.ndarray
    offset: np.ndarray
    scale: np.ndarray
    classes: tuple[int, int]
