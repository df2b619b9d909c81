"""What a paper claims in prose, and what became of it: ``claims.csv`` in its folder."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from xcbench.committed import csv_tables
from xcbench.show.colours import verdict_class

NAME = "claims.csv"
COLUMNS = (
    *("paper", "place", "claim", "reading", "measured", "effect", "low", "high"),
    *("verdict", "seeds", "reason", "command"),
)
HOLDS, WITH_CODE, NOT = "holds", "holds with the code's settings", "does not hold"
INCONCLUSIVE, EMPTY, UNTESTED = "inconclusive", "not tested", "not testable here"
PARTLY = "holds in part"
SAME = "both sides are the same, to all digits"
VERDICTS = (HOLDS, WITH_CODE, NOT, INCONCLUSIVE, EMPTY, UNTESTED)
HALF = 56.0  # width of either half of the picture of an effect, in its own units


@dataclass(frozen=True)
class Stated:
    """A claim and what became of it.

    Attributes
    ----------
    place : where the paper makes it.
    reading : under which of several conditions the row answers it, or empty.
    effect, low, high : what was measured, with its interval, in the metric's units; texts, empty
        where there is none.
    """

    paper: str
    place: str
    claim: str
    reading: str
    measured: str
    effect: str
    low: str
    high: str
    verdict: str
    seeds: str
    reason: str
    command: str

    @property
    def sentence(self) -> str:
        """The claim with its reading."""
        return f"{self.claim} ({self.reading})" if self.reading else self.claim

    @property
    def kind(self) -> str:
        """CSS class of the verdict."""
        return verdict_class(self.verdict)

    @property
    def dataset(self) -> str:
        """The dataset, where the command or the words of the measurement name one."""
        return dataset_of(self.command, self.measured)

    @property
    def interval(self) -> str:
        """The effect in words: ``-0.21 [-0.24, -0.18]``."""
        if not self.effect:
            return ""
        ends = f" [{_short(self.low)}, {_short(self.high)}]" if self.low and self.high else ""
        return _short(self.effect) + ends

    @property
    def marks(self) -> dict[str, float]:
        """Places of the effect and of the ends of its interval, from the zero of the picture."""
        texts = {"effect": self.effect, "low": self.low, "high": self.high}
        values = {name: float(text) for name, text in texts.items() if text}
        if "effect" not in values:
            return {}
        largest = max(map(abs, values.values())) or 1.0
        values = {"low": values["effect"], "high": values["effect"], **values}
        return {name: round(HALF * value / largest, 2) for name, value in values.items()}


@dataclass(frozen=True)
class Claim:
    """A claim with all that was measured of it, a row each, as of every dataset."""

    rows: tuple[Stated, ...]

    @property
    def first(self) -> Stated:
        """What all rows share: paper, place and the claim itself."""
        return self.rows[0]

    @property
    def verdict(self) -> str:
        """The verdict, or how often each was given."""
        verdicts = {row.verdict for row in self.rows}
        return self.first.verdict if len(verdicts) == 1 else counted(self.rows)

    @property
    def answer(self) -> str:
        """One of `VERDICTS`, or `PARTLY` where its rows differ."""
        return self.verdict if self.verdict in VERDICTS else PARTLY

    @property
    def kind(self) -> str:
        """CSS class of the verdict; that of a part where some rows hold and some do not."""
        kinds = {row.kind for row in self.rows if row.kind != "not-run"}
        if len(kinds) < 2:
            return kinds.pop() if kinds else "not-run"
        return "code-settings"


def dataset_of(command: str, measured: str) -> str:
    """The dataset that a command or the words of a measurement name, or nothing."""
    names = re.findall(r"\bdataset=(\S+)", command) or re.findall(r"^([\w-]+): ", measured)
    return names[0] if names else ""


def grouped(rows: Iterable[Stated]) -> list[Claim]:
    """The rows by claim, in the order in which the claims come first."""
    claims: dict[tuple[str, ...], list[Stated]] = {}
    for row in rows:
        claims.setdefault((row.paper, row.place, row.claim, row.reading), []).append(row)
    return [Claim(tuple(rows)) for rows in claims.values()]


def readings(rows: Iterable[Stated]) -> pd.DataFrame:
    """Claims that were answered in several ways: a row a dataset, a column each way."""
    lines: dict[tuple[str, str], dict[str, str]] = {}
    for row in rows:
        if row.reading:
            answer = f"{row.verdict}, {row.interval}" if row.effect else row.verdict
            lines.setdefault((row.claim, row.dataset), {})[row.reading] = answer
    table = [{"claim": claim, "dataset": data, **words} for (claim, data), words in lines.items()]
    return pd.DataFrame(table)


def read(folder: Path) -> list[Stated]:
    """Claims of the paper whose report is in a folder; none where they are not written.

    Raises
    ------
    OSError, ValueError
        If they cannot be read, or are not those of a paper.
    """
    path = folder / NAME
    table = csv_tables.texts(path, COLUMNS) if path.exists() else pd.DataFrame(columns=COLUMNS)
    if table.duplicated().any():
        raise ValueError("a row is there twice")
    claims = [Stated(*record) for record in table.itertuples(index=False, name=None)]
    for claim in claims:
        numbers = claim.effect, claim.low, claim.high
        if claim.verdict not in VERDICTS or not all(map(_is_number, numbers)):
            raise ValueError(f"a verdict or a number of '{claim.place}' is damaged")
    return claims


def counted(claims: Iterable[Stated | Claim]) -> str:
    """Count their verdicts: ``3 hold, 1 does not hold``."""
    verdicts = [claim.verdict for claim in claims]
    numbers = {word: verdicts.count(word) for word in VERDICTS}
    numbers["hold in part"] = len(verdicts) - sum(numbers.values())
    return ", ".join(
        f"{number} {_verb(word, number)}" for word, number in numbers.items() if number
    )


def _verb(verdict: str, number: int) -> str:
    several = verdict.replace("holds", "hold").replace("does not", "do not")
    return verdict.replace("hold in", "holds in") if number == 1 else several


def _is_number(word: str) -> bool:
    """Whether a text is a finite number, or empty."""
    try:
        return not word or math.isfinite(float(word))
    except ValueError:
        return False


def _short(number: str) -> str:
    return f"{float(number):.3g}"
