"""One-vs-each approximation to softmax (Titsias 2016): OVE, OVE-SGD, Bouchard's bound."""

from __future__ import annotations

from xcbench.papers import columns as c
from xcbench.papers.description import Description, Part, Sections, Table, Verdicts
from xcbench.papers.measures import Columns, Measure
from xcbench.papers.ove import figures, findings
from xcbench.papers.ove.experiments import (
    DATASETS,
    FIGURE1C,
    FIGURE2,
    FIGURE3,
    FIGURE3D,
    GROUPED,
    METHODS,
    TABLE2,
)
from xcbench.papers.ove.statements import STATEMENTS
from xcbench.papers.pivots import Cell, Pivot, Printed, named

TABLE2_ROWS = {"paper": TABLE2}
SIZES: Columns = {
    "dimensionality": c.FEATURES,
    "classes": c.CLASSES,
    "train_examples": c.TRAIN_ROWS,
    "test_examples": c.TEST_ROWS,
}
AMAZONCAT_ROWS = {"paper": FIGURE3D}
TABLE2_COLUMNS: Columns = {
    "param_norm": c.PARAM_NORM,
    "test_error": c.TEST_ERROR,
    "test_nlpd": c.TEST_LOG_LOSS,
}
PASSED = (
    "the rate is not printed; ours was chosen in two digits, and after the printed iterations "
    "the run has passed the printed distance"
)
GIVEN_SPLIT = "the given split; what ten random ones of the same sizes give stands below"
MEASURES = [
    Measure(
        "Table 1", dataset=["MNIST", "20NEWS", "BIBTEX"], rows=TABLE2_ROWS, columns=SIZES, once=True
    ),
    Measure("Table 1", rows=AMAZONCAT_ROWS, columns=SIZES, once=True),
    Measure(
        "Table 2",
        method="OVE-SGD",
        rows={"paper": FIGURE3},
        columns=TABLE2_COLUMNS,
        kind="fitted",
        reason={
            "MNIST": (
                "the rate is not printed: ours was chosen to give the printed distance "
                "after the printed iterations, which fits the whole trajectory"
            ),
            "20NEWS": PASSED,
            "BIBTEX": f"{PASSED}; {GIVEN_SPLIT}",
        },
    ),
    Measure(
        "Table 2",
        rows=TABLE2_ROWS,
        columns=TABLE2_COLUMNS,
        reason={
            "20NEWS BOUCHARD": (
                "measured at the optimum; on the way of gradient steps to it there is a "
                "point within 1 % of all three printed numbers (ove/table2_ascent)"
            ),
            "MNIST BOUCHARD": (
                "measured at the optimum, which has the printed error and density; the "
                "printed norm is passed on the way to it (ove/table2_early, "
                "ove/table2_ascent)"
            ),
            "BIBTEX": GIVEN_SPLIT,
        },
    ),
    Measure(
        "text",
        method="majority class",
        data="",
        our_method="",
        rows=AMAZONCAT_ROWS,
        verdict="not run: data",
        reason="the two printed numbers, 19 % and 79 %, do not add up to 100 %",
    ),
    Measure(
        "text",
        dataset="AMAZONCAT-13K",
        our_method="",
        rows=AMAZONCAT_ROWS,
        columns={"test_error": c.TEST_ERROR},
        command="python run.py -m experiment=ove/figure3d",
    ),
    Measure("text", dataset="MNIST;20NEWS;BIBTEX", our_method="", rows={"paper": FIGURE3}),
    Measure("text", dataset="toy 5-class 2-D", our_method="", rows={"paper": FIGURE1C}),
    Measure(
        "text",
        dataset="synthetic non-parametric",
        our_method="",
        rows={"paper": FIGURE2},
        columns={"classes": c.CLASSES},
        once=True,
    ),
]
SECTIONS: list[Part | Sections] = [
    Part("Table 1: datasets", tables=[Verdicts("Table 1", "Sizes as printed and read")]),
    Part(
        "Table 2: exact softmax and its bounds",
        tables=[
            Table(
                (
                    "Table 2: distance from the parameters of exact softmax (Eq. 17), test "
                    "error, negative log predictive density; SOFT, OVE and BOUCHARD at their "
                    "optimum. For SOFT and OVE on MNIST and 20NEWS the tolerances are 0.05 "
                    "in the norm, 0.005 in the error and 0.02 in the nlpd"
                ),
                Pivot(
                    by={
                        "dataset": named(
                            c.DATASET, {"MNIST": "mnist", "20NEWS": "20news", "BIBTEX": "bibtex"}
                        ),
                        "method": {
                            "SOFT": {c.GRID: TABLE2, c.METHOD: "softmax"},
                            "BOUCHARD": {c.GRID: TABLE2, c.METHOD: "bouchard"},
                            "OVE": {c.GRID: TABLE2, c.METHOD: "ove"},
                            "OVE-SGD": {c.GRID: FIGURE3, c.METHOD: "ove"},
                        },
                    },
                    columns={
                        "norm, printed": Cell(Printed("ove", "Table 2", "param_norm"), ".3f"),
                        "norm": Cell(c.PARAM_NORM, ".3f"),
                        "norm, difference": Cell(
                            c.PARAM_NORM, ".3f", less=Printed("ove", "Table 2", "param_norm")
                        ),
                        "error, printed": Cell(Printed("ove", "Table 2", "test_error"), ".3f"),
                        "error": c.TEST_ERROR,
                        "error, difference": Cell(
                            c.TEST_ERROR, less=Printed("ove", "Table 2", "test_error")
                        ),
                        "nlpd, printed": Cell(Printed("ove", "Table 2", "test_nlpd"), ".3f"),
                        "nlpd": c.TEST_LOG_LOSS,
                        "nlpd, difference": Cell(
                            c.TEST_LOG_LOSS, less=Printed("ove", "Table 2", "test_nlpd")
                        ),
                        "norm without biases": Cell(c.PARAM_NORM_WITHOUT_BIASES, ".3f"),
                        "as close as asked": findings.close_at_the_optimum,
                    },
                ),
                words=["dataset", "method", "as close as asked"],
            ),
            Verdicts("Table 2", "Table 2: printed and measured numbers"),
            Table(
                (
                    "BIBTEX: the published split beside random splits of the same sizes, at "
                    "the optimum"
                ),
                findings.splits,
                words=["method", "metric", "printed lies inside"],
            ),
            Table(
                (
                    "Bouchard's bound stopped early, beside the optimum and the printed "
                    "numbers. Both optimizers start at zero: L-BFGS with the best alpha at "
                    "every step, and gradient steps on the whole sum in weights and alpha "
                    "together"
                ),
                findings.early,
                words=["dataset", "BOUCHARD"],
            ),
        ],
    ),
    Part(
        "Figure 1a: ten values",
        printed=(
            "bars of the estimated probability (0 to 0.25) of ten values, from 200 draws; exact "
            "softmax, one-vs-each, Bouchard."
        ),
        figures="figure1a",
        run="experiment=ove/figure1a",
    ),
    Part(
        "Figure 1b: five classes in the plane",
        printed=(
            "200 points of five classes in the plane, with the decision boundaries of the three "
            "methods."
        ),
        figures="figure1b",
        run="experiment=ove/figure1b",
    ),
    Part(
        "Figure 1c: bounds on the way",
        printed=(
            "log-likelihood (-300 to -50) over 10,000 iterations; the optima of exact softmax and "
            "of the one-vs-each bound as constants, the stochastic estimate of one-vs-each, "
            "Bouchard."
        ),
        figures="figure1c",
        run="experiment=ove/figure1c",
    ),
    Part(
        "Figure 2: a million observations of 10,000 values",
        printed=(
            "probabilities (to 3.5e-4) of 10,000 sorted classes, analytic and stochastic; the L1 "
            "error (0 to 0.7) of OVE-SGD over 200,000 iterations."
        ),
        figures="figure2",
        run="experiment=ove/figure2",
    ),
    Part(
        "Figure 3: bounds on real data",
        printed=(
            "bounds over iterations on MNIST (-70,000 to -20,000), 20NEWS (-4,000 to -1,500) and "
            "BIBTEX (-6,000 to -3,000); four methods, OVE-SGD as a rolling mean of 400."
        ),
        tables=[
            Table(
                (
                    "Figure 3: sum over the observations minus lambda/2 ||w||², in nats, at "
                    "the optimum; for OVE-SGD its estimate over the last hundredth of the "
                    "iterations"
                ),
                findings.bounds,
                words=["dataset", "SOFT > OVE > BOUCHARD"],
            )
        ],
        figures="figure3",
        run="experiment=ove/figure3",
    ),
    Part(
        "Gradient ascent of Figures 3a to 3c",
        figures="figure3_ascent",
        run="experiment=ove/figure3_ascent",
    ),
    Part(
        "Figure 3d: AmazonCat-13K",
        printed=(
            "the bound of OVE-SGD per data point (-1,000 to 0) on AMAZONCAT-13K, a rolling mean "
            "of 4,000."
        ),
        figures="figure3d",
        run="experiment=ove/figure3d",
    ),
    Part("Numbers in the text", tables=[Verdicts("text", "Results and settings", ())]),
    Part(
        "Beyond the paper: an exact softmax over some classes",
        tables=[
            Table(
                (
                    "An exact softmax over the most frequent classes (Eq. 6), at the "
                    "optimum: bound per observation, bound of the sum minus the penalty, and "
                    "the numbers of Table 2"
                ),
                Pivot(
                    by={
                        "dataset": named(c.DATASET, {"BIBTEX": "bibtex"}),
                        "group": {
                            "0 (OVE)": {c.GRID: TABLE2, c.METHOD: "ove"},
                            "1": {c.GRID: GROUPED, c.GROUP: 1},
                            "10": {c.GRID: GROUPED, c.GROUP: 10},
                            "50": {c.GRID: GROUPED, c.GROUP: 50},
                            "100": {c.GRID: GROUPED, c.GROUP: 100},
                            "all (SOFT)": {c.GRID: TABLE2, c.METHOD: "softmax"},
                        },
                    },
                    columns={
                        "bound": c.BOUND,
                        "objective": Cell(c.TRAIN_ROWS * (c.BOUND - c.L2_TERM), ".0f"),
                        "norm": Cell(c.PARAM_NORM, ".3f"),
                        "error": c.TEST_ERROR,
                        "nlpd": c.TEST_LOG_LOSS,
                    },
                ),
                words=["dataset"],
            )
        ],
    ),
]
PAPER = Description(
    name="ove",
    title="One-vs-each approximation to softmax (Titsias, 2016)",
    intro=(
        "The paper has no published code, so there is one variant, with the "
        "text's settings (variant=ove/paper). Experiments settled what the text "
        "leaves open (see Findings). Bounds and losses are in nats; ± is the "
        "standard deviation over seeds."
    ),
    datasets=DATASETS,
    methods=METHODS,
    measures=MEASURES,
    statements=STATEMENTS,
    sections=SECTIONS,
    figures=figures.drawings,
    findings=findings.findings,
)
