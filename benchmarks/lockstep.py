"""Learning rates in lockstep against as many runs one after the other, of the same updates."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from benchmarks.full_batch import mnist
from benchmarks.shapes import shape, twin
from benchmarks.table import Row
from benchmarks.timing import interleaved
from xcbench.core import models
from xcbench.core.dataset import Dataset
from xcbench.core.solvers import Streams, lockstep
from xcbench.methods import registry

SIX = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3]
EIGHT = [*SIX, 0.0003, 0.0001]  # which fill a register
GOAL = 2.0


def _made(name: str, dataset: Dataset, rates: list[float]) -> tuple[list[Any], list[Any]]:
    """A solver and a model for each rate."""
    method, info = registry.find(name).thing, dataset.info
    settings = method.schema(name=name)
    solvers = [method.build(replace(settings, lr=lr), info) for lr in rates]
    shapes = info.classes, info.features
    return solvers, [models.make("numba", *shapes, True, "float32") for _ in rates]


def _alone(name: str, dataset: Dataset, rates: list[float], epochs: float) -> list[np.ndarray]:
    solvers, trained = _made(name, dataset, rates)
    for solver, model in zip(solvers, trained, strict=True):
        list(solver.fit(dataset, model, Streams.of(0), [epochs]))
    return [model.V for model in trained]


def _together(name: str, dataset: Dataset, rates: list[float], epochs: float) -> list[np.ndarray]:
    solvers, trained = _made(name, dataset, rates)
    list(lockstep.fit(solvers, dataset, trained, Streams.of(0), [epochs]))
    return [model.V for model in trained]


def compare(name: str, dataset: Dataset, rates: list[float], epochs: float) -> Row:
    """Seconds a rate; the weights are the same to the last bit."""
    runs = {
        "lockstep": partial(_together, name, dataset, rates, epochs),
        "alone": partial(_alone, name, dataset, rates, epochs),
    }
    for together, alone in zip(*(run() for run in runs.values()), strict=True):
        np.testing.assert_array_equal(together, alone)
    timings = interleaved(runs)
    return Row(
        f"{name}, {len(rates)} rates, vs one by one, s/rate",
        shape(dataset),
        timings["lockstep"] / len(rates),
        timings["alone"] / len(rates),
        GOAL if lockstep.is_faster(dataset.info, "float32") else 0.0,
    )


def run() -> list[Row]:
    """MNIST's shape, where launches take it, and two of which the weights leave the cache."""
    data = [
        (mnist(), SIX, 1.0),
        (mnist(), EIGHT, 1.0),
        (twin(4880, 1836, 148, 69), SIX, 3.0),
        (twin(15539, 5000, 896, 237), SIX, 1.0),
    ]
    return [compare(name, *work) for work in data for name in ("umax", "implicit", "ove")]
