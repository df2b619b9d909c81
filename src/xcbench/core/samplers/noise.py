"""Noise distributions p_n(y|x) over all classes, and two samplers made of them.

A noise draws classes for training rows, given by number. It knows the log-probability of the draws,
of a row's true class, and of every class of any row. `Negatives` draws from it unchanged, for
methods that discriminate data from noise. `Weighted` draws classes other than the true one from it,
or from another proposal, for sums over all of them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from xcbench.core.dataset import Dataset, Rows
from xcbench.core.models.linear import LinearModel
from xcbench.core.samplers import principal, tree
from xcbench.core.samplers.proposal import Drawn, Proposal
from xcbench.core.samplers.sampler import Sampler

BLOCK_ROWS = 1 << 16


class Noise(Proposal):
    """Contract of a noise distribution."""

    @abstractmethod
    def draw(self, rng: np.random.Generator, rows: np.ndarray, negatives: int) -> Drawn:
        """Classes (B, m) for training rows, with replacement, and log p_n of each."""

    @abstractmethod
    def log_true(self, rows: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Log p_n(y|x) (B,) of training rows and their classes."""

    @abstractmethod
    def log_all(self, X: Rows) -> np.ndarray:
        """Log p_n (B, K) of every class for any rows; (K,) if it does not depend on X."""

    @abstractmethod
    def state(self) -> dict[str, np.ndarray]:
        """State of `log_all`, for `restored`."""

    @abstractmethod
    def restored(self, state: dict[str, np.ndarray]) -> Noise:
        """The noise with `log_all` as it was when `state` was taken."""


