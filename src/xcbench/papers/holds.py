"""What holds of the papers: their ``headline`` claims, each with its answer by dataset."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xcbench.papers import description, stated
from xcbench.papers.stated import Claim, Stated

NOTHING = (stated.UNTESTED, stated.EMPTY)  # answers that say nothing of a claim


def sentences(paper: str, rows: Sequence[Stated]) -> list[str]:
    """The headline claims of a paper, each with a link to all of its claims."""
    described = description.of(paper)
    wanted = {(it.claim, it.reading) for it in described.statements if it.headline}
    return [
        f"{sentence(claim)} [{described.short}]({paper}/index.html#claims)"
        for claim in stated.grouped(rows)
        if (claim.first.claim, claim.first.reading) in wanted
    ]


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
