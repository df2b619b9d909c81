"""Systems beside each other on real data, each training in a process of its own, one thread each.

A comparison writes a row a point to its file under ``reports/``; what stands there is not trained
again. Then it writes its table into its page. Data are in ``$XCBENCH_DATA``, or
``data/``.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

import xcbench

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "library.md"
LIMIT = 150.0  # seconds of training
MEMORY = 12 * 2**30  # bytes that a process may have
STATUS = {-24: "limit", 3: "memory", 4: "not installed"}  # by exit code
Point = tuple[float, tuple[float, ...]]  # seconds of training so far, and what was measured
System = tuple[Callable[..., Iterator[Point]], dict[str, list[dict[str, Any]]]]


def write_between(page: Path, title: str, table: str) -> None:
    """Write a table into a page, between the marks of its title."""
    first, last = (f"<!-- {title}: {word} -->\n" for word in ("begin", "end"))
    before, _, rest = page.read_text("utf-8").partition(first)
    page.write_text(before + first + table + last + rest.partition(last)[2], "utf-8")


@dataclass(frozen=True)
class Comparison:
    """Systems by name, each with its settings on every dataset.

    Attributes
    ----------
    module : below `benchmarks`, with the comparison as ``COMPARISON``.
    measured : names of what a point measures.
    datasets : options of every dataset; `name`, where it has another one in a comparison.
    table : the table of the page, from the rows of the file.
    title : of the place in the page.
    limit : CPU seconds of a training.
    page : that has the table.
    """

    module: str
    measured: list[str]
    datasets: dict[str, dict[str, Any]]
    systems: dict[str, System]
    table: Callable[[pd.DataFrame], str]
    title: str
    limit: float = LIMIT
    page: Path = PAGE

    @property
    def path(self) -> Path:
        """The file of rows."""
        return ROOT / "reports" / f"{self.module.replace('_', '-')}.csv"

    @property
    def written(self) -> str:
        """What stands in the page."""
        table = self.table(pd.read_csv(self.path))
        return f"<!-- {self.title}: begin -->\n{table}<!-- {self.title}: end -->\n"

    def main(self) -> None:
        """Train what is missing, a process each; write the page's table."""
        if len(sys.argv) > 1:
            return self._measure(*sys.argv[1:])
        columns = ["dataset", "classes", "system", "setting", "seconds", *self.measured]
        columns += ["status", "load"]
        done = pd.read_csv(self.path) if self.path.exists() else pd.DataFrame(columns=columns)
        for dataset in self.datasets:
            for system, (_, settings) in self.systems.items():
                for setting in map(json.dumps, settings.get(dataset, ())):
                    same = done[["dataset", "system", "setting"]] == [dataset, system, setting]
                    if not same.all(axis=1).any():
                        rows = pd.DataFrame(
                            self._trained(dataset, system, setting), columns=columns
                        )
                        done = rows if done.empty else pd.concat([done, rows])
                        done.to_csv(self.path, index=False)
                        print(rows.to_string(index=False, header=False), flush=True)
        write_between(self.page, self.title, self.table(pd.read_csv(self.path)))

    def _trained(self, dataset: str, system: str, setting: str) -> list[list[Any]]:
        """Rows of a system; of one that is stopped, those before."""
        command = [sys.executable, "-m", f"benchmarks.{self.module}", dataset, system, setting]
        threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
        load, lines, status = round(os.getloadavg()[0], 1), list[str](), "ended"
        with subprocess.Popen(
            command, env={**os.environ, **threads}, stdout=subprocess.PIPE, text=True, cwd=ROOT
        ) as process:
            assert process.stdout
            lines += process.stdout
        if process.returncode:
            status = STATUS.get(process.returncode, "failed")
        points = [json.loads(line) for line in lines if line.startswith("[")]
        classes = points.pop(0)[0] if points else None
        numbers = points or [[None] * (1 + len(self.measured))]
        return [[dataset, classes, system, setting, *point, status, load] for point in numbers]

    def _measure(self, dataset: str, system: str, setting: str) -> None:
        """In a process of its own: print a line a point."""
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        folder = os.environ.get("XCBENCH_DATA", "data")
        options = {"name": dataset, **self.datasets[dataset]}
        data = xcbench.load_dataset(data_dir=folder, **options)
        print(json.dumps([data.info.classes]), flush=True)
        try:
            for seconds, found in self.systems[system][0](data, **json.loads(setting)):
                print(json.dumps([round(seconds, 2), *(round(x, 5) for x in found)]), flush=True)
        except (MemoryError, RuntimeError) as error:
            print(error, file=sys.stderr)
            sys.exit(3)
        except ImportError:
            sys.exit(4)


def training(limit: float = LIMIT) -> float:
    """Begin a training, which the system ends so many seconds later; CPU seconds now."""
    now = time.process_time()
    soft = int(now + limit) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.RLIM_INFINITY))
    return now


def measuring(started: float) -> float:
    """End a training; its seconds."""
    resource.setrlimit(resource.RLIMIT_CPU, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return time.process_time() - started