@dataclass(frozen=True)
class Marginal(Noise):
    """A class of c training rows has a probability ∝ (c + smoothing)^exponent; 0: uniform.

    With smoothing above 0, classes without a training row can be drawn.
    """

    exponent: float
    smoothing: float = 1.0
    cumulative: np.ndarray = field(default_factory=lambda: np.zeros(1))

    def fitted(self, dataset: Dataset) -> Marginal:
        """The noise that knows how frequent classes are."""
        size = (dataset.class_counts + self.smoothing) ** self.exponent
        return replace(self, cumulative=np.concatenate([[0.0], np.cumsum(size / size.sum())]))

    def draw(self, rng: np.random.Generator, rows: np.ndarray, negatives: int) -> Drawn:
        """Draws by the inverse of the distribution function."""
        place = self.cumulative[-1] * rng.random((len(rows), negatives))
        drawn = np.searchsorted(self.cumulative, place, side="right") - 1
        return drawn, self._log_p(drawn)

    def others(
        self, rng: np.random.Generator, rows: np.ndarray, y: np.ndarray, negatives: int
    ) -> Drawn:
        """Draws by the inverse of the distribution function, without the interval of y."""
        below, above = self.cumulative[y, None], self.cumulative[y + 1, None]
        rest = below + self.cumulative[-1] - above
        place = rest * rng.random((len(y), negatives))
        left = place < below
        place += np.where(left, 0.0, above - below)
        drawn = np.searchsorted(self.cumulative, place, side="right") - 1
        # Rounding may put a place at an edge of y's piece, or at the end, into the next one.
        first = np.where(left, 0, y[:, None] + 1)
        last = np.where(left, y[:, None] - 1, len(self.cumulative) - 2)
        drawn = np.clip(drawn, first, last)
        return drawn, self._log_p(drawn) - np.log(rest)

    def log_true(self, rows: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The same for every row of a class."""
        return self._log_p(y)

    def log_all(self, X: Rows) -> np.ndarray:
        """The same for every row, (K,)."""
        with np.errstate(divide="ignore"):  # minus infinity for a class that is never drawn
            return np.asarray(np.log(np.diff(self.cumulative)))

    def state(self) -> dict[str, np.ndarray]:
        """The distribution function."""
        return {"cumulative": self.cumulative}

    def restored(self, state: dict[str, np.ndarray]) -> Marginal:
        """With this distribution function."""
        return replace(self, cumulative=state["cumulative"])

    def _log_p(self, classes: np.ndarray) -> np.ndarray:
        return np.asarray(np.log(self.cumulative[classes + 1] - self.cumulative[classes]))


@dataclass(frozen=True)
class Adversarial(Noise):
    """The adversarial tree (Bamler and Mandt 2020, Section 3), on principal components of x.

    Attributes
    ----------
    dimensions, pca : principal components that it sees, and their scale.
    l2, discrete_step, initial_split, newton_steps : settings of the fit, see `tree.Fit`.
    projection, tree : the fit.
    z : (N, k) coordinates of the training rows, float32.
    log_p : (N,) log p_n(y|x) of the training rows' own classes, computed once.
    """

    dimensions: int = 16
    pca: str = "whitened"
    l2: float = 0.1
    discrete_step: str = "paper"
    initial_split: str = "halves"
    newton_steps: int = 1
    projection: principal.Projection | None = None
    tree: tree.Tree | None = None
    z: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), np.float32))
    log_p: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def fitted(self, dataset: Dataset) -> Adversarial:
        """Fit projection and tree on the training rows."""
        X, y = dataset.train.X, dataset.train.y
        projection = principal.fitted(
            X, self.dimensions, self.pca == "whitened", unit_variance=self.pca == "unit_variance"
        )
        z = projection(X)
        how = tree.Fit(
            self.l2,
            self.discrete_step == "code",
            self.initial_split == "scores",
            self.newton_steps,
        )
        fit = tree.fit(z, y, len(dataset.class_counts), how)
        blocks = (slice(i, i + BLOCK_ROWS) for i in range(0, len(y), BLOCK_ROWS))
        log_p = np.concatenate([fit.log_p(z[block], y[block]) for block in blocks])
        return replace(self, projection=projection, tree=fit, z=z, log_p=log_p)

    def draw(self, rng: np.random.Generator, rows: np.ndarray, negatives: int) -> Drawn:
        """Ancestral sampling."""
        assert self.tree is not None
        return self.tree.draw(rng, self.z[rows], negatives)

    def others(
        self, rng: np.random.Generator, rows: np.ndarray, y: np.ndarray, negatives: int
    ) -> Drawn:
        """Ancestral sampling that never ends at y."""
        assert self.tree is not None
        return self.tree.draw(rng, self.z[rows], negatives, y)

    def log_true(self, rows: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Computed once, at the fit."""
        return self.log_p[rows]

    def log_all(self, X: Rows) -> np.ndarray:
        """Level after level, (B, K), in float32."""
        assert self.projection is not None and self.tree is not None
        return self.tree.log_all(self.projection(X))

    def state(self) -> dict[str, np.ndarray]:
        """Projection and tree; not what is known of the training rows."""
        assert self.projection is not None and self.tree is not None
        of_rows = {"A": self.projection.A, "c": self.projection.c}
        return {**of_rows, "nodes": self.tree.weights, "leaf": self.tree.leaf}

    def restored(self, state: dict[str, np.ndarray]) -> Adversarial:
        """With this projection and tree."""
        projection = principal.Projection(state["A"], state["c"])
        return replace(self, projection=projection, tree=tree.Tree(state["nodes"], state["leaf"]))

    @property
    def extra(self) -> dict[str, float]:
        """Nodes whose objective fell between rounds of the fit."""
        assert self.tree is not None
        return {"tree_nodes_fell": self.tree.fell}


@dataclass(frozen=True)
class Negatives(Sampler):
    """m classes for each sample from a noise; the true class may be drawn.

    Instead of log-weights it gives log p_n(y|x), (B, 1+m), the true class first.

    Attributes
    ----------
    corrects : whether log p_n(y|x) must be added to the learnt scores.
    """

    noise: Noise
    negatives: int
    corrects: bool = False

    @property
    def extra(self) -> dict[str, float]:
        """As the noise says, once it is fitted."""
        return self.noise.extra

    @property
    def correction(self) -> Callable[[Rows], np.ndarray] | None:
        """Term that prediction adds to the scores (Bamler and Mandt 2020, Eq. 5), or None."""
        return self.noise.log_all if self.corrects else None

    def state(self) -> dict[str, np.ndarray]:
        """That of the noise, where predictions need it."""
        return self.noise.state() if self.corrects else {}

    def restored(self, state: dict[str, np.ndarray]) -> Negatives:
        """With the noise as it was."""
        return replace(self, noise=self.noise.restored(state)) if self.corrects else self

    def fitted(self, dataset: Dataset) -> Negatives:
        """The sampler whose noise is fitted."""
        return replace(self, noise=self.noise.fitted(dataset))

    def draw(
        self, rng: np.random.Generator, rows: np.ndarray, y: np.ndarray, batch_size: int
    ) -> Drawn:
        """Draws of each sample by itself."""
        drawn, log_p = self.noise.draw(rng, rows, self.negatives)
        return drawn, np.column_stack([self.noise.log_true(rows, y), log_p])


@dataclass(frozen=True)
class Weighted(Sampler):
    """m classes for each sample from a proposal other than y; a draw has weight 1 / (m q)."""

    proposal: Proposal
    negatives: int
    refresh: int = 0

    @property
    def extra(self) -> dict[str, float]:
        """As the proposal says, once it is fitted."""
        return self.proposal.extra

    def fitted(self, dataset: Dataset) -> Weighted:
        """The sampler whose proposal is fitted."""
        return replace(self, proposal=self.proposal.fitted(dataset))

    def seen(self, model: LinearModel) -> Weighted:
        """The sampler whose proposal has seen the model."""
        return replace(self, proposal=self.proposal.seen(model))

    def draw(
        self, rng: np.random.Generator, rows: np.ndarray, y: np.ndarray, batch_size: int
    ) -> Drawn:
        """Draws of each sample by itself."""
        drawn, log_q = self.proposal.others(rng, rows, y, self.negatives)
        return drawn, -log_q - np.log(self.negatives)
