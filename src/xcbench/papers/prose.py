"""Claims that a paper makes in prose, measured: ``claims.csv`` in the folder of its report.

A claim holds if the whole 95 % interval over the seeds does as it says, and does not hold if none
of it does. Between them it is inconclusive. The rows of one reading of a claim, a dataset each, are
a family: each of their tests has to pass at the level that Holm's method gives it. Nothing is
tested where nothing can happen (a function gives the reason in the place of numbers), or where a
method is at its untrained loss, the logarithm of the number of classes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from xcbench.committed.results_cache import save
from xcbench.papers import Measured
from xcbench.papers.columns import TEST_LOG_LOSS, TRAIN_LOG_LOSS, Column
from xcbench.papers.replication import absent, command
from xcbench.papers.rows import RATIO, Rows, between
from xcbench.papers.stated import (
    COLUMNS,
    EMPTY,
    HOLDS,
    INCONCLUSIVE,
    NAME,
    NOT,
    SAME,
    UNTESTED,
    WITH_CODE,
)
from xcbench.show import effects
from xcbench.show.effects import Effect

UNTRAINED = 0.01  # how near a loss is to that of equal probabilities, relative
SEEDS = 5  # fewer need a reason
OVER = "one number over the problems or data that it names"
ONCE = "one run, in which nothing is random"
SETTINGS = {"paper": "the text's settings", "code": "the code's settings"}
CHOSEN = "the rate is chosen on the first half of the seeds, the effect is that of the others"
Numbers = list[float] | str  # one a seed, or why nothing can happen
Side = Rows | Mapping[str, Rows]  # of a comparison, by variant where there are several
Row = dict[str, Any]  # of ``claims.csv``, with the p of its test, without correction


@dataclass(frozen=True)
class Bounds:
    """Of what effects a claim holds."""

    low: float = -np.inf
    high: float = np.inf

    def contains(self, effect: Effect) -> bool:
        """Whether an effect is inside with its whole interval."""
        low, high = (effect.mean,) * 2 if np.isnan(effect.low) else (effect.low, effect.high)
        return bool(self.low < low and high < self.high)

    def divides(self, effect: Effect) -> bool:
        """Whether an interval holds what is claimed and what is not."""
        return any(effect.low < end < effect.high for end in self.ends)

    @property
    def ends(self) -> list[float]:
        """What an effect is compared with."""
        return [end for end in (self.low, self.high) if np.isfinite(end)]


def below(end: float) -> Bounds:
    """Effects below a number."""
    return Bounds(high=end)


def above(end: float) -> Bounds:
    """Effects above a number."""
    return Bounds(low=end)


HIGHER = above(0)
LOWER = below(0)


@dataclass(frozen=True)
class Quality:
    """What a variant has to show besides, as a quality where the claim is of a resource."""

    of: Column
    by: str
    holds: Bounds


@dataclass(frozen=True)
class Statement:
    """A claim in prose, and what measures it.

    Attributes
    ----------
    place, claim : where the paper says it, and what, in our words.
    left, right : rows that are compared, seed by seed; without the right, rows that are measured.
        By variant, where the authors' code ran something else.
    of : the column that is compared: its difference, or with ``by=RATIO`` its ratio.
    datasets : a row of the table each, of rows without a dataset.
    holds : of what effect the claim holds.
    exact : nothing random is in it, so that one run tells.
    function : instead of the rows, gives the numbers, one a seed, of what was measured, and of the
        dataset where there are ``datasets``. ``measured`` describes them, ``command`` runs them.
    untested : instead of all these, why it is not testable here.
    few : why there are fewer than five seeds, where it is not that some did not end, or chose the
        rate.
    reading : under which of several conditions the rows answer the claim, ``at best rates``.
    headline : whether it stands on the page of what holds (`holds`).
    together : what the same variant has to show besides.
    reason : what a reader should know besides the effect.
    """

    place: str
    claim: str
    left: Side | None = None
    right: Side | None = None
    of: Column = TRAIN_LOG_LOSS
    by: str = ""
    datasets: Sequence[str] = ()
    holds: Bounds = Bounds()
    exact: bool = False
    function: Callable[..., Numbers] | None = None
    measured: str = ""
    command: str = ""
    untested: str = ""
    few: str = ""
    reading: str = ""
    headline: bool = False
    together: Quality | None = None
    reason: str = ""

    def about(self, dataset: str) -> str:
        """What was measured on a dataset, where it has words for it."""
        return f"{dataset}: {self.measured}" if self.measured and dataset else self.measured

    @property
    def variants(self) -> dict[str, tuple[Rows | None, Rows | None]]:
        """Both sides by variant."""
        if not isinstance(self.left, Mapping):
            right = self.right["paper"] if isinstance(self.right, Mapping) else self.right
            return {"paper": (self.left, right)}
        other = self.right
        return {
            name: (rows, other[name] if isinstance(other, Mapping) else other)
            for name, rows in self.left.items()
        }


def table(paper: str, statements: Sequence[Statement], measured: Measured) -> pd.DataFrame:
    """All claims of a paper with their verdicts."""
    pairs = [(it, dataset) for it in statements for dataset in it.datasets or ("",)]
    lines = [_row(paper, measured, statement, dataset) for statement, dataset in pairs]
    frame = pd.DataFrame(lines, columns=[*COLUMNS, "p"])
    families = frame.groupby(["claim", "reading"])["p"]
    p = families.transform(lambda of: pd.Series(effects.holm([*of]), of.index))
    tests = families.transform("count")
    passed = frame["verdict"].isin((HOLDS, WITH_CODE, NOT))
    for i in frame.index[passed & (p > 1 - effects.CONFIDENCE)]:  # no longer, after the correction
        why = f"p = {p[i]:.2g} after Holm's correction for {tests[i]} tests"
        frame.loc[i, ["verdict", "reason"]] = INCONCLUSIVE, _joined(why, frame["reason"][i])
    return frame[[*COLUMNS]]


def write(folder: Path, frame: pd.DataFrame) -> None:
    """Write ``claims.csv`` into the folder of a report."""
    folder.mkdir(parents=True, exist_ok=True)
    save(frame.assign(seeds=frame["seeds"].astype(str).replace("0", "")), folder / NAME, digits=6)


def _row(paper: str, measured: Measured, statement: Statement, dataset: str) -> Row:
    row: Row = {
        "paper": paper,
        "place": statement.place,
        "claim": statement.claim,
        "reading": statement.reading,
        "measured": "",
        "effect": np.nan,
        "verdict": UNTESTED,
        "seeds": 0,
        "reason": statement.untested,
        "command": statement.command,
    }
    if statement.untested:
        return row
    entries = {
        variant: _of_variant(row, measured, statement, dataset, sides)
        for variant, sides in statement.variants.items()
    }
    for variant, verdict in (("paper", HOLDS), ("code", WITH_CODE)):
        if variant in entries and entries[variant]["verdict"] == HOLDS:
            alone = "" if "paper" in entries else f"{SETTINGS['paper']} were not run"
            others = [_otherwise(name, it) for name, it in entries.items() if name != variant]
            reason = _joined(alone, *others, entries[variant]["reason"])
            return entries[variant] | {"verdict": verdict, "reason": reason}
    run = [it for it in entries.values() if it["verdict"] != UNTESTED]
    return (run or list(entries.values()))[0]


def _otherwise(variant: str, entry: Row) -> str:
    """What the settings of another variant say, where the claim does not hold with them."""
    if entry["verdict"] == HOLDS:
        return ""
    effect = "{effect:.3g} [{low:.3g}, {high:.3g}]"
    shown = effect.format_map(entry) if entry["seeds"] > 1 else entry["reason"]
    return f"{SETTINGS[variant]}: {entry['verdict']} ({shown})"


def _of_variant(
    row: Row,
    measured: Measured,
    statement: Statement,
    dataset: str,
    sides: tuple[Rows | None, Rows | None],
) -> Row:
    """A row of one variant, which holds only with the quality that is asked for beside it."""
    alone = row | _measurement(row["paper"], measured, statement, dataset, sides)
    quality = statement.together
    if not quality or alone["verdict"] != HOLDS:
        return alone
    asked = replace(
        statement, measured="", together=None, of=quality.of, by=quality.by, holds=quality.holds
    )
    other = row | _measurement(row["paper"], measured, asked, dataset, sides)
    both = alone | {"p": np.fmax(alone["p"], other.get("p", np.nan))}
    if other["verdict"] == HOLDS:
        return both
    ends = " to ".join(f"{end:g}" for end in quality.holds.ends)
    short = f"{quality.of} ({quality.by or 'difference'}) is {other['effect']:.2g}"
    why = f"not above {ends}" if other["verdict"] == NOT else other["reason"]
    return both | {
        "verdict": other["verdict"],
        "reason": _joined(f"{short}, {why}", alone["reason"]),
    }


def _measurement(
    paper: str,
    measured: Measured,
    statement: Statement,
    dataset: str,
    sides: tuple[Rows | None, Rows | None],
) -> Row:
    """What a row has besides what the paper says."""
    one, other = (side.on(dataset) if side else None for side in sides)
    if statement.function:
        numbers = statement.function(measured, *([dataset] if dataset else []))
        fields: Row = {"measured": statement.about(dataset)}
        if isinstance(numbers, str):
            return fields | {"verdict": EMPTY, "reason": numbers}
        return fields | _judged(statement, numbers, statement.few)
    assert one is not None
    results = measured.results
    numbers = (
        between(results, one, other, statement.of, statement.by)
        if other
        else list(one.numbers(results, statement.of))
    )
    fields = {
        "measured": statement.about(dataset) or _words(statement, one, other),
        "command": statement.command or command(f"{paper}/{one.grid}", one.dataset),
    }
    if not numbers:
        ran = (results["dataset"] == one.dataset) & (results["status"] != "skipped")
        return fields | {"reason": "no run of it ended" if ran.any() else absent(one.dataset)}
    both = [side for side in (one, other) if side]
    if why := "" if statement.by else _empty(results, statement.of, both, numbers):
        return fields | {"verdict": EMPTY, "reason": why}
    few = statement.few or _few(results, both, len(numbers))
    same = SAME if statement.by and set(numbers) == {1.0} else ""
    return fields | _judged(statement, numbers, _joined(same, few))


def _judged(statement: Statement, numbers: list[float], few: str) -> Row:
    """Effect and verdict."""
    effect, bounds = effects.effect(numbers), statement.holds
    fields = asdict(effect) | {"p": effects.p_value(numbers, bounds.ends)}
    fields["effect"] = fields.pop("mean")
    if effect.seeds < 2 and not statement.exact:
        return fields | {"reason": "one seed, no interval"}
    unclear = "the interval goes both ways" if bounds.divides(effect) else ""
    verdict = INCONCLUSIVE if unclear else HOLDS if bounds.contains(effect) else NOT
    alone = statement.exact and effect.seeds == 1
    once = (OVER if statement.function else ONCE) if alone else ""
    few = "" if statement.exact or effect.seeds >= SEEDS else few
    return fields | {"verdict": verdict, "reason": _joined(unclear, once, few, statement.reason)}


def _few(results: pd.DataFrame, sides: Sequence[Rows], seeds: int) -> str:
    """Why fewer seeds are compared than ran."""
    ran = [set(rows.all_of(results)["seed"]) for rows in sides]
    common = set.intersection(*([it for it in ran if len(it) > 1] or ran))
    lost = len(common) - seeds
    return _joined(
        CHOSEN if any(rows.best for rows in sides) else "",
        f"{lost} of {len(common)} seeds did not end" if lost else "",
    )


def _empty(
    results: pd.DataFrame, column: Column, sides: Sequence[Rows], differences: Sequence[float]
) -> str:
    """Why a comparison tests nothing: equal sides, or one at the loss of equal probabilities."""
    if len(sides) > 1 and not any(differences) and len(differences) > 1:
        return SAME
    name = str(column).removeprefix("-")
    for side in sides if name in (str(TRAIN_LOG_LOSS), str(TEST_LOG_LOSS)) else ():
        rows = side.of(results)
        if "shape.classes" not in rows or rows.empty:
            continue
        equal = float(np.log(rows["shape.classes"].astype(float)).mean())
        loss = rows[name].mean()
        if abs(loss - equal) <= UNTRAINED * equal:
            return f"'{side}' is untrained: its loss is {loss:.4g}, log K is {equal:.4g}"
    return ""


def _words(statement: Statement, one: Rows, other: Rows | None) -> str:
    """What was measured, in words."""
    if not other:
        return f"{statement.of} of {one}"
    same = one.grid == other.grid and one.dataset == other.dataset
    rest = other.label if same else str(other)
    joint = "over" if statement.by == RATIO else "less"
    return f"{statement.of}, {one.grid} {one.dataset}: {one.label} {joint} {rest}"


def _joined(*parts: str) -> str:
    return "; ".join(part for part in parts if part)
