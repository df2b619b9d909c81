"""Mean length of the sentences of Markdown pages, and the share of them above 25 words.

``python docs/readability.py [FILE …]``; without files, README, CONTRIBUTING and every page here.
Code, tables and headings are left out; an item of a list ends a sentence.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LONG = 25


def sentences(text: str) -> list[str]:
    """Sentences of the running text of a page."""
    text = re.sub(r"```.*?```|\$\$.*?\$\$|<!--.*?-->", "\n", text, flags=re.S)
    lines = [line for line in text.splitlines() if not re.match(r"\s*(\||#|>>>|$)", line)]
    text = "\n".join(re.sub(r"^\s*(?:[-*]|\d+\.) ", "\n", line) for line in lines)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    parts = re.split(r"(?<=[.!?])\s+|\n\n+", text)
    return [part for part in parts if len(re.findall(r"[A-Za-z]{2,}", part)) > 2]


def measured(text: str) -> tuple[int, float, float]:
    """Number of sentences, their mean length in words, and the share above `LONG`."""
    lengths = [len(sentence.split()) for sentence in sentences(text)]
    number = max(1, len(lengths))
    return len(lengths), sum(lengths) / number, sum(n > LONG for n in lengths) / number


if __name__ == "__main__":
    pages = [Path(name) for name in sys.argv[1:]] or [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *sorted((ROOT / "docs").glob("*.md")),
    ]
    for page in pages:
        number, mean, share = measured(page.read_text("utf-8"))
        print(f"{page.name:18} {number:4} sentences, {mean:5.1f} words, {share:4.0%} above {LONG}")
