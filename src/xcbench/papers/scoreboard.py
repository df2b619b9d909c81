"""How the printed results and the claims of all papers stand, counted from the committed tables.

A result was measured, or it waits for data. What else the papers print, settings and times, sizes
and rates, is counted apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from xcbench.papers import NAMES, committed, description, stated, verdicts
from xcbench.show.colours import verdict_class

WAITS = "not-run"
JUDGED = (verdicts.RESULT, verdicts.OF_FIT)  # kinds of numbers
RESULTS = {  # headings of measured results, by the class of their verdict
    "reproduced": "reproduced",
    "close": "close",
    "code-settings": "with the code's settings",
    "fitted": "fitted",
    "deviates": "deviate",
}
CLAIMS = {  # headings of claims
    "reproduced": "hold",
    "code-settings": "with the code's settings",
    "close": "hold in part",
    "deviates": "do not hold",
    "neutral": "inconclusive or empty",
    WAITS: "not testable here",
}
HOURS = "waiting.csv"  # cells and hours by paper and dataset: `python -m benchmarks waiting`


@dataclass(frozen=True)
class Standing:
    """What became of a paper.

    Attributes
    ----------
    short, cited : its title, the second with authors and year.
    results, claims : how many have a verdict of each class.
    waiting : results without data.
    data : datasets on which claims were measured.
    hours : of training on one core, as its rows recorded them when they were measured.
    """

    paper: str
    short: str
    cited: str
    page: str
    results: Mapping[str, int]
    claims: Mapping[str, int]
    waiting: int
    data: tuple[str, ...]
    hours: float

    @property
    def measured(self) -> int:
        """How many results were measured."""
        return sum(self.results.values())


def standings(rows: pd.DataFrame, reports: Path) -> list[Standing]:
    """Of every paper with printed numbers, in their order."""
    return [
        _standing(name, rows[rows["paper"] == name], reports)
        for name in NAMES
        if (rows["paper"] == name).any()
    ]


def _standing(name: str, rows: pd.DataFrame, reports: Path) -> Standing:
    described, page = description.of(name), f"{name}/index.html"
    stated_rows = committed.read(reports / name)[1]
    results = Counter(results_of(rows)["verdict"].map(verdict_class))
    claims = Counter(
        "close" if claim.answer == stated.PARTLY else verdict_class(claim.answer)
        for claim in stated.grouped(stated_rows)
    )
    return Standing(
        name,
        described.short,
        described.cited,
        page if (reports / page).exists() else "",
        {kind: results[kind] for kind in RESULTS},
        {kind: claims[kind] for kind in CLAIMS},
        results[WAITS],
        tuple(dict.fromkeys(row.dataset for row in stated_rows if row.effect and row.dataset)),
        committed.hours(reports / name),
    )


def results_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of printed results; entries that a paper leaves empty are none."""
    return rows[rows["kind"].isin(JUDGED) & (rows["verdict"] != verdicts.NOT_PRINTED)]


def waiting(rows: pd.DataFrame, reports: Path) -> pd.DataFrame:
    """Results that were not measured, by dataset and paper, with command and hours."""
    results, hours = results_of(rows), _hours(reports)
    without = results[results["verdict"].map(verdict_class) == WAITS]
    lines = [
        {
            "dataset": ours or str(printed),
            "results": len(some),
            "paper": str(paper),
            "command": _command(str(paper), ours, some["command"]),
            "hours": hours.get((str(paper), ours)),
        }
        for (paper, printed), some in without.groupby(["paper", "dataset"], sort=False)
        for names in [description.of(str(paper)).datasets]
        for ours in [names.get(str(printed)) or stated.dataset_of(some["command"].iloc[0], "")]
    ]
    table = pd.DataFrame(lines, columns=["dataset", "results", "paper", "command", "hours"])
    table = table.astype({"hours": float})
    least = table.groupby("dataset")["hours"].transform("sum", min_count=1)
    return table.loc[least.sort_values(kind="stable").index]  # cheap ones first


def _command(paper: str, dataset: str, commands: Iterable[str]) -> str:
    """What would run a paper on a dataset; nothing where no experiment is written for it."""
    if not any(commands):
        return ""
    return f"xcbench paper {paper}" + (f" dataset={dataset}" if dataset else "")


def _hours(reports: Path) -> dict[tuple[str, str], float]:
    path = reports / HOURS
    table = pd.read_csv(path) if path.exists() else pd.DataFrame(columns=["paper", "dataset"])
    keys = zip(table["paper"], table["dataset"], strict=True)
    return dict(zip(keys, table.get("hours", ()), strict=True))


def others(rows: pd.DataFrame) -> list[str]:
    """What else the papers print: how much of it can be checked, and how much agrees."""
    kinds = {kind: rows[rows["kind"] == kind] for kind in verdicts.KINDS}
    checked = [
        f"{words}: {len(judged)} of {len(some)} checked, {int(agree.sum())} agree."
        for kind, words in {
            verdicts.SIZE: "Sizes of datasets and models",
            verdicts.RATE: "Learning rates and other tuned settings",
        }.items()
        for some in [kinds[kind]]
        for judged in [some[some["measured"] != ""]]
        for agree in [judged["verdict"].map(verdict_class).isin(RESULTS.keys() - {"deviates"})]
    ]
    settings, times, definitions = (
        len(kinds[kind]) for kind in (verdicts.OF_SETTING, verdicts.OF_TIME, verdicts.BY_DEFINITION)
    )
    empty = int(((rows["verdict"] == verdicts.NOT_PRINTED) & rows["kind"].isin(JUDGED)).sum())
    return [
        *checked,
        f"Not judged: {settings} settings, {times} times (another machine), {definitions} numbers "
        f"that are 1 by definition, {empty} entries that a paper leaves empty.",
    ]
