"""The report of the U-max paper: a section for every table and figure, and what lies beyond."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pandas as pd

from xcbench.papers import LOSS, Measured, published, report
from xcbench.papers.frames import part, values, without_twins
from xcbench.papers.section import Section, Table
from xcbench.papers.umax import TITLE, claims, figures, orderings, tables, theory
from xcbench.papers.umax.frames import ERROR, PUBLISHED_NAME
from xcbench.report import style
from xcbench.report.figures import Picture
from xcbench.report.formats import NONE

THEORY = {
    "step_size": "Propositions 1 and 2: sizes of steps",
    "bisection": "Proposition 4: evaluations to solve an implicit step",
    "convergence": "Theorem 1: convergence of U-max at its own rate",
    "second_moment": "Section 2.3: the gradients of the two double sums",
}
INTRO = (
    "'As text' is the paper as it is written; 'as published' is what the authors' code ran for "
    "its Table 3 (revision 6f9129b). Both are presets of ordinary settings: "
    "variant=umax/paper, variant=umax/code. Log losses are means per observation in "
    "nats over all training rows; ± is the standard deviation over seeds."
)


def write(measured: Measured, folder: Path) -> pd.DataFrame:
    """Write page, Markdown, figures and the theory's numbers; returns the replication rows."""
    measured = replace(measured, results=without_twins(measured.results))
    known = claims.claims(measured.results)
    return report.write("umax", TITLE, INTRO, known, folder, partial(_sections, measured))


def _sections(measured: Measured, rows: pd.DataFrame, folder: Path) -> list[Section]:
    results, curves = measured.results, measured.curves
    authors = published.author_runs()
    drawn = figures.draw(results, curves, authors, folder)
    return [
        Section("What was found", report.paragraphs(Path(__file__).parent / "findings.md")),
        Section(
            "Table 1: datasets after preprocessing",
            tables=[report.of_rows(rows, "Table 1", "Sizes as printed and as the protocol gives")],
        ),
        Section(
            "Table 2: tuned learning rates",
            tables=[
                tables.rates(results, authors),
                report.of_rows(rows, "Table 2", "Verdicts; a rate agrees if it is the same"),
            ],
        ),
        Section(
            "Table 3: final log loss relative to Implicit SGD",
            tables=[
                report.of_rows(rows, "Table 3", "Printed ratios beside the measured ones"),
                tables.stored_runs(results, authors),
            ],
        ),
        Section("Figure 1: log loss over epochs", figures=[drawn["figure1"]]),
        Section(
            "From the text to the printed numbers",
            tables=[tables.steps(results, authors)],
        ),
        Section(
            "Figure 2: two double sums",
            tables=[_raman(results)],
            figures=[drawn["figure2"]],
        ),
        Section(
            "Figure 3: sensitivity to the learning rate",
            figures=[picture for name, picture in drawn.items() if name.startswith("figure3")],
        ),
        Section(
            "Numbers in the text", tables=[report.of_rows(rows, "text", "Factors and settings")]
        ),
        Section(
            "Beyond the paper: correct log losses at adequate rates",
            orderings.winners(results),
            [tables.beyond(results), orderings.order(results), orderings.plateaus(results, curves)],
        ),
        Section("Appendix F.3: several rows and classes a step", tables=[_several(results)]),
        Section("Beyond the paper: tens of thousands of classes", tables=[_pairs(results)]),
        *_theory(folder),
    ]


def _raman(results: pd.DataFrame) -> Table:
    lines = []
    rows = part(results, "figure2")
    for dataset, own in rows[rows["status"] != "skipped"].groupby("dataset"):
        for rate, at in own.groupby("lr"):
            line = {"dataset": dataset, "rate": f"{rate:g}"}
            for which, (heading, _) in figures.DOUBLE_SUMS.items():
                line[heading] = values(at[figures.double_sum(at) == which], LOSS).text(3)
            lines.append(line)
    headings = [heading for heading, _ in figures.DOUBLE_SUMS.values()]
    frame = pd.DataFrame(lines, columns=["dataset", "rate", *headings])
    factors = "; ".join(
        f"{dataset}: {comparator:.2f} for the published comparator, {right:.2f} for the correct one"
        for dataset, (comparator, right) in claims.raman_factors(results).items()
    )
    caption = (
        "Final log loss of U-max (5 classes) on the two double sums; mean over the rates of the "
        f"loss relative to the paper's double sum: {factors or 'not run'} (printed, Eurlex: 3.08)"
    )
    return Table(caption, frame, ("rate", *headings))


def _several(results: pd.DataFrame) -> Table:
    rows = part(results, "several")
    rows = rows[rows["status"] != "skipped"]
    lines = []
    for (n, m), own in rows.groupby(["method.n", "method.m"]) if len(rows) else ():
        line = {"observations n": f"{n:.0f}", "classes m": f"{m:.0f}"}
        for rate, at in own.groupby("lr"):
            line[f"log loss at rate {rate:g}"] = values(at, LOSS).text(3)
        line["training seconds"] = values(own, "train_seconds").text(1)
        lines.append(line)
    caption = (
        "Implicit SGD on Bibtex after 20 epochs; a step is one proximal problem over n rows and m "
        "classes drawn outside their labels. Seconds are for orientation"
    )
    frame = pd.DataFrame(lines)
    return Table(caption, frame, tuple(str(name) for name in frame))


def _pairs(results: pd.DataFrame) -> Table:
    lines = []
    for grid in ("table3_tuned", "pairs"):
        rows = part(results, grid, dataset="citeulike")
        for method, name in PUBLISHED_NAME.items():
            own = rows[rows["method"] == method]
            if own.empty:
                continue
            lines.append(
                {
                    "K": _number(own, "shape.classes"),
                    "training rows": _number(own, "shape.train"),
                    "method": name,
                    "rate": f"{own['lr'].iloc[0]:g}",
                    "train log loss": values(own, LOSS).text(3),
                    "train error": values(own, ERROR).text(),
                    "test precision at 1": values(own, "test_precision_at_1").text(),
                    "training seconds": values(own, "train_seconds").text(0),
                }
            )
    columns = ["K", "training rows", "method", "rate", "train log loss", "train error"]
    columns += ["test precision at 1", "training seconds"]
    frame = pd.DataFrame(lines, columns=columns)
    caption = (
        "citeulike, one tag an article and one row per article and tag; rates tuned on a tenth of "
        "the first. Seconds are for orientation"
    )
    return Table(caption, frame, tuple(name for name in columns if name != "method"))


def _number(rows: pd.DataFrame, column: str) -> str:
    found = rows[column].dropna() if column in rows else pd.Series(dtype=float)
    return f"{found.iloc[0]:,.0f}" if len(found) else NONE


def _theory(folder: Path) -> list[Section]:
    sections = []
    for result in theory.results(theory.measure()):
        png = folder / f"{result.name}.png"
        with style.look():
            style.save(result.figure, png)
        for name, frame in result.frames.items():
            frame.to_csv(folder / f"{name}.csv", index=False, float_format="%.8g")
        alt = f"{THEORY[result.name]}. The numbers are in {result.name}.csv."
        picture = Picture(png, alt, "")
        sections.append(Section(THEORY[result.name], [result.caption], figures=[picture]))
    return sections
