"""Extreme classification via adversarial softmax approximation (Bamler and Mandt 2020)."""

from __future__ import annotations

import numpy as np

from xcbench.papers import Grid, demonstration
from xcbench.papers import columns as c
from xcbench.papers.adv import experiments, figures, tables
from xcbench.papers.adv.experiments import (
    APPENDIX_A2,
    APPENDIX_A2_TEXT,
    CROSSED,
    DATASETS,
    FIGURE1,
    FIGURE1_LARGE,
    FIGURE1_SPLITS,
    METHODS,
    NCE_NORMALISED,
    PAIRS,
    PAIRS_FREQUENCY,
    PAIRS_TUNED,
    SCALE,
    SCALE_SEARCH,
    SMOOTHED,
    TABLE1_CODE,
    TABLE1_CODE_FREQUENCY,
    TREE,
)
from xcbench.papers.adv.findings import findings
from xcbench.papers.adv.statements import STATEMENTS
from xcbench.papers.adv.theory import equivalence, signal_to_noise
from xcbench.papers.description import Description, Part, Sections, Table, Verdicts
from xcbench.papers.measures import Measure
from xcbench.papers.pivots import Cell, Labels, Once, Pivot, named

LARGE = {"code": FIGURE1_LARGE}
TUNED_BY_AUTHORS = "tuned by the authors on these data; our runs on them take it as it is"
APPENDIX_ROWS = {"paper": APPENDIX_A2}
COMMAND = "xcbench paper adv dataset=eurlex"
VALIDATION_ROWS = "our validation rows are test rows, the authors' a tenth of the training rows"
AT_HAND = named(c.DATASET, {"citeulike": "citeulike", "20 Newsgroups": "20news"})
NOISE = {
    "uniform": {c.SAMPLER: "uniform"},
    "frequency": {c.SAMPLER: "frequency"},
    "adversarial tree": {c.SAMPLER: "tree"},
}
UNIFORM_SAMPLERS = ["uniform", "others"]
MEASURES = [
    Measure(
        "Table 1",
        method="",
        rows=LARGE,
        columns={"train_examples": c.TRAIN_ROWS, "classes_after_preprocessing": c.CLASSES},
        once=True,
    ),
    Measure(
        "Table 1", method="adversarial *", rows=LARGE, verdict="setting", reason=TUNED_BY_AUTHORS
    ),
    Measure(
        "Table 1",
        method="* neg. sampling",
        rows={"code": Grid("figure1_large_raw")},
        verdict="setting",
        reason=TUNED_BY_AUTHORS,
    ),
    Measure(
        "Table 1",
        method="NCE",
        rows={"code": Grid("figure1_large_nce")},
        verdict="setting",
        reason=TUNED_BY_AUTHORS,
    ),
    Measure(
        "Table 1",
        rows={"code": Grid("figure1_large_prior")},
        verdict="setting",
        reason=TUNED_BY_AUTHORS,
    ),
    Measure(
        "Appendix A.2",
        method="",
        data="eurlex",
        rows=APPENDIX_ROWS,
        columns={"train_examples": c.TRAIN_ROWS, "classes": c.CLASSES, "feature_dim": c.FEATURES},
        once=True,
        command=COMMAND,
        reason={
            "train_examples": VALIDATION_ROWS,
            "classes": (
                "with one label a row other papers count 838 to 896 classes; how 3,687 "
                "came is not said"
            ),
        },
    ),
    Measure(
        "Appendix A.2",
        method="full softmax",
        metric="regulariser_lambda",
        rows=APPENDIX_ROWS,
        verdict="setting",
        command=COMMAND,
        reason="the appendix does not say which quadratic form lambda multiplies",
    ),
    Measure(
        "Appendix A.2",
        method="full softmax",
        data="eurlex",
        our_method="softmax",
        rows=APPENDIX_ROWS,
        columns={"test_accuracy": c.TEST_ACCURACY, "learning_rate_rho": c.LR},
        command=COMMAND,
        reason=VALIDATION_ROWS,
    ),
    Measure(
        "Appendix A.2",
        method="uniform neg. sampling",
        data="eurlex",
        where={c.SAMPLER: "uniform"},
        rows=APPENDIX_ROWS,
        columns={
            "test_accuracy": c.TEST_ACCURACY,
            "learning_rate_rho": c.LR,
            "regulariser_lambda": c.SCORE_L2,
        },
        command=COMMAND,
        reason=VALIDATION_ROWS,
    ),
]
SECTIONS: list[Part | Sections] = [
    Part(
        "Table 1: sizes and tuned settings",
        tables=[
            Table(
                (
                    "Table 1: rate and regulariser of every method with the lowest log loss "
                    "on the validation rows (at most 1,000 of them; seed 0), with the lowest "
                    "log loss and the lowest error of that cell's checkpoints; then those of "
                    "the lowest error, which the runs do not take. The regulariser is lambda "
                    "of Eq. 6, of A&R, OVE and U-max the prior variance, of softmax lambda/2 "
                    "||(w, b)||². A search goes on by half decades in either until no "
                    "neighbour is better, or for eight rounds. At the right what the paper "
                    "prints for its own data, of another scale"
                ),
                tables.table1,
                words=["dataset", "method"],
            ),
            Verdicts("Table 1", "Printed sizes and settings", ["dataset"]),
        ],
    ),
    Part(
        "Figure 1: learning curves",
        printed=(
            "predictive log-likelihood and accuracy over about four hours of training on "
            "Wikipedia-500K and Amazon-670K; six methods, the two with a tree shifted by its fit."
        ),
        tables=[
            Table(
                (
                    "Figure 1 in numbers: log likelihood (nats a test row) at the checkpoint "
                    "of the lowest validation log loss, accuracy at that of the lowest "
                    "validation error; training seconds, which are for orientation, include "
                    "the tree"
                ),
                Pivot(
                    by={
                        "dataset": AT_HAND,
                        "method": {
                            "adversarial neg. sampling (proposed)": {
                                c.METHOD: "negative_sampling",
                                c.SAMPLER: "tree",
                            },
                            "uniform neg. sampling": {
                                c.METHOD: "negative_sampling",
                                c.SAMPLER: "uniform",
                            },
                            "frequency-based neg. sampling": {
                                c.METHOD: "negative_sampling",
                                c.SAMPLER: "frequency",
                            },
                            "NCE": {c.METHOD: "nce"},
                            "A&R": {c.METHOD: "ar_softmax"},
                            "OVE": {c.METHOD: "ove"},
                        },
                    },
                    columns={
                        "log lik": c.TEST_LIKELIHOOD,
                        "at epoch": Cell(c.EPOCH, ".1f"),
                        "after seconds": Cell(c.TRAIN_SECONDS, ".1f"),
                        "acc": c.TEST_ACCURACY,
                        "its epoch": Cell(c.ERROR_EPOCH, ".1f"),
                    },
                    where={c.GRID: FIGURE1},
                ),
                words=["dataset", "method"],
            ),
            Table(
                (
                    "Training seconds (wall clock, runs one after the other on the same "
                    "machine. It was busy for those of frequency noise and of the tree with "
                    "negative sampling, so that other factors are too low, and for two of "
                    "the five seeds of all; the tree's fit included) to shares of the "
                    "highest accuracy of any method, and to the accuracy and the log "
                    "likelihood of the best method but the proposed one, or nearly; mean "
                    "over the seeds that arrive. Where some do not, the end of their runs "
                    "bounds the factor. Epochs leave out the tree's fit, which is before the "
                    "first"
                ),
                figures.race,
                words=["dataset", "measure", "level", "value", "method"],
            ),
            Table(
                (
                    "The three noises on five drawn splits of citeulike, at the rates, "
                    "regularisers and lambda_n that the validation rows of the first one "
                    "chose"
                ),
                Pivot(
                    by={"dataset": named(c.DATASET, {"citeulike": "citeulike"}), "noise": NOISE},
                    columns={
                        "log lik": c.TEST_LIKELIHOOD,
                        "acc": c.TEST_ACCURACY,
                        "log lik, bare": -c.TEST_LOG_LOSS_UNCORRECTED,
                        "acc, bare": 1 - c.TEST_ERROR_UNCORRECTED,
                    },
                    where={c.GRID: FIGURE1_SPLITS},
                ),
                words=["dataset", "noise"],
            ),
        ],
        figures="figure1",
        run="xcbench paper adv",
        text=figures.verdict,
    ),
    Part(
        "Bias removal",
        tables=[
            Table(
                (
                    "Bias removal (Eq. 5): predictions of negative sampling by f + log p_n, "
                    "and by f alone, of the same weights; with uniform noise both are the "
                    "same"
                ),
                Pivot(
                    by={"dataset": AT_HAND, "noise": NOISE},
                    columns={
                        "log lik, removed": c.TEST_LIKELIHOOD,
                        "log lik, bare": -c.TEST_LOG_LOSS_UNCORRECTED,
                        "log lik, gain": Cell(c.TEST_LIKELIHOOD, less=-c.TEST_LOG_LOSS_UNCORRECTED),
                        "acc, removed": c.TEST_ACCURACY,
                        "acc, bare": 1 - c.TEST_ERROR_UNCORRECTED,
                        "acc, gain": Cell(c.TEST_ACCURACY, less=1 - c.TEST_ERROR_UNCORRECTED),
                    },
                    where={c.GRID: FIGURE1, c.METHOD: "negative_sampling"},
                ),
                words=["dataset", "noise"],
            ),
            Table(
                (
                    "Bias removal on citeulike at the points of Table 1's search whose "
                    "validation rows have the highest log likelihood, accuracy, and accuracy "
                    "of bare scores; one seed, 1,000 test rows. Each number is of the "
                    "checkpoint that is best by its own measure"
                ),
                tables.tuned_for,
                words=["noise", "tuned for"],
            ),
            Table(
                (
                    "The same at these points over five seeds and all test rows; the tree's "
                    "points for the likelihood and for the accuracy are one"
                ),
                tables.tuned_for_seeds,
                words=["noise", "tuned for"],
            ),
        ],
    ),
    Part(
        "The scale of the tree's components, and the counts of frequency noise",
        tables=[
            Table(
                (
                    "Figure 1 on citeulike with the tree on components of three scales, each "
                    "with its own lambda_n (0.1 in the paper, and in Figure 1 here), chosen "
                    "on validation rows at the rate and the regulariser of Figure 1, and "
                    "with both kinds of frequencies, each tuned separately. Without a tree "
                    "lambda_n has no effect"
                ),
                Pivot(
                    by={
                        "noise": {
                            "adversarial tree, plain components": {
                                c.GRID: SCALE,
                                c.TREE_PCA: "plain",
                            },
                            "adversarial tree, unit variance": {
                                c.GRID: SCALE,
                                c.TREE_PCA: "unit_variance",
                            },
                            "adversarial tree, standardised and whitened": {
                                c.GRID: SCALE,
                                c.TREE_PCA: "whitened",
                            },
                            "frequency, empirical": {c.GRID: FIGURE1, c.SAMPLER: "frequency"},
                            "frequency, 1 added to every count": {c.GRID: SMOOTHED},
                            "uniform": {c.GRID: FIGURE1, c.SAMPLER: "uniform"},
                        }
                    },
                    columns={
                        "rate": Once(c.LR, "g"),
                        "lambda": Once(c.SCORE_L2, "g"),
                        "lambda_n": Once(c.TREE_L2, "g"),
                        "log lik": c.TEST_LIKELIHOOD,
                        "acc": c.TEST_ACCURACY,
                        "log lik, bare": -c.TEST_LOG_LOSS_UNCORRECTED,
                        "acc, bare": 1 - c.TEST_ERROR_UNCORRECTED,
                    },
                    where={c.DATASET: "citeulike", c.METHOD: "negative_sampling"},
                ),
                words=["noise"],
            ),
            Table(
                (
                    "How lambda_n was chosen for each scale: at the checkpoint of the lowest "
                    "validation log loss, one seed, 1,000 test rows"
                ),
                Pivot(
                    by={"components": Labels(c.TREE_PCA), "lambda_n": Labels(c.TREE_L2, "g")},
                    columns={
                        "log lik, validation rows": -c.VALIDATION_LOG_LOSS,
                        "log lik": c.TEST_LIKELIHOOD,
                        "acc": c.TEST_ACCURACY,
                    },
                    where={c.GRID: SCALE_SEARCH, c.DATASET: "citeulike"},
                ),
                words=["components"],
            ),
        ],
    ),
    Part(
        "Appendix A.2: exact softmax against negative sampling",
        tables=[
            Table(
                (
                    "Appendix A.2: uniform negative sampling compared with exact softmax, "
                    "both by minibatches and Adagrad, tuned on validation rows, at their "
                    "best checkpoints (10 epochs of softmax, 100 of one class a row). Of "
                    "EURLex our validation rows are a fifth of the test rows, the authors' a "
                    "tenth of the training rows"
                ),
                tables.appendix,
                words=["dataset"],
            ),
            Table(
                (
                    "Appendix A.2 by our protocol and by the text's (variant=adv/appendix), "
                    "at the same rates and regularisers"
                ),
                Pivot(
                    by={
                        "dataset": named(c.DATASET, {"20 Newsgroups": "20news"}),
                        "protocol": {
                            "validation rows of the test part, truncated SVD": {
                                c.GRID: APPENDIX_A2
                            },
                            "a tenth of the training rows, principal components": {
                                c.GRID: APPENDIX_A2_TEXT
                            },
                        },
                    },
                    columns={
                        "acc, softmax": Cell(c.TEST_ACCURACY, where={c.METHOD: "softmax"}),
                        "acc, uniform": Cell(
                            c.TEST_ACCURACY, where={c.METHOD: "negative_sampling"}
                        ),
                        "log lik, softmax": Cell(c.TEST_LIKELIHOOD, where={c.METHOD: "softmax"}),
                        "log lik, uniform": Cell(
                            c.TEST_LIKELIHOOD, where={c.METHOD: "negative_sampling"}
                        ),
                    },
                    where={c.DATASET: "20news"},
                ),
                words=["dataset", "protocol"],
            ),
            Verdicts("Appendix A.2", "Appendix A.2: printed and measured numbers", ()),
        ],
    ),
    Part(
        "The text and the published code",
        tables=[
            Table(
                (
                    "The text and the published code at the same rates and regularisers, "
                    "tuned for the text. Several settings differ at once: the code's rate "
                    "decays and its rows come in the order of the file; with the tree, its "
                    "discrete step and half its regulariser; with the other noises, the "
                    "scores that the regulariser acts on; frequencies with 1 added to every "
                    "count are at the rate tuned for them. The code's tree is on "
                    "standardised and whitened components, the text's on plain ones; NCE's "
                    "starts from the code's half-split and takes one Newton step before each "
                    "discrete one. NCE from -log K is tuned separately"
                ),
                Pivot(
                    by={
                        "dataset": named(
                            c.DATASET, {"20 Newsgroups": "20news", "citeulike": "citeulike"}
                        ),
                        "method": {
                            "NCE, adversarial tree": {c.METHOD: "nce", c.SAMPLER: "tree"},
                            "negative sampling, adversarial tree": {
                                c.METHOD: "negative_sampling",
                                c.SAMPLER: "tree",
                            },
                            "negative sampling, frequency": {
                                c.METHOD: "negative_sampling",
                                c.SAMPLER: "frequency",
                            },
                            "negative sampling, uniform": {
                                c.METHOD: "negative_sampling",
                                c.SAMPLER: "uniform",
                            },
                        },
                        "settings": {
                            "biases start near 0": {c.METHOD: "nce", c.GRID: FIGURE1},
                            "biases start at -log K": {c.METHOD: "nce", c.GRID: NCE_NORMALISED},
                            "paper": {c.METHOD: "negative_sampling", c.GRID: FIGURE1},
                            "code": {
                                c.METHOD: "negative_sampling",
                                c.GRID: [TABLE1_CODE, TABLE1_CODE_FREQUENCY],
                            },
                        },
                    },
                    columns={"log lik": c.TEST_LIKELIHOOD, "acc": c.TEST_ACCURACY},
                ),
                words=["dataset", "method", "settings"],
            )
        ],
    ),
    Part(
        "Beyond the paper: samplers and objectives",
        tables=[
            Table(
                (
                    "Every sampler with every objective on citeulike, each tuned separately. "
                    "A&R, OVE and U-max draw other classes than the true one, five a row, "
                    "weighted so that sums stay unbiased, and run for 50 epochs; NCE and "
                    "negative sampling take the same distributions as noise, one class a "
                    "row, for 100 epochs. Cells of Figure 1 have more checkpoints to stop at "
                    "(34 and 31) than the others (20)"
                ),
                Pivot(
                    by={
                        "objective": {
                            "negative sampling": {c.METHOD: "negative_sampling"},
                            "NCE": {c.METHOD: "nce"},
                            "A&R": {c.METHOD: "ar_softmax"},
                            "OVE": {c.METHOD: "ove"},
                            "U-max": {c.METHOD: "umax"},
                        }
                    },
                    columns={
                        "log lik, uniform": Cell(
                            c.TEST_LIKELIHOOD, where={c.SAMPLER: UNIFORM_SAMPLERS}
                        ),
                        "log lik, frequency": Cell(
                            c.TEST_LIKELIHOOD, where={c.SAMPLER: "frequency"}
                        ),
                        "log lik, adversarial tree": Cell(
                            c.TEST_LIKELIHOOD, where={c.SAMPLER: "tree"}
                        ),
                        "acc, uniform": Cell(c.TEST_ACCURACY, where={c.SAMPLER: UNIFORM_SAMPLERS}),
                        "acc, frequency": Cell(c.TEST_ACCURACY, where={c.SAMPLER: "frequency"}),
                        "acc, adversarial tree": Cell(c.TEST_ACCURACY, where={c.SAMPLER: "tree"}),
                    },
                    where={c.GRID: [FIGURE1, CROSSED], c.DATASET: "citeulike"},
                ),
                words=["objective"],
            )
        ],
    ),
    Part(
        "Beyond the paper: 52,919 classes",
        tables=[
            Table(
                (
                    "citeulike, a row per article and tag: tags of at least ten articles, "
                    "and all that an article with words has; one seed, ten epochs, rates of "
                    "one tag an article, 1 added to every count of frequency noise, 1,000 "
                    "test rows and as many validation rows. Rows of an article differ only "
                    "in their tag; training and test rows share no article, validation and "
                    "test rows do. Likelihoods and seconds are of the checkpoint of the "
                    "lowest validation log loss, precisions of that of the lowest validation "
                    "error. Seconds, for orientation: those before the first step, which fit "
                    "the tree and draw the weights, and those until the best checkpoint"
                ),
                Pivot(
                    by={"noise": NOISE, "K": Labels(c.CLASSES, ".0f")},
                    columns={
                        "training rows": Once(c.TRAIN_ROWS, ".0f"),
                        "log lik": c.TEST_LIKELIHOOD,
                        "log lik, bare": -c.TEST_LOG_LOSS_UNCORRECTED,
                        "precision at 1": c.TEST_PRECISION_AT_1,
                        "bare": c.TEST_PRECISION_AT_1_UNCORRECTED,
                        "fit, s": Cell(c.FIT_SECONDS, ".1f"),
                        "training seconds": Cell(c.TRAIN_SECONDS, ".0f"),
                    },
                    where={
                        c.GRID: [PAIRS, PAIRS_FREQUENCY],
                        c.DATASET: "citeulike",
                        c.METHOD: "negative_sampling",
                    },
                    order=["K", "noise"],
                ),
                words=["noise"],
            ),
            Table(
                (
                    "All 52,919 tags at the rate and the regulariser that the validation "
                    "rows chose for each noise, of three rates and two regularisers; five "
                    "seeds, 1,000 test rows, else as above"
                ),
                Pivot(
                    by={"noise": NOISE},
                    columns={
                        "rate": Once(c.LR, "g"),
                        "lambda": Once(c.SCORE_L2, "g"),
                        "log lik": c.TEST_LIKELIHOOD,
                        "log lik, bare": -c.TEST_LOG_LOSS_UNCORRECTED,
                        "acc": c.TEST_ACCURACY,
                        "precision at 1": c.TEST_PRECISION_AT_1,
                    },
                    where={c.GRID: PAIRS_TUNED},
                ),
                words=["noise"],
            ),
        ],
    ),
    Part(
        "Beyond the paper: the tree alone",
        tables=[
            Table(
                (
                    "The adversarial tree alone: test log likelihood of its log p_n by "
                    "lambda_n; at the paper's 0.1, accuracy, nodes whose objective fell from "
                    "one round of the fit to the next (of all K - 1), and seconds, for "
                    "orientation. Negative sampling adds log p_n to its scores, and with "
                    "them what the tree overfits. First split in halves, one Newton step "
                    "before each discrete one"
                ),
                Pivot(
                    by={
                        "dataset": AT_HAND,
                        "components": Labels(c.TREE_PCA),
                        "discrete step": Labels(c.TREE_DISCRETE_STEP),
                    },
                    columns={
                        "log lik, 0.001": Cell(c.TEST_LIKELIHOOD, where={c.TREE_L2: 0.001}),
                        "log lik, 0.01": Cell(c.TEST_LIKELIHOOD, where={c.TREE_L2: 0.01}),
                        "log lik, 0.1": Cell(c.TEST_LIKELIHOOD, where={c.TREE_L2: 0.1}),
                        "log lik, 1": Cell(c.TEST_LIKELIHOOD, where={c.TREE_L2: 1}),
                        "acc": Cell(c.TEST_ACCURACY, where={c.TREE_L2: 0.1}),
                        "nodes that fell": Cell(c.TREE_NODES_FELL, ".0f", where={c.TREE_L2: 0.1}),
                        "fit, s": Cell(c.TRAIN_SECONDS, ".1f", where={c.TREE_L2: 0.1}),
                    },
                    where={
                        c.GRID: TREE,
                        c.TREE_INITIAL_SPLIT: ["halves", np.nan],
                        c.TREE_NEWTON_STEPS: [1, np.nan],
                    },
                ),
                words=["dataset", "components", "discrete step"],
                rows=experiments.at_start,
            ),
            Table(
                (
                    "The effect of the first split and of the Newton steps, for the tree "
                    "alone with the text's discrete step and lambda_n of 0.1: classes' first "
                    "sides in halves of the centred class sums, as in the authors' code, or "
                    "by Eq. 9 at the start weights; one Newton step before each discrete "
                    "one, or the optimum. One fit each; nothing in it is random"
                ),
                Pivot(
                    by={
                        "dataset": AT_HAND,
                        "components": Labels(c.TREE_PCA),
                        "fit": {
                            "halves, one Newton step": {
                                c.TREE_INITIAL_SPLIT: ["halves", np.nan],
                                c.TREE_NEWTON_STEPS: [1, np.nan],
                            },
                            "halves, Newton to the optimum": {
                                c.TREE_INITIAL_SPLIT: "halves",
                                c.TREE_NEWTON_STEPS: 0,
                            },
                            "by scores, one Newton step": {
                                c.TREE_INITIAL_SPLIT: "scores",
                                c.TREE_NEWTON_STEPS: 1,
                            },
                            "by scores, Newton to the optimum (the text)": {
                                c.TREE_INITIAL_SPLIT: "scores",
                                c.TREE_NEWTON_STEPS: 0,
                            },
                        },
                    },
                    columns={
                        "log lik": c.TEST_LIKELIHOOD,
                        "log lik, training rows": -c.TRAIN_LOG_LOSS,
                        "acc": c.TEST_ACCURACY,
                        "fit, s": Cell(c.TRAIN_SECONDS, ".1f"),
                    },
                    where={c.GRID: TREE, c.TREE_L2: 0.1, c.TREE_DISCRETE_STEP: "paper"},
                ),
                words=["dataset", "components", "fit"],
                rows=experiments.at_start,
            ),
        ],
    ),
    demonstration.sections(equivalence.DEMONSTRATION, signal_to_noise.DEMONSTRATION),
]
PAPER = Description(
    name="adv",
    title="Extreme classification via adversarial softmax approximation (Bamler and Mandt, 2020)",
    intro=(
        "'paper' has the settings of the paper's text; 'code' has those with "
        "which the authors' code runs (revision a71a9bd). Both are presets of "
        "ordinary settings: variant=adv/paper, variant=adv/code. The paper's own "
        "data, Wikipedia-500K and Amazon-670K with XML-CNN features, stand in a "
        "Git LFS store that is not fetched here; the same experiments run on "
        "citeulike (6,346 classes: of its 7,350, those with a training row) and "
        "20 Newsgroups, with TF-IDF, rows of length 1 and 512 coordinates of a "
        "truncated SVD. With 'paper' the tree sees plain principal components, "
        "with 'code' standardised and whitened ones. Rates and regularisers are "
        "those of the lowest validation log loss. Of a cell, log likelihoods and "
        "times are those of its checkpoint with the lowest validation log loss, "
        "accuracies those of the one with the lowest validation error, which may "
        "come much earlier. Log likelihoods are means per test row in nats; ± is "
        "the standard deviation over seeds."
    ),
    datasets=DATASETS,
    methods=METHODS,
    measures=MEASURES,
    statements=STATEMENTS,
    sections=SECTIONS,
    figures=figures.drawings,
    findings=findings,
    rows=experiments.at_best,
)
