"""Contract between evaluation and models of any kind: scores, or predictions alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from xcbench.core import likelihoods
from xcbench.core.dataset import Rows, Split
from xcbench.errors import UserError

Summary = tuple[np.ndarray, np.ndarray]  # what `Model.summarise` gives
BLOCK_SCORES = 1 << 22  # scores held at a time in a pass over all rows and classes


class Model(ABC):
    """Contract of a model of K classes.

    Attributes
    ----------
    engine : ``numpy`` or ``numba``.
    link : softmax, probit or logistic, which gives probabilities from scores; None: no log loss.
    correction : function of rows (B, D) that gives terms (B, K) or (K,) to add to the scores
        (Bamler and Mandt 2020, Eq. 5), or None.
    dtype : precision of weights and scores.
    b : biases (K,), if any.
    """

    engine: str = "numpy"
    link: str | None = "softmax"
    correction: Callable[[Rows], np.ndarray] | None = None
    dtype: np.dtype = np.dtype(np.float32)
    b: np.ndarray | None = None

    @property
    @abstractmethod
    def n_classes(self) -> int:
        """K."""

    def layout(self, X: Rows) -> Rows:
        """Rows of a dataset in the form for training."""
        return X

    @property
    @abstractmethod
    def untrained(self) -> bool:
        """Whether every score is the same, as before training."""

    @property
    @abstractmethod
    def nonzeros(self) -> int | None:
        """Number of nonzero weights; None if a library does not tell."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes of the weights in memory."""

    @abstractmethod
    def passes(self, X: Rows) -> Iterator[tuple[slice, np.ndarray]]:
        """Scores of every class for all rows of X, a block of rows at a time."""

    @abstractmethod
    def square_norm(self) -> float:
        """||W||² + ||b||²."""

    @abstractmethod
    def weights(self) -> dict[str, np.ndarray]:
        """Arrays to save."""

    def state(self) -> dict[str, np.ndarray]:
        """All arrays needed for prediction, for `restore`; empty if a library keeps them."""
        return self.weights()

    def copies(self) -> dict[str, np.ndarray]:
        """Copies of what `state` has; training goes on as if there were none, to the last bit."""
        return {name: array.copy() for name, array in self.state().items()}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Restore what `state` returned; the arrays are not copied."""
        raise UserError("what a library trained cannot be kept")

    @property
    def corrected(self) -> Model:
        """The model with its correction, which predicts."""
        return self

    def finite(self) -> bool:
        """Whether all weights are finite."""
        return bool(np.isfinite(self.square_norm()))

    def predict(self, X: Rows) -> np.ndarray:
        """Class (N,) of the highest score, the first of equal ones."""
        best = np.zeros(X.shape[0], np.int64)
        if not self.untrained:
            for block, scores in self.passes(X):
                best[block] = scores.argmax(axis=1)
        return best

    def summaries(
        self, models: Sequence[Model], splits: Sequence[Split], depth: int = 1
    ) -> Sequence[Sequence[Summary | None]]:
        """For every split what `summarise` gives of several models of this kind, in one pass.

        None if one pass for all is not possible.
        """
        return [[None] * len(models) for _ in splits]

    def summarise(self, split: Split, depth: int = 1) -> Summary:
        """For every row, -log softmax_y in nats and the classes (N, depth) of the highest scores.

        The lower number comes first among equal scores.
        """
        loss, best = np.empty(len(split)), np.empty((len(split), depth), np.int64)
        for block, scores in self.passes(split.X):
            highest = scores.max(axis=1, keepdims=True)
            total = np.exp(scores - highest).sum(axis=1, dtype=np.float64)
            true_score = scores[np.arange(len(scores)), split.y[block]].astype(np.float64)
            loss[block] = np.log(total) + highest[:, 0] - true_score
            best[block] = top_classes(scores, depth)
        return loss, best

    def log_probabilities(self, X: Rows) -> np.ndarray:
        """Log p(k | x) (N, K) of every class, in float64."""
        log_p = np.empty((X.shape[0], self.n_classes))
        every = np.arange(self.n_classes)[None]
        for block, scores in self.corrected.passes(X):
            classes = np.broadcast_to(every, scores.shape)
            log_p[block] = self.log_probabilities_of(scores.astype(np.float64), classes)
        return log_p

    def log_probabilities_of(self, scores: np.ndarray, classes: np.ndarray) -> np.ndarray:
        """Log p(k | x) (B, k) of some classes (B, k) of rows with these scores (B, K), in float64.

        Raises
        ------
        UserError
            If the model has no probabilities.
        """
        if self.link is None:
            raise UserError("the model has no probabilities: its scores only rank classes")
        return likelihoods.log_probabilities(self.link, scores, classes)

    def parts(self, n_rows: int) -> Iterator[slice]:
        """Consecutive rows, as many at a time as the memory for scores allows."""
        size = max(1, BLOCK_SCORES // self.n_classes)
        for first in range(0, n_rows, size):
            yield slice(first, min(first + size, n_rows))


def top_classes(scores: np.ndarray, k: int) -> np.ndarray:
    """Top k classes (B, k) of scores (B, K), the best first; the lower number among equals."""
    if k == 1:
        return scores.argmax(axis=1)[:, None]
    row, left = np.arange(len(scores)), scores.copy()
    best = np.empty((len(scores), k), np.int64)
    for place in range(k):
        best[:, place] = left.argmax(axis=1)
        left[row, best[:, place]] = -np.inf
    return best
