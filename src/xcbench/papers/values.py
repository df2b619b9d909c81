"""Measurements over the seeds, and how tables write them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from xcbench.papers import verdicts
from xcbench.papers.columns import Column
from xcbench.papers.rows import ended
from xcbench.show.formats import NONE


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


def values(rows: pd.DataFrame, column: Column | str) -> Values:
    """Measurements of a column, by name or as an expression, in the order of the seeds."""
    column = Column(column) if isinstance(column, str) else column
    rows = rows.sort_values("seed")
    numbers = column.of(ended(rows)).dropna()
    return Values(
        tuple(float(value) for value in numbers),
        tuple(int(seed) for seed in rows.loc[rows["status"] == "diverged", "seed"]),
        _skipped(rows),
    )


def remark(rows: pd.DataFrame) -> str:
    """Why cells were not run or did not end as they should."""
    bad = rows[rows["status"] != "done"]
    messages = [
        str(row["message"]) if isinstance(row.get("message"), str) else str(row["status"])
        for row in bad.to_dict("records")
    ]
    return "; ".join(dict.fromkeys(messages))


def number(value: float, digits: int, sign: str = "") -> str:
    """A number, or a dash where there is none."""
    return NONE if np.isnan(value) else f"{value:{sign}.{digits}f}"


def _skipped(rows: pd.DataFrame) -> str:
    """The message of the cells that were skipped; where they have none, their data are absent."""
    skipped = rows[rows["status"] == "skipped"]
    messages = skipped["message"].dropna() if "message" in skipped else skipped["status"][:0]
    return str(messages.iloc[0]) if len(messages) else verdicts.NO_DATA if len(skipped) else ""


def within(differences: Sequence[float], allowed: Sequence[float]) -> str:
    """Whether differences are as small as asked; a dash where nothing is, or one is not known."""
    if not len(differences) or np.isnan(differences).any():
        return NONE
    return "yes" if (np.abs(differences) <= allowed).all() else "no"


def compared(
    rows: pd.DataFrame, others: pd.DataFrame, column: str, digits: int = 4, *, below: bool = False
) -> str:
    """In how many of the common seeds a column is above (or below) that of other rows."""
    one, other = (ended(it).set_index("seed") for it in (rows, others))
    common = one.index.intersection(other.index)
    if common.empty:
        return NONE
    differences = (one.loc[common, column] - other.loc[common, column]).to_numpy(float)
    if not differences.any():
        return f"the same, {len(differences)} of {len(differences)}"
    count = int((differences < 0 if below else differences > 0).sum())
    spread = f" ± {differences.std(ddof=1):.{digits}f}" if len(differences) > 1 else ""
    word = {0: "no", len(differences): "yes"}.get(count, "in part")
    return f"{word}, {count} of {len(differences)} ({differences.mean():+.{digits}f}{spread})"
