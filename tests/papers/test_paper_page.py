"""The page of a paper's report, from made-up sections."""

from __future__ import annotations

import base64
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

from file_faults import KILLED, in_child, kill
from xcbench.papers import description, report
from xcbench.show.colours import verdict_class
from xcbench.show.pictures import Picture
from xcbench.show.section import Section, markdown, render
from xcbench.show.table import Table

NAN = float("nan")
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
)


@pytest.fixture
def sections(tmp_path: Path) -> list[Section]:
    folder = tmp_path / "figures"
    folder.mkdir()
    (folder / "one.png").write_bytes(PNG)
    frame = pd.DataFrame(
        {
            "dataset": ["MNIST", "Wiki10"],
            "published": [0.27081234, NAN],
            "measured": ["0.271 ± 0.002", "a < b & c | d"],
            "verdict": ["reproduced with the code's settings", "not run: data"],
        }
    )
    table = Table("Losses & <rates>", frame, right=("published", "measured"), verdict="verdict")
    picture = Picture(folder / "one.png", "One 'dot' & more", "A dot, x < y.")
    return [
        Section("Table 3: log loss", ["First & last.", "If a < b."], [table], [picture]),
        Section("What was left out"),
    ]


class Page(HTMLParser):
    """What a page shows: tags, the text of every cell, and all text."""

    VOID = ("meta", "img", "br")

    def __init__(self, text: str):
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.cells: list[str] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if {"td", "th"} & set(self.open) and self.open[-1] != "title":
            self.cells[-1] += data

    def named(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


def test_page_shows_every_cell_and_figure(sections, tmp_path):
    page = Page(render("U-max & co", ["What <this> is."], sections))
    assert page.open == []
    assert page.cells == [
        *("dataset", "published", "measured", "verdict"),
        *("MNIST", "0.270812", "0.271 ± 0.002", "reproduced with the code's settings"),
        *("Wiki10", "–", "a < b & c | d", "not run: data"),
    ]
    for words in ("U-max & co", "What <this> is.", "If a < b.", "Losses & <rates>", "x < y"):
        assert words in page.text
    (image,) = page.named("img")
    assert image["alt"] == "One 'dot' & more"
    assert (tmp_path / image["src"]).read_bytes() == PNG


def test_page_needs_nothing_else_and_its_links_lead_somewhere(sections):
    html = render("Title", [], sections)
    page = Page(html)
    assert "http" not in html and "url(" not in html and "@import" not in html
    assert not any("src" in script for script in page.named("script")) and not page.named("link")
    targets = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    to_sections = [f"#{target}" for target in targets]
    links = [link["href"] for link in page.named("a")]
    assert links == ["../index.html", *to_sections, "figures/one.pdf"]
    assert len(targets) == len(set(targets)) == 2


def test_page_is_accessible(sections):
    page = Page(render("Title", [], sections))
    assert page.named("html")[0]["lang"] == "en"
    assert [th["scope"] for th in page.named("th")] == ["col"] * 4 + ["row"] * 2
    assert len(page.named("caption")) == 1
    assert [cell["class"].split()[0] for cell in page.named("td")][2::3] == [
        "code-settings",
        "not-run",
    ]
    assert page.named("td")[0]["class"] == "number"


def test_same_sections_same_bytes(sections):
    assert render("Title", ["Intro"], sections) == render("Title", ["Intro"], sections)
    assert markdown(sections) == markdown(sections)


@pytest.mark.parametrize(
    ("verdict", "name"),
    [
        ("reproduced", "reproduced"),
        ("reproduced (within 2 spreads)", "reproduced"),
        ("reproduced with the code's settings", "code-settings"),
        ("deviates: other split", "deviates"),
        ("not run: data", "not-run"),
        ("not printed", "neutral"),
        ("orientation only", "neutral"),
        ("anything else", ""),
    ],
)
def test_class_of_a_verdict(verdict, name):
    assert verdict_class(verdict) == name


def test_two_sections_of_one_title_are_refused():
    with pytest.raises(ValueError, match="same title"):
        render("Title", [], [Section("Figure 1"), Section("Figure 1")])


def test_a_column_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="no column 'verdict'"):
        Table("Losses", pd.DataFrame({"dataset": []}), verdict="verdict")


def test_markdown(sections):
    text = markdown(sections)
    lines = text.splitlines()
    assert lines[0] == "## Table 3: log loss"
    assert "![One 'dot' & more](figures/one.png)" in lines
    assert r"a < b & c \| d" in text
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 4
    assert table[1].split("|")[2].endswith("-:") and table[1].split("|")[1].startswith(":-")


def test_a_kill_leaves_the_files_of_a_report_whole_and_the_next_one_tidies_up(tmp_path):
    def draw(rows: pd.DataFrame, folder: Path) -> list[Section]:
        (folder / "one.png").write_bytes(PNG)
        return [Section("Figure 1", figures=[Picture(folder / "one.png", "One dot", "A dot.")])]

    paper = replace(description.of("umax"), title="A paper", intro="What it is.")

    def write() -> None:
        report.write(paper, {}, tmp_path, draw)

    write()
    before = {path.name: path.read_bytes() for path in tmp_path.rglob("*.*") if path.is_file()}
    codes = []
    for at in range(200):
        codes.append(in_child(write, at, kill))
        for name in ("index.html", "tables.md", "figures/one.png"):
            assert (tmp_path / name).read_bytes() == before[Path(name).name]
        if codes[-1] == 0:
            break
    assert len(codes) > 8 and set(codes) == {KILLED, 0}
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"index.html", "tables.md", "figures", "summary.json", ".report.lock"}


@pytest.mark.slow  # tests/report/test_report_page.py has the scripts of the same base in a browser
@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
def test_page_in_a_real_browser(sections, tmp_path):
    path = tmp_path / "index.html"
    path.write_text(render("Title", ["Intro"], sections), encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    options += ["--no-first-run", f"--user-data-dir={tmp_path / 'browser'}", "--dump-dom"]
    dumped = subprocess.run(
        ["chromium", *options, path.as_uri()],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    shown = Page(dumped.stdout)
    assert len(shown.named("section")) == 2 and len(shown.named("img")) == 1
    assert "a < b & c | d" in shown.cells
