"""The first page of the reports, for a reader with two minutes.

It says what holds of the papers, which method to use, which results were measured and which wait
for data. All of it is made of the tables below the folder of reports, once as ``index.html`` and
once as ``README.md``. The bars alone are ``scoreboard.svg``; a README next to the folder gets a
table between its `MARKS`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from xcbench.errors import writing
from xcbench.papers import NAMES, committed, description, scoreboard, stated
from xcbench.papers.replication import NAME as REPLICATION
from xcbench.papers.scoreboard import CLAIMS, RESULTS, Standing
from xcbench.papers.stated import Claim, Stated
from xcbench.show import section, table, templates
from xcbench.show.formats import NONE
from xcbench.show.pictures import Picture
from xcbench.show.section import Section
from xcbench.show.table import Table, numeric
from xcbench.system import durable

NOTHING = (stated.UNTESTED, stated.EMPTY)  # answers that say nothing of a claim
TITLE = "Six papers on extreme classification, re-run"
INTRO = (
    "Each paper on linear classifiers over many classes compares its own method with few others. "
    "xcbench trains all of them again, from configuration files, and puts every printed number "
    "beside the measured one.",
    "A result that was measured has a verdict. The others wait for data that are not public, or "
    "not here: the page says which command would run them, and how long.",
)
HOLDS = (
    "In brackets: mean differences or ratios over seeds. Most data are not the papers'. Where a "
    "claim holds with the code's settings, those of the text do not show it; the claims on the "
    "paper's page have both."
)
MEASURED = (
    "Reproduced: the mean rounds to the print, or the print lies within the seeds. Close: within "
    "3 % and three standard errors. With the code's settings: those of the text do not give the "
    "print, those of the authors' code do. Fitted: a setting was chosen to hit it."
)
ELSEWHERE = "No data here for any printed result, but claims that were measured on other data"
CLAIMED = (
    "What the papers say in prose was measured on the datasets at hand, also where these are "
    "not the paper's. A claim that holds on some datasets alone holds in part."
)
WAITING = (
    "Nothing failed here: these data are not public, or not on this machine. The command runs "
    "all that a paper measures on a dataset, once its files are there; the cheapest come first. "
    "Hours are estimates of training on one core; evaluation comes on top."
)
NOT_WRITTEN = "no experiment is written"
GENERATED = "<!-- written by `xcbench replication` -->"
BOARD, ADVICE = "board/index.html", "board/advice.csv"
SECONDS = "board/figures/front-seconds.png"  # quality over seconds, of all methods
USE = (
    f"The [board]({BOARD}) runs every method on every task under one protocol: the same data, "
    "trials and seconds. The table names the method that is best on validation rows after so many "
    "seconds, with its quality there; K counts classes, N training rows. `xcbench advise` asks the "
    "same of your own data."
)
CHANCE = (
    "{tasks} tasks are measured. The best method is often one of several that nobody can tell "
    "apart: the board's page has the tests."
)
MARKS = ("<!-- results -->", "<!-- end of results -->")
NEXT = {  # from the folder of reports
    "../README.md": "Install it and train your first model",
    "../docs/papers.md": "Run a paper, or one table of it",
    "../docs/extending.md": "Add a method or a dataset in one file",
    "../docs/library.md": "Use a classifier from Python",
    "../docs/status.md": "What is missing, and what nobody can run here",
    "../docs/glossary.md": "Words, and how verdicts are given",
    "../docs/data.md": "Where data come from, and how hours are estimated",
    BOARD: "Every method on every task under one protocol",
    REPLICATION: "Every printed number with its verdict, as CSV",
    "benchmarks.md": "How fast the engines are",
    "reliability.md": "Which faults were injected, and how the program recovered",
    "notes.md": "Notes on benchmarks, data and verdicts",
}


def write(reports: Path, rows: pd.DataFrame) -> None:
    """Write the page and its Markdown twin from all printed numbers and the papers' folders.

    A ``README.md`` that was written by hand is left alone.
    """
    papers = scoreboard.standings(rows, reports)
    parts = [*sections(reports, rows, papers)]
    page = section.render(TITLE, INTRO, parts, home="")
    bars = templates.render("papers/scoreboard.svg", papers=papers, results=RESULTS, claims=CLAIMS)
    readme, outer = reports / "README.md", reports.resolve().parent / "README.md"
    with writing(reports, "reports_dir"):
        durable.write(reports / "index.html", page)
        durable.write(reports / "scoreboard.svg", bars)
        if not readme.exists() or readme.read_text("utf-8").startswith(GENERATED):
            text = "\n\n".join([GENERATED, f"# {TITLE}", *INTRO, section.markdown(parts)])
            durable.write(readme, text)
        page = outer.read_text("utf-8") if outer.exists() else ""
        if all(mark in page for mark in MARKS):
            before, after = page.split(MARKS[0])[0], page.split(MARKS[1])[1]
            short = summary(papers, f"{reports.name}/")
            durable.write(outer, f"{before}{MARKS[0]}\n{short}\n{MARKS[1]}{after}")


def sections(reports: Path, rows: pd.DataFrame, papers: Sequence[Standing]) -> Iterator[Section]:
    """All sections, in their order."""
    claims = [line for name in NAMES for line in holding(name, committed.read(reports / name)[1])]
    if claims:
        yield Section("What holds", [HOLDS], items=claims)
    if (reports / ADVICE).exists():
        yield _advice(reports)
    yield _measured(papers)
    yield _in_prose(papers)
    waiting = scoreboard.waiting(rows, reports)
    if len(waiting):
        yield _waiting(waiting)
    yield Section("Other printed numbers", items=scoreboard.others(rows))
    links = [f"[{words}]({path})" for path, words in NEXT.items() if (reports / path).exists()]
    yield Section("Where to go next", items=links)


def holding(paper: str, rows: Sequence[Stated]) -> list[str]:
    """The headline claims of a paper, each with a link to all of its claims."""
    described = description.of(paper)
    wanted = {(it.claim, it.reading) for it in described.statements if it.headline}
    return [
        f"{sentence(claim)} [{described.short}]({paper}/index.html#claims)"
        for claim in stated.grouped(rows)
        if (claim.first.claim, claim.first.reading) in wanted
    ]


def sentence(claim: Claim) -> str:
    """A claim, and where it holds and where not, with effects."""
    by_verdict: dict[str, list[str]] = {}
    for row in claim.rows:
        word = row.reason if row.reason == stated.SAME else row.verdict
        if word not in NOTHING:
            by_verdict.setdefault(word, []).append(_place(row))
    answers = [" ".join(filter(None, (word, _listed(at)))) for word, at in by_verdict.items()]
    return f"{claim.first.sentence}: {'; '.join(answers) or claim.first.verdict}."


def _place(row: Stated) -> str:
    effect = f"({float(row.effect):.3g})" if row.effect else ""
    return " ".join(filter(None, (row.dataset, effect)))


def _listed(places: Iterable[str]) -> str:
    at = [place for place in places if place]
    preposition = "on " if at and not at[0].startswith("(") else ""
    return preposition + ", ".join(at)


def _advice(reports: Path) -> Section:
    """Which method to use when, and quality over seconds."""
    advice = pd.read_csv(reports / ADVICE, keep_default_na=False)
    folder, _, name = SECONDS.rpartition("/")
    caption = (
        "Accuracy on validation rows against training time. A line joins the methods that none "
        "beats in both."
    )
    figure = Picture(Path(name), caption, caption, place=folder, data="board/anytime.csv")
    shown = [figure] if (reports / SECONDS).exists() else []
    best = Table("The method to use, by task and need", advice, numeric(advice), digits=3)
    text = [USE, CHANCE.format(tasks=advice["task"].nunique())]
    return Section("Which method to use when", text, [best], shown)


def _measured(papers: Sequence[Standing]) -> Section:
    """Results with a verdict, of the papers that have any."""
    some = [paper for paper in papers if paper.measured]
    without = ", ".join(_linked(paper) for paper in papers if not paper.measured)
    text = [MEASURED, *([f"{ELSEWHERE}: {without}."] if without else [])]
    alt = "Measured results and claims of every paper, by verdict. The numbers are in the tables."
    bars = Picture(Path("scoreboard.svg"), alt, alt, place=".", data=REPLICATION)
    counts = _counts([(paper, paper.results) for paper in some], RESULTS)
    total = sum(paper.measured for paper in some)
    counts["core hours"] = [f"{paper.hours:.1f}" for paper in some]
    shown = _table(f"Measured results by verdict, {total} in all", counts)
    return Section("What was measured", text, [shown], [bars])


def _in_prose(papers: Sequence[Standing]) -> Section:
    """Claims in prose by verdict, with the data that answer them."""
    counts = _counts([(paper, paper.claims) for paper in papers], CLAIMS)
    counts["measured on"] = [", ".join(paper.data) or "nothing" for paper in papers]
    total = sum(sum(paper.claims.values()) for paper in papers)
    shown = _table(f"Claims by verdict, {total} in all", counts)
    return Section("Claims in prose", [CLAIMED], [shown])


def _waiting(waiting: pd.DataFrame) -> Section:
    """Results without data: what would run them, and for how long."""
    total = f"{waiting['results'].sum()} results, {waiting['hours'].sum():.0f} core hours"
    plan = waiting.assign(
        command=waiting["command"].map(lambda words: f"`{words}`" if words else NOT_WRITTEN),
        hours=waiting["hours"].map(lambda hours: NONE if pd.isna(hours) else f"{hours:.2g}"),
    )
    return Section("What waits for data", [WAITING], [_table(f"The plan: {total}", plan)])


def _table(caption: str, frame: pd.DataFrame) -> Table:
    return Table(caption, frame, [*numeric(frame), *({"hours", "core hours"} & {*frame})])


def _counts(
    lines: Iterable[tuple[Standing, Mapping[str, int]]], headings: Mapping[str, str]
) -> pd.DataFrame:
    """Counts by class of verdict, a line a paper."""
    return pd.DataFrame(
        {"paper": _linked(paper)} | {headings[kind]: count for kind, count in counts.items()}
        for paper, counts in lines
    )


def _linked(paper: Standing, folder: str = "") -> str:
    return f"[{paper.cited}]({folder}{paper.page})" if paper.page else paper.cited


def summary(papers: Sequence[Standing], folder: str) -> str:
    """The table of a README next to the reports; the links begin with their folder."""
    counts = pd.DataFrame(
        {
            "paper": _linked(paper, folder),
            "agree": paper.results["reproduced"] + paper.results["close"],
            "with the code's settings": paper.results["code-settings"],
            "deviate": paper.results["deviates"],
            "wait for data": paper.waiting,
            "claims that hold": paper.claims["reproduced"],
        }
        for paper in papers
    )
    counts.loc[len(counts)] = ["all", *counts.iloc[:, 1:].sum()]
    return table.markdown(_table("", counts))
