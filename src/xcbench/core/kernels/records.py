"""Arguments of kernels: records that compiled code can take."""

from __future__ import annotations

from typing import Any, NamedTuple


class Weights(NamedTuple):
    """V (K, D) and b (K,), of size 0 where there are no biases."""

    V: Any
    b: Any


class Scaled(NamedTuple):
    """Weights ``scale · V`` and ``scale · b``; scale (1,) changes too."""

    V: Any
    b: Any
    scale: Any


class Rows(NamedTuple):
    """Row i is ``values[begin[i]:end[i]]`` at those ``features``; dense rows have no features."""

    begin: Any
    end: Any
    features: Any
    values: Any


class Pairs(NamedTuple):
    """Pairs of a row and a class (B, C), the order to visit them, and a number for each."""

    classes: Any
    order: Any
    numbers: Any


class Samples(NamedTuple):
    """Samples as in `xcbench.core.batch.Batch`, with log-weights (B, S) and all local states."""

    index: Any
    classes: Any
    log_weight: Any
    square_norm: Any
    local: Any


class Step(NamedTuple):
    """Batch size, whether to visit pairs by class, learning rate, factor of the weight decay."""

    size: Any
    by_class: Any
    rate: Any
    shrinkage: Any


class Kind(NamedTuple):
    """Constants of an objective's `Scalar`, and its family."""

    parameter: Any
    shifted: Any
    of_pairs: Any
    of_scores: Any


class Running(NamedTuple):
    """True classes (N,), and running statistics of R models.

    These are the highest scores (R, N, k) in descending order and their classes, the sum (R, N) of
    e^{score - highest}, and f_y (R, N).
    """

    y: Any
    highest: Any
    best: Any
    total: Any
    true_score: Any


class Panel(NamedTuple):
    """Classes first, last + 1 of R models: transposed weights (D, P), biases (P,), scales (R,)."""

    weights: Any
    offset: Any
    scale: Any
    classes: Any
