"""The report of the adversarial-softmax paper: every table and figure, and what lies beyond."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pandas as pd

from xcbench.papers import Measured, report
from xcbench.papers.adv import TITLE, claims, figures, race, tables, theory
from xcbench.papers.adv.frames import at_best
from xcbench.papers.frames import without_twins
from xcbench.papers.section import Section, Table
from xcbench.report.figures import Picture

INTRO = (
    "'As text' is the paper as it is written; 'as published' is what the authors' code runs "
    "(revision a71a9bd). Both are presets of ordinary settings: variant=adv/paper, "
    "variant=adv/code. The paper's own data, Wikipedia-500K and Amazon-670K with XML-CNN "
    "features, stand in a Git LFS store that is not fetched here; the same experiments run on "
    "citeulike (6,346 classes: of its 7,350, those with a training row) and 20 Newsgroups, with "
    "TF-IDF, rows of length 1 and 512 coordinates of a truncated SVD, where the tree sees plain "
    "principal components. Rates and regularisers are those of the lowest validation log loss. Of "
    "a cell, log likelihoods and times are those of its checkpoint with the lowest validation log "
    "loss, accuracies those of the one with the lowest validation error, which may come much "
    "earlier. Log likelihoods are means per test row in nats; ± is the standard deviation over "
    "seeds."
)
THEORY = {
    "equivalence": "Theorem 1: the same optimum in the nonparametric limit",
    "signal_to_noise": "Theorem 2: signal-to-noise ratio of the samplers",
}


def write(measured: Measured, folder: Path) -> pd.DataFrame:
    """Write page, Markdown, figures and the theory's numbers; returns the replication rows."""
    real = without_twins(measured.results)
    measured = replace(measured, results=at_best(real, measured.curves))
    known = claims.claims(measured.results)
    return report.write("adv", TITLE, INTRO, known, folder, partial(_sections, measured))


def _sections(measured: Measured, rows: pd.DataFrame, folder: Path) -> list[Section]:
    results, curves = measured.results, measured.curves
    drawn = figures.draw(results, curves, folder)
    return [
        Section("What was found", report.paragraphs(Path(__file__).parent / "findings.md")),
        Section(
            "Table 1: sizes and tuned settings",
            tables=[
                tables.table1(results),
                report.of_rows(rows, "Table 1", "Printed sizes and settings"),
            ],
        ),
        _figure1(results, curves, drawn),
        Section("Bias removal", tables=[tables.bias(results)]),
        Section(
            "Appendix A.2: exact softmax against negative sampling",
            tables=[
                tables.appendix(results),
                report.of_rows(rows, "Appendix A.2", "Verdicts, number by number"),
            ],
        ),
        Section("The text and the published code", tables=[tables.readings(results)]),
        Section("Beyond the paper: samplers and objectives", tables=[tables.crossed(results)]),
        Section("Beyond the paper: 52,919 classes", tables=[tables.pairs(results, curves)]),
        Section("Beyond the paper: the tree alone", tables=[tables.trees(results, curves)]),
        *_theory(folder),
    ]


def _figure1(results: pd.DataFrame, curves: pd.DataFrame, drawn: dict[str, Picture]) -> Section:
    title = "Figure 1: learning curves"
    if "figure1" not in drawn:
        return Section(title, ["Not run: `xcbench paper adv` tunes and runs it."])
    levels = race.levels(results, curves)
    made = [tables.methods(results), race.race(levels)]
    return Section(title, race.verdict(levels), made, [drawn["figure1"]])


def _theory(folder: Path) -> list[Section]:
    sections = []
    for name, frame in theory.measure().items():
        frame.to_csv(folder / f"{name}.csv", index=False, float_format="%.8g")
        shown = frame.rename(columns=lambda column: str(column).replace("_", " "))
        right = report.all_but(shown, "model", "noise")
        numbers = Table(f"The numbers, as in figures/{name}.csv", shown, right)
        said = theory.PARTS[name].caption(frame)
        sections.append(Section(THEORY[name], [said], [numbers]))
    return sections
