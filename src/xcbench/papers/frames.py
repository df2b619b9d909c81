"""What the tables of a paper's report take from the measured rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from xcbench.core.metrics import of_column
from xcbench.papers import verdicts
from xcbench.show.formats import NONE
from xcbench.show.summary import ENDED
from xcbench.store.ordering import best_of_each

NAMES = re.compile(r"`([^`]+)`|(?<![\w.`])([A-Za-z_][\w.]*)")  # of columns in an expression


@dataclass(frozen=True)
class Values:
    """Measurements over seeds of the cells that ended, and what became of the others.

    Attributes
    ----------
    skipped : why cells were not run, such as ``not run: data``; empty where all were.
    tied : other rates whose losses are within the spread of that of a chosen rate.
    """

    values: tuple[float, ...]
    diverged: tuple[int, ...] = ()
    skipped: str = ""
    tied: tuple[float, ...] = ()

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


def having(rows: pd.DataFrame, wanted: Mapping[str, object]) -> pd.DataFrame:
    """Rows with these values, or any of a list of values."""
    keep = pd.Series(True, index=rows.index)
    for name, value in wanted.items():
        among = value if isinstance(value, list) else [value]
        keep &= rows[name].isin(among) if name in rows else False
    return rows[keep]


def ended(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of the cells that ended."""
    return rows[rows["status"].isin(ENDED)]


def without_twins(results: pd.DataFrame) -> pd.DataFrame:
    """Rows of real data: numbers of a synthetic stand-in have no place beside printed ones."""
    return results[~results["dataset"].astype(str).str.endswith("-twin")]


def values(rows: pd.DataFrame, column: str) -> Values:
    """Measurements of a column, or an expression of columns, in the order of the seeds."""
    rows = rows.sort_values("seed")
    numbers = evaluated(ended(rows), column).dropna()
    return Values(
        tuple(float(value) for value in numbers),
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


def within(apart: Sequence[float], allowed: Sequence[float]) -> str:
    """Whether differences are as small as asked; a dash where nothing is, or one is not known."""
    if not len(apart) or np.isnan(apart).any():
        return NONE
    return "yes" if (np.abs(apart) <= allowed).all() else "no"


def compared(
    rows: pd.DataFrame, others: pd.DataFrame, column: str, digits: int = 4, *, below: bool = False
) -> str:
    """In how many of the common seeds a column is above (or below) that of other rows."""
    one, other = (ended(it).set_index("seed") for it in (rows, others))
    common = one.index.intersection(other.index)
    if common.empty:
        return NONE
    apart = (one.loc[common, column] - other.loc[common, column]).to_numpy(float)
    if not apart.any():
        return f"the same, {len(apart)} of {len(apart)}"
    count = int((apart < 0 if below else apart > 0).sum())
    spread = f" ± {apart.std(ddof=1):.{digits}f}" if len(apart) > 1 else ""
    word = {0: "no", len(apart): "yes"}.get(count, "in part")
    return f"{word}, {count} of {len(apart)} ({apart.mean():+.{digits}f}{spread})"


def stopped(rows: pd.DataFrame, curves: pd.DataFrame, column: str) -> pd.DataFrame:
    """Rows as they stand at the first checkpoint at which a column is best (early stopping).

    Parameters
    ----------
    rows : one row a cell.
    curves : checkpoints, of these cells among others.
    column : such as ``validation_log_loss``; cells that lack it stay as they are.
    """
    of_column(column)  # a wrong name is no missing column
    return at(rows, best_of_each(_of(rows, curves), column, "cell")) if column in curves else rows


def at_start(rows: pd.DataFrame, curves: pd.DataFrame) -> pd.DataFrame:
    """Rows as they stand at the first checkpoint."""
    return at(rows, _of(rows, curves).sort_values("epoch", kind="stable"))


def at(rows: pd.DataFrame, checkpoints: pd.DataFrame) -> pd.DataFrame:
    """Rows as they stand at the first of these checkpoints; cells without one stay as they are."""
    of_cell = checkpoints.drop_duplicates("cell").set_index("cell")
    measured = rows["cell"].isin(of_cell.index)
    values = {
        str(name): rows["cell"].map(of_cell[name]).where(measured, rows[name])
        for name in of_cell
        if name in rows
    }
    return rows.assign(**values)


def _of(rows: pd.DataFrame, curves: pd.DataFrame) -> pd.DataFrame:
    """Checkpoints of the cells of some rows."""
    return curves[curves["cell"].isin(rows["cell"])]
