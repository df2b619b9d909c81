"""Links of the documentation lead somewhere, and the options that it names exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from workspace import ROOT, Workspace

FRONT = ROOT / "README.md"
DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = (FRONT, *DOCS, *(ROOT / "reports" / name for name in ("README.md", "notes.md")))


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.S)


def anchors(page: Path) -> set[str]:
    """What GitHub makes of the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def leads_nowhere(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = page.parent / path if path else page
    return not target.exists() or (bool(anchor) and anchor not in anchors(target))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)\s]+)\)", prose(page))
    assert [link for link in links if leads_nowhere(page, link)] == []


def test_a_link_to_nothing_is_noticed() -> None:
    assert leads_nowhere(FRONT, "docs/none.md") and leads_nowhere(FRONT, "docs/data.md#none")
    assert not leads_nowhere(FRONT, "docs/data.md#protocols")


def test_the_front_page_is_short_and_leads_to_every_page() -> None:
    text = FRONT.read_text("utf-8")
    assert len(text.split()) <= 1200
    assert [page.name for page in DOCS if f"](docs/{page.name})" not in text] == []


def test_options_that_the_pages_name_exist(workspace: Workspace) -> None:
    listed = re.findall(r"^  ([a-z][\w.]+)", workspace.xcbench("options").out, re.M)
    groups = {name.rpartition(".")[0] for name in listed}  # method.tree
    known = {*listed, *groups, "method.q"}  # the last is that of the example, gce.py
    option = r"(?<![\w./])(?:method|budget|evaluation|dataset\.protocol)\.[a-z][a-z0-9_.]*\b"
    for page in (FRONT, *DOCS):
        text = page.read_text("utf-8")
        if page.name == "glossary.md":  # its last column has former names
            text = re.sub(r"\|[^|\n]*\|$", "", text, flags=re.M)
        named = set(re.findall(option, text))
        assert named <= known, (page.name, sorted(named - known))
