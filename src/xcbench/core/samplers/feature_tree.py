"""A binary tree over the classes from which a kernel phi(h)·phi(w_k) is drawn in O(log K).

Blanc and Rendle 2018, Rawat et al. 2019. A node holds the sum of phi(w_k) over its classes, whose
product with phi(h) is its mass; a leaf has a few classes, whose kernel is computed. Nodes are
numbered as in a heap: 1 is the root, 2v and 2v+1 the children of v.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from xcbench.core.samplers.proposal import Drawn, one_of_few

BLOCK_NUMBERS = 1 << 21  # of a temporary array


@dataclass(frozen=True)
class FeatureTree:
    """Sums of features over the classes of every node.

    Attributes
    ----------
    sums : (2L, F) in float32, of the L leaves in the second half; row 0 is not used.
    sizes : (2L,) classes of every node.
    leaf : classes of a leaf.
    least : a smaller kernel counts as this, and a smaller mass as this times the classes of the
        node, so that every class can be drawn.
    """

    sums: np.ndarray
    sizes: np.ndarray
    leaf: int
    least: float

    @classmethod
    def of(
        cls,
        features: Callable[[np.ndarray], np.ndarray],
        classes: np.ndarray,
        leaf: int,
        least: float,
    ) -> FeatureTree:
        """The tree of features (n, F) of classes, given by their coordinates (K, j)."""
        K = len(classes)
        used = -(-K // leaf)
        leaves = 1 << (used - 1).bit_length()
        width = features(classes[:1]).shape[1]
        sums, sizes = np.zeros((2 * leaves, width), np.float32), np.zeros(2 * leaves, np.int64)
        sizes[leaves:] = np.clip(K - leaf * np.arange(leaves), 0, leaf)
        at_once = max(1, BLOCK_NUMBERS // (leaf * width))
        for first in range(0, used, at_once):
            phi = features(classes[leaf * first : leaf * (first + at_once)])
            of_leaves = np.add.reduceat(phi, np.arange(0, len(phi), leaf))
            sums[leaves + first : leaves + first + len(of_leaves)] = of_leaves
        for level in reversed(range(leaves.bit_length() - 1)):
            children = slice(2 << level, 4 << level)
            sums[1 << level : 2 << level] = sums[children][::2] + sums[children][1::2]
            sizes[1 << level : 2 << level] = sizes[children][::2] + sizes[children][1::2]
        return cls(sums, sizes, leaf, least)

    def rows_at_once(self, negatives: int, coordinates: int) -> int:
        """Rows whose nodes and leaves fit a block."""
        widest = max(2 * self.sums.shape[1], self.leaf * coordinates)
        return max(1, BLOCK_NUMBERS // (negatives * widest))

    def others(
        self,
        rng: np.random.Generator,
        phi: np.ndarray,
        kernel: Callable[[np.ndarray], np.ndarray],
        y: np.ndarray,
        negatives: int,
    ) -> Drawn:
        """Classes (B, m) other than y, and log q of each: the product of the chances on its way.

        Parameters
        ----------
        phi : (B, F) features of the rows.
        kernel : of the rows with chosen classes (B, C).
        """
        leaves, K = len(self.sums) // 2, int(self.sizes[1])
        depth, B = leaves.bit_length() - 1, len(y)
        own = np.maximum(kernel(y[:, None]), self.least)[:, :, None]
        node, log_q = np.ones((B, negatives), np.int64), np.zeros((B, negatives))
        for level in range(depth):
            child = 2 * node[:, :, None] + np.arange(2)
            of_y = child == (leaves + y // self.leaf >> depth - level - 1)[:, None, None]
            product = self.sums[child].reshape(B, 2 * negatives, -1) @ phi[:, :, None]
            mass = product.reshape(child.shape) - of_y * own
            size = self.sizes[child] - of_y
            right, log_chance = one_of_few(rng, self._at_least(mass, size))
            node, log_q = 2 * node + right, log_q + log_chance
        classes = self.leaf * (node - leaves)[:, :, None] + np.arange(self.leaf)
        there = (classes < K) & (classes != y[:, None, None])
        of_classes = kernel(np.minimum(classes, K - 1).reshape(B, -1)).reshape(classes.shape)
        place, log_chance = one_of_few(rng, self._at_least(of_classes, there))
        drawn = np.take_along_axis(classes, place[:, :, None], axis=2)[:, :, 0]
        return np.minimum(drawn, K - 1), log_q + log_chance

    def _at_least(self, mass: np.ndarray, size: np.ndarray) -> np.ndarray:
        return np.where(size > 0, np.maximum(mass, self.least * size), 0.0)
