"""``summary.json``: a report in a few numbers, for `dvc metrics show` and `diff`."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pandas as pd

from xcbench.papers.stated import Stated, grouped
from xcbench.papers.verdicts import RESULT
from xcbench.system import sealed

NAME = "summary.json"


def text(rows: pd.DataFrame, claims: Sequence[Stated]) -> str:
    """Counts of verdicts and claims, and how far the measured results are from their prints.

    A digest of both tables is beside them: it tells any change of a number or of a reason.

    Parameters
    ----------
    rows : of the replication table, as texts.
    claims : in prose.
    """
    results = rows[rows["kind"] == RESULT]
    content: dict[str, object] = {
        "printed": len(rows),
        "results": _counted(results["verdict"]),
        "claims": _counted(pd.Series([claim.answer for claim in grouped(claims)], dtype=object)),
        "median_relative_difference": _differences(results),
        "tables": sealed.digest(rows.to_csv(index=False).encode() + repr(claims).encode()),
    }
    return json.dumps(content, indent=1) + "\n"


def _counted(verdicts: pd.Series) -> dict[str, int]:
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
