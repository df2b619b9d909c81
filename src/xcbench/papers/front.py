"""The first page of the reports: what was re-run, how many numbers agree, which claims hold.

It is made of the tables that stand below the folder of reports, once as ``index.html`` and once
as ``README.md``. Of each paper the first claims of its ``claims.csv`` are shown. The bars alone are
``scoreboard.svg``; a README beside the folder gets the table between its `MARKS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from xcbench.errors import writing
from xcbench.papers import NAMES, committed, description, holds, stated
from xcbench.papers.stated import Claim
from xcbench.show import table, templates
from xcbench.show.colours import verdict_class
from xcbench.show.formats import plain
from xcbench.system import durable

TITLE = "Five papers on extreme classification, re-run"
CLAIMS = 4  # shown of each paper
GENERATED = "<!-- written by `xcbench replication` -->"
UNJUDGED = "neutral"  # class of settings, times, sizes, rates, and numbers that are not printed
JUDGED = ("result", "fitted")  # kinds of numbers
GLANCE = "board/figures/overview.png"  # of the comparison of all methods
MARKS = ("<!-- results -->", "<!-- end of results -->")
HEADINGS = {
    "reproduced": "reproduced",
    "close": "close",
    "code-settings": "with the code's settings",
    "fitted": "fitted",
    "deviates": "deviates",
    "not-run": "not run",
    UNJUDGED: "no results",
}
NEXT = {  # from the folder of reports
    "what-holds.html": "What holds of the papers, in two minutes",
    "../README.md": "Install it and train your first model",
    "../docs/papers.md": "Run a paper, or one table of it",
    "../docs/extending.md": "Add a method or a dataset in one file",
    "../docs/library.md": "Use a classifier from Python",
    "board/index.html": "Which method to use: every method on every task under one protocol",
    "replication.csv": "Every printed number with its verdict, as CSV",
    "benchmarks.md": "How fast the engines are",
    "reliability.md": "Which faults were injected, and how the program recovered",
    "notes.md": "Notes on benchmarks, data and verdicts",
}


@dataclass(frozen=True)
class Standing:
    """Printed numbers of a paper by the class of their verdict.

    Attributes
    ----------
    hours : of training on one core, as its rows recorded them when they were measured.
    """

    paper: str
    title: str
    counts: dict[str, int]
    page: str
    hours: float

    @property
    def short(self) -> str:
        """The title without authors and second line."""
        return self.title.split(":")[0].split(" (")[0]

    @property
    def cited(self) -> str:
        """The title without second line, with authors and year."""
        return f"{self.short} ({self.title.rpartition('(')[2]}"

    @property
    def total(self) -> int:
        """How many numbers the paper prints."""
        return sum(self.counts.values())

    @property
    def bars(self) -> list[tuple[str, float, float]]:
        """Class, start and width in percent of what can be judged; in the order of the table."""
        parts = {kind: count for kind, count in self.counts.items() if kind != UNJUDGED}
        total, start, bars = sum(parts.values()) or 1, 0.0, []
        for kind, count in parts.items():
            width = 100 * count / total
            bars.append((kind, round(start, 3), round(width, 3)))
            start += width
        return bars


def standings(rows: pd.DataFrame, reports: Path) -> list[Standing]:
    """Count the verdicts of all papers; columns that no paper needs are left out."""
    kinds = rows["verdict"].map(lambda verdict: verdict_class(verdict) or UNJUDGED)
    kinds = kinds.where(rows["kind"].isin(JUDGED), UNJUDGED)
    used = [kind for kind in HEADINGS if (kinds == kind).any()]
    return [
        Standing(
            name,
            description.of(name).title,
            {kind: int(((rows["paper"] == name) & (kinds == kind)).sum()) for kind in used},
            page if (reports / (page := f"{name}/index.html")).exists() else "",
            committed.hours(reports / name),
        )
        for name in NAMES
        if (rows["paper"] == name).any()
    ]


def write(reports: Path, rows: pd.DataFrame) -> None:
    """Write the page and its Markdown twin from all printed numbers and the papers' folders.

    A ``README.md`` that was written by hand is left alone.
    """
    with writing(reports, "reports_dir"):
        holds.write(reports)
    papers = standings(rows, reports)
    in_prose = (stated.grouped(committed.read(reports / name)[1]) for name in NAMES)
    claims = [claim for claims in in_prose for claim in claims[:CLAIMS]]
    links = {path: words for path, words in NEXT.items() if (reports / path).exists()}
    text = templates.render(
        "papers/front.html",
        title=TITLE,
        intro=intro(rows),
        papers=papers,
        headings=HEADINGS,
        claims=claims,
        links=links,
        glance=GLANCE if (reports / GLANCE).exists() else "",
    )
    bars = templates.render(
        "papers/scoreboard.svg",
        papers=papers,
        headings=HEADINGS,
        kinds=[kind for kind, *_ in papers[0].bars],  # the same of all papers
    )
    readme, outer = reports / "README.md", reports.resolve().parent / "README.md"
    with writing(reports, "reports_dir"):
        durable.write(reports / "index.html", text)
        durable.write(reports / "scoreboard.svg", bars)
        if not readme.exists() or readme.read_text("utf-8").startswith(GENERATED):
            durable.write(readme, markdown(rows, papers, claims, links))
        page = outer.read_text("utf-8") if outer.exists() else ""
        if all(mark in page for mark in MARKS):
            before, after = page.split(MARKS[0])[0], page.split(MARKS[1])[1]
            table = board(papers, f"{reports.name}/")
            durable.write(outer, f"{before}{MARKS[0]}\n{table}\n{MARKS[1]}{after}")


def intro(rows: pd.DataFrame) -> list[str]:
    """What was done, and the sum of it."""
    counts = rows.loc[rows["kind"].isin(JUDGED), "verdict"].value_counts()
    kinds = counts.groupby(verdict_class).sum()
    judged = kinds[[kind for kind in HEADINGS if kind in kinds and kind != UNJUDGED]]
    run = judged.drop("not-run", errors="ignore")
    agree = run.drop("deviates", errors="ignore")
    listed = ", ".join(f"{number} {HEADINGS[str(kind)]}" for kind, number in agree.items())
    return [
        "Five papers propose ways to train linear classifiers over many classes. xcbench trains "
        "their methods again, from configuration files, and compares every number that they print.",
        f"The papers print {len(rows)} numbers. {judged.sum()} of them are results, the others "
        f"settings, sizes and times. The data at hand are enough to measure {run.sum()} results: "
        f"{listed}; {run.sum() - agree.sum()} deviate.",
    ]


def board(papers: list[Standing], folder: str = "") -> str:
    """The table of verdicts as Markdown; the links begin with a folder."""
    kinds = list(papers[0].counts) if papers else []
    lines = [
        [
            f"[{paper.cited}]({folder}{paper.page})" if paper.page else paper.cited,
            paper.total,
            *paper.counts.values(),
            f"{paper.hours:.1f}",
        ]
        for paper in papers
    ]
    sums = [sum(paper.counts[kind] for paper in papers) for kind in kinds]
    every = sum(paper.hours for paper in papers)
    lines.append(["all", sum(paper.total for paper in papers), *sums, f"{every:.1f}"])
    headings = ["paper", "printed", *(HEADINGS[kind] for kind in kinds), "core hours"]
    return table.grid(lines, headings)


def markdown(
    rows: pd.DataFrame, papers: list[Standing], claims: list[Claim], links: dict[str, str]
) -> str:
    """The page as Markdown."""
    parts = [
        GENERATED,
        f"# {TITLE}",
        *intro(rows),
        "## Printed numbers by verdict",
        board(papers),
    ]
    if claims:
        rows_of_claims = [
            [
                claim.first.paper,
                plain(claim.first.sentence),
                f"**{claim.verdict}**",
                "; ".join(f"{row.interval} {row.dataset}" for row in claim.rows if row.interval),
            ]
            for claim in claims
        ]
        headings = ["paper", "claim", "verdict", "effect [interval]"]
        parts += ["## Claims", table.grid(rows_of_claims, headings)]
    parts += ["## Where to go next", "\n".join(f"- [{links[path]}]({path})" for path in links)]
    return "\n\n".join(parts) + "\n"
