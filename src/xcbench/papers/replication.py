"""``replication.csv``: every printed number of the papers beside what was measured."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from xcbench.committed import csv_tables
from xcbench.committed.results_cache import save
from xcbench.papers import published, verdicts
from xcbench.papers.rows import Values

NAME = "replication.csv"
COLUMNS = [
    "paper",
    "table",
    "dataset",
    "method",
    "metric",
    "published",
    "measured",
    "spread",
    "seeds",
    "difference",
    "z",
    "verdict",
    "reason",
    "command",
    "variant",
    "kind",
]
Key = tuple[str, str, str, str]  # table, dataset, method and metric of a printed number
KEY = ["paper", "table", "dataset", "method", "metric"]


@dataclass(frozen=True)
class Variant:
    """What was measured of a printed number under one variant of the paper.

    Attributes
    ----------
    name : ``paper`` or ``code``.
    command : what measures it.
    note : what should be known of it, such as seeds that diverged.
    """

    name: str
    measured: Values
    command: str
    note: str = ""

    def agreement(self, printed: verdicts.Printed) -> str:
        """As `verdicts.agreement`; of rates that cannot be told apart, `verdicts.NOT_DECIDED`."""
        tied = self.measured.tied
        rates = [*self.measured.values, *tied]
        if tied and any(
            verdicts.agreement(printed, [rate]) == verdicts.REPRODUCED for rate in rates
        ):
            return verdicts.NOT_DECIDED
        return verdicts.agreement(printed, self.measured.values)


@dataclass(frozen=True)
class Evidence:
    """What is known of a printed number.

    Attributes
    ----------
    reason : why it deviates or was not run.
    verdict : where nothing was run; `verdicts.TIME` also of a measured time, which is not judged.
    command : what would measure it.
    kind : one of `verdicts.KINDS`, where name and unit of the number do not tell.
    """

    variants: Sequence[Variant] = ()
    reason: str = ""
    verdict: str = verdicts.NO_DATA
    command: str = ""
    kind: str = ""


def absent(dataset: str) -> str:
    """Why nothing was run for a dataset."""
    return f"the files of {dataset} are not here: `xcbench data list` says where they come from"


def command(experiment: str, dataset: str = "", method: str = "") -> str:
    """Command that measures a number; the experiment with its folder, ``umax/figure2``."""
    words = [f"python run.py -m experiment={experiment}"]
    words += [f"dataset={dataset}"] if dataset else []
    return " ".join(words + ([f"method={method}"] if method else []))


def row(
    printed: dict[str, object], evidence: Evidence | None, others: Sequence[float] = ()
) -> dict[str, object]:
    """Row of a printed number; of the variants that agree, the text's comes first.

    Parameters
    ----------
    others : prints of the other methods beside it, in its unit.
    """
    value, unit, metric = (str(printed[name]) for name in ("value", "unit", "metric"))
    kind = evidence.kind if evidence and evidence.kind else verdicts.kind(metric, unit)
    common = {name: printed[name] for name in KEY} | {"published": value, "kind": kind}
    if evidence is None:
        return common | {"verdict": verdicts.without_run(kind, value)}
    run = [variant for variant in evidence.variants if variant.measured.values]
    if not run:
        kind = verdicts.SETTING if evidence.verdict == verdicts.SETTING else kind
        return common | {
            "verdict": evidence.verdict,
            "reason": evidence.reason,
            "command": evidence.command,
            "kind": kind,
        }
    number = verdicts.Printed(value, metric, unit, kind, others)
    agreement = {variant.name: variant.agreement(number) for variant in run}
    verdict = verdicts.verdict(kind, agreement.get("paper", ""), agreement.get("code", ""))
    good = [variant for variant in run if agreement[variant.name] != verdicts.DEVIATES]
    preferred = "paper" if good else "code"
    shown = min(good or run, key=lambda variant: variant.name != preferred)
    measured, z = shown.measured, verdicts.distance(number, shown.measured.values)
    text = next((it for it in run if it.name == "paper" and it is not shown), None)
    parts = [_beyond(number, text, "with the text's settings ") if text else "", evidence.reason]
    if verdict == verdicts.DEVIATES:
        as_near = verdicts.AS_NEAR if verdicts.as_near(number, measured.mean) else ""
        unknown = "" if evidence.reason or shown.note else "no reason is known"
        parts = [as_near or _beyond(number, shown), evidence.reason, unknown]
    reason = "; ".join(part for part in (*parts, shown.note) if part)
    ended = len(measured.values)
    ran = ended + len(measured.diverged)
    return common | {
        "measured": measured.mean,
        "spread": measured.spread,
        "seeds": ended if ended == ran else f"{ended} of {ran}",
        "difference": math.nan if verdicts.is_bound(value) else measured.mean - float(value),
        "z": z,
        "verdict": verdict,
        "reason": reason,
        "command": shown.command,
        "variant": shown.name,
    }


def _beyond(number: verdicts.Printed, variant: Variant, of: str = "") -> str:
    """How far a mean within 3 % of the print is from it, in standard errors."""
    z = verdicts.distance(number, variant.measured.values)
    if not abs(z) > verdicts.ERRORS or not verdicts.near(number, variant.measured.mean):
        return ""
    return f"{of}within 3 %, but {abs(z):.1f} standard errors away"


def rows(paper: str, evidence: Mapping[Key, Evidence]) -> pd.DataFrame:
    """Rows of a paper; evidence by table, dataset, method and metric as printed."""
    lines = [
        row(
            {str(name): value for name, value in record.items()},
            evidence.get((record["table"], record["dataset"], record["method"], record["metric"])),
            published.others(*(record[name] for name in KEY)),
        )
        for record in published.of(paper).to_dict("records")
    ]
    return pd.DataFrame(lines).reindex(columns=COLUMNS)


def read(path: Path, paper: str) -> pd.DataFrame:
    """Rows of a paper, as texts.

    Raises
    ------
    OSError, ValueError
        If they are not the printed numbers of the paper, each with a verdict that it can have.
    """
    table = csv_tables.texts(path, COLUMNS)
    printed = published.of(paper)
    names = [*KEY, "published"]
    if table[names].to_numpy().tolist() != printed[[*KEY, "value"]].to_numpy().tolist():
        raise ValueError("its rows are not the printed numbers: some are missing or changed")
    for record, unit in zip(table.to_dict("records"), printed["unit"], strict=True):
        if not _follows({str(name): str(value) for name, value in record.items()}, str(unit)):
            what = " ".join(record[name] for name in KEY if record[name])
            raise ValueError(f"'{record['verdict']}' is no verdict of {what} as it was measured")
    return table


def _follows(row: Mapping[str, str], unit: str) -> bool:
    """Whether the verdict of a row is one that its numbers can have."""
    if not row["measured"]:
        return row["kind"] in verdicts.KINDS and row["verdict"] in verdicts.UNMEASURED
    others = published.others(*(row[name] for name in KEY))
    number = verdicts.Printed(row["published"], row["metric"], unit, row["kind"], others)
    measured, seeds = float(row["measured"]), int(row["seeds"].partition(" ")[0])
    return row["verdict"] in verdicts.possible(number, measured, seeds, row["variant"])


def write(folder: Path, rows: pd.DataFrame) -> None:
    """Write the rows of a paper into its folder."""
    save(as_text(rows), folder / NAME)


def as_text(frame: pd.DataFrame) -> pd.DataFrame:
    """Numbers in the digits of the file."""
    texts = frame.copy()
    for name in ("measured", "spread", "difference"):
        texts[name] = texts[name].map(lambda value: "" if pd.isna(value) else f"{value:.6g}")
    texts["z"] = texts["z"].map(lambda value: "" if pd.isna(value) else f"{value:.1f}")
    texts["seeds"] = texts["seeds"].map(seeds)
    return texts.astype(object).where(texts.notna(), "").astype(str)


def seeds(count: float | str) -> str:
    """A number of seeds; ``4 of 5`` where one diverged."""
    return count if isinstance(count, str) else "" if pd.isna(count) else f"{count:.0f}"
