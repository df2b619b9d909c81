"""Any objective over all rows and all classes, by SciPy's L-BFGS."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy

from xcbench.core.dataset import Dataset, distinct_rows
from xcbench.core.models.linear import LinearModel
from xcbench.core.objectives import LogOdds, Objective
from xcbench.core.prior import PRIOR, begin
from xcbench.core.samplers import Sampler
from xcbench.core.solvers import Progress, Solver, Streams
from xcbench.core.solvers.minibatch import swapped

PART_SCORES = 1 << 16  # scores that an objective gets at a time, so that they stay in the cache


@dataclass
class LBFGS(Solver):
    """Minimise the mean of an objective plus l2/2 ||(w, b)||², l2 = lambda / N.

    It yields at its start and at its end; in between, the library has control. The objective of
    each iteration is reported at the end, in `Progress.earlier`.

    Attributes
    ----------
    sampler : one that gives every class.
    tolerance : stop at this largest |gradient| of the mean objective.
    iterations : stop after this many.
    init : of the weights, as in `Minibatch`.
    """

    objective: Objective
    sampler: Sampler
    l2: float
    tolerance: float
    iterations: int
    init: str = "zero"
    precision = "float64"
    interruptible = False

    @property
    def is_bound(self) -> bool:
        """As the objective says, since every class is used."""
        return self.objective.is_bound

    def fit(
        self, dataset: Dataset, model: LinearModel, streams: Streams, stops: Iterable[float]
    ) -> Iterator[Progress]:
        """Run to convergence; the library's loop is not interrupted."""
        if self.init == PRIOR:  # else from the model's weights
            begin(model, dataset, streams.weights, self.init)
        yield Progress(0, 0, 0.0)
        mean = _Mean(self, dataset, model, streams)
        parts = [model.V.ravel()] if model.b is None else [model.V.ravel(), model.b]
        steps: list[Progress] = []

        def record(intermediate_result: object) -> None:  # SciPy goes by the argument's name
            steps.append(mean.reached(len(steps) + 1))

        optimum = scipy.optimize.minimize(
            mean,
            np.concatenate(parts),
            jac=True,
            method="L-BFGS-B",
            callback=record,
            options={
                "maxiter": self.iterations,
                "maxfun": 2 * self.iterations,
                "gtol": self.tolerance,
                "ftol": 0.0,
                "maxcor": 20,
            },
        )
        _, gradient = mean(optimum.x)  # the model holds the optimum, not the last point tried
        mean.passes = int(optimum.nfev)
        largest = float(np.abs(gradient).max())
        note = None
        if largest > self.tolerance:
            note = f"L-BFGS stopped at iteration {optimum.nit}, largest |gradient| {largest:.1e}"
        yield replace(
            mean.reached(int(optimum.nit)),
            extra={"largest_gradient": largest},
            message=note,
            earlier=steps,
        )


class _Mean:
    """Mean objective over the training rows plus its l2 term; of (W, b) as one vector.

    Attributes
    ----------
    row : of each observation, in the blocks of scores. Observations with the same features share
        one, where every class is drawn and the objective is one of the log-odds.
    y, local, weight : of the observations; no weight where all count once.
    total : number of observations, or sum of their weights, which the penalty is shared by too.
    passes : how often it was evaluated.
    """

    def __init__(
        self, solver: LBFGS, dataset: Dataset, model: LinearModel, streams: Streams
    ) -> None:
        self.objective, self.l2, self.model = solver.objective, solver.l2, model
        self.sampler, self.rng = solver.sampler.fitted(dataset), streams.classes
        train = dataset.train
        X, place = train.X, np.arange(len(train))
        if isinstance(self.objective, LogOdds):
            X, place = distinct_rows(X)
        order = np.argsort(place, kind="stable")
        self.row = place[order]
        self.y, self.local = train.y[order], np.full(len(train), self.objective.start)
        self.blocks = model.full_batch(X)
        self.weight, self.total = None, float(len(train))
        if train.weight is not None:
            self.weight, self.total = train.weight[order], float(train.weight.sum())
            self.l2 *= len(train) / self.total
        self.passes, self.value, self.l2_term = 0, 0.0, 0.0

    def __call__(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Value and gradient."""
        V, b, N = self.model.V, self.model.b, self.total
        V[...] = theta[: V.size].reshape(V.shape)
        if b is not None:
            b[...] = theta[V.size :]
        total, of_W, of_b = 0.0, np.zeros(V.shape), np.zeros(len(V))
        for block, rows in self.blocks:
            grad = self.model.all(rows)
            total += self._replace(grad, block)
            of_W += self.model.gradient(rows, grad)
            of_b += grad.sum(axis=0)
        parts = [of_W.ravel()] if b is None else [of_W.ravel(), of_b]
        self.passes += 1
        self.value, self.l2_term = total / N, self.l2 / 2 * float(theta @ theta)
        return self.value + self.l2_term, np.concatenate(parts) / N + self.l2 * theta

    def _replace(self, scores: np.ndarray, block: slice) -> float:
        """Put gradients in the place of the scores (B, K) of a block; gives the sum of values."""
        total, size = 0.0, max(1, PART_SCORES // scores.shape[1])
        for first in range(0, len(scores), size):
            part, index = scores[first : first + size], slice(block.start + first, block.stop)
            if isinstance(self.objective, LogOdds):
                total += self._replace_shared(self.objective, part, index.start)
                continue
            y, local = self.y[index][: len(part)], self.local[index][: len(part)]
            rows = index.start + np.arange(len(y))
            drawn, log_weight = self.sampler.draw(self.rng, rows, y, len(y))
            if drawn is None:
                value, grad, local[:] = self._objective(swapped(part, y), log_weight, local)
                part[:] = swapped(grad, y)
            else:
                classes = np.column_stack([y, drawn])
                some = np.take_along_axis(part, classes, axis=1)
                value, grad, local[:] = self._objective(some, log_weight, local)
                np.put_along_axis(part, classes, grad, axis=1)
            if self.weight is not None:
                weight = self.weight[index][: len(y)]
                value, part[:] = weight * value, weight[:, None] * part
            total += float(value.sum())
        return total

    def _replace_shared(self, objective: LogOdds, part: np.ndarray, first: int) -> float:
        """The same of rows of scores that several observations may share."""
        index = slice(*np.searchsorted(self.row, [first, first + len(part)]))
        weight = 1.0 if self.weight is None else self.weight[index]
        value, part[:] = objective.of_all(part, self.row[index] - first, self.y[index], weight)
        return value

    def _objective(
        self, scores: np.ndarray, log_weight: np.ndarray | float, local: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The objective; there is no rate, and no step that |x|² could bound."""
        return self.objective(scores, log_weight, local, 0.0, np.zeros(len(scores)))

    def reached(self, iteration: int) -> Progress:
        """Where the library stands after an iteration: at the last point it evaluated."""
        return Progress(
            iteration,
            self.passes * len(self.y),
            float(self.passes),
            self.value,
            extra={"l2_term": self.l2_term} if self.l2 else {},
        )
