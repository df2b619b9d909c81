"""Claims that a paper makes in prose, measured: ``claims.csv`` in the folder of its report.

A paper's ``claims.yaml`` is a list of

- ``place`` and ``claim``: where the paper says it, and what, in our words.
- ``rows``: what is measured, in the words of `effects`: ``table2 {data} ove``. By variant, where
  the authors' code ran something else: ``{paper: …, code: …}``.
- ``than``: what these are compared with, seed by seed: their difference, or with ``by: ratio``
  their ratio.
- ``of``: the column that is compared, or an expression of columns.
- ``datasets``: a row of the table each.
- ``holds``: of what effect the claim holds: ``below``, ``above`` or ``between`` numbers.
- ``exact``: nothing random is in it, so that one run tells.
- ``function``: instead of ``rows``, a function that gives the numbers, one a seed. It gets what was
  measured, and the dataset where there are ``datasets``. ``measured`` describes the numbers,
  ``command`` runs them.
- ``untested``: instead of all these, why it is not testable here.
- ``few``: why there are fewer than five seeds, where it is not that some did not end, or chose the
  rate.
- ``reading``: under which of several conditions the rows answer the claim, ``at best rates``.
- ``headline``: whether it stands on the page of what holds (`holds`).
- ``together``: another ``of``, ``by`` and ``holds`` that the same variant has to show, as a quality
  beside a resource.
- ``reason``: what a reader should know beside the effect.

A claim holds if the whole 95 % interval over the seeds does as it says, and does not hold if none
of it does. Between them it is inconclusive. The rows of one claim, a dataset each, are a family:
each of their tests has to pass at the level that Holm's method gives it. Nothing is tested where
nothing can happen (a function gives the reason in the place of numbers), or where a method is at
its untrained loss, the logarithm of the number of classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from omegaconf import OmegaConf

from xcbench import durable
from xcbench.errors import writing
from xcbench.papers import LOSS, Measured, effects
from xcbench.papers.claims import declared, function
from xcbench.papers.effects import Effect
from xcbench.papers.replication import absent, command
from xcbench.papers.stated import COLUMNS, NAME

HOLDS, WITH_CODE, NOT, UNTESTED = (
    "holds",
    "holds with the code's settings",
    "does not hold",
    "not testable here",
)
INCONCLUSIVE, EMPTY = "inconclusive", "not tested"
UNTRAINED = 0.01  # how near a loss is to that of equal probabilities, relative
SEEDS = 5  # fewer need a reason
SAME = "both sides are the same, to all digits"
OVER = "one number over the problems or data that it names"
ONCE = "one run, in which nothing is random"
CHOSEN = "the rate is chosen on the first half of the seeds, the effect is that of the others"


@dataclass(frozen=True)
class Statement:
    """An entry of ``claims.yaml``, as the head of this file has it."""

    place: str
    claim: str
    rows: str | Mapping[str, str] = ""
    than: str = ""
    of: str = ""
    by: str = ""
    datasets: Sequence[str] = ()
    holds: Mapping[str, Any] = field(default_factory=dict)
    exact: bool = False
    function: str = ""
    measured: str = ""
    command: str = ""
    untested: str = ""
    few: str = ""
    reading: str = ""
    headline: bool = False
    together: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""

    def fits(self, effect: Effect) -> bool:
        """Whether an effect is as claimed, with its whole interval."""
        low, high = (
            (effect.mean, effect.mean) if np.isnan(effect.low) else (effect.low, effect.high)
        )
        least, most = self.holds.get("between", (-np.inf, np.inf))
        least, most = self.holds.get("above", least), self.holds.get("below", most)
        return bool(least < low and high < most)

    def goes_both_ways(self, effect: Effect) -> bool:
        """Whether an interval holds what is claimed and what is not."""
        return any(effect.low < bound < effect.high for bound in self.bounds)

    @property
    def bounds(self) -> list[float]:
        """What an effect is compared with."""
        ends = self.holds.get("between", ())
        return [
            float(end)
            for end in (*ends, *map(self.holds.get, ("above", "below")))
            if end is not None
        ]


@dataclass(frozen=True)
class Row:
    """A row of ``claims.csv``."""

    paper: str
    place: str
    claim: str
    reading: str = ""
    measured: str = ""
    effect: float = np.nan
    low: float = np.nan
    high: float = np.nan
    verdict: str = UNTESTED
    seeds: int = 0
    reason: str = ""
    command: str = ""
    p: float = np.nan  # of its test, without correction


def statements(paper: str) -> list[Statement]:
    """What a paper says in prose."""
    path = Path(__file__).parent / paper / "claims.yaml"
    if not path.exists():
        return []
    spec: Any = OmegaConf.to_container(OmegaConf.load(path))
    return [
        declared(Statement, entry, paper, f"claims.yaml, entry {i}")
        for i, entry in enumerate(spec, 1)
    ]


def table(paper: str, measured: Measured) -> pd.DataFrame:
    """All claims of a paper with their verdicts."""
    said = [(it, dataset) for it in statements(paper) for dataset in it.datasets or ("",)]
    lines = [_row(paper, measured, statement, dataset) for statement, dataset in said]
    families: dict[tuple[str, str], list[int]] = {}
    for i, line in enumerate(lines):
        families.setdefault((line.claim, line.reading), []).append(i)
    for places in families.values():
        adjusted = effects.holm([lines[i].p for i in places])
        for i, p in zip(places, adjusted, strict=True):
            lines[i] = _corrected(lines[i], p, int(np.isfinite(adjusted).sum()))
    return pd.DataFrame(map(asdict, lines), columns=list(COLUMNS))


def _corrected(row: Row, p: float, tests: int) -> Row:
    """A row by its p after Holm's correction: what no longer passes is inconclusive."""
    if row.verdict not in (HOLDS, WITH_CODE, NOT) or not p > 1 - effects.CONFIDENCE:
        return row
    why = f"p = {p:.2g} after Holm's correction for {tests} tests"
    return replace(row, verdict=INCONCLUSIVE, reason="; ".join(filter(None, (why, row.reason))))


