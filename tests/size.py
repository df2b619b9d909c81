"""Statements of the package by room beside their budget in pyproject.toml: ``make size``.

Docstrings are free. A room that grows past its number needs a new number there, with a reason in
the commit; a number that has become too large by far is lowered.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "xcbench"


def statements(text: str) -> int:
    """Number of statements of a module, without docstrings."""
    return sum(
        isinstance(node, ast.stmt)
        and not (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        )
        for node in ast.walk(ast.parse(text))
    )


def sizes(source: Path = SOURCE) -> Counter[str]:
    """Statements by room; the modules beside the rooms are ``modules``."""
    counts: Counter[str] = Counter()
    for path in source.rglob("*.py"):
        room, *inner = path.relative_to(source).parts
        counts[room if inner else "modules"] += statements(path.read_text("utf-8"))
    return counts


def budget() -> dict[str, int]:
    """The most that each room may have."""
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
    return dict(tools["xcbench"]["statements"])


def beyond(counts: Counter[str], most: dict[str, int]) -> list[str]:
    """A sentence for each room that is larger than its budget, or has none."""
    return [
        f"{room} has {count} statements, its budget in pyproject.toml is {most.get(room, 0)}"
        for room, count in sorted(counts.items())
        if count > most.get(room, 0)
    ]


if __name__ == "__main__":
    counts, most = sizes(), budget()
    for room, count in counts.most_common():
        print(f"{room:12} {count:6} of {most.get(room, 0):6}")
    print(f"{'all':12} {counts.total():6} of {sum(most.values()):6}")
    if sentences := beyond(counts, most):
        sys.exit("error: " + "; ".join(sentences))
