"""``verdict-changes.csv``: the printed numbers whose verdict is another one than at a commit."""

from __future__ import annotations

import io
import subprocess
from collections.abc import Hashable, Mapping
from pathlib import Path

import pandas as pd

from xcbench.committed.results_cache import save
from xcbench.errors import UserError
from xcbench.papers import published, verdicts
from xcbench.papers.replication import KEY

NAME = "verdict-changes.csv"
VALUES = ["published", "measured", "seeds"]


def at(reports: Path, commit: str) -> pd.DataFrame:
    """``replication.csv`` as a commit has it.

    Raises
    ------
    UserError
        If there is none.
    """
    command = ["git", "show", f"{commit}:./replication.csv"]
    try:
        done = subprocess.run(command, cwd=reports, capture_output=True, text=True, check=True)
        return pd.read_csv(io.StringIO(done.stdout), dtype=str, keep_default_na=False)
    except (OSError, subprocess.CalledProcessError, ValueError) as error:
        text = f"since={commit} is not possible: no commit has {reports}/replication.csv there"
        raise UserError(f"{text}; `git log {reports}/replication.csv` lists those that do") from (
            error
        )


def write(reports: Path, now: pd.DataFrame, commit: str) -> pd.DataFrame:
    """Write the rows whose verdict changed since a commit; gives them."""
    changed = changes(at(reports, commit), now)
    save(changed, reports / NAME)
    return changed


def changes(before: pd.DataFrame, now: pd.DataFrame) -> pd.DataFrame:
    """Rows of a replication table with another verdict than before, each with the reason."""
    old = before[[*KEY, "verdict"]].rename(columns={"verdict": "before"})
    both = now.rename(columns={"verdict": "after"}).merge(old, on=KEY)
    both = both[both["before"] != both["after"]]
    units = published.numbers().set_index(KEY)["unit"]
    why = [
        _why(row, str(units.get(tuple(row[name] for name in KEY), "")))
        for row in both.to_dict("records")
    ]
    return both.assign(why=why)[[*KEY, *VALUES, "before", "after", "why"]]


def _why(row: Mapping[Hashable, str], unit: str) -> str:
    """How far a result is from the print, as a share of the error or loss, and what is known."""
    kind, reason = row["kind"], row["reason"]
    if kind != verdicts.RESULT:
        return "; ".join(part for part in (f"now a {kind}", reason) if part)
    if not row["measured"] or verdicts.is_bound(row["published"]):
        return reason
    printed = verdicts.Printed(row["published"], row["metric"], unit)
    there, here = (printed.loss(float(row[name])) for name in ("published", "measured"))
    share = f"{100 * (here - there) / abs(there):+.2g} % of the error or loss" if there else ""
    return "; ".join(part for part in (share, reason) if part)
