"""What holds of the papers, for a reader with two minutes: ``what-holds.html`` and ``.md``.

Of every paper come the counts of its results and its ``headline`` claims, each with its answer by
dataset. All of it is read from the committed tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from xcbench.papers import NAMES, committed, description, stated, verdicts
from xcbench.papers.stated import Claim, Stated
from xcbench.show import templates
from xcbench.show.colours import verdict_class
from xcbench.system import durable

NAME = "what-holds"
TITLE = "What holds of five papers"
INTRO = "In brackets: mean differences or ratios over seeds. Most data are not the papers'."
NOTHING = ("not testable here", "not tested")  # answers that say nothing of a claim


@dataclass(frozen=True)
class Summary:
    """A paper in a few sentences."""

    paper: str
    title: str
    results: str
    claims: tuple[str, ...]


def summaries(reports: Path) -> list[Summary]:
    """Of each paper with a report, in their order."""
    return [
        _summary(name, *committed.read(reports / name))
        for name in NAMES
        if (reports / name / stated.NAME).exists()
    ]


def _summary(paper: str, numbers: pd.DataFrame, rows: Sequence[Stated]) -> Summary:
    described = description.of(paper)
    wanted = {(it.claim, it.reading) for it in described.statements if it.headline}
    headline = [
        claim
        for claim in stated.grouped(rows)
        if (claim.first.claim, claim.first.reading) in wanted
    ]
    title = described.title.split(":")[0].split(" (")[0]
    return Summary(paper, title, results(numbers), tuple(map(sentence, headline)))


def results(numbers: pd.DataFrame) -> str:
    """How many printed results were measured, and how many of them agree."""
    rows = numbers[numbers["kind"] == verdicts.RESULT]
    kinds = rows["verdict"].map(verdict_class)
    run = kinds[kinds.isin(["reproduced", "close", "code-settings", "deviates"])]
    if run.empty:
        return f"None of {len(rows)} printed results has its data here."
    agree, code = int(run.isin(["reproduced", "close"]).sum()), int((run == "code-settings").sum())
    return (
        f"Of {len(rows)} printed results {len(run)} have data here: {agree} agree, {code} only "
        f"with the code's settings, {int((run == 'deviates').sum())} deviate."
    )


def sentence(claim: Claim) -> str:
    """A claim, and where it holds and where not, with effects."""
    by_verdict: dict[str, list[str]] = {}
    for row in claim.rows:
        if row.verdict not in NOTHING:
            by_verdict.setdefault(row.verdict, []).append(_place(row))
    answers = [" ".join(filter(None, (word, _listed(at)))) for word, at in by_verdict.items()]
    return f"{claim.first.sentence}: {'; '.join(answers) or claim.first.verdict}."


def _place(row: Stated) -> str:
    effect = f"({float(row.effect):.3g})" if row.effect else ""
    return " ".join(filter(None, (row.dataset, effect)))


def _listed(places: Iterable[str]) -> str:
    at = [place for place in places if place]
    preposition = "on " if at and not at[0].startswith("(") else ""
    return preposition + ", ".join(at)


def write(reports: Path) -> None:
    """Write the page and its Markdown twin."""
    papers = summaries(reports)
    page = templates.render("papers/holds.html", title=TITLE, intro=INTRO, papers=papers)
    durable.write(reports / f"{NAME}.html", page)
    parts = [f"# {TITLE}", INTRO]
    for paper in papers:
        lines = "\n".join(f"- {claim}" for claim in paper.claims)
        parts += [f"## [{paper.title}]({paper.paper}/index.html)", paper.results, lines]
    durable.write(reports / f"{NAME}.md", "\n\n".join(parts) + "\n")
