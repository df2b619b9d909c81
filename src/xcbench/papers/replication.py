"""``replication.csv``: every printed number of the five papers beside what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from xcbench import durable
from xcbench.errors import UserError, one_line, writing
from xcbench.papers import published, verdicts

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
    "verdict",
    "reason",
    "command",
    "variant",
]
Key = tuple[str, str, str, str]  # table, dataset, method and metric of a printed number
KEY = ["paper", "table", "dataset", "method", "metric"]


@dataclass(frozen=True)
class Variant:
    """Measurements of a printed number, one a seed, under one variant of the paper.

    Attributes
    ----------
    name : ``paper`` or ``code``.
    command : what measures it.
    note : what should be known of it, such as seeds that diverged.
    """

    name: str
    values: Sequence[float]
    command: str
    note: str = ""


@dataclass(frozen=True)
class Claim:
    """What is known of a printed number.

    Attributes
    ----------
    reason : why it deviates or was not run.
    verdict : where nothing was run; `verdicts.TIME` also of a measured time, which is not judged.
    command : what would measure it.
    """

    variants: Sequence[Variant] = ()
    reason: str = ""
    verdict: str = verdicts.NO_DATA
    command: str = ""


def absent(dataset: str) -> str:
    """Why nothing was run for a dataset."""
    return f"the files of {dataset} are not here: `xcbench data list` says where they come from"


def command(experiment: str, dataset: str = "", method: str = "") -> str:
    """Command that measures a number; the experiment with its folder, ``umax/figure2``."""
    words = [f"python run.py -m experiment={experiment}"]
    words += [f"dataset={dataset}"] if dataset else []
    return " ".join(words + ([f"method={method}"] if method else []))


def row(printed: dict[str, Any], claim: Claim | None) -> dict[str, Any]:
    """Row of a printed number; of the variants that agree, the text's comes first."""
    common = {name: printed[name] for name in KEY} | {"published": printed["value"]}
    if claim is None:
        return common | {"verdict": verdicts.without_run(printed["metric"], printed["value"])}
    run = [variant for variant in claim.variants if len(variant.values)]
    if not run:
        return common | {
            "verdict": claim.verdict,
            "reason": claim.reason,
            "command": claim.command,
        }
    good = [r for r in run if verdicts.agrees(printed["value"], printed["unit"], r.values)]
    preferred = "paper" if good else "code"
    shown = min(good or run, key=lambda variant: variant.name != preferred)
    if claim.verdict == verdicts.TIME:
        verdict = verdicts.TIME
    elif not good:
        verdict = verdicts.DEVIATES
    elif shown.name == "paper":
        verdict = verdicts.REPRODUCED
    else:
        verdict = verdicts.WITH_CODE_SETTINGS
    reason = "; ".join(part for part in (claim.reason, shown.note) if part)
    if verdict == verdicts.DEVIATES and not reason:
        reason = "no reason is known"
    mean = float(np.mean(shown.values))
    bound = verdicts.is_bound(printed["value"])
    several = len(shown.values) > 1
    return common | {
        "measured": mean,
        "spread": float(np.std(shown.values, ddof=1)) if several else float("nan"),
        "seeds": len(shown.values),
        "difference": float("nan") if bound else mean - float(printed["value"]),
        "verdict": verdict,
        "reason": reason,
        "command": shown.command,
        "variant": shown.name,
    }


def rows(paper: str, claims: Mapping[Key, Claim]) -> pd.DataFrame:
    """Rows of a paper; claims by table, dataset, method and metric as printed."""
    printed = published.numbers()
    printed = printed[printed["paper"] == paper]
    lines = [
        row(
            {str(name): value for name, value in record.items()},
            claims.get((record["table"], record["dataset"], record["method"], record["metric"])),
        )
        for record in printed.to_dict("records")
    ]
    return pd.DataFrame(lines).reindex(columns=COLUMNS)


def write(folder: Path, rows: pd.DataFrame) -> None:
    """Write the rows of a paper into its folder."""
    _write(folder / "replication.csv", _as_text(rows))


def collect(reports: Path) -> pd.DataFrame:
    """Write ``replication.csv`` of all papers from those in their folders; gives its rows.

    Of a paper that has none every printed number stands as not run yet.

    Raises
    ------
    UserError
        If a paper's rows cannot be read.
    """
    parts = []
    for name in published.numbers()["paper"].unique():
        path = reports / str(name) / "replication.csv"
        if not path.exists():
            parts.append(_as_text(rows(str(name), {})))
            continue
        try:
            table = pd.read_csv(path, dtype=str, keep_default_na=False)
            if list(table) != COLUMNS:
                raise ValueError("its columns are not those of a replication table")
        except (OSError, ValueError) as error:
            raise UserError(
                f"{path} cannot be read ({one_line(error)}); "
                f"`xcbench paper {name} part=report` writes it"
            ) from None
        parts.append(table)
    whole = pd.concat(parts, ignore_index=True)
    _write(reports / "replication.csv", whole)
    return whole


def _write(target: Path, frame: pd.DataFrame) -> None:
    with writing(target, "reports_dir"):
        durable.write(target, frame.to_csv(index=False))


def _as_text(frame: pd.DataFrame) -> pd.DataFrame:
    """Numbers in the digits of the file."""
    texts = frame.copy()
    for name in ("measured", "spread", "difference"):
        texts[name] = texts[name].map(lambda value: "" if pd.isna(value) else f"{value:.6g}")
    texts["seeds"] = texts["seeds"].map(lambda value: "" if pd.isna(value) else f"{value:.0f}")
    return texts.astype(object).where(texts.notna(), "").astype(str)
