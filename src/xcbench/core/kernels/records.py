"""What kernels take: records that go into compiled code as they are."""

from __future__ import annotations

from typing import Any, NamedTuple


class Weights(NamedTuple):
    """V (K, D) and b (K,), of size 0 where there are no biases."""

    V: Any
    b: Any


class Scaled(NamedTuple):
    """Weights ``scale · V`` and ``scale · b``; scale (1,) moves too."""

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
    """Pairs of a row and a class (B, C), the order in which they are visited, a number for each."""

    classes: Any
    order: Any
    numbers: Any


class Samples(NamedTuple):
    """Samples as in `xcbench.core.batch.Batch`, log-weights (B, S); local state of all samples."""

    index: Any
    classes: Any
    log_weight: Any
    square_norm: Any
    local: Any


class Step(NamedTuple):
    """Samples a minibatch, whether it visits class after class; rate, the weight decay's factor."""

    size: Any
    by_class: Any
    rate: Any
    shrinkage: Any


class Kind(NamedTuple):
    """Numbers of an objective's `Scalar`, and of which family it is."""

    parameter: Any
    shifted: Any
    of_pairs: Any
    of_scores: Any


class Running(NamedTuple):
    """True classes (N,), and (R, N) numbers of R models, so far.

    The highest score, the sum of e^{score - top}, the class of the highest score, f_y.
    """

    y: Any
    top: Any
    total: Any
    best: Any
    true_score: Any


class Panel(NamedTuple):
    """Classes first, last + 1 of R models: transposed weights (D, P), biases (P,), scales (R,)."""

    weights: Any
    offset: Any
    scale: Any
    classes: Any
