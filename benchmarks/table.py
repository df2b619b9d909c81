"""The table of results: one row a comparison, kept benchmark by benchmark."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

import pandas as pd
from tabulate import tabulate

from benchmarks import missed
from benchmarks.machine import describe

COLUMNS = ["benchmark", "shape", "ours", "peer", "ratio", "goal", "held"]
INTRODUCTION = """# Benchmarks

Made by `make bench`. Times are medians of 5 rounds in CPU seconds (`sweep`: wall clock, once), our
code and its peers in turn in one process, each with warm caches, on one core with one thread in
every library; `ratio` is peer / ours. Rows without a goal are for information; among the peers of a
library, the fastest counts. `held` says whether the goal was reached in this run. Data are
synthetic, of the named datasets' shapes.

- `sequential`, `minibatch`: drawing classes and fetching rows stand outside the clock, for all.
  The loops in C are compiled on the spot, `benchmarks/loops.c`; ours may take 1.3 times as long.
  Ours add a row's products in a fixed order, so that runs repeat to the last bit; `-ffast-math` may
  reorder them. `limit`: `ours` is a loop in C, beside the peer of a goal. A ratio below that goal
  means that hand-written C over the same weights does not reach it either.
- `scaling`: `ours` is the time at the smallest size, `peer` at the largest; behind the colon stands
  the fitted exponent. A control is the cost of reaching the weights of a step, with no other work:
  where it grows as the step does, the growth is that of memory. With N, a chunk of at most 4096
  rows is timed.
- `memory`: `peer` is the time of the accesses to weights alone, `ratio` the share of it in ours.
  Peaks are those of training and evaluation, W included, above the process with its data loaded.
- `wikipedia`: negative sampling at the N, D and K of Wikipedia-500K, each noise once, in a process
  of its own. Of the ratio of epochs, `ours` is the adversarial tree and `peer` uniform noise, fits
  excluded, scaled up from the last four fifths of one; memory is beyond the mapped rows.
- `memoir`: 25 batches at the N, D and K of LSHTC1, and beside LIBLINEAR on 10,000 rows of 1,000
  classes; each once, in a process of its own. Prediction (wall clock) is of 31,718 rows, as many as
  the test part has, or of all of the subset.
"""


@dataclass(frozen=True)
class Row:
    """A comparison; ``goal`` is the least ratio wanted, 0 for none.

    A row of another kind brings its own ``verdict``: what was wanted, and whether it held.
    """

    benchmark: str
    shape: str
    ours: float
    peer: float | None = None
    goal: float = 0.0
    verdict: tuple[str, bool] | None = None

    @property
    def ratio(self) -> float | None:
        """Peer / ours."""
        return None if self.peer is None else self.peer / self.ours

    def cells(self) -> dict[str, str]:
        """What stands in the table."""
        ratio = self.ratio
        goal, held = f">= {self.goal:g}" if self.goal else "", ""
        if self.goal and ratio is not None:
            held = "yes" if ratio >= self.goal else "no"
        if self.verdict:
            goal, held = self.verdict[0], "yes" if self.verdict[1] else "no"
        numbers = {"ours": self.ours, "peer": self.peer, "ratio": ratio}
        shown = {name: "" if x is None else f"{x:.3g}" for name, x in numbers.items()}
        return {**asdict(self), **shown, "goal": goal, "held": held}


def frame(rows: list[Row]) -> pd.DataFrame:
    """Rows as text."""
    return pd.DataFrame([row.cells() for row in rows], columns=COLUMNS)


def _pretty(table: pd.DataFrame, kind: str) -> str:
    columns = [*table.columns]
    return tabulate(table.values.tolist(), columns, tablefmt=kind, disable_numparse=True)


def text(rows: list[Row]) -> str:
    """Table for the terminal."""
    return _pretty(frame(rows), "simple")


def save(name: str, rows: list[Row], folder: Path) -> None:
    """Put a benchmark's rows in the place of its former ones, and write both files again."""
    folder.mkdir(parents=True, exist_ok=True)
    csv = folder / "benchmarks.csv"
    new = frame(rows).assign(benchmark=lambda t: f"{name}: " + t["benchmark"])
    if csv.exists():
        old = pd.read_csv(csv, dtype=str, keep_default_na=False)
        new = pd.concat([old[~old["benchmark"].str.startswith(f"{name}: ")], new])
    new.to_csv(csv, index=False)
    write(new, folder)


def write(new: pd.DataFrame, folder: Path) -> None:
    """Write the page of all rows."""
    machine = "\n".join(f"- {key}: {value}" for key, value in describe().items())
    body, without = _pretty(new, "github"), _pretty(missed.table(new), "github")
    (folder / "benchmarks.md").write_text(
        f"{INTRODUCTION}\n{body}\n\n## Goals not held, and why\n\n{without}\n"
        f"\n## Machine of the last run\n\n{machine}\n"
    )
