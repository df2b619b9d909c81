"""The table of a campaign: how many trials came to what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from faults.verdicts import VERDICTS, Trial, Verdict

PAGE = """\
# Reliability

Faults inflicted on purpose, and what they came to: `{command}` (names of scenarios, another `seed`
and fewer `trials` of each kind may stand in FAULTS). A trial breaks one thing in a workspace of its
own, looks at what the product shows, launches again, and compares with an undisturbed launch,
clocks aside, to the last bit.

- **lost**: a result that was finished or announced is gone, or was computed again.
- **silent**: another number than the undisturbed one, and not a word.
- **unexplained**: a traceback, a hang, or a process that stays.
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
    counts.insert(0, "trials", counts.sum(axis=1))
    return counts.rename_axis("scenario").rename_axis(columns=None).reset_index()


def write(counts: pd.DataFrame, bad: Mapping[str, str], folder: Path, words: Sequence[str]) -> None:
    """Write ``reliability.md`` and ``reliability.csv``."""
    folder.mkdir(parents=True, exist_ok=True)
    counts.to_csv(folder / "reliability.csv", index=False)
    total = counts.sum(numeric_only=True).to_frame().T.assign(scenario="**all**")
    shown = pd.concat([counts, total[counts.columns]]).to_markdown(index=False)
    failures = "".join(f"- {label}: {word}\n" for label, word in bad.items())
    options = " ".join(word for word in words if not word.startswith("reports_dir="))
    page = PAGE.format(
        command=f'make faults FAULTS="{options}"' if options else "make faults",
        table=shown,
        failures=failures and f"\n## Failures\n\n{failures}",
    )
    (folder / "reliability.md").write_text(page, encoding="utf-8")
