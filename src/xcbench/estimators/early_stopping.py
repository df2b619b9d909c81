"""Early stopping: training ends when the loss of held-out rows stops improving.

Where rows are few for their classes, twenty epochs at a rate that one pass likes learn the rows by
heart; so by default some are held out there, and the best epoch is kept. Training goes to its end,
since a high rate has worse epochs before it falls. With more rows a class this costs more, in rows
that do not train, than it gives (`python -m benchmarks default_rates`).
"""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator

from xcbench.core.dataset import Split
from xcbench.core.likelihoods import LINKS
from xcbench.core.models.model import Model
from xcbench.methods.method import Method
from xcbench.train.rate import measured

FEW_ROWS = 25  # a class on average, below which late epochs may be worse than early ones
NEVER = 2**31  # epochs without an improvement
ENOUGH = 1000  # rows, of which some can be spared
HELD_OUT = 200  # rows: with 64, chance costs .05 nats on average of 30 pairs; with these, .02
OF_INTEGRALS = 64  # where every probability is an integral
MOST = 0.05  # of all rows


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

    def check(self) -> None:
        """Refuse what is no rule.

        Raises
        ------
        ValueError
            If a parameter is impossible.
        """
        if not 0 < self.validation_fraction < 1:
            raise ValueError(
                f"validation_fraction={self.validation_fraction} must be between 0 and 1"
            )
        if self.n_iter_no_change < 1 or not np.isfinite(self.tol):
            raise ValueError(
                f"n_iter_no_change={self.n_iter_no_change} must be at least 1, tol={self.tol} a "
                "number"
            )


def automatic(method: Method, rows: int, classes: int) -> EarlyStopping | None:
    """The rule of ``early_stopping="auto"``: where a class has few rows, the best epoch is kept."""
    if not ENOUGH <= rows < FEW_ROWS * classes:
        return None
    number = OF_INTEGRALS if method.link in LINKS else HELD_OUT
    share = min(MOST, number / rows)
    return EarlyStopping(validation_fraction=share, n_iter_no_change=NEVER)


class Watch:
    """Stop a fit when the loss of held-out rows stops improving; keep a copy of the best weights.

    These may be those before training.
    """

    def __init__(self, rows: Split, rule: EarlyStopping) -> None:
        self.rows, self.rule = rows, rule
        self.curve: list[float] = []
        self.lowest = self.goal = np.inf  # with the start, and of the epochs alone
        self.waited = 0
        self.state: dict[str, np.ndarray] = {}

    def sees(self, model: Model) -> bool:
        """Whether to stop training after an epoch."""
        loss = self.measure(model)
        self.curve.append(loss)
        self.waited = 0 if loss < self.goal - self.rule.tol else self.waited + 1
        self.goal = min(self.goal, loss)
        return self.waited >= self.rule.n_iter_no_change

    def measure(self, model: Model) -> float:
        """Log loss of the held-out rows, or their error; keeps the best weights so far.

        To be called before training too.
        """
        loss = measured(model, self.rows)
        if loss < self.lowest:
            self.lowest = loss
            self.state = model.copies()
        return loss

    def shown(self) -> str:
        """The last loss."""
        return f", validation {self.curve[-1]:.4g}"

    def put_back(self, state: dict[str, np.ndarray]) -> None:
        """Restore the best weights in place, so that the model has them too."""
        for name, array in self.state.items():
            state[name][...] = array
