"""Exact softmax by full-batch L-BFGS (SciPy's); it yields at its start and at its end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from xcbench.datasets import Dataset
from xcbench.linear import DenseRows, LinearModel, SparseRows
from xcbench.solvers import Progress, Streams


@dataclass
class LBFGS:
    """Minimise the mean of -log softmax plus ridge/2 ||(w, b)||², ridge = lambda / N.

    Attributes
    ----------
    tolerance : stop at this largest |gradient| of the mean objective.
    iterations : stop after this many.
    """

    ridge: float
    tolerance: float
    iterations: int
    precision: str | None = "float64"
    interruptible: bool = False

    @property
    def is_bound(self) -> bool:
        """The exact log-likelihood bounds itself."""
        return True

    def fit(
        self, dataset: Dataset, model: LinearModel, streams: Streams, stops: list[float]
    ) -> Iterator[Progress]:
        """Run to convergence; the library's loop is not interrupted."""
        yield Progress(0, 0, 0.0)
        K, D = model.V.shape
        bias = model.b is not None
        blocks = list(model.blocks(dataset.train.X))

        def objective(theta: np.ndarray) -> tuple[float, np.ndarray]:
            model.V[...] = theta[: K * D].reshape(K, D)
            if model.b is not None:
                model.b[...] = theta[K * D :]
            loss, gradient = _mean_loss(model, blocks, dataset.train.y)
            gradient += self.ridge * theta
            return loss + self.ridge / 2 * float(theta @ theta), gradient

        found = minimize(
            objective,
            np.zeros(K * D + K * bias),
            jac=True,
            method="L-BFGS-B",
            options={
                "maxiter": self.iterations,
                "maxfun": 2 * self.iterations,
                "gtol": self.tolerance,
                "ftol": 0.0,
                "maxcor": 20,
            },
        )
        _, gradient = objective(found.x)
        largest = float(np.abs(gradient).max())
        note = None
        if largest > self.tolerance:
            note = f"L-BFGS stopped at iteration {found.nit}, largest |gradient| {largest:.1e}"
        yield Progress(
            iteration=int(found.nit),
            observations=int(found.nfev) * len(dataset.train),
            epoch=float(found.nfev),
            objective=float(found.fun) - self.ridge / 2 * float(found.x @ found.x),
            extra={"largest_gradient": largest},
            message=note,
        )


def _mean_loss(
    model: LinearModel, blocks: list[tuple[slice, SparseRows | DenseRows]], y: np.ndarray
) -> tuple[float, np.ndarray]:
    """Mean -log softmax over the training rows, and its gradient in (W, b) as one vector."""
    K, D = model.V.shape
    gradient = np.zeros((K, D))
    gradient_b = np.zeros(K)
    loss = 0.0
    for block, rows in blocks:
        scores = model.all(rows)
        row, label = np.arange(len(scores)), y[block]
        top = scores.max(axis=1, keepdims=True)
        exponential = np.exp(scores - top)
        total = exponential.sum(axis=1, keepdims=True)
        loss += float((np.log(total) + top).sum() - scores[row, label].sum())
        exponential /= total
        exponential[row, label] -= 1
        gradient += np.asarray(rows.matrix().T @ exponential).T
        gradient_b += exponential.sum(axis=0)
    parts = [gradient.ravel()] + ([gradient_b] if model.b is not None else [])
    return loss / len(y), np.concatenate(parts) / len(y)
