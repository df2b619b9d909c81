"""A draw of each sampler beside a uniform one, at three numbers of classes.

Drawn are classes for the rows of one refresh, by the code of both engines. A look at the model,
which comes before them, is a row of its own: its time is shared by these draws, and by more of them
with a larger `method.refresh`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.measure import interleaved
from benchmarks.shapes import shape, uniform
from benchmarks.table import Row
from xcbench.core import models
from xcbench.core.dataset import Dataset
from xcbench.core.samplers import OF_MODEL, Sampler
from xcbench.methods.method import sampler
from xcbench.methods.options import KernelOptions, SampledOptions

CLASSES = (1_000, 10_000, 100_000)
FEATURES, NONZEROS = 500, 50
SETTINGS = {
    "uniform": SampledOptions(name="css", sampler="others"),
    "frequency": SampledOptions(name="css", sampler="frequency"),
    "tree": SampledOptions(name="css", sampler="tree"),
    **{name: SampledOptions(name="css", sampler=name) for name in OF_MODEL},
    "kernel, 32 coordinates": SampledOptions(
        name="css", sampler="kernel", kernel=KernelOptions(dimensions=32)
    ),
}


def run() -> list[Row]:
    """Nanoseconds a draw."""
    return [row for classes in CLASSES for row in _of_classes(classes)]


def _of_classes(classes: int) -> list[Row]:
    dataset = uniform(2 * classes, classes, FEATURES, NONZEROS)
    model = models.make("numpy", classes, FEATURES, True, "float32")
    model.V[:] = np.random.default_rng(1).standard_normal(model.V.shape, np.float32)
    rows = np.arange(SampledOptions.refresh)
    draws: dict[str, Callable[[], object]] = {}
    looks: dict[str, Callable[[], object]] = {}
    for name, settings in SETTINGS.items():
        fitted = sampler(settings, dataset.info).fitted(dataset)
        draws[f"{name} vs uniform"] = partial(_draw, fitted.seen(model), dataset, rows)
        if fitted.refresh:
            looks[f"a look of {name} vs a uniform draw"] = partial(fitted.seen, model)
    seconds = interleaved({**draws, **looks}, units=len(rows) * SampledOptions.negatives)
    of_uniform = seconds.pop("uniform vs uniform")
    return [
        Row(f"{label}, ns a draw", shape(dataset), 1e9 * it, 1e9 * of_uniform)
        for label, it in seconds.items()
    ]


def _draw(drawing: Sampler, dataset: Dataset, rows: np.ndarray) -> object:
    return drawing.draw(np.random.default_rng(0), rows, dataset.train.y[rows], 100)