def write(folder: Path, frame: pd.DataFrame) -> None:
    """Write ``claims.csv`` into the folder of a report."""
    texts = frame.copy()
    for name in ("effect", "low", "high"):
        texts[name] = texts[name].map(lambda value: "" if pd.isna(value) else f"{value:.6g}")
    texts["seeds"] = texts["seeds"].map(lambda value: f"{value}" if value else "")
    folder.mkdir(parents=True, exist_ok=True)
    with writing(folder / NAME, "reports_dir"):
        durable.write(folder / NAME, texts.to_csv(index=False))


def _row(paper: str, measured: Measured, said: Statement, dataset: str) -> Row:
    row = Row(
        paper, said.place, said.claim, said.reading, command=said.command, reason=said.untested
    )
    if said.untested:
        return row
    entries = {
        variant: _together(paper, measured, said, dataset, words, row)
        for variant, words in _variants(said).items()
    }
    for variant, verdict in (("paper", HOLDS), ("code", WITH_CODE)):
        if variant in entries and entries[variant].verdict == HOLDS:
            alone = "" if "paper" in entries else "the text's settings were not run"
            reason = "; ".join(part for part in (alone, entries[variant].reason) if part)
            return replace(entries[variant], verdict=verdict, reason=reason)
    run = [it for it in entries.values() if it.verdict != UNTESTED]
    return (run or list(entries.values()))[0]


def _together(
    paper: str, measured: Measured, said: Statement, dataset: str, words: str, row: Row
) -> Row:
    """A row of one variant, which holds only with the quality that is asked for beside it."""
    alone = replace(row, **_measurement(paper, measured, said, dataset, words))
    if not said.together or alone.verdict != HOLDS:
        return alone
    asked = replace(said, measured="", together={}, **said.together)
    quality = replace(row, **_measurement(paper, measured, asked, dataset, words))
    if quality.verdict == HOLDS:
        return alone
    bounds = " to ".join(f"{bound:g}" for bound in asked.bounds)
    found = f"{asked.of} ({asked.by or 'difference'}) is {quality.effect:.2g}, not above {bounds}"
    return replace(alone, verdict=NOT, reason="; ".join(filter(None, (found, alone.reason))))


def _variants(said: Statement) -> Mapping[str, str]:
    return {"paper": said.rows} if isinstance(said.rows, str) else said.rows


