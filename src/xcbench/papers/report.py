"""What the reports of all papers share: their files, and tables of printed numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd

from xcbench import durable, locks
from xcbench.errors import writing
from xcbench.papers import priors, replication, section
from xcbench.papers.replication import Claim, Key
from xcbench.papers.section import Section, Table
from xcbench.papers.verdicts import ALL
from xcbench.report.formats import NONE

Draw = Callable[[pd.DataFrame, Path], list[Section]]


def write(
    name: str, title: str, intro: str, claims: Mapping[Key, Claim], folder: Path, draw: Draw
) -> pd.DataFrame:
    """Write a report as page, Markdown and figures.

    Parameters
    ----------
    name, title, intro : of the paper; what the report begins with.
    claims : what is known of its printed numbers.
    folder : where ``index.html``, ``tables.md`` and ``figures/`` go.
    draw : makes the sections of the replication rows, their figures in the folder it is given.

    Returns
    -------
    DataFrame
        The replication rows.
    """
    rows = replication.rows(name, claims)
    lock = folder / ".report.lock"
    with writing(folder, "reports_dir"), locks.alone(lock, f"writes {folder}"):
        figures = folder / "figures"
        durable.tidy(folder / name for name in ("figures", "tables.md", "index.html"))
        scratch, new = durable.sibling(figures), durable.sibling(figures)
        drawn = scratch / figures.name  # whose name is in the links
        drawn.mkdir(parents=True)
        try:
            sections = [*draw(rows, drawn), *priors.section(folder)]
            page = section.render(title, [counted(rows), intro], sections)
            text = f"# {title}\n\n" + section.markdown(sections)
            drawn.rename(new)
            durable.replace_folder(new, figures)
            durable.write(folder / "tables.md", text)
            durable.write(folder / "index.html", page)
        finally:
            durable.remove(scratch)
            durable.remove(new)
    return rows


def counted(rows: pd.DataFrame) -> str:
    """Count the verdicts of replication rows in a sentence."""
    counts = rows["verdict"].value_counts()
    listed = ", ".join(f"{counts[word]} {word}" for word in ALL if word in counts)
    return f"Every number that the paper prints, {len(rows)} of them: {listed}."


def paragraphs(path: Path) -> list[str]:
    """Paragraphs of a text file."""
    parts = path.read_text(encoding="utf-8").split("\n\n")
    return [part.strip() for part in parts if part.strip()]


def of_rows(rows: pd.DataFrame, table: str, caption: str) -> Table:
    """A printed table, number by number, with verdicts."""
    selected = rows[rows["table"] == table]
    frame = pd.DataFrame(
        {
            "dataset": selected["dataset"],
            "method": selected["method"].replace("", NONE),
            "metric": selected["metric"].str.replace("_", " "),
            "published": selected["published"],
            "measured": selected["measured"].map(_number),
            "± over seeds": selected["spread"].map(_number),
            "seeds": selected["seeds"].map(_number),
            "difference": selected["difference"].map(_number),
            "variant": selected["variant"].astype(object).fillna(NONE),
            "verdict": selected["verdict"],
            "why": selected["reason"].astype(object).fillna(""),
        }
    )
    for name in ("metric", "method"):
        if frame[name].nunique() == 1:
            frame = frame.drop(columns=name)
    right = ("published", "measured", "± over seeds", "seeds", "difference")
    return Table(caption, frame, right, "verdict")


def _number(value: float) -> str:
    digits = ".4g" if abs(value) < 1e4 else ".0f"
    return NONE if pd.isna(value) else f"{value:{digits}}"


def all_but(frame: pd.DataFrame, *names: str) -> tuple[str, ...]:
    """Columns besides these, such as those to align to the right."""
    return tuple(str(name) for name in frame if name not in names)
