"""The table of ratios, and tables of rows that are kept under ``reports/`` and shown in a page."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tabulate import tabulate
from threadpoolctl import threadpool_info

from benchmarks import missed
from benchmarks.measure import interleaved

COLUMNS = ["benchmark", "shape", "ours", "peer", "ratio", "goal", "held"]
INTRODUCTION = """# Benchmarks

Made by `make bench`. Times are medians of 5 rounds in CPU seconds (`sweep`: wall clock, once), our
code and its peers in turn in one process, each with warm caches, on one core with one thread in
every library; `ratio` is peer / ours, the fastest peer first. Rows without a goal are for
information; among the peers of a library, the fastest counts. `held` says whether the goal was
reached in this run. Data are synthetic, of the named datasets' shapes.

- `sequential`, `minibatch`: drawing classes and fetching rows stand outside the clock, for all.
  The loops in C are compiled on the spot, `benchmarks/loops.c`; ours may take 1.3 times as long.
  Ours add a row's products in a fixed order, so that runs repeat to the last bit; `-ffast-math` may
  reorder them. `limit`: `ours` is a loop in C, beside the peer of a goal. A ratio below that goal
  means that hand-written C over the same weights does not reach it either.
- `scaling`: `ours` is the time at the smallest size, `peer` at the largest; behind the colon stands
  the fitted exponent. A control is the cost of reaching the weights of a step, with no other work:
  where it grows as the step does, the growth is that of memory. With N, a chunk of at most 4096
  rows is timed.
- `draws`: nanoseconds a draw of every sampler, `peer` is a uniform draw, of five classes for 200
  rows of 50 non-zeros. A look at the model is divided among these draws.
- `evaluation`: `limit` is the time to read 4 bytes for every non-zero and class, as fast as an
  array as large as 32 classes' weights is read through, and to raise every score. `ratio` is the
  share of it in ours.
- `memory`: `peer` is the time of the accesses to weights alone, `ratio` the share of it in ours.
  Peaks are those of training and evaluation, W included, above the process with its data loaded.
- `wikipedia`: negative sampling at the N, D and K of Wikipedia-500K, each noise once, in a process
  of its own. Of the ratio of epochs, `ours` is the adversarial tree and `peer` uniform noise, fits
  excluded, scaled up from the last four fifths of one; the tree may take twice as long. Memory is
  beyond the mapped rows.
- `memoir`: 25 batches at the N, D and K of LSHTC1, and beside LIBLINEAR on 10,000 rows of 1,000
  classes; each once, in a process of its own. Prediction (wall clock) is of 31,718 rows, as many as
  the test part has, or of all of the subset.
"""


@dataclass(frozen=True)
class Row:
    """A comparison, or a number of ours alone.

    Attributes
    ----------
    goal : such as ``>= 2.5``, of the ratio, or of ``ours`` where there is no peer.
    judged : the number that the goal is about, where it is another one.
    """

    benchmark: str
    shape: str
    ours: float
    peer: float | None = None
    goal: str = ""
    judged: float | None = None

    @property
    def ratio(self) -> float | None:
        """Peer / ours."""
        return None if self.peer is None else self.peer / self.ours

    @property
    def held(self) -> str:
        """Whether the goal is reached; nothing without a goal."""
        if not self.goal:
            return ""
        *_, relation, limit = self.goal.split()
        value = next(x for x in (self.judged, self.ratio, self.ours) if x is not None)
        return "yes" if (value - float(limit)) * (1 if relation == ">=" else -1) >= 0 else "no"


@dataclass(frozen=True)
class Candidate:
    """What is timed, and an array that it leaves, where it does not return it."""

    run: Callable[[], Any]
    result: Callable[[], np.ndarray] | None = None

    def outcome(self) -> Any:
        """The array, after a run; of candidates that leave none, anything else."""
        returned = self.run()
        return self.result() if self.result else returned


def ratios(
    shape: str,
    candidates: Mapping[str, Candidate],
    goals: Mapping[str, float] | None = None,
    *,
    label: str = "",
    unit: str = "s",
    units: int = 1,
    tolerance: float = 1e-4,
    limits: tuple[str, Iterable[str]] = ("", ()),
) -> list[Row]:
    """Time candidates in turn, the first of which is ours; gives a row a peer, the fastest first.

    Each runs once before. Of a peer with an array it has to be equal to that of ours.

    Parameters
    ----------
    goals : least ratio by name of a peer, or by the beginning of names: of the fastest of these.
    label : in front of the names.
    tolerance : of the norm of a difference, relative to that of our result.
    limits : the beginning of a peer's name, and candidates that get a row beside the fastest of it.
    """
    results = {name: it.outcome() for name, it in candidates.items()}
    ours, *others = results
    for name in others:
        if isinstance(results[name], np.ndarray):
            error = np.linalg.norm(results[name] - results[ours]) / np.linalg.norm(results[ours])
            assert error <= tolerance, f"{name} differs from ours: relative difference {error:.1e}"
    seconds = interleaved({name: it.run for name, it in candidates.items()}, units=units)
    of_ours = seconds.pop(ours)
    order = sorted(seconds, key=seconds.__getitem__)

    def fastest(named: str) -> str:
        """The peer of this name, or the fastest whose name begins so."""
        return named if named in seconds else next(it for it in order if it.startswith(named))

    least = {fastest(named): f">= {goal:g}" for named, goal in (goals or {}).items()}
    rows = [
        Row(f"{label}vs {name}, {unit}", shape, of_ours, seconds[name], least.get(name, ""))
        for name in order
    ]
    return rows + [
        Row(f"limit: {label}{name} vs {peer}, {unit}", shape, seconds[name], seconds[peer])
        for name in limits[1]
        for peer in [fastest(limits[0])]
    ]


def markdown(table: pd.DataFrame, kind: str = "github") -> str:
    """Write a table of text as it stands."""
    form: Any = {"tablefmt": kind, "disable_numparse": True}
    return tabulate(table.values.tolist(), [*table.columns], **form) + "\n"


def save(name: str, rows: list[Row], folder: Path) -> str:
    """Put a benchmark's rows in the place of its former ones; gives them as text."""
    csv = folder / "benchmarks.csv"
    new = pd.DataFrame([[getattr(row, name) for name in COLUMNS] for row in rows], columns=COLUMNS)
    numbers = new[["ours", "peer", "ratio"]].astype(float)
    new[[*numbers]] = numbers.map("{:.3g}".format).replace("nan", "")
    text = markdown(new, "simple")
    new["benchmark"] = f"{name}: " + new["benchmark"]
    if csv.exists():
        old = pd.read_csv(csv, dtype=str, keep_default_na=False)
        new = pd.concat([old[~old["benchmark"].str.startswith(f"{name}: ")], new])
    folder.mkdir(parents=True, exist_ok=True)
    new.to_csv(csv, index=False)
    machine = "\n".join(f"- {key}: {value}" for key, value in environment().items())
    (folder / "benchmarks.md").write_text(
        f"{INTRODUCTION}\n{markdown(new)}\n## Goals not held, and why\n\n"
        f"{markdown(missed.table(new))}\n## Machine of the last run\n\n{machine}\n"
    )
    return text


