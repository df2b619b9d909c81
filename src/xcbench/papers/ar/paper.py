"""Augment and reduce (Ruiz, Titsias, Dieng and Blei 2018)."""

from __future__ import annotations

from xcbench.papers import columns as c
from xcbench.papers.ar import figures, tables
from xcbench.papers.ar.experiments import (
    BOUND_AFTER,
    CITEULIKE,
    COMPLEMENTARY,
    DATASETS,
    LIKELIHOOD,
    METHODS,
    STEPS_ACCUMULATOR,
    STEPS_CLOCK,
    STEPS_ENTROPY,
    STEPS_LOCAL,
    SYNTHETIC,
    SYNTHETIC_PAPER,
    TABLE2,
    TABLE3_CODE,
    TABLE3_CODE_EXACT,
    TABLE3_LARGE,
    TABLE3_OMNIGLOT,
    TABLE3_OMNIGLOT_DRAWERS,
    TABLE3_OMNIGLOT_PAPER,
    TABLE3_PAPER,
    TABLE3_PAPER_EXACT,
)
from xcbench.papers.ar.findings import findings
from xcbench.papers.ar.statements import EPOCH_SECONDS, OMNIGLOT_ROWS, STATEMENTS
from xcbench.papers.description import Description, Part, Sections, Table, Verdicts
from xcbench.papers.measures import Columns, Measure
from xcbench.papers.pivots import Cell, Cells, Once, Pivot, Printed, named

