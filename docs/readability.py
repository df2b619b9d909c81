"""Mean length of the sentences that people read, and the share of them above 25 words.

``python docs/readability.py [FILE …]``; without files README, CONTRIBUTING, every page here, the
findings, the notes of the reports, the templates of pages, the help, the errors and the public
docstrings. Code, tables and headings are left out;
an item of a list ends a sentence, and a number or name that is filled in counts as one word.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "xcbench"
LONG = 25
RAISED = ("UserError", "ValueError", "Unavailable")


def sentences(text: str) -> list[str]:
    """Sentences of the running text of a page."""
    text = re.sub(r"\{\{.*?\}\}", "0", text, flags=re.S)
    text = re.sub(r"```.*?```|\$\$.*?\$\$|<!--.*?-->", "\n", text, flags=re.S)
    text = re.sub(r"^\s*(\||#|>>>).*", "", text, flags=re.M)
    text = re.sub(r"^\s*(?:[-*]|\d+\.) ", "\n\n", text, flags=re.M)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    parts = re.split(r"(?<=[.!?])\s+|\n\n+", text)
    return [part for part in parts if len(re.findall(r"[A-Za-z]{2,}", part)) > 2]


def measured(text: str) -> tuple[int, float, float]:
    """Number of sentences, their mean length in words, and the share above `LONG`."""
    lengths = [len(sentence.split()) for sentence in sentences(text)]
    number = max(1, len(lengths))
    return len(lengths), sum(lengths) / number, sum(n > LONG for n in lengths) / number


def template(html: str) -> str:
    """Text of a page's template: paragraphs, items and captions, without style and scripts."""
    html = re.sub(r"<(style|script|svg|nav|h\d).*?</\1>|\{%.*?%\}|\{#.*?#\}", "", html, flags=re.S)
    blocks = re.findall(r"<(p|li|figcaption)\b[^>]*>(.*?)</\1>", html, re.S)
    return "\n\n".join(re.sub(r"<[^>]+>", "", block) for _, block in blocks)


def help_text() -> str:
    """What ``--help`` says in sentences: the paragraph below the usage of every command."""
    module = ast.parse((SOURCE / "cli" / "usage.py").read_text("utf-8"))
    texts = [
        node.value
        for node in ast.walk(module)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n\n" in node.value
    ]
    paragraphs = (part for text in texts for part in text.split("\n\n")[1:])
    lines = (re.sub(r"\n  .*|\nExample:.*", "", part, flags=re.S) for part in paragraphs)
    return "\n\n".join(line for line in lines if line.rstrip().endswith("."))


def errors() -> Iterator[str]:
    """Messages of what the program raises, a name or number that is filled in as one word."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in RAISED:
                yield " ".join(map(_message, node.args))


def docstrings() -> Iterator[str]:
    """Public docstrings; of a numpydoc section the descriptions, without names and types."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (
                isinstance(node, ast.Module) or not node.name.startswith("_")
            ):
                text = re.sub(
                    r"^.*\n-{3,}$|^\S+(, \S+)* : .*$", "", ast.get_docstring(node) or "", flags=re.M
                )
                yield re.sub(r"::\n\n(?:(?: +.*)?\n)+", ".\n\n", text + "\n")


def findings(module: str) -> Iterator[str]:
    """Paragraphs of the findings of a paper, from the text of their module."""
    for node in ast.walk(ast.parse(module)):
        if isinstance(node, ast.Return) and isinstance(node.value, ast.List):
            yield from map(_message, node.value.elts)


def _message(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(map(_message, node.values))
    return str(node.value) if isinstance(node, ast.Constant) else "0"


def texts() -> Iterator[tuple[str, str]]:
    """Everything that people read, by name."""
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/*.md"))):
        yield page.name, page.read_text("utf-8")
    for page in sorted(SOURCE.glob("papers/*/findings.py")):
        yield f"{page.parent.name}/{page.name}", "\n\n".join(findings(page.read_text("utf-8")))
    for page in sorted(SOURCE.rglob("*page.html")):
        yield f"{page.parent.name}/{page.name}", template(page.read_text("utf-8"))
    yield "xcbench --help", help_text()
    notes = ROOT / "reports" / "notes.md"
    yield notes.name, notes.read_text("utf-8")
    yield "errors", "\n\n".join(errors())
    yield "docstrings", "\n\n".join(docstrings())


if __name__ == "__main__":
    files = [Path(name) for name in sys.argv[1:]]
    pages = [(file.name, file.read_text("utf-8")) for file in files] or [*texts()]
    for name, text in [*pages, ("all", "\n\n".join(text for _, text in pages))]:
        number, mean, share = measured(text)
        print(f"{name:18} {number:4} sentences, {mean:5.1f} words, {share:4.0%} above {LONG}")
