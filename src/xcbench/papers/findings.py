"""Numbers in sentences of what was found, all from the tables; what is not there is a dash."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from xcbench.papers import Measured, published, stated
from xcbench.papers.columns import Column
from xcbench.papers.rows import RATIO, Rows, Values, between
from xcbench.papers.stated import EMPTY, HOLDS, INCONCLUSIVE, NOT, UNTESTED, WITH_CODE
from xcbench.papers.verdicts import DEVIATES, RESULT
from xcbench.show import effects
from xcbench.show.formats import NONE

DISAGREES = "the claim below says otherwise"


@dataclass(frozen=True)
class Findings:
    """What was measured of a paper, as words.

    Attributes
    ----------
    rows, statements : the replication rows of the paper, and its claims in prose.
    """

    paper: str
    measured: Measured
    rows: pd.DataFrame
    statements: pd.DataFrame

    def values(self, rows: Rows, column: Column) -> Values:
        """A column over the seeds."""
        return Values(tuple(rows.numbers(self.measured.results, column)))

    def mean(self, rows: Rows, column: Column, form: str = ".4f") -> str:
        """Mean over the seeds."""
        values = self.values(rows, column)
        return f"{values.mean:{form}}" if values.values else NONE

    def spread(self, rows: Rows, column: Column, form: str = ".4f") -> str:
        """Mean over the seeds, with ``±`` the standard deviation."""
        values = self.values(rows, column)
        return f"{values.mean:{form}} ± {values.spread:{form}}" if values.values else NONE

    def difference(self, one: Rows, other: Rows, column: Column, form: str = ".4f") -> str:
        """Mean difference with its 95 % interval over the common seeds."""
        return effect_text(between(self.measured.results, one, other, column), f"+{form}")

    def ratio(self, one: Rows, other: Rows, column: Column, form: str = ".4f") -> str:
        """Mean ratio with its 95 % interval over the common seeds."""
        return effect_text(between(self.measured.results, one, other, column, RATIO), form)

    def printed(self, table: str, dataset: str, method: str, metric: str) -> str:
        """A number as the paper has it."""
        return published.text(self.paper, table, dataset, method, metric)

    def verdicts(self, kind: str, word: str) -> int:
        """How many printed numbers have a verdict that begins so."""
        return int(self.rows["verdict"][self.rows["kind"] == kind].str.startswith(word).sum())

    def deviating(self, why: str) -> int:
        """How many results deviate for a reason that has these words."""
        deviates = self.rows["verdict"].eq(DEVIATES) & self.rows["kind"].eq(RESULT)
        return int(self.rows["reason"][deviates].str.contains(why, regex=False).sum())

    def claims(self, verdict: str) -> int:
        """How many claims in prose have a verdict."""
        return int((self.statements["verdict"] == verdict).sum())

    @property
    def claim_counts(self) -> str:
        """How many claims in prose have which verdict, in a sentence."""
        by_code = self.claims(WITH_CODE)
        return (
            f"Of the measurements of claims in prose, {self.claims(HOLDS)} hold, "
            + (f"{by_code} hold with the code's settings, " if by_code else "")
            + f"{self.claims(NOT)} do not hold, {self.claims(INCONCLUSIVE)} are inconclusive, "
            f"{self.claims(EMPTY)} could not be tested by what was run and "
            f"{self.claims(UNTESTED)} are not testable here."
        )

    def claimed(self, claim: str, reading: str = "", holds: str = "", fails: str = "") -> str:
        """Nothing, where a claim holds on these datasets and fails on those; else a note."""
        of_claim = (self.statements["claim"] == claim) & (self.statements["reading"] == reading)
        verdicts = {
            stated.dataset_of(str(row["command"]), str(row["measured"])): str(row["verdict"])
            for _, row in self.statements[of_claim].iterrows()
        }
        expected = dict.fromkeys(holds.split(), "holds") | dict.fromkeys(fails.split(), NOT)
        wrong = [
            f"{name}: {verdicts.get(name, 'no such claim')}"
            for name, word in expected.items()
            if not verdicts.get(name, "").startswith(word)
        ]
        return f"({DISAGREES}: {'; '.join(wrong)})" if wrong else ""


def effect_text(numbers: list[float], form: str) -> str:
    """Mean with its 95 % interval; a dash where there are no numbers."""
    effect = effects.effect(numbers)
    if not effect.seeds:
        return NONE
    interval = f" [{effect.low:{form}}, {effect.high:{form}}]" if effect.seeds > 1 else ""
    return f"{effect.mean:{form}}{interval}"


def paragraphs(texts: list[str]) -> list[str]:
    """Paragraphs, each on one line."""
    return [" ".join(text.split()) for text in texts if text.strip()]
