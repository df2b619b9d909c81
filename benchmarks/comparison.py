"""Systems beside each other on real data, each training in a process of its own, one thread each.

A system is a generator. It yields nothing (None) when its data are prepared and a training starts,
and something that predicts whenever this is to be measured; in between its clock runs. What stands
in the file of a comparison is not trained again. Data are in ``$XCBENCH_DATA``, or ``data/``.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

import xcbench
from benchmarks.measure import ROOT, in_process
from benchmarks.table import Kept
from xcbench.core.dataset import Dataset

MEMORY = 12 * 2**30  # bytes that a process may have
STATUS = {0: "ended", -24: "limit", 3: "memory", 4: "not installed"}  # by exit code
System = tuple[Callable[..., Iterator[Any]], dict[str, list[dict[str, Any]]]]


@dataclass(frozen=True)
class Comparison:
    """Systems by name, each with its settings on every dataset.

    Attributes
    ----------
    kept : the rows and their table (`kept`).
    columns : what `measure` gives.
    measure : numbers of what a system yields, on the test rows.
    datasets : options of every dataset; `name`, where it has another one in a comparison.
    limit : CPU seconds of a training.
    """

    kept: Kept
    columns: list[str]
    measure: Callable[[Any, Dataset], tuple[float, ...]]
    datasets: dict[str, dict[str, Any]]
    systems: dict[str, System]
    limit: float

    def run(self) -> None:
        """Train what is missing, a process each; write the page's table."""
        for dataset, options in self.datasets.items():
            for system, (train, settings) in self.systems.items():
                for setting in settings.get(dataset, ()):
                    values = {"dataset": dataset, "system": system, "setting": json.dumps(setting)}
                    if not self.kept.has(**values):
                        named = {"name": dataset, **options}
                        load, points, code = (
                            round(os.getloadavg()[0], 1),
                            *in_process(trained, named, train, setting, self.measure, self.limit),
                        )
                        names = ["classes", "seconds", *self.columns]
                        rows = pd.DataFrame(points or [[None] * len(names)], columns=names)
                        status = STATUS.get(code, "failed")
                        self.kept.add(rows.assign(**values, status=status, load=load))
        self.kept.write()


def kept(
    file: str, title: str, table: Callable[[pd.DataFrame], str], page: str = "library.md"
) -> Kept:
    """Rows of a comparison under ``reports/``, and their table in a page of ``docs/``."""
    keys = ["dataset", "system", "setting"]
    return Kept(ROOT / "reports" / file, keys, ROOT / "docs" / page, title, table)


def trained(
    options: dict[str, Any],
    train: Callable[..., Iterator[Any]],
    setting: dict[str, Any],
    measure: Callable[[Any, Dataset], tuple[float, ...]],
    limit: float,
) -> Iterator[list[Any]]:
    """Classes, CPU seconds and measures of a system, whenever it is to be measured."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    data = xcbench.load_dataset(data_dir=os.environ.get("XCBENCH_DATA", "data"), **options)
    seconds, started = 0.0, training(limit)
    try:
        for predictor in train(data, **setting):
            seconds = seconds + measuring(started) if predictor is not None else 0.0
            if predictor is not None:
                numbers = [round(x, 5) for x in measure(predictor, data)]
                yield [data.info.classes, round(seconds, 2), *numbers]
            if seconds > limit:
                return
            started = training(limit)
    except (MemoryError, RuntimeError) as error:
        print(error, file=sys.stderr)
        sys.exit(3)
    except ImportError:
        sys.exit(4)


def training(limit: float) -> float:
    """Begin a training, which the system ends so many seconds later; CPU seconds now."""
    now = time.process_time()
    resource.setrlimit(resource.RLIMIT_CPU, (int(now + limit) + 1, resource.RLIM_INFINITY))
    return now


def measuring(started: float) -> float:
    """End a training; its seconds."""
    resource.setrlimit(resource.RLIMIT_CPU, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return time.process_time() - started
