"""Train solvers that differ only in rate or weight decay, in lockstep on the same minibatches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np

from xcbench.core.batch import Batch
from xcbench.core.dataset import Dataset, Info
from xcbench.core.engines import SIDE_BY_SIDE
from xcbench.core.models.model import Model
from xcbench.core.samplers import Every
from xcbench.core.solvers import Progress, Solver, Streams
from xcbench.core.solvers.minibatch import Descent, minibatches

if TYPE_CHECKING:
    from xcbench.core.models.compiled import CompiledModel

CACHE_BYTES = 1 << 20  # weights of all lanes up to this size stay near the processor
MOST_BYTES = 1 << 28  # beyond, most weights are copied more often than they are used
COPIES = 2  # weights of a model for each visit of one in an epoch: all are copied at a checkpoint
FEWEST, MANY = 3, 5  # lanes whose work is less than that of runs by themselves, near and far


def fewest(info: Info, dtype: str) -> int:
    """Lanes from which on lockstep is faster on this data; more than there are, where it never is.

    Lanes lie side by side, so that what one waits for serves all; but a model's weights are copied
    to its lane and back. See ``python -m benchmarks lockstep``.
    """
    if not (info.sparse or 2 * info.nonzeros_per_row < info.features):
        return SIDE_BY_SIDE + 1
    size = info.classes * info.features
    weights = size * SIDE_BY_SIDE * np.dtype(dtype).itemsize
    if weights <= CACHE_BYTES:
        return FEWEST
    visited = info.train * info.nonzeros_per_row
    return MANY if weights <= MOST_BYTES and size <= COPIES * visited else SIDE_BY_SIDE + 1


def memory(info: Info, dtype: str, models: int) -> int:
    """Bytes of weights of all models but one, and of the lanes."""
    size = info.classes * info.features * np.dtype(dtype).itemsize
    return (models - 1 + SIDE_BY_SIDE) * size


def takes(solver: Solver) -> bool:
    """Whether compiled code exists for such steps: of one optimizer, on drawn classes.

    A sampler that looks at the model would draw other classes for each.
    """
    if type(solver) is not Descent or isinstance(solver.sampler, Every):
        return False
    return solver.optimizer.is_plain and not solver.sampler.refresh


def possible(solvers: Sequence[Solver], models: Sequence[Model], dataset: Dataset) -> bool:
    """Whether the solvers differ only in step size, and compiled code exists for their steps."""
    first, model = solvers[0], models[0]
    least = fewest(dataset.info, str(model.dtype))
    if not (least <= len(solvers) <= SIDE_BY_SIDE and model.engine == "numba"):
        return False
    from xcbench.core.models.compiled import CompiledModel, compiles_scalar

    return (
        all(map(takes, solvers))
        and type(model) is CompiledModel
        and isinstance(first, Descent)
        and (scalar := first.objective.scalar) is not None
        and compiles_scalar(scalar)
        and not isinstance(model.layout(dataset.train.X), np.ndarray)
        and all(_settings(solver) == _settings(first) for solver in solvers)
    )


def _settings(solver: Any) -> tuple[object, ...]:
    """All but the optimizer."""
    scalar = solver.objective.scalar
    return scalar, solver.sampler, solver.batch_size, solver.order, solver.passes, solver.init


def fit(
    solvers: Sequence[Descent],
    dataset: Dataset,
    models: Sequence[CompiledModel],
    streams: Streams,
    stops: Iterable[float],
) -> Iterator[list[Progress]]:
    """Train all solvers with the results of `Solver.fit` of each; yields the progress of each."""
    from xcbench.core.models.lanes import Lanes

    first = solvers[0]
    for solver, model in zip(solvers, models, strict=True):
        solver.begin(dataset, model, deepcopy(streams.weights))
        solver.sampler = first.sampler  # what one has fitted to the data serves all
    local = np.stack([solver.local(dataset) for solver in solvers])

    def move(batch: Batch, epoch: float) -> np.ndarray:
        rates = np.array([solver.optimizer.rate(epoch) for solver in solvers])
        total = np.zeros(len(solvers))
        for part, size in minibatches(batch, first.batch_size):
            decays = [solver.optimizer.weight_decay for solver in solvers]
            shrinkages = [
                decay.shrinkage(float(rate), size)
                for decay, rate in zip(decays, rates, strict=True)
            ]
            total += lanes.descend(part, size, local, rates, np.array(shrinkages), first.objective)
        return total

    yield [Progress(0, 0, 0.0, extra=first.sampler.extra) for _ in solvers]
    lanes = Lanes(models)  # an evaluation may have folded a scale into weights, here and below
    for place, means in first.visits(dataset, models[0], streams, stops, move):
        lanes.spread()
        yield [Progress(*place, float(mean)) for mean in np.broadcast_to(means, len(solvers))]
        lanes.renew()
