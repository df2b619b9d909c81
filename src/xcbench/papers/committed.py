"""The tables that a paper's report left, as all that is about several papers reads them.

None is believed by itself. The rows of ``replication.csv`` are the printed numbers, each with a
verdict that can follow from it; with ``claims.csv`` they give ``summary.json`` once more, which the
same report wrote. Of the measured rows every one fits its checksum, and none is gone whose curve
is there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from xcbench.committed.results_cache import ResultsCache, save
from xcbench.errors import UserError, reason
from xcbench.papers import PARTS, published, replication, stated
from xcbench.papers.stated import Stated
from xcbench.papers.verdicts import RESULT
from xcbench.system import sealed
from xcbench.units import count, printable

SUMMARY = "summary.json"  # a report in a few numbers, for `dvc metrics show` and `diff`


def read(folder: Path) -> tuple[pd.DataFrame, list[Stated]]:
    """Printed numbers and claims of the paper whose report is in a folder.

    Where there is no report, no number stands as measured, and there are no claims.

    Raises
    ------
    UserError
        If a table is not as the report wrote it.
    """
    files = [folder / name for name in (replication.NAME, stated.NAME, SUMMARY)]
    if not any(path.exists() for path in files):
        return replication.as_text(replication.rows(folder.name, {})), []
    with _refusing(files[0]):
        numbers = replication.read(files[0], folder.name)
    with _refusing(files[1]):
        claims = stated.read(folder)
    with _refusing(files[2]):
        if summary(numbers, claims) != files[2].read_text("utf-8"):
            raise ValueError(
                f"it does not count what {replication.NAME} and {stated.NAME} hold: one of the "
                "three is damaged"
            )
    return numbers, claims


def hours(folder: Path) -> float:
    """Hours of training that the measured rows of a paper recorded.

    Raises
    ------
    UserError
        If rows are damaged, missing, or there twice.
    """
    reported = (folder / SUMMARY).exists()  # of rows, which "runs" has in any paper
    return sum(_seconds(folder, part, reported and part == "runs") for part in PARTS) / 3600


def collect(reports: Path) -> pd.DataFrame:
    """Write ``replication.csv`` of all papers from those in their folders; gives its rows.

    Of a paper that has none every printed number stands as not run yet.

    Raises
    ------
    UserError
        If a paper's tables are not as they were written.
    """
    names = published.numbers()["paper"].unique()
    collected = pd.concat([read(reports / str(name))[0] for name in names], ignore_index=True)
    save(collected, reports / replication.NAME)
    return collected


def summary(rows: pd.DataFrame, claims: Sequence[Stated]) -> str:
    """Counts of verdicts and claims, and how far the measured results are from their prints.

    A digest of both tables is next to them: it tells any change of a number or of a reason.

    Parameters
    ----------
    rows : of the replication table, as texts.
    claims : in prose.
    """
    results = rows[rows["kind"] == RESULT]
    content: dict[str, object] = {
        "printed": len(rows),
        "results": _by_verdict(results["verdict"]),
        "claims": _by_verdict(
            pd.Series([claim.answer for claim in stated.grouped(claims)], dtype=object)
        ),
        "median_relative_difference": _differences(results),
        "tables": sealed.digest(rows.to_csv(index=False).encode() + repr(claims).encode()),
    }
    return json.dumps(content, indent=1) + "\n"


def _by_verdict(verdicts: pd.Series) -> dict[str, int]:
    counts = (
        verdicts.str.replace("'s", "")
        .str.replace("[^a-z]+", "_", regex=True)
        .value_counts()
        .sort_index()
    )
    return {str(name): int(number) for name, number in counts.items()}


def _differences(results: pd.DataFrame) -> dict[str, float]:
    """Of every table, the median of |measured - printed| / |printed|."""
    measured = results[results["difference"] != ""]
    printed = measured["published"].astype(float).abs()
    relative = measured["difference"].astype(float).abs() / printed.where(printed > 0)
    medians = relative.groupby(measured["table"], sort=False).median().dropna()
    return {str(table): round(float(value), 4) for table, value in medians.items()}


def _seconds(folder: Path, part: str, needed: bool) -> float:
    tables = ResultsCache.read(folder, part)
    if lost := tables.lost or int(needed and tables.rows.empty):
        raise UserError(
            f"{folder / part}.csv cannot be counted: {count(lost, 'row')} damaged or missing; "
            f"restore it, or `xcbench paper {folder.name}` runs their cells again"
        )
    return float(tables.rows.get("train_seconds", pd.Series(dtype=float)).sum())


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """Turn what is wrong with a table into a sentence that names it and what writes it."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise UserError(
            f"{path} cannot be read ({printable(reason(error))}); "
            f"`xcbench paper {path.parent.name} part=report` writes it"
        ) from None
