"""What was found, as text whose numbers come from the tables: a paper's ``findings.md``.

The file is a template. What stands in double braces is called with the words of `effects`, and a
column (or an expression) with its format, ``test_error .4f``:

- ``mean(words, column)``: mean over the seeds; ``spread``: with ``±`` its standard deviation.
- ``apart(one, other, column)``: the mean difference with its 95 % interval over the common seeds;
  ``times``: the same of ratios.
- ``printed(table, dataset, method, metric)``: as the paper has it.
- ``verdicts(kind, word)``: how many printed numbers have a verdict that begins so.
- ``claims(verdict)``: how many claims in prose.
- ``claimed(claim, reading, holds=…, fails=…)``: nothing, where the claim holds on these datasets
  and does not on those; else a note that the sentence and the claim disagree.
- ``told(function, …)``: a function of the paper's, of what was measured.

What was not measured is a dash.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, StrictUndefined

from xcbench.papers import Measured, effects, published, stated
from xcbench.papers.claims import function
from xcbench.papers.frames import Values
from xcbench.papers.pivots import formed
from xcbench.report.formats import NONE

NAME = "findings.md"
DISAGREES = "the claim below says otherwise"


def path(paper: str) -> Path:
    """The template of a paper."""
    return Path(__file__).parent / paper / NAME


def paragraphs(
    paper: str, measured: Measured, rows: pd.DataFrame, claims: pd.DataFrame
) -> list[str]:
    """Paragraphs of what was found.

    Parameters
    ----------
    rows, claims : the replication rows of the paper, and its claims in prose.
    """
    words: dict[str, Callable[..., Any]] = {
        **_numbers(paper, measured),
        "verdicts": lambda kind, word: int(
            ((rows["kind"] == kind) & rows["verdict"].str.startswith(word)).sum()
        ),
        "claims": lambda verdict: int((claims["verdict"] == verdict).sum()),
        "claimed": lambda claim, reading="", holds="", fails="": _disagreement(
            claims[(claims["claim"] == claim) & (claims["reading"] == reading)], holds, fails
        ),
    }
    text = Environment(undefined=StrictUndefined, autoescape=False).from_string(
        path(paper).read_text(encoding="utf-8")
    )
    parts = text.render(words).split("\n\n")
    return [" ".join(part.split()) for part in parts if part.strip()]


def _disagreement(rows: pd.DataFrame, holds: str, fails: str) -> str:
    """A note where what a sentence says of datasets is not the verdict of the claim's rows."""
    said = {name: True for name in holds.split()} | {name: False for name in fails.split()}
    verdicts = {
        stated.dataset_of(str(row["command"]), str(row["measured"])): str(row["verdict"])
        for _, row in rows.iterrows()
    }
    wrong = [
        f"{name or 'it'}: {verdicts.get(name, 'no such claim')}"
        for name, so in said.items()
        if not verdicts.get(name, "").startswith("holds" if so else "does not hold")
    ]
    return f"({DISAGREES}: {'; '.join(wrong)})" if wrong else ""


def _numbers(paper: str, measured: Measured) -> dict[str, Callable[..., Any]]:
    results = measured.results

    def over_seeds(words: str, said: str) -> tuple[Values, str]:
        column, form = formed(said, ".4f")
        return Values(tuple(effects.numbers(results, words, column))), form

    def mean(words: str, said: str) -> str:
        values, form = over_seeds(words, said)
        return f"{values.mean:{form}}" if values.values else NONE

    def spread(words: str, said: str) -> str:
        values, form = over_seeds(words, said)
        return f"{values.mean:{form}} ± {values.spread:{form}}" if values.values else NONE

    def apart(one: str, other: str, said: str, by: str = "") -> str:
        column, form = formed(said, ".4f")
        other = effects.continued(one, other)
        effect = effects.effect(effects.between(results, one, other, column, by))
        if not effect.seeds:
            return NONE
        sign = "" if by else "+"
        shown = f"{effect.mean:{sign}{form}}"
        interval = f" [{effect.low:{sign}{form}}, {effect.high:{sign}{form}}]"
        return shown + (interval if effect.seeds > 1 else "")

    def printed(table: str, dataset: str, method: str, metric: str) -> str:
        numbers = published.numbers()
        key = [paper, table, dataset, method, metric]
        names = ["paper", "table", "dataset", "method", "metric"]
        return str(numbers.loc[(numbers[names] == key).all(axis="columns"), "value"].item())

    return {
        "mean": mean,
        "spread": spread,
        "apart": apart,
        "times": lambda one, other, said: apart(one, other, said, "ratio"),
        "printed": printed,
        "told": lambda name, *arguments: function(paper, name)(measured, *arguments),
    }
