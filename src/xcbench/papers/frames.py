"""What the tables of a paper's report take from the measured rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from xcbench.papers import verdicts
from xcbench.report.formats import NONE
from xcbench.report.summary import ENDED
from xcbench.run.results import earliest_best

NAMES = re.compile(r"`([^`]+)`|(?<![\w.`])([A-Za-z_][\w.]*)")  # of columns in an expression


@dataclass(frozen=True)
class Values:
    """Measurements over seeds of the cells that ended, and what became of the others.

    Attributes
    ----------
    skipped : why cells were not run, such as ``not run: data``; empty where all were.
    """

    values: tuple[float, ...]
    diverged: tuple[int, ...] = ()
    skipped: str = ""

    @property
    def mean(self) -> float:
        """Mean over seeds."""
        return float(np.mean(self.values)) if self.values else float("nan")

    @property
    def spread(self) -> float:
        """Standard deviation over seeds."""
        return float(np.std(self.values, ddof=1)) if len(self.values) > 1 else float("nan")

    def text(self, digits: int = 4) -> str:
        """``mean ± spread``, with the seeds that diverged."""
        if not self.values:
            if self.skipped:
                return self.skipped
            return f"diverged ({len(self.diverged)} seeds)" if self.diverged else NONE
        spread = f" ± {self.spread:.{digits}f}" if len(self.values) > 1 else ""
        count = len(self.values) + len(self.diverged)
        lost = f" ({len(self.diverged)} of {count} seeds diverged)" if self.diverged else ""
        return f"{self.mean:.{digits}f}{spread}{lost}"


def part(results: pd.DataFrame, grid: str, **wanted: object) -> pd.DataFrame:
    """Rows of a grid with these values, such as ``dataset="mnist"``."""
    keep = results["grid"] == grid
    for name, value in wanted.items():
        keep &= results[name] == value if name in results else False
    return results[keep]


def ended(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of the cells that ended."""
    return rows[rows["status"].isin(ENDED)]


def without_twins(results: pd.DataFrame) -> pd.DataFrame:
    """Rows of real data: numbers of a synthetic stand-in have no place beside printed ones."""
    return results[~results["dataset"].astype(str).str.endswith("-twin")]


def values(rows: pd.DataFrame, column: str) -> Values:
    """Measurements of a column, or an expression of columns, in the order of the seeds."""
    rows = rows.sort_values("seed")
    found = evaluated(ended(rows), column).dropna()
    return Values(
        tuple(float(value) for value in found),
        tuple(int(seed) for seed in rows.loc[rows["status"] == "diverged", "seed"]),
        _skipped(rows),
    )


def evaluated(rows: pd.DataFrame, expression: str) -> pd.Series:
    """A column, or an expression such as ``1 - test_error``; empty where a column is missing."""
    if expression in rows:
        return rows[expression]
    used = {name for pair in NAMES.findall(expression) for name in pair if name}
    if not used <= {*rows}:
        return pd.Series(dtype=float)
    return pd.Series(rows[list(used)].astype(float).eval(expression, engine="python"))


Cell = Callable[[pd.DataFrame], str]  # of the rows of a line


def mean(column: str, digits: int = 4) -> Cell:
    """Cell with mean and spread of a column, or an expression of columns."""
    return lambda rows: values(rows, column).text(digits)


def once(column: str, form: str = ",.0f", missing: float = np.nan) -> Cell:
    """Cell with what a column, or an expression of columns, has in all rows."""

    def cell(rows: pd.DataFrame) -> str:
        value = next(iter(evaluated(rows, column).dropna()), missing)
        return NONE if pd.isna(value) else f"{value:{form}}"

    return cell


def difference(one: str, other: str, digits: int = 4, sign: str = "+") -> Cell:
    """Cell with how far the mean of a column is above that of another."""
    return lambda rows: number(values(rows, one).mean - values(rows, other).mean, digits, sign)


def pivot(
    names: Sequence[str],
    groups: Iterable[tuple[Sequence[object], pd.DataFrame]],
    cells: Mapping[str, Cell],
    *,
    every: bool = False,
) -> pd.DataFrame:
    """A table of cells made of groups of rows, a line for each that has a cell that ended.

    Parameters
    ----------
    names : columns of the labels.
    groups : labels, and rows.
    cells : what the other columns show.
    every : whether groups of which no cell ended have a line too.
    """
    lines = [
        [*labels, *(cell(rows) for cell in cells.values())]
        for labels, rows in groups
        if len(rows if every else ended(rows))
    ]
    return pd.DataFrame(lines, columns=[*names, *cells])


def paired(difference: np.ndarray, wins: np.ndarray, digits: int) -> str:
    """In how many seeds one wins over another, with mean and spread of what lies between them."""
    if not len(difference):
        return NONE
    spread = f" ± {difference.std(ddof=1):.{digits}f}" if len(difference) > 1 else ""
    count = int(wins.sum())
    word = {0: "no", len(wins): "yes"}.get(count, "in part")
    return f"{word}, {count} of {len(wins)} ({difference.mean():+.{digits}f}{spread})"


def remark(rows: pd.DataFrame) -> str:
    """Why cells were not run or did not end as they should."""
    bad = rows[rows["status"] != "done"]
    said = [
        str(row["message"]) if isinstance(row.get("message"), str) else str(row["status"])
        for row in bad.to_dict("records")
    ]
    return "; ".join(dict.fromkeys(said))


def number(value: float, digits: int, sign: str = "") -> str:
    """A number, or a dash where there is none."""
    return NONE if np.isnan(value) else f"{value:{sign}.{digits}f}"


def _skipped(rows: pd.DataFrame) -> str:
    """The message of the cells that were skipped; where they have none, their data are absent."""
    skipped = rows[rows["status"] == "skipped"]
    said = skipped["message"].dropna() if "message" in skipped else skipped["status"][:0]
    return str(said.iloc[0]) if len(said) else verdicts.NO_DATA if len(skipped) else ""


def stopped(rows: pd.DataFrame, curves: pd.DataFrame, column: str) -> pd.DataFrame:
    """Rows as they stand at the first checkpoint at which a column is lowest (early stopping).

    Parameters
    ----------
    rows : one row a cell.
    curves : checkpoints, of these cells among others.
    column : such as ``validation_log_loss``; cells that lack it stay as they are.
    """
    if column not in curves:
        return rows
    own = curves[curves["cell"].isin(rows["cell"])]
    best = earliest_best(own, column).drop_duplicates("cell").set_index("cell")
    known = rows["cell"].isin(best.index)
    at = {
        str(name): rows["cell"].map(best[name]).where(known, rows[name])
        for name in best
        if name in rows
    }
    return rows.assign(**at)