def _measurement(
    paper: str, measured: Measured, said: Statement, dataset: str, words: str
) -> dict[str, Any]:
    """What a row has besides what the paper says."""
    few = said.few
    if said.function:
        arguments = [measured, dataset] if dataset else [measured]
        numbers = function(paper, said.function)(*arguments)
        fields = {"measured": f"{dataset}: {said.measured}" if dataset else said.measured}
        if isinstance(numbers, str):
            return fields | {"verdict": EMPTY, "reason": numbers}
    else:
        one = words.format(data=dataset)
        other = effects.continued(one, said.than.format(data=dataset))
        if other:
            numbers = effects.between(measured.results, one, other, said.of, said.by)
        else:
            numbers = list(effects.numbers(measured.results, one, said.of))
        grid, data = one.split()[:2]
        fields = {
            "measured": said.measured or _words(said, one, other),
            "command": said.command or command(f"{paper}/{grid}", data),
        }
        if not numbers:
            there = (measured.results["dataset"] == data) & (
                measured.results["status"] != "skipped"
            )
            why = "no run of it ended" if there.any() else absent(data)
            return fields | {"reason": why}
        few = few or _few(measured.results, one, other, len(numbers))
        if why := "" if said.by else _empty(measured.results, said.of, one, other, numbers):
            return fields | {"verdict": EMPTY, "reason": why}
        few = "; ".join(filter(None, (SAME if said.by and set(numbers) == {1.0} else "", few)))
    effect = effects.effect(numbers)
    judged = fields | asdict(effect) | {"p": effects.p_value(numbers, said.bounds)}
    judged["effect"] = judged.pop("mean")
    if effect.seeds < 2 and not said.exact:
        return judged | {"reason": "one seed, no interval"}
    return judged | _judged(said, effect, few)


def _few(results: pd.DataFrame, one: str, other: str, seeds: int) -> str:
    """Why fewer seeds are compared than ran."""
    ran = [set(effects.selection(results, words)["seed"]) for words in (one, other) if words]
    common = set.intersection(*([it for it in ran if len(it) > 1] or ran))
    lost = len(common) - seeds
    chosen = effects.BEST in f"{one} {other}".split()
    ended = f"{lost} of {len(common)} seeds did not end" if lost else ""
    return "; ".join(part for part in (CHOSEN if chosen else "", ended) if part)


def _judged(said: Statement, effect: Effect, few: str) -> dict[str, str]:
    unclear = "the interval goes both ways" if said.goes_both_ways(effect) else ""
    verdict = INCONCLUSIVE if unclear else HOLDS if said.fits(effect) else NOT
    once = (OVER if said.function else ONCE) if said.exact and effect.seeds == 1 else ""
    few = "" if said.exact or effect.seeds >= SEEDS else few
    reason = "; ".join(part for part in (unclear, once, few, said.reason) if part)
    return {"verdict": verdict, "reason": reason}


def _empty(
    results: pd.DataFrame, column: str, one: str, other: str, differences: Sequence[float]
) -> str:
    """Why a comparison tests nothing: equal sides, or one at the loss of equal probabilities."""
    if other and not any(differences) and len(differences) > 1:
        return SAME
    if column.removeprefix("-") not in (LOSS, "test_log_loss"):
        return ""
    for words in filter(None, (one, other)):
        rows = effects.rows(results, words)
        losses, classes = rows[column.removeprefix("-")], rows.get("shape.classes")
        if classes is None or losses.empty:
            continue
        equal = float(np.log(classes.astype(float)).mean())
        if abs(losses.mean() - equal) <= UNTRAINED * equal:
            return f"'{words}' is untrained: its loss is {losses.mean():.4g}, log K is {equal:.4g}"
    return ""


def _words(said: Statement, one: str, other: str) -> str:
    """What was measured, in words."""
    if not other:
        return f"{said.of} of {one}"
    left, right = one.split(), other.split()
    same = " ".join(left[:2])
    rest = " ".join(right[2:]) if right[:2] == left[:2] else other
    joint = "over" if said.by == "ratio" else "less"
    return f"{said.of}, {same}: {' '.join(left[2:])} {joint} {rest}"
