"""What the reports of all papers share: their files, and tables of printed numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import pandas as pd

from xcbench.errors import writing
from xcbench.papers import committed, priors, replication, stated
from xcbench.papers.description import Description
from xcbench.papers.replication import Evidence, Key
from xcbench.papers.stated import Stated
from xcbench.papers.verdicts import ALL, NO_DATA
from xcbench.show import section, shapes
from xcbench.show.formats import NONE
from xcbench.show.pictures import slug
from xcbench.show.section import Section
from xcbench.show.shapes import Entry
from xcbench.show.table import Source, Table
from xcbench.system import durable, locks

NAMED = {  # kinds of printed numbers
    "result": "Results",
    "fitted": "Numbers that a setting was chosen to hit",
    "size": "Sizes",
    "rate": "Learning rates and other tuned settings",
    "definition": "Definitions",
    "setting": "Settings",
    "time": "Times",
}
KEPT = ("figures", "tables.md", committed.SUMMARY, "index.html")
Draw = Callable[[pd.DataFrame, Path], list[Section]]


def write(
    paper: Description,
    evidence: Mapping[Key, Evidence],
    folder: Path,
    draw: Draw,
    stale: str = "",
) -> pd.DataFrame:
    """Write a report as page, Markdown and figures.

    Parameters
    ----------
    paper : whose name, title and introduction the report begins with.
    evidence : what is known of its printed numbers.
    folder : where ``index.html``, ``tables.md``, ``summary.json`` and ``figures/`` go.
    draw : makes the sections of the replication rows, their figures in the folder it is given.
    stale : a sentence on rows that today's code did not measure, or nothing.

    Returns
    -------
    DataFrame
        The replication rows.
    """
    name, title, intro = paper.name, paper.title, paper.intro
    rows = replication.rows(name, evidence)
    lock = folder / ".report.lock"
    with writing(folder, "reports_dir"), locks.alone(lock, f"writes {folder}"):
        durable.tidy(folder / name for name in KEPT)
        in_prose = stated.read(folder)
        with durable.new_folder(folder / "figures") as drawn:
            sections = [*draw(rows, drawn), *by_reading(in_prose), *priors.section(folder)]
        summary = [*filter(None, [stale]), *summed(paper, rows, in_prose)]
        page = section.render(title, summary, sections, stated.grouped(in_prose), intro)
        claim_sections = [Section("Claims", tables=[of_claims(in_prose)])] if in_prose else []
        lines = "\n".join(f"- {line}" for line in [*summary, intro])
        text = f"# {title}\n\n{lines}\n\n" + section.markdown([*claim_sections, *sections])
        durable.write(folder / "tables.md", text)
        durable.write(
            folder / committed.SUMMARY, committed.summary(replication.as_text(rows), in_prose)
        )
        durable.write(folder / "index.html", page)
    return rows


def counted(rows: pd.DataFrame) -> str:
    """Count the verdicts of replication rows in sentences, results apart from other numbers."""
    parts = []
    for kind, name in NAMED.items():
        counts = rows.loc[rows["kind"] == kind, "verdict"].value_counts()
        listed = "; ".join(f"{counts[word]} {word}" for word in ALL if word in counts)
        if listed:
            parts.append(f"{name} ({counts.sum()}): {listed}.")
    return " ".join([f"The paper prints {len(rows)} numbers.", *parts])


def summed(paper: Description, rows: pd.DataFrame, claims: list[Stated]) -> list[str]:
    """What a reader should know first, a line each."""
    measured = rows.loc[rows["measured"].notna(), "dataset"].unique()
    here = [name for name in measured if name]
    absent = rows.loc[rows["verdict"] == NO_DATA, "dataset"].unique()
    data = [f"Measured on {', '.join(here)}" if here else "None of the printed datasets is here"]
    missing = [name for name in absent if name in paper.datasets and name not in here]
    data += [f"no data for {', '.join(missing)}"] if missing and here else []
    of_claims = stated.grouped(claims)
    return [
        *([f"Of {len(of_claims)} claims in prose, {stated.counted(of_claims)}."] if claims else []),
        counted(rows),
        "; ".join(data) + ".",
        f"`xcbench paper {paper.name}` runs what is missing or out of date.",
    ]


def by_reading(claims: list[Stated]) -> list[Section]:
    """Claims that were answered in several ways, if any."""
    frame = stated.readings(claims).fillna("not measured")
    table = Table(
        "Does the claim hold? The verdict and the effect with its interval, reading by reading",
        frame,
    )
    return [] if frame.empty else [Section("Claims, reading by reading", tables=[table])]


def of_claims(claims: list[Stated]) -> Table:
    """Claims in prose, as a table."""
    lines = [
        {
            "where": claim.place,
            "claim": claim.sentence,
            "verdict": claim.verdict,
            "effect [interval]": claim.interval,
            "measured": claim.measured,
            "why": claim.reason,
        }
        for claim in claims
    ]
    return Table("What the paper says in prose, and what was measured", pd.DataFrame(lines))


def of_rows(
    rows: pd.DataFrame,
    table: str,
    caption: str,
    columns: Sequence[str] = (),
    source: Callable[[pd.Series], Source] = lambda row: Source(""),
) -> Table:
    """A printed table, number by number, with verdicts.

    Parameters
    ----------
    columns : what stands above the columns of the paper's own table, of dataset, method and
        metric; without, the page has the list alone.
    source : what measures a row.
    """
    selected = rows[rows["table"] == table]
    frame = pd.DataFrame(
        {
            "dataset": selected["dataset"],
            "method": selected["method"].replace("", NONE),
            "metric": selected["metric"].str.replace("_", " "),
            "published": selected["published"],
            "measured": selected["measured"].map(_number),
            "± over seeds": selected["spread"].map(_number),
            "seeds": selected["seeds"].map(replication.seeds).replace("", NONE),
            "difference": selected["difference"].map(_number),
            "z": selected["z"].map(lambda z: NONE if pd.isna(z) else f"{z:.1f}"),
            "variant": selected["variant"].astype(object).fillna(NONE),
            "verdict": selected["verdict"],
            "why": selected["reason"].astype(object).fillna(""),
        }
    )
    anchors = tuple(f"{slug(table).lower()}-{number}" for number in range(1, len(frame) + 1))
    shape = None
    if columns:
        entries = [
            Entry(printed, _measured(measured, spread, seeds), verdict, anchor)
            for printed, measured, spread, seeds, verdict, anchor in zip(
                frame["published"],
                frame["measured"],
                selected["spread"].map(partial(_number, digits=2)),
                frame["seeds"],
                frame["verdict"],
                anchors,
                strict=True,
            )
        ]
        shape = shapes.shaped(selected, entries, columns)
    sources = tuple(source(row) for _, row in selected.iterrows())
    same = [name for name in ("metric", "method") if frame[name].nunique() == 1]
    frame = frame.drop(columns=same)
    right = ("published", "measured", "± over seeds", "seeds", "difference", "z")
    return Table(caption, frame, right, "verdict", shape, anchors, sources)


def _measured(mean: str, spread: str, seeds: str) -> str:
    """A mean with its spread, and of how many seeds where some diverged."""
    lost = f" ({seeds} seeds)" if " of " in seeds else ""
    return mean + ("" if spread == NONE else f" ± {spread}") + lost


def _number(value: float, digits: int = 4) -> str:
    """A number with some significant digits, a large one as a whole."""
    form = f".{digits}g" if abs(value) < 10**digits else ".0f"
    return NONE if pd.isna(value) else f"{value:{form}}"


def all_but(frame: pd.DataFrame, *names: str) -> tuple[str, ...]:
    """Columns besides these, such as those to align to the right."""
    return tuple(str(name) for name in frame if name not in names)
