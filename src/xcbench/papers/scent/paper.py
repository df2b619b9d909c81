"""Compositional entropic risk minimisation (Wei et al. 2026): SCENT."""

from __future__ import annotations

from collections.abc import Mapping

from xcbench.papers import columns as c
from xcbench.papers import verdicts
from xcbench.papers.description import Description, Part, Table, Verdicts
from xcbench.papers.measures import Measure
from xcbench.papers.pivots import Cell, Pivot
from xcbench.papers.rows import Conditions
from xcbench.papers.scent import figures
from xcbench.papers.scent.experiments import LOSSES, LOSSES_CODE, SYSTEMS
from xcbench.papers.scent.findings import findings
from xcbench.papers.scent.statements import AT_HAND, NO_FEATURES, STATEMENTS

TEXT: Conditions = {c.GRID: LOSSES}
CODE: Conditions = {c.GRID: LOSSES_CODE}
BY: dict[str, Mapping[str, Conditions]] = {
    "dataset": {name: {c.DATASET: name} for name in AT_HAND},
    "system": SYSTEMS,
}
PAPER = Description(
    name="scent",
    title=(
        "A geometry-aware efficient algorithm for compositional entropic risk minimization "
        "(Wei, Zhou, Wang, Lin and Yang, 2026)"
    ),
    intro=(
        "A dual variable u for every row, as in U-max, which is among the paper's baselines; SCENT "
        "moves it by a proximal step. 'paper' draws classes uniformly; 'code' takes the labels of "
        "the minibatch without correction, as the authors' code does (revision 8d9b1d0). BSGD is "
        "complementary sum sampling here, ASGD is dual=asgd. The paper's features are not to be "
        "had: the losses are those of stand-ins, and the printed ones are read from its figure."
    ),
    datasets={},
    methods={"SCENT": "scent", "SOX": "scent", "ASGD": "scent", "U-max": "umax", "BSGD": "css"},
    measures=[
        Measure("Classification", metric=metric, verdict=verdicts.NO_DATA, reason=NO_FEATURES)
        for metric in ("*_log_loss", "train_examples", "classes", "dimensionality")
    ],
    statements=STATEMENTS,
    sections=[
        Part(
            "Figure: losses over epochs",
            printed=(
                "training and validation loss over 50 epochs on Glint360K and TreeOfLife-10M. On "
                "both SCENT is the lowest and SOX the next. BSGD is the third on Glint360K and the "
                "last on TreeOfLife-10M."
            ),
            tables=[
                Table(
                    "Losses at the end, classes drawn uniformly ('paper') and from the minibatch "
                    "('code'); ± is the standard deviation over seeds",
                    Pivot(
                        by=BY,
                        columns={
                            "rate": Cell(c.LR, ".3g", where=TEXT),
                            "training loss": Cell(c.TRAIN_LOG_LOSS, ".3f", where=TEXT),
                            "test loss": Cell(c.TEST_LOG_LOSS, ".3f", where=TEXT),
                            "test error": Cell(c.TEST_ERROR, ".3f", where=TEXT),
                            "training loss, code": Cell(c.TRAIN_LOG_LOSS, ".3f", where=CODE),
                            "test loss, code": Cell(c.TEST_LOG_LOSS, ".3f", where=CODE),
                        },
                    ),
                    words=["dataset", "system"],
                ),
                Verdicts("Classification", "Printed settings, and losses read from the figure"),
            ],
            figures="losses*",
            run="experiment=scent/losses",
        ),
    ],
    figures=figures.drawings,
    findings=findings,
)
