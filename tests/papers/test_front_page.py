"""The first page of the reports: its totals are those of the tables, its links lead somewhere."""

from __future__ import annotations

import csv
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest
from test_paper_page import Page

from workspace import ROOT
from xcbench.papers import committed, front, replication, report_counts, stated

REPORTS = ROOT / "reports"
CLASSES = {  # as a reader would sort the words
    "reproduced": ["reproduced"],
    "with the code's settings": [
        "reproduced with the code's settings",
        "close with the code's settings",
        "agrees with the code's settings, the text's were not run",
    ],
    "close": ["close"],
    "fitted": ["fitted"],
    "deviates": ["deviates"],
}
CLAIMS = [
    (
        "ove",
        "Table 2",
        "A bound < another",
        "",
        "0.1",
        "-0.2",
        "-0.3",
        "-0.1",
        "holds",
        "5",
        "",
        "x",
    ),
    (
        "ove",
        "Table 2",
        "A bound < another",
        "",
        "0.2",
        "0.1",
        "",
        "",
        "does not hold",
        "5",
        "",
        "x",
    ),
    ("ove", "3.1", "A second", "", "", "2", "", "", "does not hold", "1", "why", ""),
    ("ove", "3.2", "A third", "", "", "", "", "", "not testable here", "", "no data", ""),
]


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    """The committed tables, with a paper's claims, and the page of that paper alone."""
    (tmp_path / "ove").mkdir()
    for name in ("index.html", "replication.csv", "runs.csv", "runs-curves.csv"):
        shutil.copy(REPORTS / "ove" / name, tmp_path / "ove")
    with open(tmp_path / "ove" / "claims.csv", "w", newline="") as file:
        csv.writer(file).writerows([stated.COLUMNS, *CLAIMS])
    numbers = replication.read(tmp_path / "ove" / "replication.csv", "ove")
    summary = report_counts.text(numbers, stated.read(tmp_path / "ove"))
    (tmp_path / "ove" / report_counts.NAME).write_text(summary)
    front.write(tmp_path, committed.collect(tmp_path))
    return tmp_path


def verdicts(path: Path) -> list[tuple[str, str]]:
    """Paper and verdict of every printed number, of sizes and the like ``no results``."""
    with open(path, newline="", encoding="utf-8") as file:
        return [
            (row["paper"], row["verdict"] if row["kind"] in ("result", "fitted") else "no results")
            for row in csv.DictReader(file)
        ]


def board(page: Page) -> dict[str, dict[str, int]]:
    """Counts by first word of the title, as the page's first table shows them."""
    head = page.cells.index("printed") - 2
    names = page.cells[head : page.cells.index("no results") + 1]
    lines, at = {}, head + len(names)
    while at < len(page.cells) and re.search(r"\(.*\d{4}\)", page.cells[at]):
        line = dict(zip(names, page.cells[at : at + len(names)], strict=True))
        lines[line["paper"].split()[0]] = {k: int(v) for k, v in line.items() if v.isdigit()}
        at += len(names)
    return lines


def test_totals_are_counts_over_the_papers_tables(reports: Path) -> None:
    for folder in (reports, REPORTS):
        shown = board(Page((folder / "index.html").read_text("utf-8")))
        assert len(shown) == 5
        printed = verdicts(folder / "replication.csv")
        assert sum(line["printed"] for line in shown.values()) == len(printed)
        counts = Counter(verdict for _, verdict in printed)
        for heading, words in CLASSES.items():
            number = sum(counts[word] for word in words)
            assert sum(line.get(heading, 0) for line in shown.values()) == number
        not_run = sum(number for word, number in counts.items() if word.startswith("not run"))
        assert sum(line["not run"] for line in shown.values()) == not_run
        of_ove = Counter(verdict for paper, verdict in printed if paper == "ove")
        assert shown["One-vs-each"]["reproduced"] == of_ove["reproduced"]


def test_links_lead_somewhere_and_nothing_is_loaded(reports: Path) -> None:
    for folder in (reports, REPORTS):
        text = (folder / "index.html").read_text("utf-8")
        page = Page(text)
        assert page.open == [] and not page.named("link")
        assert not any("src" in script for script in page.named("script"))
        assert "http" not in text and "url(" not in text
        ids = {attributes["id"] for _, attributes in page.tags if "id" in attributes}
        for link in (attributes["href"] for attributes in page.named("a")):
            path, _, anchor = link.partition("#")
            assert (folder / path).exists() if path else anchor in ids, link


def test_claims_are_shown_with_their_effects(reports: Path) -> None:
    page = Page((reports / "index.html").read_text("utf-8"))
    at = page.cells.index("A bound < another")
    assert page.cells[at + 1] == "1 holds, 1 does not hold"
    assert page.cells[at + 2].split() == ["-0.2", "[-0.3,", "-0.1]", "0.1"]
    kinds = [cell.get("class", "") for cell in page.named("td")]
    assert [kind for kind in kinds if kind.startswith("verdict")] == [
        *("verdict code-settings", "verdict deviates", "verdict not-run")
    ]
    dots = [float(circle["cx"]) for circle in page.named("circle")]
    assert dots == pytest.approx([-56 * 2 / 3, 56, 56], abs=0.01)
    assert "| ove" in (reports / "README.md").read_text("utf-8")
    assert stated.counted(stated.grouped(stated.read(reports / "ove"))) == (
        "1 does not hold, 1 not testable here, 1 holds in part"
    )


def test_a_readme_of_other_hands_stays(reports: Path) -> None:
    (reports / "README.md").write_text("mine")
    front.write(reports, committed.collect(reports))
    assert (reports / "README.md").read_text() == "mine"
