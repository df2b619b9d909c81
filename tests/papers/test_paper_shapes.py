"""Printed tables in the papers' own shapes, and the way from a number to its cells."""

from __future__ import annotations

import random
import re

import pandas as pd
import pytest
from test_paper_page import Page

from workspace import ROOT
from xcbench.papers import NAMES, description
from xcbench.papers.description import Part
from xcbench.show.section import Section, render
from xcbench.show.shapes import Entry, shaped
from xcbench.show.table import Source, Table

ROWS = pd.DataFrame(
    [  # as one paper prints them: a dataset a line, below each method its two metrics
        ("MNIST", "SOFT", "test_error"),
        ("MNIST", "SOFT", "test_nlpd"),
        ("MNIST", "OVE", "test_error"),
        ("BIBTEX", "OVE", "test_error"),
        ("BIBTEX", "SOFT", "test_nlpd"),
    ],
    columns=["dataset", "method", "metric"],
)
CELLS = [Entry(str(i), f"{i}.01", "reproduced", f"n-{i}") for i in range(len(ROWS))]


def test_a_table_with_two_rows_of_headings() -> None:
    shape = shaped(ROWS, CELLS, ["method", "metric"])
    assert shape.corner == ["dataset"]
    assert shape.heads == [
        [("SOFT", 2), ("OVE", 1)],
        [("test error", 1), ("test nlpd", 1), ("test error", 1)],
    ]
    assert [(names, [cell and cell.printed for cell in line]) for names, line in shape.body] == [
        (("MNIST",), ["0", "1", "2"]),
        (("BIBTEX",), [None, "4", "3"]),
    ]


def test_what_is_not_above_stands_at_the_left_and_what_all_share_nowhere() -> None:
    shape = shaped(ROWS, CELLS, ["method"])
    assert shape.corner == ["dataset", "metric"]
    assert [names for names, _ in shape.body] == [
        *(("MNIST", "test error"), ("MNIST", "test nlpd")),
        *(("BIBTEX", "test error"), ("BIBTEX", "test nlpd")),
    ]
    errors = shaped(ROWS.iloc[[0, 2]], CELLS[:2], ["method", "metric"])
    assert errors.heads == [[("SOFT", 1), ("OVE", 1)]]


def test_a_cell_leads_to_its_reason_its_command_and_its_cells() -> None:
    frame = pd.DataFrame({"dataset": ["MNIST"], "measured": ["0.01"], "verdict": ["deviates"]})
    entry = Entry("0", "0.01", "deviates", "t-1")
    shape = shaped(ROWS.head(1), [entry], ["method", "metric"])
    cells, commits = ("1d8a0000", "77f0aaaa"), "0123456789ab (2 cells)"
    source = Source("python run.py x=1", cells, "runs.csv", commits)
    table = Table("A table", frame, (), "verdict", shape, ("t-1",), (source,))
    text = render("T", [], [Section("S", ["long"], [table], folded=True)])
    page = Page(text)
    assert page.open == []
    (cell,) = [td for td in page.named("td") if td.get("class") == "deviates"][:1]
    assert cell and {"href": "#t-1", "title": "deviates"} in page.named("a")
    assert [row["id"] for row in page.named("tr") if "id" in row] == ["t-1"]
    assert "1d8a0000, 77f0aaaa in runs.csv; code: 0123456789ab (2 cells)" in page.text
    assert "python run.py x=1" in page.text
    assert len(page.named("details")) == 2


@pytest.mark.parametrize("paper", NAMES)
def test_ten_numbers_of_a_page_lead_to_rows_of_the_tables(paper: str) -> None:
    folder = ROOT / "reports" / paper
    text = (folder / "index.html").read_text("utf-8")
    shown = re.findall(r'<a href="#([\w.-]+)" title="([^"]*)">([^<]+)<span class="of">', text)
    assert shown
    for anchor, verdict, measured in random.Random(0).sample(shown, min(10, len(shown))):
        row = re.search(rf'<tr id="{anchor}">.*?</tr>', text, re.S)
        assert row and f">{verdict}<" in row[0] and measured.split(" ±")[0] in row[0]
        known = re.search(r"cells ([0-9a-f, ]+) in <a href=\"([\w.]+)\"", row[0])
        cells = (folder / known[2]).read_text("utf-8") if known else ""
        assert not known or all(f"{cell}" in cells for cell in known[1].split(", "))


@pytest.mark.parametrize("paper", NAMES)
def test_every_printed_figure_is_described_beside_ours(paper: str) -> None:
    parts = [part for part in description.of(paper).sections if isinstance(part, Part)]
    figures = [part.title for part in parts if part.title.startswith("Figure")]
    assert figures == [part.title for part in parts if part.printed]
