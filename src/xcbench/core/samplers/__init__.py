"""Samplers: which classes are drawn for a sample, and how many classes each stands for.

``draw(rng, rows, y, batch_size)`` gives classes (B, S) and their log-weights for consecutive
minibatches. ``rows`` (B,) are row numbers and y (B,) their true classes. By contract the weighted
sum over drawn classes is an unbiased estimate of the sum over all other classes, for terms that
vanish, or are constant, at the true class, or the sampler states its bias as a formula. Only
`Negatives`, for methods that discriminate data from noise, gives log-probabilities instead.
Formulas write m for ``negatives``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from xcbench.core.dataset import Dataset
from xcbench.core.samplers.clusters import Clusters
from xcbench.core.samplers.in_batch import InBatch
from xcbench.core.samplers.kernel import OfFeatures, Quadratic
from xcbench.core.samplers.midx import MIDX
from xcbench.core.samplers.noise import Adversarial, Marginal, Negatives, Noise, Weighted
from xcbench.core.samplers.proposal import Proposal
from xcbench.core.samplers.rff import Fourier
from xcbench.core.samplers.sampler import Draw, Sampler
from xcbench.core.samplers.scored import Scored, exponential

__all__ = [
    "Adversarial",
    "InBatch",
    "Marginal",
    "Negatives",
    "Noise",
    "Sampler",
    "Weighted",
    "make",
]


def distinct(rng: np.random.Generator, rows: int, size: int, count: int) -> np.ndarray:
    """Draw distinct numbers from 0..size-1 for each row, uniformly (Floyd, all rows at once)."""
    chosen = np.empty((count, rows), np.min_scalar_type(size))  # few bytes: all are compared
    for i, top in enumerate(range(size - count, size)):
        candidate = rng.integers(0, top + 1, size=rows).astype(chosen.dtype)
        seen = (chosen[:i] == candidate).any(axis=0)
        chosen[i] = np.where(seen, top, candidate)
    return np.ascontiguousarray(chosen.T, np.int64)


def outside(
    rng: np.random.Generator, n_classes: int, labels: np.ndarray, negatives: int
) -> tuple[np.ndarray, float]:
    """Draw m distinct classes, or all there are, outside sorted labels; gives their log-weight."""
    others = n_classes - len(labels)
    negatives = min(negatives, others)
    drawn = rng.choice(others, negatives, replace=False, shuffle=False)
    moved = drawn + np.searchsorted(labels - np.arange(len(labels)), drawn, side="right")
    return moved, float(np.log(others / negatives)) if negatives else 0.0


@dataclass(frozen=True)
class Shared(Sampler):
    """m distinct classes of all K for a minibatch, true classes kept; weight K/m."""

    n_classes: int
    negatives: int

    def draw(
        self, rng: np.random.Generator, rows: np.ndarray, y: np.ndarray, batch_size: int
    ) -> Draw:
        """Draw once a minibatch; all its samples share the draw."""
        batches = -(-len(y) // batch_size)
        drawn = distinct(rng, batches, self.n_classes, self.negatives)
        return np.repeat(drawn, batch_size, axis=0)[: len(y)], float(
            np.log(self.n_classes / self.negatives)
        )


@dataclass(frozen=True)
class Others(Sampler):
    """m distinct classes for each sample, never the true one; weight (K-1)/m."""

    n_classes: int
    negatives: int

    def draw(
        self, rng: np.random.Generator, rows: np.ndarray, y: np.ndarray, batch_size: int
    ) -> Draw:
        """Draw among K-1 classes; numbers from y on are shifted by one."""
        drawn = distinct(rng, len(y), self.n_classes - 1, self.negatives)
        return drawn + (drawn >= y[:, None]), float(np.log((self.n_classes - 1) / self.negatives))


@dataclass(frozen=True)
class AnyClass(Sampler):
    """m distinct classes of all K for each sample, the true class kept; weight (K-1)/m.

    As in the published code of Implicit SGD. It is biased: the sum over the other classes is
    estimated as 1 - 1/K times itself, and drawing the true class adds (K-1)/m terms of it.
    """

    n_classes: int
    negatives: int

    def draw(
        self, rng: np.random.Generator, rows: np.ndarray, y: np.ndarray, batch_size: int
    ) -> Draw:
        """Draws among all K classes."""
        drawn = distinct(rng, len(y), self.n_classes, self.negatives)
        return drawn, float(np.log((self.n_classes - 1) / self.negatives))


@dataclass(frozen=True)
class DropHits(Sampler):
    """As `AnyClass`, but the true class is dropped; the others have weight (K-1)/(number left).

    Unbiased for m > 1. With m = 1 a hit leaves nothing: the estimate is 1 - 1/K times the sum.
    """

    n_classes: int
    negatives: int

    def draw(
        self, rng: np.random.Generator, rows: np.ndarray, y: np.ndarray, batch_size: int
    ) -> Draw:
        """Draw among all K classes; the true class gets log-weight minus infinity."""
        drawn = distinct(rng, len(y), self.n_classes, self.negatives)
        hit = drawn == y[:, None]
        left = np.maximum(1, self.negatives - hit.sum(axis=1, keepdims=True))
        return drawn, np.where(hit, -np.inf, np.log((self.n_classes - 1) / left))


@dataclass(frozen=True)
class Every(Sampler):
    """Every class but the true one, with weight 1."""

    n_classes: int
    negatives: int

    def draw(
        self, rng: np.random.Generator, rows: np.ndarray, y: np.ndarray, batch_size: int
    ) -> Draw:
        """No list of classes: the solver takes the model's scores of all."""
        return None, 0.0