SMALL_ROWS = {"paper": TABLE3_PAPER, "code": TABLE3_CODE}
SIZES: Columns = {
    "train_examples": c.TRAIN_ROWS,
    "test_examples": c.TEST_ROWS,
    "covariates": c.FEATURES,
    "classes": c.CLASSES,
}
LARGE_ROWS = {"code": TABLE3_LARGE}
UNITS = {"minutes": 60, "h": 3600}
CLOSED_FORM_COLUMNS: Columns = {
    "test_accuracy": c.TEST_ACCURACY,
    "test_log_likelihood": {"paper": c.TEST_LIKELIHOOD, "code": -c.TEST_LOG_LOSS_CLIPPED},
}
SPLIT_OF_MULAN = "Mulan's split, with other test rows and classes than printed (Table 1)"
EVALUATION_NOTES = {
    "paper": {"Bibtex": SPLIT_OF_MULAN},
    "code": {
        "Bibtex test_log_likelihood": (
            "published evaluation: losses clipped at 26 nats, probit and logistic by "
            "importance sampling; Mulan's split, with other test rows and classes "
            "than printed (Table 1)"
        ),
        "Bibtex test_accuracy": SPLIT_OF_MULAN,
        "test_log_likelihood": (
            "published evaluation: losses clipped at 26 nats, probit and logistic by "
            "importance sampling"
        ),
    },
}
SAMPLED_COLUMNS: Columns = {
    "test_accuracy": c.TEST_ACCURACY,
    "test_log_likelihood": {"paper": c.TEST_LIKELIHOOD, "code": -c.TEST_LOG_LOSS_IMPORTANCE},
}
CLOSED_FORMS = ["exact softmax", "OVE", "A&R softmax"]
SPLIT_OF_OMNIGLOT = (
    "the paper says neither which drawings train nor how they were made "
    "smaller; drawers 17 to 20 as the test part come nearer"
)
SYNTHETIC_ROWS = {"paper": SYNTHETIC_PAPER, "code": SYNTHETIC}
SYNTHETIC_COLUMNS: Columns = {
    "bound": c.BOUND * c.TRAIN_ROWS,
    "mean_abs_error_of_probabilities": c.TRAIN_L1_ERROR / c.CLASSES,
    "time_per_epoch": c.TRAIN_SECONDS / c.EPOCH,
}
SYNTHETIC_REASONS = {
    "bound": (
        "all seeds share one draw of the data, another than the paper's; the "
        "table has the largest possible bound on it"
    ),
    "mean_abs_error_of_probabilities": (
        "all seeds share one draw of the data, another than the paper's"
    ),
}
PRINTED_NAMES = {"dataset": named(c.DATASET, DATASETS), "method": named(c.METHOD, METHODS)}
TEXT_GRIDS = [TABLE3_PAPER, TABLE3_PAPER_EXACT, TABLE3_OMNIGLOT_PAPER]
CODE_GRIDS = [TABLE3_CODE, TABLE3_CODE_EXACT, TABLE3_OMNIGLOT, TABLE3_LARGE]
EVALUATIONS: Cells = {
    "K": Once(c.CLASSES, ".0f"),
    "log lik": c.TEST_LIKELIHOOD,
    "code": LIKELIHOOD,
    "acc": c.TEST_ACCURACY,
    "bound": Cell(c.BOUND, ".3f"),
    "training seconds": Cell(c.TRAIN_SECONDS, ".0f"),
}
MEASURES = [
    Measure(
        "Table 1",
        dataset=["MNIST", "Bibtex"],
        our_method="ar_softmax",
        rows=SMALL_ROWS,
        columns=SIZES,
        once=True,
        reason={
            "Bibtex classes": (
                "Mulan's split has 146 training classes; the paper's own split is not known"
            ),
            "Bibtex test_examples": (
                "2,513 rows have a label that is a class of training; 2,413 may be a "
                "slip; nothing measured here says so"
            ),
        },
    ),
    Measure(
        "Table 1",
        dataset="Omniglot",
        our_method="ar_softmax",
        rows=OMNIGLOT_ROWS,
        columns=SIZES,
        once=True,
    ),
    Measure("Table 1", our_method="ar_softmax", rows=LARGE_ROWS, columns=SIZES, once=True),
    Measure(
        "Table 2", rows={"code": TABLE2}, columns={"time_per_epoch": EPOCH_SECONDS}, units=UNITS
    ),
    Measure(
        "Table 3",
        dataset=["MNIST", "Bibtex"],
        method="exact softmax",
        rows={"paper": TABLE3_PAPER_EXACT, "code": TABLE3_CODE_EXACT},
        columns=CLOSED_FORM_COLUMNS,
        note=EVALUATION_NOTES,
    ),
    Measure(
        "Table 3",
        dataset=["MNIST", "Bibtex"],
        method=["OVE", "A&R softmax"],
        rows=SMALL_ROWS,
        columns=CLOSED_FORM_COLUMNS,
        note=EVALUATION_NOTES,
    ),
    Measure(
        "Table 3",
        dataset=["MNIST", "Bibtex"],
        rows=SMALL_ROWS,
        columns=SAMPLED_COLUMNS,
        note=EVALUATION_NOTES,
    ),
    Measure(
        "Table 3",
        dataset="Omniglot",
        method=CLOSED_FORMS,
        rows=OMNIGLOT_ROWS,
        columns=CLOSED_FORM_COLUMNS,
        note=EVALUATION_NOTES,
        reason=SPLIT_OF_OMNIGLOT,
    ),
    Measure(
        "Table 3",
        dataset="Omniglot",
        rows=OMNIGLOT_ROWS,
        columns=SAMPLED_COLUMNS,
        note=EVALUATION_NOTES,
        reason=SPLIT_OF_OMNIGLOT,
    ),
    Measure(
        "Table 3",
        method=CLOSED_FORMS,
        rows=LARGE_ROWS,
        columns=CLOSED_FORM_COLUMNS,
        note=EVALUATION_NOTES,
    ),
    Measure("Table 3", rows=LARGE_ROWS, columns=SAMPLED_COLUMNS, note=EVALUATION_NOTES),
    Measure(
        "Section 4.1",
        method="",
        rows=SYNTHETIC_ROWS,
        columns={
            "train_examples": c.TRAIN_ROWS,
            "classes_generated": c.CATEGORIES,
            "classes_effective": c.CLASSES,
        },
        once=True,
        reason={"classes_effective": "another draw of the same recipe; its seed is not printed"},
    ),
    Measure(
        "Section 4.1",
        method="A&R softmax",
        our_method="",
        where={c.METHOD: "ar_softmax"},
        rows=SYNTHETIC_ROWS,
        columns=SYNTHETIC_COLUMNS,
        units=UNITS,
        reason=SYNTHETIC_REASONS,
    ),
    Measure(
        "Section 4.1",
        method="OVE",
        our_method="",
        where={c.METHOD: "ove"},
        rows=SYNTHETIC_ROWS,
        columns=SYNTHETIC_COLUMNS,
        units=UNITS,
        reason=SYNTHETIC_REASONS,
    ),
]
SECTIONS: list[Part | Sections] = [
    Part(
        "Section 4.1: synthetic data",
        tables=[
            Table(
                (
                    "Section 4.1: bounds (nats, of all observations; the mean of the last "
                    "hundredth of the iterations, on drawn classes) and errors of the "
                    "estimated probabilities against the observed frequencies"
                ),
                tables.synthetic,
                words=["method", "within 15 %"],
            ),
            Verdicts("Section 4.1", "Results and settings", ()),
        ],
    ),
    Part(
        "Table 1: datasets and settings",
        tables=[Verdicts("Table 1", "Sizes and settings as printed and read")],
    ),
    Part(
        "Table 2: time per epoch",
        tables=[
            Table(
                (
                    "Table 2: training seconds an epoch (20 epochs, one core), for "
                    "orientation; compare the ratios to OVE on the same machine. Three "
                    "launches: a seed changes which classes are drawn, not how many, so that "
                    "the spread is that of the clock"
                ),
                tables.times,
                words=["dataset", "method"],
            ),
            Verdicts("Table 2", "Printed times, which are never judged"),
        ],
    ),
    Part(
        "Table 3: test log likelihood and accuracy",
        tables=[
            Table(
                (
                    "Table 3: test log likelihood (nats a row) and accuracy. paper: log "
                    "likelihoods by quadrature, not clipped; code: clipped at -26, probit "
                    "and logistic by importance sampling. The tolerances of the code's "
                    "variant are 0.005 and 0.004 on MNIST, 0.03 (probit 0.05) and 0.012 on "
                    "Bibtex"
                ),
                Pivot(
                    by=PRINTED_NAMES,
                    columns={
                        "log lik, printed": Cell(
                            Printed("ar", "Table 3", "test_log_likelihood"), ".3f"
                        ),
                        "log lik, paper": Cell(c.TEST_LIKELIHOOD, where={c.GRID: TEXT_GRIDS}),
                        "log lik, code": Cell(LIKELIHOOD, where={c.GRID: CODE_GRIDS}),
                        "acc, printed": Cell(Printed("ar", "Table 3", "test_accuracy"), ".3f"),
                        "acc, paper": Cell(c.TEST_ACCURACY, where={c.GRID: TEXT_GRIDS}),
                        "acc, code": Cell(c.TEST_ACCURACY, where={c.GRID: CODE_GRIDS}),
                        "as close as asked": tables.close,
                    },
                    where={
                        c.GRID: [
                            TABLE3_PAPER,
                            TABLE3_PAPER_EXACT,
                            TABLE3_CODE,
                            TABLE3_CODE_EXACT,
                            TABLE3_OMNIGLOT,
                            TABLE3_LARGE,
                        ]
                    },
                    every=True,
                ),
                words=["dataset", "method", "as close as asked"],
            ),
            Verdicts("Table 3", "Table 3: printed and measured numbers"),
            Table(
                (
                    "Has softmax A&R the higher log likelihood (not clipped)? In how many of "
                    "the seeds, and the mean ± spread of the difference on the same seeds"
                ),
                tables.orderings,
            ),
            Table(
                (
                    "One set of weights (with the code's settings), three evaluations: the "
                    "likelihood itself (probit and logistic by quadrature), clipped, and by "
                    "1,000 draws of N(5, 5²) a row"
                ),
                Pivot(
                    by=PRINTED_NAMES,
                    columns={
                        "log likelihood": c.TEST_LIKELIHOOD,
                        "clipped at -26": -c.TEST_LOG_LOSS_CLIPPED,
                        "what the clip adds": Cell(c.TEST_LOG_LOSS, less=c.TEST_LOG_LOSS_CLIPPED),
                        "by importance sampling": -c.TEST_LOG_LOSS_IMPORTANCE,
                        "what it adds": Cell(
                            c.TEST_LOG_LOSS_CLIPPED, less=c.TEST_LOG_LOSS_IMPORTANCE
                        ),
                        "standard error of the rows": tables.standard_error,
                    },
                    where={c.GRID: CODE_GRIDS},
                ),
                words=["dataset", "method"],
            ),
        ],
    ),
    Part(
        "From the text to the printed numbers",
        tables=[
            Table(
                (
                    "Test log likelihood of seed 0; each column changes one more setting "
                    "from the text's to the code's (empty: it does not concern this method). "
                    "MNIST has one label a row; its averages of touched coordinates are in "
                    "the column of the code"
                ),
                Pivot(
                    by=PRINTED_NAMES,
                    columns={
                        "paper": Cell(c.TEST_LIKELIHOOD, where={c.GRID: TEXT_GRIDS}),
                        "local step size by epochs": Cell(
                            c.TEST_LIKELIHOOD, where={c.GRID: STEPS_CLOCK}
                        ),
                        "a tenth of it": Cell(c.TEST_LIKELIHOOD, where={c.GRID: STEPS_LOCAL}),
                        "no entropy in the scale's step": Cell(
                            c.TEST_LIKELIHOOD, where={c.GRID: STEPS_ENTROPY}
                        ),
                        "averages of touched coordinates": Cell(
                            c.TEST_LIKELIHOOD, where={c.GRID: STEPS_ACCUMULATOR}
                        ),
                        "code: labels of the code": Cell(
                            c.TEST_LIKELIHOOD, where={c.GRID: CODE_GRIDS}
                        ),
                        "and its evaluation": Cell(LIKELIHOOD, where={c.GRID: CODE_GRIDS}),
                        "printed": Cell(Printed("ar", "Table 3", "test_log_likelihood"), ".3f"),
                    },
                    where={c.SEED: 0, c.DATASET: ["mnist", "bibtex"]},
                ),
                words=["dataset", "method"],
            )
        ],
    ),
    Part(
        "Omniglot: which drawings train",
        tables=[
            Table(
                (
                    "omniglot: log likelihood (by quadrature where it has no closed form), "
                    "the same by the published evaluation, accuracy; bound a training row; "
                    "seconds are for orientation"
                ),
                Pivot(
                    by={
                        "variant": {
                            "16 of 20 drawings drawn at random, others for every seed": {
                                c.GRID: TABLE3_OMNIGLOT
                            },
                            "drawers 17 to 20 are the test part": {c.GRID: TABLE3_OMNIGLOT_DRAWERS},
                        },
                        "method": named(c.METHOD, METHODS),
                    },
                    columns=EVALUATIONS,
                ),
                words=["variant", "method"],
            )
        ],
    ),
    Part(
        "Figure 2: bounds against training time",
        printed=(
            "five panels with the training bound, estimated on the minibatch, over wall-clock "
            "time; softmax A&R and OVE, on MNIST and Bibtex also the maximum likelihood of exact "
            "softmax. A&R lies above OVE but on Bibtex."
        ),
        tables=[
            Table(
                (
                    "Bounds of the last hundredth of the iterations before and after the "
                    "local step (method.bound_at), with the code's settings; the weights are "
                    "the same, seed by seed"
                ),
                Pivot(
                    by={
                        "dataset": named(c.DATASET, DATASETS),
                        "bound": {
                            "A&R, before the local step": {
                                c.GRID: TABLE3_CODE,
                                c.METHOD: "ar_softmax",
                            },
                            "A&R, after the local step": {c.GRID: BOUND_AFTER},
                            "OVE": {c.GRID: TABLE3_CODE, c.METHOD: "ove"},
                            "exact softmax": {c.GRID: TABLE3_CODE_EXACT},
                        },
                    },
                    columns={"bound a row": Cell(c.BOUND, ".3f")},
                ),
                words=["dataset", "bound"],
            )
        ],
        figures="figure2",
        run="experiment=ar/table3_code",
    ),
    Part(
        "Footnote 8: complementary sum sampling",
        tables=[
            Table(
                (
                    "Complementary sum sampling (Botev et al. 2017) with the settings that "
                    "the text has for one-vs-each. From the drawn classes: the mean of the "
                    "last hundredth of the iterations, a bound but for complementary sum "
                    "sampling, whose estimate of the log likelihood lies above it on average "
                    "(Jensen's inequality)"
                ),
                Pivot(
                    by={
                        "dataset": named(c.DATASET, DATASETS),
                        "method": {
                            "exact softmax": {c.GRID: TABLE3_PAPER_EXACT},
                            "OVE": {c.GRID: TABLE3_PAPER, c.METHOD: "ove"},
                            "A&R softmax": {c.GRID: TABLE3_PAPER, c.METHOD: "ar_softmax"},
                            "complementary sum sampling": {c.GRID: COMPLEMENTARY},
                        },
                    },
                    columns={
                        "log lik": c.TEST_LIKELIHOOD,
                        "acc": c.TEST_ACCURACY,
                        "log lik of the training rows": Cell(-c.TRAIN_LOG_LOSS, ".3f"),
                        "from the drawn classes": Cell(c.BOUND.fillna(-c.OBJECTIVE), ".3f"),
                    },
                ),
                words=["dataset", "method"],
            )
        ],
    ),
    Part(
        "Beyond the paper: one objective, three methods",
        figures="unification",
        run="experiment=ar/unification",
    ),
    Part(
        "Beyond the paper: thousands of classes",
        tables=[
            Table(
                (
                    "citeulike: log likelihood (by quadrature where it has no closed form), "
                    "the same by the published evaluation, accuracy; bound a training row; "
                    "seconds are for orientation"
                ),
                Pivot(
                    by={
                        "variant": {"smallest tag of an article": {c.GRID: CITEULIKE}},
                        "method": named(c.METHOD, METHODS),
                    },
                    columns=EVALUATIONS,
                ),
                words=["variant", "method"],
            )
        ],
    ),
]
PAPER = Description(
    name="ar",
    title=(
        "Augment and reduce: stochastic inference for large categorical "
        "distributions (Ruiz, Titsias, Dieng and Blei, 2018)"
    ),
    intro=(
        "'paper' has the settings of the paper's text; 'code' has those with "
        "which the authors' code ran (revision 402209c). Both are presets of "
        "ordinary settings: variant=ar/paper, variant=ar/code. Log likelihoods "
        "are means per test row in nats; ± is the standard deviation over seeds."
    ),
    datasets=DATASETS,
    methods=METHODS,
    measures=MEASURES,
    statements=STATEMENTS,
    sections=SECTIONS,
    figures=figures.drawings,
    findings=findings,
)
