"""The documentation as a site: what MkDocs needs beside the pages.

The pages read well without it, as Markdown. Here the README becomes the first page, the reports
come along, equations become MathML (no script, no network), and the reference is made of the code.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
COPIED = {
    "index.md": "README.md",
    "contributing.md": "CONTRIBUTING.md",
    "CHANGELOG.md": "CHANGELOG.md",
}
MATH = re.compile(r"\$\$(.+?)\$\$|(?<![\w$`])\$([^$\n`]+?)\$(?![\w$])", re.S)
CODE = re.compile(r"(^```.*?^```|`[^`\n]+`)", re.M | re.S)


def on_files(files: Any, config: Any) -> Any:
    """Add the README, the reports and the reference."""
    File = importlib.import_module("mkdocs.structure.files").File
    for target, source in COPIED.items():
        text = (ROOT / source).read_text("utf-8")
        files.append(File.generated(config, target, content=text))
    files.append(File.generated(config, "reference.md", content=reference()))
    for path in sorted((ROOT / "reports").rglob("*")):
        if path.suffix in (".html", ".png", ".csv", ".svg"):
            name = path.relative_to(ROOT).as_posix()
            files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Point links to where files stand on the site, and draw the equations."""
    parts = CODE.split(relinked(markdown))
    return "".join(part if i % 2 else MATH.sub(_drawn, part) for i, part in enumerate(parts))


def relinked(markdown: str) -> str:
    """Links as the site has them; those to files that are not on it are their text alone."""

    def moved(link: re.Match[str]) -> str:
        picture, text, path = link.groups()
        path = re.sub(r"^(\.\./)?docs/", "", path).removeprefix("../")
        path = re.sub(r"^README\.md", "index.md", path)
        path = re.sub(r"^CONTRIBUTING\.md", "contributing.md", path)
        if path.startswith("reports/"):
            path = re.sub(r"^reports/README\.md", "reports/index.html", path)
            path = re.sub(r"/tables\.md$", "/index.html", path)
        here = re.match(r"(reports/.*\.(html|png|csv|svg)|[\w-]+\.md)?(#.*)?$", path)
        return f"{picture}[{text}]({path})" if here or "://" in path else text

    return re.sub(r"(!?)\[((?:[^\]\[]|\[[^\]]*\])+)\]\(([^)\s]+)\)", moved, markdown)


def _drawn(equation: re.Match[str]) -> str:
    convert = importlib.import_module("latex2mathml.converter").convert
    display = equation[1] is not None
    mathml = convert((equation[1] or equation[2]).strip(), display="block" if display else "inline")
    return f'\n<div style="overflow-x: auto">{mathml}</div>\n' if display else str(mathml)


def reference() -> str:
    """Options, columns, commands and public names, as the code has them."""
    import xcbench
    from xcbench.cli import main, usage
    from xcbench.store import results

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        main._options(None)  # type: ignore[arg-type]
    lines = ["# Reference", "", "Made of the code of this version.", "", "## Options", ""]
    lines += ["Options of a run; `xcbench options` prints them.", "", HEAD]
    for line in out.getvalue().splitlines():
        option = re.match(r"  ([\w.]+)(?:=(.*?))?: (.*)", line)
        if option:
            default = f"`{option[2]}`" if option[2] else "–"
            lines.append(f"| `{option[1]}` | {_cell(default)} | {_cell(option[3])} |")
        elif line.endswith(":"):
            lines += ["", f"### {line[:-1]}", "", HEAD]
    lines += [
        "",
        "## Columns of results",
        "",
        ", ".join(f"`{name}`" for name in results.COLUMNS),
        "",
    ]
    lines += ["[Results](results.md#columns) says what they mean.", "", "## Commands", ""]
    for name, text in usage.COMMANDS.items():
        lines += [f"### xcbench {name}", "", "```text", f"usage: xcbench {name} {text}```", ""]
    lines += ["## Python", ""]
    for name in sorted(xcbench.__all__):
        thing = getattr(xcbench, name)
        lines += [f"### xcbench.{name}", ""]
        if callable(thing):
            with contextlib.suppress(ValueError, TypeError):
                lines += ["```python", f"{name}{inspect.signature(thing)}", "```", ""]
        lines += ["```text", inspect.getdoc(thing) or "", "```", ""]
    return "\n".join([*lines, FORMATS])


def _cell(text: str) -> str:
    text = re.sub(r"([|*_])", r"\\\1", text) if not text.startswith("`") else text
    return text.replace("<", "&lt;")


HEAD = "| option | default | what it does |\n|---|---|---|"
FORMATS = """\
## Files

| file | what it holds |
|---|---|
| `runs/cells/ID/cell.json` | settings, status, clocks and data shape of a cell, with a checksum |
| `runs/cells/ID/curve.csv` | one row a checkpoint |
| `runs/grids/NAME.json` | ids of the cells of the launches of that name |
| `reports/NAME/results.csv`, `curves.csv`, `table.csv` | cells, checkpoints, final table |
| `reports/PAPER/runs.csv`, `tuning.csv`, `…-curves.csv` | measured rows, with checksums |
| `reports/PAPER/replication.csv` | printed and measured numbers, verdicts, reasons, commands |
| `reports/PAPER/claims.csv` | claims in prose, with effect, interval and verdict |
"""
