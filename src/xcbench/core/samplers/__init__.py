"""Samplers of classes: which classes a sample sees, and how many each of them stands for.

``draw(rng, rows, y, batch_size)`` gives classes (B, S) and their log-weights for consecutive
minibatches: the training rows of these numbers (B,), with true classes y (B,). By contract the
weighted sum over drawn classes is an unbiased estimate of the sum over all classes but the true
one, for terms that vanish (or are constant) at the true class. `Negatives` alone, for methods that
tell a class from noise, gives other numbers. Formulas write m for ``negatives``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from xcbench.core.dataset import Dataset
from xcbench.core.samplers.noise import Adversarial, Marginal, Negatives, Noise, Weighted
from xcbench.core.samplers.sampler import Draw, Sampler

__all__ = ["Adversarial", "Marginal", "Negatives", "Noise", "Sampler", "Weighted", "make"]


def distinct(rng: np.random.Generator, rows: int, size: int, count: int) -> np.ndarray:
    """Draw so many distinct numbers of 0..size-1 a row, uniformly (Floyd, all rows at once)."""
    chosen = np.empty((count, rows), np.int64)
    for i, top in enumerate(range(size - count, size)):
        candidate = rng.integers(0, top + 1, size=rows)
        seen = (chosen[:i] == candidate).any(axis=0)
        chosen[i] = np.where(seen, top, candidate)
    return np.ascontiguousarray(chosen.T)


def outside(
    rng: np.random.Generator, n_classes: int, labels: np.ndarray, negatives: int
) -> tuple[np.ndarray, float]:
    """Draw m distinct classes outside increasing labels, or all there are, and their log-weight."""
    others = n_classes - len(labels)
    negatives = min(negatives, others)
    drawn = rng.choice(others, negatives, replace=False, shuffle=False)
    moved = drawn + np.searchsorted(labels - np.arange(len(labels)), drawn, side="right")
    return moved, float(np.log(others / negatives)) if negatives else 0.0


@dataclass(frozen=True)
class Shared(Sampler):
    """m distinct classes of all K a minibatch, hits of a true class kept; weight K/m."""

    n_classes: int
    negatives: int

    def draw(
        self, rng: np.random.Generator, rows: np.ndarray, y: np.ndarray, batch_size: int
    ) -> Draw:
        """One draw a minibatch, repeated for its samples."""
        batches = -(-len(y) // batch_size)
        drawn = distinct(rng, batches, self.n_classes, self.negatives)
        return np.repeat(drawn, batch_size, axis=0)[: len(y)], float(
            np.log(self.n_classes / self.negatives)
        )


@dataclass(frozen=True)
class Others(Sampler):
    """m distinct classes a sample, never the true one; weight (K-1)/m."""

    n_classes: int
    negatives: int

    def draw(
        self, rng: np.random.Generator, rows: np.ndarray, y: np.ndarray, batch_size: int
    ) -> Draw:
        """Draws among K-1 classes, those from y on moved up by one."""
        drawn = distinct(rng, len(y), self.n_classes - 1, self.negatives)
        return drawn + (drawn >= y[:, None]), float(np.log((self.n_classes - 1) / self.negatives))


@dataclass(frozen=True)
class AnyClass(Sampler):
    """m distinct classes of all K a sample, a hit of the true class kept; weight (K-1)/m.

    What the published Implicit SGD did. Not unbiased: a hit puts e^{-u} in place of another class.
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
    """As `AnyClass` with hits left out, the others standing for (K-1)/(number left)."""

    n_classes: int
    negatives: int

    def draw(
        self, rng: np.random.Generator, rows: np.ndarray, y: np.ndarray, batch_size: int
    ) -> Draw:
        """Draws among all K classes; a hit has log-weight minus infinity."""
        drawn = distinct(rng, len(y), self.n_classes, self.negatives)
        hit = drawn == y[:, None]
        left = np.maximum(1, self.negatives - hit.sum(axis=1, keepdims=True))
        return drawn, np.where(hit, -np.inf, np.log((self.n_classes - 1) / left))


@dataclass(frozen=True)
class Every(Sampler):
    """Every class but the true one, each standing for itself."""

    n_classes: int
    negatives: int

    def draw(
        self, rng: np.random.Generator, rows: np.ndarray, y: np.ndarray, batch_size: int
    ) -> Draw:
        """No list of classes: the solver takes the model's scores of all."""
        return None, 0.0


@dataclass(frozen=True)
class GroupFirst(Sampler):
    """The classes of most training rows but y, each for itself, then m distinct ones of the rest.

    Attributes
    ----------
    negatives : all of the rest where there are not so many.
    group : how many classes come first.
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
        """Places in the order of the K-1 classes without y, those from y's place on moved up."""
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
}
NOISES = ("uniform", "frequency", "tree")  # drawn with replacement, as likely as p_n(y|x) says


def make(
    sampling: str,
    n_classes: int,
    negatives: int,
    exponent: float = 1.0,
    smoothing: float = 1.0,
    **tree: Any,
) -> Sampler:
    """Sampler of ours by its name; ``tree``: settings of `Adversarial`."""
    if sampling in NOISES:
        return Weighted(noise(sampling, exponent, smoothing, **tree), negatives)
    return BUILTIN[sampling](n_classes, negatives)


def noise(name: str, exponent: float = 1.0, smoothing: float = 1.0, **tree: Any) -> Noise:
    """Noise distribution of a name."""
    if name == "tree":
        return Adversarial(**tree)
    return Marginal(exponent if name == "frequency" else 0.0, smoothing)
