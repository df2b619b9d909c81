"""The table of a campaign: how many trials came to what."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from faults.verdicts import FOREIGN, VERDICTS, Trial, Verdict

PAGE = """\
# Reliability

Faults inflicted on purpose, and what they came to: `make faults` (names of scenarios, another
`seed` and fewer `trials` of each kind may stand in FAULTS; rows of other scenarios stay). A trial
breaks one thing in a workspace of its own, looks at what the product shows, launches again, and
compares with an undisturbed launch, clocks aside, to the last bit.

- **lost**: a result that was finished or announced is gone, or was computed again.
- **silent**: another number than the undisturbed one, and not a word.
- **unexplained**: a traceback, a hang, or a process that stays.
- **foreign**: a file of the user outside of the workspace was changed or deleted. Empty where no
  such file was there.
- **refused**: a sentence says what is wrong, and no wrong number was shown.
- **identical**: the numbers of an undisturbed launch.

{table}
{failures}"""


def frame(results: list[tuple[Trial, Verdict]]) -> pd.DataFrame:
    """Counts of each scenario, in their order."""
    order = dict.fromkeys(trial.scenario for trial, _ in results)
    rows = pd.DataFrame([(trial.scenario, verdict.word) for trial, verdict in results])
    counts = pd.crosstab(rows[0], rows[1]).reindex(columns=list(VERDICTS), fill_value=0)
    counts = counts.reindex(list(order))
    counts[FOREIGN] = counts[FOREIGN].where(counts.index.str.contains("link")).astype("Int64")
    counts.insert(0, "trials", counts.sum(axis=1))
    return counts.rename_axis("scenario").rename_axis(columns=None).reset_index()


def beside(folder: Path, counts: pd.DataFrame) -> pd.DataFrame:
    """Counts with those of scenarios that ran at another time, which stand in the folder."""
    path = folder / "reliability.csv"
    if not path.exists():
        return counts
    older = pd.read_csv(path)
    again = older["scenario"].isin(counts["scenario"])
    older[FOREIGN] = older.get(FOREIGN, pd.Series(pd.NA, older.index)).astype("Int64")
    return pd.concat([older.loc[~again, list(counts)], counts], ignore_index=True)


def write(counts: pd.DataFrame, bad: Mapping[str, str], folder: Path) -> None:
    """Write ``reliability.md`` and ``reliability.csv``."""
    folder.mkdir(parents=True, exist_ok=True)
    counts.to_csv(folder / "reliability.csv", index=False)
    total = counts.sum(numeric_only=True).to_frame().T.assign(scenario="**all**")
    shown = pd.concat([counts, total[counts.columns]]).astype(object).fillna("")
    table = shown.to_markdown(index=False)
    failures = "".join(f"- {label}: {word}\n" for label, word in bad.items())
    page = PAGE.format(
        table=table,
        failures=failures and f"\n## Failures\n\n{failures}",
    )
    (folder / "reliability.md").write_text(page, encoding="utf-8")
