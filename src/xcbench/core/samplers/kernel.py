"""Proposals q_k ∝ phi(h)·phi(w_k) over the classes other than y, drawn from a tree.

h and w are coordinates of a random projection, so that q is not the kernel of the whole vectors;
it is still the probability of the draw, and sums are estimated without bias.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace

import numpy as np

from xcbench.core.dataset import Dataset, Rows
from xcbench.core.models.linear import LinearModel
from xcbench.core.samplers.feature_tree import FeatureTree
from xcbench.core.samplers.proposal import Drawn, Proposal, in_blocks
from xcbench.core.samplers.sketch import Sketch


class FeatureMap(ABC):
    """Contract of a kernel that is an inner product of features.

    Attributes
    ----------
    leaf : classes of a leaf of the tree.
    """

    leaf: int

    @property
    @abstractmethod
    def least(self) -> float:
        """What a smaller kernel counts as."""

    @abstractmethod
    def fitted(self, width: int) -> FeatureMap:
        """The map for vectors of so many coordinates."""

    @abstractmethod
    def coordinates(self, z: np.ndarray) -> np.ndarray:
        """Coordinates (n, j) of vectors, from whose inner products the kernel follows."""

    @abstractmethod
    def features(self, v: np.ndarray) -> np.ndarray:
        """The features phi (n, F) of vectors with these coordinates."""

    @abstractmethod
    def kernel(self, products: np.ndarray) -> np.ndarray:
        """phi·phi from inner products of coordinates."""


@dataclass(frozen=True)
class Quadratic(FeatureMap):
    """alpha (h·w)² + 1; phi(z) has the products of two coordinates, and 1 (Blanc and Rendle 2018).

    It is symmetric: classes of low scores would be drawn as often as those of high ones, were not
    the bias in w the one above the lowest.

    A draw costs O(d² log K); the tree holds K d²/32 numbers.
    """

    alpha: float
    leaf: int = 32

    @property
    def least(self) -> float:
        """The kernel is never smaller, but for rounding."""
        return 1.0

    def fitted(self, width: int) -> Quadratic:
        """The same for any width."""
        return self

    def coordinates(self, z: np.ndarray) -> np.ndarray:
        """Of themselves."""
        return z

    def features(self, v: np.ndarray) -> np.ndarray:
        """Products above the diagonal stand for two each."""
        i, j = np.triu_indices(v.shape[1])
        factor = np.sqrt(self.alpha * np.where(i == j, 1.0, 2.0)).astype(v.dtype)
        return np.column_stack([v[:, i] * v[:, j] * factor, np.ones(len(v), v.dtype)])

    def kernel(self, products: np.ndarray) -> np.ndarray:
        """Alpha (h·w)² + 1."""
        return self.alpha * products**2 + 1.0


@dataclass(frozen=True)
class OfFeatures(Proposal):
    """A kernel of rows and classes, by the tree of the model that was seen last.

    Attributes
    ----------
    map : the kernel's features.
    dimensions : coordinates of the random projection, without that of the bias.
    X : training rows.
    classes : (K, j) coordinates of the classes.
    """

    map: FeatureMap
    dimensions: int
    X: Rows | None = None
    sketch: Sketch = Sketch(None)
    classes: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), np.float32))
    tree: FeatureTree | None = None

    def fitted(self, dataset: Dataset) -> OfFeatures:
        """With the training rows, and the projection of their features."""
        X = dataset.train.X
        width = min(X.shape[1], self.dimensions) + 1
        sketch = Sketch.of(X.shape[1], self.dimensions)
        return replace(self, map=self.map.fitted(width), X=X, sketch=sketch)

    def seen(self, model: LinearModel) -> OfFeatures:
        """With the tree of all classes, built anew."""
        classes = self.map.coordinates(self.sketch.classes(model))
        tree = FeatureTree.of(self.map.features, classes, self.map.leaf, self.map.least)
        return replace(self, classes=classes, tree=tree)

    def others(
        self, rng: np.random.Generator, rows: np.ndarray, y: np.ndarray, negatives: int
    ) -> Drawn:
        """Draws from the tree."""
        assert self.tree is not None and self.X is not None
        tree, X = self.tree, self.X

        def draw(rows: np.ndarray, y: np.ndarray) -> Drawn:
            v = self.map.coordinates(self.sketch.rows(X, rows))

            def kernel(classes: np.ndarray) -> np.ndarray:
                products = self.classes[classes] @ v[:, :, None]
                return self.map.kernel(products[:, :, 0].astype(np.float64))

            return tree.others(rng, self.map.features(v), kernel, y, negatives)

        return in_blocks(draw, rows, y, tree.rows_at_once(negatives, self.classes.shape[1]))
