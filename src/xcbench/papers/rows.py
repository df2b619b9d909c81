"""Rows of the committed tables, of a grid, a dataset, a method and settings, and their values.

With ``best`` the first half of the seeds chooses a rate by the training log loss. The rows are
those of the other half: on the seeds that chose it, a minimum over rates would be too low.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from xcbench.core.metrics import of_column
from xcbench.errors import UserError
from xcbench.papers.columns import TRAIN_LOG_LOSS, Column
from xcbench.papers.verdicts import NO_DATA
from xcbench.show.formats import NONE
from xcbench.show.summary import at_best_rate
from xcbench.store.cell import ENDED
from xcbench.store.ordering import best_of_each

BEST = "best"
RATIO = "ratio"
Conditions = Mapping[Column, object]


def having(rows: pd.DataFrame, wanted: Mapping[str, object] | Conditions) -> pd.DataFrame:
    """Rows with these values, or any of a list of values; a grid stands for its name."""
    kept = np.arange(len(rows))
    for name, value in wanted.items():
        column = rows.get(str(name))
        values = value if isinstance(value, list) else [value]
        named = [getattr(it, "name", it) for it in values]
        kept = kept[column.iloc[kept].isin(named)] if column is not None else kept[:0]
    return rows.iloc[kept]


def ended(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of the cells that ended."""
    return rows[rows["status"].isin(ENDED)]


def without_twins(results: pd.DataFrame) -> pd.DataFrame:
    """Rows of real data: numbers of a synthetic stand-in have no place beside printed ones."""
    return results[~results["dataset"].astype(str).str.endswith("-twin")]


def compact(table: pd.DataFrame) -> pd.DataFrame:
    """The same table in a few blocks, words as Python's own: rows are taken five times as fast."""
    words: list[str] = [*table.select_dtypes("str")]
    return table.astype(dict.fromkeys(words, object)).copy()


@dataclass(frozen=True)
class Rows:
    """Which rows; what is empty is not asked for.

    Attributes
    ----------
    where : values of columns, numbers or words.
    """

    grid: str
    dataset: str = ""
    method: str = ""
    where: Conditions = field(default_factory=dict)
    best: bool = False

    def on(self, dataset: str) -> Rows:
        """The same of a dataset, where none is named."""
        return replace(self, dataset=self.dataset or dataset)

    def __str__(self) -> str:
        return " ".join([self.grid, self.dataset, self.label]).strip()

    @property
    def label(self) -> str:
        """Method and settings in words."""
        settings = [f"{column}={value}" for column, value in self.where.items()]
        return " ".join(filter(None, [self.method, *settings, BEST if self.best else ""]))

    def all_of(self, results: pd.DataFrame) -> pd.DataFrame:
        """Rows that ran."""
        named = {"grid": self.grid, "dataset": self.dataset, "method": self.method}
        selected = having(results, {name: value for name, value in named.items() if value})
        selected = having(selected, self.where)
        if self.best and len(ended(selected)):
            selected = _at_best(selected)
        return selected[selected["status"] != "skipped"]

    def of(self, results: pd.DataFrame) -> pd.DataFrame:
        """Rows that ended."""
        return ended(self.all_of(results))

    def numbers(self, results: pd.DataFrame, column: Column) -> pd.Series:
        """A column by seed, of the rows that ended.

        Raises
        ------
        UserError
            If two rows have the same seed, as where a setting is not named.
        """
        selected = self.of(results)
        by_seed = column.of(selected).groupby(selected["seed"])
        if len(selected) and (by_seed.size() > 1).any():
            raise UserError(
                f"'{self}' selects several rows per seed: name the setting in which they differ"
            )
        return by_seed.first().dropna()


def between(
    results: pd.DataFrame, one: Rows, other: Rows, column: Column, by: str = ""
) -> list[float]:
    """Differences of two sets of rows in a column, or with ``by=RATIO`` ratios, seed by seed.

    Where of several seeds one alone ended, it stands for itself.
    """
    first, second = (side.numbers(results, column) for side in (one, other))
    if len(first) == 1 < one.all_of(results)["seed"].nunique():
        second = second[second.index.isin(first.index)]
    if len(second) == 1 < other.all_of(results)["seed"].nunique():
        first = first[first.index.isin(second.index)]
    return differences(first, second, by)


def differences(first: pd.Series, second: pd.Series, by: str = "") -> list[float]:
    """Differences of two columns by seed, or with ``by=RATIO`` ratios, of the common seeds.

    What was run once, as no random number is in it, is repeated for every seed.
    """
    if len(second) == 1 and len(first) > 1:
        second = pd.Series(second.iloc[0], first.index)
    if len(first) == 1 and len(second) > 1:
        first = pd.Series(first.iloc[0], second.index)
    common = first.index.intersection(second.index)
    first, second = first.loc[common], second.loc[common]
    return [float(value) for value in (first / second if by == RATIO else first - second)]


def _at_best(selected: pd.DataFrame) -> pd.DataFrame:
    """Rows at the rate that is best on the first half of the seeds, of the other half."""
    seeds = sorted(selected["seed"].unique())
    half = seeds[: len(seeds) // 2]
    if not half:
        return selected[:0]
    chosen = at_best_rate(selected[selected["seed"].isin(half)], str(TRAIN_LOG_LOSS))["lr"]
    return selected[selected["lr"].isin(chosen) & ~selected["seed"].isin(half)]


# ---------------------------------------------------------------- at a checkpoint
def stopped(rows: pd.DataFrame, curves: pd.DataFrame, column: str) -> pd.DataFrame:
    """Rows as they stand at the first checkpoint at which a column is best (early stopping).

    Parameters
    ----------
    rows : one row a cell.
    curves : checkpoints, of these cells among others.
    column : such as ``validation_log_loss``; cells that lack it stay as they are.
    """
    of_column(column)  # a wrong name is no missing column
    of_rows = curves[curves["cell"].isin(rows["cell"])]
    return at(rows, best_of_each(of_rows, column, "cell")) if column in curves else rows


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


# ---------------------------------------------------------------- measurements over the seeds
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
    return str(messages.iloc[0]) if len(messages) else NO_DATA if len(skipped) else ""


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
