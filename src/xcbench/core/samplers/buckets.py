"""Classes that score high where a row does, by random directions (SCE, Mezentsev et al. 2024).

A direction is scored as a row is. The rows of a minibatch and the classes that lie farthest along
it are its bucket: of all products those that are likely to be large.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from scipy.special import logsumexp

from xcbench.core.dataset import Dataset, Rows, square_norms
from xcbench.core.models.linear import LinearModel
from xcbench.core.rows import take
from xcbench.core.samplers.sampler import Draw, Sampler


@dataclass(frozen=True)
class Buckets(Sampler):
    """The classes of that bucket of a row in which its loss is the largest, each with weight 1.

    A row that is in no bucket of its minibatch has no class. The sum over a bucket is no estimate
    of that over all classes, but its largest part, where the directions are good.

    Attributes
    ----------
    directions, rows : buckets of a minibatch of n rows, and rows of a bucket; 0: twice the root of
        n.
    classes : of a bucket, at most K.
    mixed : whether directions are random sums of the minibatch's rows; else they have independent
        normal coordinates. In both cases they are as long as rows are on average.
    X, model : training rows and the model, as it is when classes are drawn.
    """

    n_classes: int
    directions: int
    rows: int
    classes: int
    mixed: bool
    refresh: int = 1
    X: Rows | None = None
    model: LinearModel | None = None

    def fitted(self, dataset: Dataset) -> Buckets:
        """With the training rows."""
        return replace(self, X=dataset.train.X)

    def seen(self, model: LinearModel) -> Buckets:
        """With the model itself, not a copy: draws are made at once."""
        return replace(self, model=model)

    def draw(
        self, rng: np.random.Generator, rows: np.ndarray, y: np.ndarray, batch_size: int
    ) -> Draw:
        """The buckets of each minibatch."""
        parts = [slice(first, first + batch_size) for first in range(0, len(y), batch_size)]
        drawn, log_weight = zip(*(self._batch(rng, rows[it], y[it]) for it in parts), strict=True)
        return np.concatenate(drawn), np.concatenate(log_weight)

    def _batch(
        self, rng: np.random.Generator, index: np.ndarray, y: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Classes and log-weights of a minibatch.

        Of a row the true class scores the same in every bucket: the loss is largest where the sum
        over the others is.
        """
        assert self.model is not None and self.X is not None
        model, X, n = self.model, self.X[index], len(y)
        few = int(np.ceil(2 * n**0.5))
        directions = self._directions(rng, X, self.directions or few)
        as_rows = sp.csr_array(directions) if sp.issparse(X) else directions
        along = model.all(take(as_rows, np.arange(len(directions)), model.dtype))
        near_classes = farthest(along, min(self.classes, self.n_classes))
        near_rows = farthest((X @ directions.T).T, min(self.rows or few, n))
        largest, best = np.full(n, -np.inf), np.full(n, -1)
        layout = model.layout(X)
        for bucket, (members, classes) in enumerate(zip(near_rows, near_classes, strict=True)):
            each = np.repeat(classes[None], len(members), axis=0)
            scores = model.at(model.take(layout, members), each)
            scores[each == y[members, None]] = -np.inf
            total = logsumexp(scores, axis=1)
            chosen = (best[members] < 0) | (total > largest[members])
            largest[members[chosen]], best[members[chosen]] = total[chosen], bucket
        drawn = near_classes[best]
        return drawn, np.where((drawn == y[:, None]) | (best < 0)[:, None], -np.inf, 0.0)

    def _directions(self, rng: np.random.Generator, X: Rows, count: int) -> np.ndarray:
        """Directions (count, D)."""
        z = rng.standard_normal((count, X.shape[0] if self.mixed else X.shape[1]))
        directions = np.asarray(z @ X) if self.mixed else z
        length = np.linalg.norm(directions, axis=1, keepdims=True)
        of_rows = np.sqrt(square_norms(X)).mean()
        return directions * (of_rows / np.maximum(length, 1e-12))


def farthest(products: np.ndarray, count: int) -> np.ndarray:
    """Columns (n, count) of the largest products (n, M) of each row."""
    return np.argpartition(-products, count - 1, axis=1)[:, :count]
