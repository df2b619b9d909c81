"""Sections of text, tables and figures, as one page and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xcbench.show import table, templates
from xcbench.show.pictures import Picture, slug
from xcbench.show.table import Table

HOME = "[All papers](../index.html)"


@dataclass(frozen=True)
class Section:
    """A part of a report: notices, paragraphs of plain text and a list, then tables and figures.

    Attributes
    ----------
    folded : whether the page shows its text on demand alone.
    """

    title: str
    text: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    figures: list[Picture] = field(default_factory=list)
    folded: bool = False
    items: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    @property
    def anchor(self) -> str:
        """What links to the section end with."""
        return slug(self.title).lower()


def render(
    title: str,
    intro: Sequence[str],
    sections: Sequence[Section],
    claims: Sequence[object] = (),
    notes: str = "",
    notices: Sequence[str] = (),
    home: str = HOME,
) -> str:
    """Render a report as HTML that needs no script and no network.

    The same input gives the same bytes. In texts, words in backticks are code, and
    ``[words](address)`` is a link.

    Parameters
    ----------
    title : heading of the page.
    intro : what stands before the first section, a line each.
    sections : what follows; their titles differ.
    claims : what the paper claims in prose (see `stated`), before the sections.
    notes : what the page shows on demand before them.
    notices : what stands above all of it.
    home : a link to the page that has this one, or nothing.
    """
    anchors = [section.anchor for section in sections]
    if len(set(anchors)) < len(anchors):
        raise ValueError("two sections have the same title; links could not tell them apart")
    return templates.render(
        "show/page.html",
        title=title,
        intro=intro,
        sections=sections,
        claims=claims,
        notes=notes,
        notices=notices,
        home=home,
    )


def markdown(sections: Sequence[Section]) -> str:
    """Write sections as Markdown; figures are links to the folder they lie in."""
    return "\n\n".join(part for section in sections for part in _parts(section)) + "\n"


def _parts(section: Section) -> list[str]:
    bullets = "\n".join(f"- {item}" for item in section.items)
    grids = [part for it in section.tables for part in (f"**{it.caption}**", table.markdown(it))]
    figures = [
        f"![{figure.alt}]({figure.address})\n\n{figure.caption}" for figure in section.figures
    ]
    text = [*section.notices, *section.text, *([bullets] if bullets else [])]
    return [f"## {section.title}", *text, *grids, *figures]