def environment() -> dict[str, str]:
    """Processor, caches, versions, and the kind of core that BLAS took it for."""
    hardware = {"CPU": platform.processor() or platform.machine()}
    if shutil.which("lscpu"):
        done = subprocess.run(["lscpu"], capture_output=True, text=True, check=True)
        fields = [line.strip().partition(":") for line in done.stdout.splitlines()]
        wanted = ("Model name", "CPU family", "Model", "Stepping", "L1d", "L1i", "L2", "L3")
        hardware = {key: it.strip() for key, _, it in fields if key.startswith(wanted)}
    libraries = ("numpy", "scipy", "numba", "torch")
    pools = [pool for pool in threadpool_info() if pool.get("architecture")]
    kinds = {f"{it['internal_api']} {it['version']} for {it['architecture']}" for it in pools}
    return {
        **hardware,
        "cores": f"{os.cpu_count()}, of which 1 is used",
        "python": platform.python_version(),
        **{it.name: it.version for it in metadata.distributions() if it.name in libraries},
        "BLAS": "; ".join(sorted(kinds)),
    }


@dataclass(frozen=True)
class Kept:
    """Rows that are measured once and kept, and the table of them in a page.

    Attributes
    ----------
    csv : file of the rows.
    keys : columns that name a row, or several that are measured together.
    page : that has the table, between marks.
    title : of the marks; without, the table is all of the page.
    table : the table, from the rows.
    digits : format of numbers in the file.
    """

    csv: Path
    keys: list[str]
    page: Path
    title: str
    table: Callable[[pd.DataFrame], str]
    digits: str | None = None

    def rows(self) -> pd.DataFrame:
        """Rows that are there."""
        there = self.csv.exists()
        return pd.read_csv(self.csv) if there else pd.DataFrame(columns=self.keys)

    def has(self, **values: object) -> bool:
        """Whether there is a row with these values."""
        rows = self.rows()
        return bool((rows[[*values]] == [*values.values()]).all(axis=1).any())

    def add(self, rows: pd.DataFrame) -> None:
        """Put rows in the place of those with the same keys, and write the page."""
        old = self.rows()
        same = old.set_index(self.keys).index.isin(rows.set_index(self.keys).index)
        kept = [part for part in (old[~same], rows) if len(part)]
        pd.concat(kept).to_csv(self.csv, index=False, float_format=self.digits)
        print(rows.tail(1).to_string(index=False, header=False), flush=True)
        self.write()

    @property
    def written(self) -> str:
        """What stands in the page."""
        if not self.title:
            return self.table(self.rows())
        first, last = (f"<!-- {self.title}: {word} -->\n" for word in ("begin", "end"))
        return f"{first}{self.table(self.rows())}{last}"

    def write(self) -> None:
        """Write the table into its page."""
        if not self.title:
            self.page.write_text(self.written, "utf-8")
            return
        first, *_, last = self.written.splitlines(keepends=True)
        before, _, rest = self.page.read_text("utf-8").partition(first)
        self.page.write_text(before + self.written + rest.partition(last)[2], "utf-8")
