"""Tables of a page sort in the browser, and are plain tables without the script."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from workspace import ROOT
from xcbench.show import templates

SCRIPT = (ROOT / "src" / "xcbench" / "show" / "sort.html").read_text("utf-8")
MINUS, NONE = "\N{MINUS SIGN}", "–"
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


class Tables(HTMLParser):
    """Rows of text of the first table of a page, and the tags within its head."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.inside, self.tags = False, []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.inside = self.inside or (tag == "table" and not self.rows)
        if self.inside and tag == "tr":
            self.rows.append([])
        if self.inside and tag in ("th", "td"):
            self.rows[-1].append("")
        if self.inside and len(self.rows) == 1:
            self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag != "table"

    def handle_data(self, data: str) -> None:
        if self.inside and self.rows and self.rows[-1]:
            self.rows[-1][-1] += data.strip()


def clicked(heads: list[list[str]], rows: list[list[str]], *clicks: int) -> dict[str, Any]:
    """What the script makes of a table, and of clicks on its headers."""
    code = re.sub("</?script>", "", SCRIPT)
    given = {"script": code, "heads": heads, "rows": rows, "clicks": clicks}
    command = ["node", str(Path(__file__).with_name("dom.js"))]
    done = subprocess.run(
        command, input=json.dumps(given), capture_output=True, encoding="utf-8", check=True
    )
    return json.loads(done.stdout)


def column(outcome: dict[str, Any], place: int, click: int = -1) -> list[str]:
    return [row[place] for row in outcome["after"][click]["rows"]]


@needs_node
@pytest.mark.parametrize("name", ["test_log_loss", "test_error"])
def test_the_final_table_sorts_by_its_numbers(report: Path, name: str) -> None:
    page = (report / "index.html").read_text("utf-8")
    head, *rows = Tables(page.partition('aria-label="Results: tiny"')[2]).rows
    table = pd.read_csv(report / "table.csv")
    table = table[table["dataset"] == "tiny"]
    assert len(rows) == len(table) > 4
    place, method = head.index(name.replace("_", " ")), head.index("method")
    outcome = clicked([head], rows, place, place, place)
    for click, ascending in enumerate((True, False)):
        truth = table.sort_values(name, ascending=ascending, kind="stable", na_position="last")
        assert column(outcome, method, click) == list(truth["method"])
    assert outcome["after"][2]["rows"] == rows
    assert outcome["names"] == head and set(outcome["buttons"]) == {1}


@needs_node
def test_numbers_in_all_their_spellings_and_what_has_none() -> None:
    values = ["1,234.5", "12 %", "1e3 ± 2", NONE, f"{MINUS}3", "0.1 (lower edge)", "", "-2.5e-1"]
    rows = [[value, str(at)] for at, value in enumerate(values)]
    outcome = clicked([["value", "at"]], rows, 0, 0, 0)
    up = [f"{MINUS}3", "-2.5e-1", "0.1 (lower edge)", "12 %", "1e3 ± 2", "1,234.5"]
    assert column(outcome, 0, 0) == [*up, NONE, ""]
    assert column(outcome, 0, 1) == [*reversed(up), NONE, ""]
    assert outcome["after"][2]["rows"] == rows
    said = [step["sorts"] for step in outcome["after"]]
    assert said == [["ascending", None], ["descending", None], [None, None]]


@needs_node
def test_words_sort_as_people_read_and_equal_rows_keep_their_order() -> None:
    names = ["umax (m=10)", "ove", "umax (m=5)", "ove", "Zeta", "2 stages"]
    rows = [[name, str(at)] for at, name in enumerate(names)]
    outcome = clicked([["method", "at"]], rows, 0, 1)
    order = ["2 stages", "ove", "ove", "umax (m=5)", "umax (m=10)", "Zeta"]
    assert column(outcome, 0, 0) == order and column(outcome, 1, 0)[1:3] == ["1", "3"]
    assert outcome["after"][1] == {"rows": rows, "sorts": [None, "ascending"]}


@needs_node
@pytest.mark.parametrize(
    ("heads", "rows"),
    [
        ([["a", "b"], ["c", "d"]], [["1", "2"], ["3", "4"]]),
        ([["a", "b"]], [["1", "2"]]),
        ([["a", "b"]], [["1", "2"], ["3"]]),
    ],
)
def test_tables_of_another_shape_stay_as_they_are(
    heads: list[list[str]], rows: list[list[str]]
) -> None:
    outcome = clicked(heads, rows, 0)
    assert outcome["buttons"] == [0, 0] and outcome["after"][0]["rows"] == rows


def test_without_the_script_there_is_a_plain_table(report: Path) -> None:
    page = (report / "index.html").read_text("utf-8")
    assert page.count(SCRIPT.splitlines()[1]) == 1
    table = Tables(page)
    assert "button" not in table.tags and table.tags.count("th") == len(table.rows[0])
    assert "src=" not in SCRIPT and "http" not in SCRIPT


def test_every_kind_of_page_has_the_script() -> None:
    loader = templates.environment()
    for name in ("show/page.html",):
        source = loader.loader.get_source(loader, name)[0]  # type: ignore[union-attr]
        while parent := re.search(r'{% extends "([^"]+)" %}', source):
            source = loader.loader.get_source(loader, parent[1])[0]  # type: ignore[union-attr]
        assert 'include "show/sort.html"' in source, name
