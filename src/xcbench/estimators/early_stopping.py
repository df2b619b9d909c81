"""Early stopping: training ends when the loss of held-out rows stops improving."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator

from xcbench.core.dataset import Split
from xcbench.core.metrics import evaluate, of_column
from xcbench.core.models.model import Model


class EarlyStopping(BaseEstimator):
    """When training ends: the loss of held-out rows stops falling. The best weights are kept.

    In a search its parameters are ``early_stopping__tol`` and so on.

    Parameters
    ----------
    validation_fraction : float
        Share of the rows to hold out.
    n_iter_no_change : int
        Training stops after this many epochs without an improvement by `tol`.
    tol : float
        Smallest improvement that counts, in nats.
    """

    def __init__(
        self, *, validation_fraction: float = 0.1, n_iter_no_change: int = 5, tol: float = 1e-4
    ) -> None:
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol


class Watch:
    """Called after every epoch; this base class never stops a fit."""

    def sees(self, model: Model) -> bool:
        """Whether to stop training now."""
        return False

    def shown(self) -> str:
        """Last measurement, for the progress bar."""
        return ""

    def put_back(self, state: dict[str, np.ndarray]) -> None:
        """Restore the weights of an earlier epoch if they were better."""


class LossWatch(Watch):
    """Stop a fit when the loss of held-out rows stops improving; keep the best weights."""

    def __init__(self, rows: Split, rule: EarlyStopping) -> None:
        self.rows, self.rule = rows, rule
        self.curve: list[float] = []
        self.lowest, self.waited = np.inf, 0
        self.state: dict[str, np.ndarray] = {}

    def sees(self, model: Model) -> bool:
        """Measure the log loss of the held-out rows, or their error."""
        values = evaluate(model.corrected, self.rows)
        name = "log_loss" if "log_loss" in values else "error"
        self.curve.append(values[name])
        key = of_column(name).key(values[name])
        self.waited = 0 if key < self.lowest - self.rule.tol else self.waited + 1
        if key < self.lowest:
            self.lowest = key
            self.state = {name: array.copy() for name, array in model.state().items()}
        return self.waited >= self.rule.n_iter_no_change

    def shown(self) -> str:
        """The last loss."""
        return f", validation {self.curve[-1]:.4g}"

    def put_back(self, state: dict[str, np.ndarray]) -> None:
        """Restore the best weights in place, so that the model has them too."""
        for name, array in self.state.items():
            state[name][...] = array


def held_out(split: Split, share: float, seed: int) -> tuple[Split, Split]:
    """Split off a random share of the rows; both parts keep their order."""
    drawn = np.zeros(len(split), bool)
    number = min(max(1, round(share * len(split))), len(split) - 1)
    drawn[np.random.default_rng(seed).permutation(len(split))[:number]] = True
    return split.take(np.flatnonzero(~drawn)), split.take(np.flatnonzero(drawn))