@dataclass(frozen=True)
class GroupFirst(Sampler):
    """The most frequent classes except y, with weight 1, then m distinct classes of the rest.

    Attributes
    ----------
    negatives : m; all of the rest if there are fewer.
    group : number of frequent classes.
    order : (K,) classes, the most frequent first (the lower number among equals).
    """

    n_classes: int
    negatives: int
    group: int
    order: np.ndarray = field(default_factory=lambda: np.zeros(1, np.int64))

    def fitted(self, dataset: Dataset) -> GroupFirst:
        """The sampler that knows the most frequent classes."""
        return replace(self, order=np.argsort(-dataset.class_counts, kind="stable"))

    def draw(
        self, rng: np.random.Generator, rows: np.ndarray, y: np.ndarray, batch_size: int
    ) -> Draw:
        """Draw positions in the order of the classes without y; those from y's on are shifted."""
        group = min(self.group, self.n_classes - 1)
        rest = self.n_classes - 1 - group
        negatives = min(self.negatives, rest)
        place = np.broadcast_to(np.arange(group + negatives), (len(y), group + negatives))
        log_weight = 0.0
        if negatives < rest:
            place = np.hstack([place[:, :group], group + distinct(rng, len(y), rest, negatives)])
            log_weight = float(np.log(rest / negatives))
        rank = np.argsort(self.order)[y]
        weights = np.where(np.arange(group + negatives) < group, 0.0, log_weight)
        moved = place + (place >= rank[:, None])
        return self.order[moved], np.broadcast_to(weights, moved.shape)


BUILTIN: dict[str, Callable[[int, int], Sampler]] = {
    "shared": Shared,
    "others": Others,
    "any": AnyClass,
    "drop_hits": DropHits,
    "all": Every,
    "in_batch": InBatch,
}
NOISES = ("uniform", "frequency", "tree")  # drawn with replacement, as likely as p_n(y|x) says


def kernel(alpha: float, dimensions: int) -> Proposal:
    """Quadratic kernel of exact scores, or of so many coordinates by a tree."""
    quadratic = Quadratic(alpha)
    return OfFeatures(quadratic, dimensions) if dimensions else Scored(quadratic.kernel)


def rff(features: int, nu: float, dimensions: int) -> Proposal:
    """Random Fourier features, by a tree."""
    return OfFeatures(Fourier(features, nu), dimensions)


OF_MODEL: dict[str, Callable[..., Proposal]] = {  # by the model's weights, with replacement
    "softmax": lambda: Scored(exponential),
    "kernel": kernel,
    "rff": rff,
    "midx": MIDX,
}
WEIGHTED = ("frequency", "tree", "clusters", *OF_MODEL)  # a draw of probability q counts 1 / (m q)
NAMES = (*BUILTIN, "uniform", *WEIGHTED)


def make(
    sampling: str,
    n_classes: int,
    negatives: int,
    exponent: float = 1.0,
    smoothing: float = 1.0,
    refresh: int = 1,
    **options: Any,
) -> Sampler:
    """Make a built-in sampler by name; ``options`` are those of the tree, or of a proposal."""
    if sampling == "clusters":
        return Weighted(Clusters(**options), negatives)
    if sampling in OF_MODEL:
        return Weighted(OF_MODEL[sampling](**options), negatives, refresh)
    if sampling in NOISES:
        return Weighted(noise(sampling, exponent, smoothing, **options), negatives)
    return BUILTIN[sampling](n_classes, negatives)


def noise(name: str, exponent: float = 1.0, smoothing: float = 1.0, **tree: Any) -> Noise:
    """Make a noise distribution by name."""
    if name == "tree":
        return Adversarial(**tree)
    return Marginal(exponent if name == "frequency" else 0.0, smoothing)
