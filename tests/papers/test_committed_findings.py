"""The committed claims and findings."""

from __future__ import annotations

import re
import runpy
from dataclasses import replace

import pandas as pd
import pytest

from workspace import ROOT
from xcbench.papers import NAMES, description, prose, run, stated
from xcbench.papers.findings import DISAGREES, Findings, paragraphs
from xcbench.show.formats import NONE


@pytest.mark.parametrize("paper", NAMES)
def test_findings_ledger_and_page_of_what_holds_agree(paper: str) -> None:
    """The committed pages: no finding contradicts a claim, and each headline has its verdicts."""
    reports = ROOT / "reports"
    text = (reports / paper / "tables.md").read_text("utf-8")
    assert DISAGREES not in text
    said = (reports / "README.md").read_text("utf-8")
    rows_of = stated.read(reports / paper)
    wanted = [it for it in description.of(paper).statements if it.headline]
    assert wanted
    for it in wanted:
        answers = [row for row in rows_of if (row.claim, row.reading) == (it.claim, it.reading)]
        (line,) = {row.sentence for row in answers}
        written = next(part for part in said.splitlines() if part.startswith(f"- {line}:"))
        for row in answers:
            if row.effect and row.verdict in ("holds", "does not hold", "inconclusive"):
                at, after = written.index(row.dataset), written.index(f"({float(row.effect):.3g})")
                assert at < after
                before = written[: written.index(row.dataset)]
                last = max(("does not hold", "inconclusive", "holds"), key=before.rfind)
                assert last == row.verdict


def test_what_holds_is_ten_sentences() -> None:
    text = (ROOT / "reports" / "README.md").read_text("utf-8")
    lines = re.findall(r"^- .*$", text.split("## What holds")[1].split("\n## ")[0], re.M)
    assert len(lines) == 10 and len(" ".join(lines).split()) <= 300
    links = [re.findall(r"\]\((\w+)/index\.html#claims\)$", line) for line in lines]
    assert {name for (name,) in links} == {*NAMES}


def test_the_papers_claims() -> None:
    count = 0
    for paper in NAMES:
        said = description.of(paper).statements
        count += len(said)
        lines = stated.read(ROOT / "reports" / paper)
        assert len(lines) == sum(len(it.datasets) or 1 for it in said)
        assert {claim.verdict for claim in lines} <= set(stated.VERDICTS)
        assert all(claim.reason for claim in lines if claim.verdict == "not testable here")
        tested = [claim for claim in lines if "hold" in claim.verdict]
        assert all(claim.effect and claim.command for claim in tested)
        why = [prose.ONCE, prose.OVER, prose.CHOSEN, "did not end"]
        why += [it.few for it in said if it.few]
        few = [claim for claim in tested if int(claim.seeds) < prose.SEEDS]
        assert [it.measured for it in few if not any(word in it.reason for word in why)] == []
    assert count >= 60


TYPED = re.compile(r"\d*\.\d+")
PLACES = re.compile(
    r"`[^`]*`"
    r"|(Section|Sec\.|Table|Figure|[Aa]ppendix|Eq\.) [A-Z\d]+(\.\d+)*"
)


@pytest.mark.parametrize("paper", NAMES)
def test_no_number_of_the_findings_is_typed(paper: str) -> None:
    """Settings in backticks apart."""
    path = ROOT / "src" / "xcbench" / "papers" / paper / "findings.py"
    readability = runpy.run_path(str(ROOT / "docs" / "readability.py"))
    texts = list(readability["findings"](path.read_text("utf-8")))
    assert len(texts) > 4
    assert [typed for text in texts for typed in TYPED.findall(PLACES.sub("", text))] == []


@pytest.mark.parametrize("paper", NAMES)
def test_the_findings_are_those_of_the_committed_tables(paper: str) -> None:
    folder = ROOT / "reports" / paper
    results, described = replace(run.measured(folder), folder=folder), description.of(paper)
    if described.rows:
        results = replace(results, results=described.rows(results))
    numbers = pd.read_csv(folder / "replication.csv")
    claims = pd.read_csv(folder / "claims.csv", keep_default_na=False)
    made = paragraphs(described.findings(Findings(paper, results, numbers, claims)))
    committed = (folder / "tables.md").read_text(encoding="utf-8")
    assert [part for part in made if part not in committed] == []
    assert not any(f" {NONE} " in part or "nan" in part.split() for part in made)
