"""The first page of the reports: its totals are those of the tables, its links lead somewhere."""

from __future__ import annotations

import csv
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest
from test_paper_page import Page

from workspace import ROOT, Workspace
from xcbench.papers import (
    NAMES,
    committed,
    front,
    replication,
    scoreboard,
    stated,
)

REPORTS = ROOT / "reports"
CLASSES = {  # as a reader would sort the words
    "reproduced": ["reproduced"],
    "close": ["close"],
    "with the code's settings": [
        "reproduced with the code's settings",
        "close with the code's settings",
        "agrees with the code's settings, the text's were not run",
    ],
    "fitted": ["fitted"],
    "deviate": ["deviates"],
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
    summary = committed.summary(numbers, stated.read(tmp_path / "ove"))
    (tmp_path / "ove" / committed.SUMMARY).write_text(summary)
    front.write(tmp_path, committed.collect(tmp_path))
    return tmp_path


def verdicts(path: Path) -> list[dict[str, str]]:
    """The rows of printed results, without the entries that a paper leaves empty."""
    with open(path, newline="", encoding="utf-8") as file:
        return [
            row
            for row in csv.DictReader(file)
            if row["kind"] in ("result", "fitted") and row["verdict"] != "not printed"
        ]


def table(text: str, first: str) -> list[dict[str, str]]:
    """Lines of the Markdown table below a heading, by heading of the column."""
    block = text.split(f"\n## {first}\n")[1].split("\n## ")[0]
    head, _, *lines = [line for line in block.splitlines() if line.startswith("|")]
    names, *rows = ([cell.strip() for cell in it.strip("|").split("|")] for it in (head, *lines))
    return [dict(zip(names, row, strict=True)) for row in rows]


def test_totals_are_counts_over_the_papers_tables(reports: Path) -> None:
    for folder in (reports, REPORTS):
        text = (folder / "README.md").read_text("utf-8")
        printed = verdicts(folder / "replication.csv")
        counts = Counter(row["verdict"] for row in printed)
        measured = table(text, "What was measured")
        for heading, words in CLASSES.items():
            assert sum(int(line[heading]) for line in measured) == sum(counts[it] for it in words)
        waits = table(text, "What waits for data")
        not_run = sum(number for word, number in counts.items() if word.startswith("not run"))
        assert sum(int(line["results"]) for line in waits) == not_run
        shown = sum(int(line[heading]) for line in measured for heading in CLASSES)
        assert shown + not_run == len(printed)


def test_every_claim_is_counted_once(reports: Path) -> None:
    for folder in (reports, REPORTS):
        lines = table((folder / "README.md").read_text("utf-8"), "Claims in prose")
        assert len(lines) == 6
        for line, paper in zip(lines, NAMES, strict=True):
            claims = stated.grouped(committed.read(folder / paper)[1])
            counts = [int(line[heading]) for heading in scoreboard.CLAIMS.values()]
            assert sum(counts) == len(claims)
    (ove,) = [line for line in lines if "One-vs-each" in line["paper"]]
    assert {"mnist", "20news", "bibtex"} <= {*ove["measured on"].split(", ")}


def test_what_waits_has_a_command_that_runs_it_and_its_hours(
    workspace: Workspace, reports: Path
) -> None:
    lines = table((REPORTS / "README.md").read_text("utf-8"), "What waits for data")
    assert len({line["dataset"] for line in lines}) > 10
    timed = [line for line in lines if line["hours"] != "–"]
    assert timed and all(float(line["hours"]) > 0 for line in timed)
    for line in timed:
        assert line["command"] == f"`xcbench paper {line['paper']} dataset={line['dataset']}`"
    shutil.copytree(REPORTS / "ove", workspace.path / "reports" / "ove")
    words = next(it["command"] for it in timed if it["paper"] == "ove").strip("`").split()[1:]
    planned = workspace.xcbench(*words, "plan=true").succeeded()
    assert re.search(r"ove: 1 cell: .* 1 no data", planned.out)
    assert "hours" not in {line["command"] for line in lines}
    without = table((reports / "README.md").read_text("utf-8"), "What waits for data")
    assert {line["hours"] for line in without} == {"–"}  # no estimates lie there


def test_the_advice_is_the_boards(reports: Path) -> None:
    assert "Which method" not in (reports / "README.md").read_text("utf-8")
    (reports / "board").mkdir()
    (reports / "board" / "advice.csv").write_text("task,K,any\na,3,best (9 %)\nb,7,other\n")
    front.write(reports, committed.collect(reports))
    lines = table((reports / "README.md").read_text("utf-8"), "Which method to use when")
    assert lines == [
        {"task": "a", "K": "3", "any": "best (9 %)"},
        {"task": "b", "K": "7", "any": "other"},
    ]
    assert "front-seconds" not in (reports / "index.html").read_text("utf-8")


def test_the_page_is_light_and_says_nothing_twice() -> None:
    text = (REPORTS / "index.html").read_text("utf-8")
    shown = [REPORTS / it["src"] for it in Page(text).named("img")]
    assert len(shown) == 2
    assert len(text.encode()) + sum(path.stat().st_size for path in shown) <= 500_000


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


def test_bars_have_the_lengths_of_their_counts(reports: Path) -> None:
    for folder in (reports, REPORTS):
        svg = (folder / "scoreboard.svg").read_text("utf-8")
        drawn = [*re.finditer(r'class="([\w-]+)" x="([\d.]+)" .*width="([\d.]+)" height="20"', svg)]
        papers = scoreboard.standings(committed.collect(folder), folder)
        bars = [
            counts for it in papers for counts in (it.results, it.claims) if any(counts.values())
        ]
        assert sum(float(it[3]) for it in drawn) == pytest.approx(350 * len(bars), abs=0.5)
        assert len(drawn) == sum(count > 0 for counts in bars for count in counts.values())
        assert {it[1] for it in drawn} <= {*scoreboard.RESULTS, *scoreboard.CLAIMS}


def test_a_readme_of_other_hands_stays(reports: Path) -> None:
    (reports / "README.md").write_text("mine")
    front.write(reports, committed.collect(reports))
    assert (reports / "README.md").read_text() == "mine"
