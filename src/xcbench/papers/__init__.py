"""The papers: their grids, their tables and figures, what they published.

A paper is a list of grids, in the order in which they run, and a function that turns what they
measured into a report. Everything else is shared: `run` runs grids and keeps what they gave,
`published` are the printed numbers, `verdicts` compares, `page` shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

from xcbench.core.metrics import of_column
from xcbench.errors import UserError, suggestion
from xcbench.papers.rows import Conditions, Rows, having
from xcbench.system import threads

HERE = Path(__file__).parent
OURS = ("umax", "ove", "ar", "adv", "memoir", "scent")  # in the order of the first page
NAMES = (*OURS, *sorted({path.parent.name for path in HERE.glob("*/paper.py")} - {*OURS}))
PARTS = ("tuning", "runs")
LOSS = "train_log_loss"
Measure = Callable[[pd.DataFrame, str, Path, Path], pd.DataFrame]  # see `Grid.measure`
Lines = Iterator[dict[str, str]]  # of a table: cells by heading


@dataclass(frozen=True)
class Grid:
    """An experiment of a paper, ``experiment=<paper>/<name>``; called, some of its rows.

    Attributes
    ----------
    also : further experiments whose points belong to the same grid, such as those of a dataset
        that affords fewer seeds.
    part : ``tuning`` or ``runs``, each a table of results of its own.
    rates_from : grid whose best rate (and ``tuned``) for a dataset and a method this one takes;
        empty: as the experiment says.
    extended : whether points are added while a best one lacks neighbours. A rate gets them a
        decade at a time while the best one ends the grid. Where other settings are ``tuned`` too,
        each gets them half a decade to either side of the best.
    criterion : column of a metric by which the best rate of a method is chosen; of methods that
        are not named, the training log loss.
    variants : settings, such as ``method.sampler``, each value of which is tuned by itself.
    tuned : settings of the method that are chosen together with the rate, numbers as it is.
    stopped : whether a cell counts by its best checkpoint (early stopping), not by its last.
    measure : fills columns that need the weights of cells, which the tables do not hold: a
        function of all rows of the part, the name of the grid, the folder of the cells and that of
        the paper's report, which gives the rows. Of cells whose weights are gone, it leaves what
        there is.
    """

    name: str
    part: str = "runs"
    also: Sequence[str] = ()
    rates_from: str = ""
    extended: bool = False
    criterion: Mapping[str, str] = field(default_factory=dict)
    variants: Sequence[str] = ()
    tuned: Sequence[str] = ()
    stopped: bool = False
    measure: Measure | None = None

    def __post_init__(self) -> None:
        for column in self.criterion.values():
            of_column(column)  # a wrong name, before anything runs

    def __call__(
        self,
        dataset: str = "",
        method: str = "",
        where: Conditions | None = None,
        best: bool = False,
    ) -> Rows:
        """Rows of this grid, as `Rows` has it."""
        return Rows(self.name, dataset, method, where or {}, best)

    def rows(self, results: pd.DataFrame, **wanted: object) -> pd.DataFrame:
        """Its rows with these values, such as ``dataset="mnist"``; those that were skipped too."""
        return having(results, {"grid": self.name, **wanted})


@dataclass(frozen=True)
class Measured:
    """What the grids of a paper gave.

    Attributes
    ----------
    results : one row for each cell of each grid (column ``grid``).
    curves : one row a checkpoint.
    folder : of the paper's report, where further committed tables stand.
    stale : a sentence on rows that today's code did not measure, or nothing.
    """

    results: pd.DataFrame
    curves: pd.DataFrame
    folder: Path = Path()
    stale: str = ""


@dataclass(frozen=True)
class Paper:
    """A paper.

    Attributes
    ----------
    name : short name.
    grids : in the order in which they run.
    """

    name: str
    grids: tuple[Grid, ...]

    def report(self, measured: Measured, folder: Path) -> pd.DataFrame:
        """Write its report into a folder; gives the rows of the replication table."""
        # By its name: what draws is no part of the code that measures (`xcbench digests`).
        page = import_module(f"{__name__}.page")
        with threads.one():  # as in a cell: numbers do not depend on the cores
            rows: pd.DataFrame = page.write(self.name, measured, folder)
        return rows


def find(name: str) -> Paper:
    """Paper of a name, with the ``GRIDS`` of its ``experiments.py``, or else of its ``paper.py``.

    Raises
    ------
    UserError
        If there is none.
    """
    if name not in NAMES:
        raise UserError(
            f"there is no paper '{name}'{suggestion(name, NAMES)}; papers: {', '.join(NAMES)}"
        )
    return Paper(name, tuple(module_of_grids(name).GRIDS))


def module_of_grids(name: str) -> Any:
    """Module that lists the grids of a paper."""
    experiments = f"{__name__}.{name}.experiments"
    try:
        return import_module(experiments)
    except ModuleNotFoundError as error:
        if error.name != experiments:
            raise
    return import_module(f"{__name__}.{name}.paper")
