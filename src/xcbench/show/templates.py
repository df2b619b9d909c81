"""Templates of pages, which a browser shows from disk, without a server or a network.

A page links to figures in a folder next to it; `self_contained` writes a second page that contains
them.
"""

from __future__ import annotations

import base64
import re
from pathlib import Path
from urllib.parse import unquote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from xcbench.errors import writing
from xcbench.system import durable
from xcbench.units import printable

SELF_CONTAINED = "self-contained.html"
LONG_CAPTION, SHORT_CLAUSE = 100, 12  # characters; "Table 3" alone is no clause


def environment() -> Environment:
    """Template environment: finds templates by path in the package, and escapes all text."""
    templates = Environment(
        loader=PackageLoader("xcbench", "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=lambda value: printable(value) if type(value) is str else value,
    )
    templates.filters |= {"inline": inline, "clauses": clauses}
    return templates


def render(template: str, **values: object) -> str:
    """Fill a template of the package, ``show/page.html``."""
    return environment().get_template(template).render(**values)


def inline(text: str) -> Markup:
    """Sentence as HTML, with words in backticks as code, and ``[words](address)`` as a link."""
    html = re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(printable(text))))
    return Markup(re.sub(r"\[([^][]+)\]\(([^()\s]+)\)", r'<a href="\2">\1</a>', html))


def clauses(text: str) -> tuple[str, str]:
    """First clause of a long caption, and what follows it."""
    for match in re.finditer(r"[.:;] ", text) if len(text) > LONG_CAPTION else ():
        first, rest = text[: match.start()], text[match.end() :]
        if first.count("(") == first.count(")") and len(first) > SHORT_CLAUSE:
            return first, rest
    return text, ""


def self_contained(folder: Path) -> Path:
    """Write a report's page as a single file with its figures.

    Raises
    ------
    UserError
        If it cannot be written.
    """

    def embedded(source: re.Match[str]) -> str:
        content = base64.b64encode((folder / unquote(source[1])).read_bytes()).decode()
        return f'src="data:image/png;base64,{content}"'

    page = folder / SELF_CONTAINED
    with writing(page, "reports_dir"):
        text = (folder / "index.html").read_text(encoding="utf-8")
        text = re.sub(r' <a href="[^":]+\.pdf">[^<]*</a>', "", text)  # stays behind in the folder
        durable.write(page, re.sub(r'src="([^":]+\.png)"', embedded, text))
    return page
