"""MEMOIR: multi-class extreme classification with inexact margin (Belyy and Sholokhov 2018)."""

from __future__ import annotations

from xcbench.papers import columns as c
from xcbench.papers.description import Description, Part, Sections, Table, Verdicts
from xcbench.papers.measures import Columns, Measure
from xcbench.papers.memoir import figures, tables
from xcbench.papers.memoir.experiments import (
    AVERAGED,
    CITEULIKE,
    CITEULIKE_BASELINES,
    CONSTANT,
    DATASETS,
    FIGURE1,
    FIRST_STEP,
    METHODS,
    ORACLES,
    STRENGTH,
    TABLE1,
    TABLE2,
    TABLE3_BASELINES,
    TABLE3_CODE,
    TABLE3_LSH_CODE,
    TABLE3_LSH_PAPER,
    TABLE3_ORACLES,
    TABLE3_PAPER,
    TABLE3_SYSTEMS,
    TABLE4,
    TRUNCATION,
)
from xcbench.papers.memoir.findings import findings
from xcbench.papers.memoir.statements import STATEMENTS
from xcbench.papers.memoir.theory import convergence, hashing, inexact
from xcbench.papers.pivots import Cell, Cells, Labels, Once, Pivot, named
from xcbench.papers.rows import Conditions, remark

TABLE1_ROWS = {"paper": TABLE1}
TABLE2_ROWS = {"code": TABLE2}
TABLE2_COLUMNS: Columns = {"accuracy": 100 * c.TEST_ACCURACY, "macro_f1": 100 * c.TEST_MACRO_F1}
TABLE3_COLUMNS: Columns = {
    "total_memory": 1.048576 * c.MODEL_MIB,
    "accuracy": 100 * c.TEST_ACCURACY,
    "macro_f1": 100 * c.TEST_MACRO_F1,
}
UNITS = {"GB": 1000}
MEMORY_REASON = {
    "total_memory": "ours is the size of the weights, the paper does not say what it measured"
}
SYSTEMS = ["FastXML", "PfastReXML", "PD-Sparse"]
TABLE4_ROWS = {"code": TABLE4}
AT_HAND = named(c.DATASET, {"20news": "20news", "citeulike": "citeulike"})
TIME = Cell(c.TRAIN_SECONDS, ".1f")
ACCURACY = Cell(100 * c.TEST_ACCURACY, ".2f")
F1 = Cell(100 * c.TEST_MACRO_F1, ".2f")
ALL_METHODS: dict[str, Conditions] = {
    "OVR": {c.METHOD: "svm_ovr"},
    "M-SVM": {c.METHOD: "svm_cs"},
    "RecallTree": {c.METHOD: "recall_tree"},
    "MEMOIR-l2": {c.METHOD: "memoir_l2", c.GRID: [TABLE3_PAPER, TABLE3_CODE, CITEULIKE]},
    "MEMOIR-l1": {c.METHOD: "memoir_l1"},
    "MEMOIR-LSH": {c.METHOD: "memoir_l2", c.GRID: [TABLE3_LSH_PAPER, TABLE3_LSH_CODE]},
    "label tree (napkinXC)": {c.METHOD: "plt"},
    "class sums by cosine": {c.METHOD: "class_sums"},
    "FastXML": {c.METHOD: "fastxml"},
    "PfastReXML": {c.METHOD: "pfastrexml"},
    "PD-Sparse": {c.METHOD: "pd_sparse"},
}
MEMORY = Cell(1.048576 * c.MODEL_MIB, ".1f")
PRECISION = Cell(100 * c.TEST_PRECISION_AT_1, ".2f")
OUTCOMES: Cells = {
    "weights MB": MEMORY,
    "accuracy %": ACCURACY,
    "macro-F1 %": F1,
    "non-zeros": Cell(c.NONZEROS, ".0f"),
}
COSTS: Cells = {
    "train s": TIME,
    "weights MB": MEMORY,
    "accuracy %": ACCURACY,
    "macro-F1 %": F1,
    "non-zeros": Cell(c.NONZEROS, ".0f"),
    "remark": remark,
}
MEASURES = [
    Measure(
        "Table 1",
        rows=TABLE1_ROWS,
        columns={
            "classes": c.CLASSES,
            "dimension": c.FEATURES,
            "train_size": c.TRAIN_ROWS,
            "test_size": c.TEST_ROWS,
        },
        reason={
            "dimension": (
                "ours has the constant feature, and classes and features of the training "
                "and test rows"
            )
        },
    ),
    Measure(
        "Table 1",
        rows=TABLE1_ROWS,
        verdict="setting",
        reason="held-out rows are not read: T is as printed",
    ),
    Measure(
        "Table 2",
        method="MEMOIR |b|=0.1[*]sqrt(C)",
        our_method="",
        where={c.BATCH_SIZE: 11},
        rows=TABLE2_ROWS,
        columns=TABLE2_COLUMNS,
    ),
    Measure(
        "Table 2",
        method="MEMOIR |b|=1[*]sqrt(C)",
        our_method="",
        where={c.BATCH_SIZE: 110},
        rows=TABLE2_ROWS,
        columns=TABLE2_COLUMNS,
    ),
    Measure(
        "Table 2",
        method="MEMOIR |b|=10[*]sqrt(C)",
        our_method="",
        where={c.BATCH_SIZE: 1100},
        rows=TABLE2_ROWS,
        columns=TABLE2_COLUMNS,
    ),
    Measure(
        "Table 2",
        method="MEMOIR |b|=100[*]sqrt(C)",
        our_method="",
        where={c.BATCH_SIZE: 11000},
        rows=TABLE2_ROWS,
        columns=TABLE2_COLUMNS,
    ),
    Measure(
        "Table 2",
        method="MEMOIR |b|=1000[*]sqrt(C)",
        our_method="",
        where={c.BATCH_SIZE: 110000},
        rows=TABLE2_ROWS,
        columns=TABLE2_COLUMNS,
    ),
    Measure(
        "Table 3",
        method=["MEMOIR-l2", "MEMOIR-l1"],
        rows={"paper": TABLE3_PAPER, "code": TABLE3_CODE},
        columns=TABLE3_COLUMNS,
        units=UNITS,
        in_time=True,
        reason=MEMORY_REASON,
    ),
    Measure(
        "Table 3",
        method="MEMOIR-LSH",
        rows={"paper": TABLE3_LSH_PAPER, "code": TABLE3_LSH_CODE},
        columns=TABLE3_COLUMNS,
        units=UNITS,
        in_time=True,
        reason=MEMORY_REASON,
    ),
    Measure(
        "Table 3",
        method=SYSTEMS,
        rows={"paper": TABLE3_SYSTEMS},
        columns=TABLE3_COLUMNS,
        units=UNITS,
        in_time=True,
        reason=MEMORY_REASON,
    ),
    Measure(
        "Table 3",
        rows={"paper": TABLE3_BASELINES},
        columns=TABLE3_COLUMNS,
        units=UNITS,
        in_time=True,
        reason=MEMORY_REASON,
    ),
    Measure("Table 4", method=SYSTEMS, rows={"code": TABLE3_SYSTEMS}),
    Measure(
        "Table 4",
        metric="* T",
        method="MEMOIR-[*]",
        data="",
        our_method="memoir_l2",
        rows=TABLE4_ROWS,
    ),
    Measure("Table 4", metric="* T", data="", rows=TABLE4_ROWS),
    Measure("Table 4", method="MEMOIR-LSH", rows={"code": TABLE3_LSH_CODE}),
    Measure("Table 4", method="MEMOIR-l[12]", rows={"code": TABLE3_CODE}),
    Measure("Table 4", method="MEMOIR-[*]", our_method="memoir_l2", rows={"code": TABLE3_CODE}),
    Measure("Table 4", rows={"code": TABLE3_BASELINES}),
]
SECTIONS: list[Part | Sections] = [
    Part(
        "Table 1: datasets",
        tables=[
            Table(
                (
                    "Sizes of the data at hand, D with the feature that is always 1. "
                    "citeulike has a row per article and tag, of tags of at least 5, 3, 2 "
                    "and 1 articles; test rows whose tag has no training row are dropped. "
                    "Rows of an article differ in their tag alone, which sets the ceiling"
                ),
                Pivot(
                    by={"dataset": AT_HAND, "K": Labels(c.CLASSES, ",.0f")},
                    columns={
                        "N": Once(c.TRAIN_ROWS),
                        "test rows": Once(c.TEST_ROWS),
                        "D": Once(c.FEATURES),
                        "test rows dropped": Once(c.TEST_DROPPED.fillna(0)),
                        "ceiling of accuracy %": Once(100 * c.ACCURACY_CEILING.fillna(1), ".2f"),
                    },
                    where={c.GRID: [TABLE1, CITEULIKE]},
                ),
                words=["dataset"],
            ),
            Verdicts("Table 1", "Sizes as printed and read"),
        ],
    ),
    Part(
        "Table 2: size of a batch",
        tables=[
            Table(
                (
                    "Table 2: size of a batch, the number of visited rows fixed; MEMOIR-l2 "
                    "with the code's settings. No ±: one seed"
                ),
                Pivot(
                    by={"dataset": AT_HAND, "batch": Labels(c.BATCH_SIZE, ".0f")},
                    columns={
                        "batches T": Cell(c.ITERATION, ".0f"),
                        "train s": TIME,
                        "accuracy %": ACCURACY,
                        "macro-F1 %": F1,
                        "remark": remark,
                    },
                    where={c.GRID: TABLE2},
                ),
                words=["dataset", "batch", "remark"],
                above=tables.printed_batches,
            ),
            Verdicts("Table 2", "Table 2: printed and measured numbers", ["method"]),
        ],
    ),
    Part(
        "Table 3: time, memory, accuracy, macro-F1",
        tables=[
            Table(
                (
                    "Table 3 on the data at hand, without printed numbers: times (for "
                    "orientation), size of the weights, accuracy, macro-F1 as scikit-learn "
                    "has it and, as the paper's words have it, of the means of precision and "
                    "recall; mean ± spread over seeds, one seed where there is no ±. "
                    "precision@1: the class is any tag of the article. citeulike: a row per "
                    "article and tag, K = 8,310; there MEMOIR-LSH without SVD, on 20news the "
                    "size leaves the SVD's axes out and the predict seconds its projection. "
                    "RecallTree's size is that of its table, a setting; its seconds and peak "
                    "are also those of turning rows into Vowpal Wabbit's text"
                ),
                Pivot(
                    by={
                        "dataset": AT_HAND,
                        "method": ALL_METHODS,
                        "variant": {
                            "paper": {c.GRID: [TABLE3_PAPER, TABLE3_LSH_PAPER]},
                            "code": {c.GRID: [TABLE3_CODE, TABLE3_LSH_CODE]},
                            "–": {c.GRID: [TABLE3_BASELINES, TABLE3_SYSTEMS]},
                        },
                    },
                    columns={
                        "train s": TIME,
                        "predict s": Cell(c.PREDICT_SECONDS, ".1f"),
                        "weights MB": MEMORY,
                        "accuracy %": ACCURACY,
                        "macro-F1 %": F1,
                        "macro-F1 of means %": Cell(100 * c.TEST_MACRO_F1_OF_MEANS, ".2f"),
                        "precision@1 %": PRECISION,
                        "peak MiB beyond the rows": Cell(c.TRAIN_MIB, ".0f"),
                        "non-zeros": Cell(c.NONZEROS, ".0f"),
                        "remark": remark,
                    },
                ),
                words=["dataset", "method", "variant", "remark"],
            ),
            Table(
                (
                    "The claims as ratios: quality, memory and time of MEMOIR over those of "
                    "other methods, memory of l1 over that of l2, and quality over that of "
                    "class sums; means over seeds. Times are for orientation. The weights of "
                    "OVR are dense, those of RecallTree a table of fixed size. MEMOIR-LSH "
                    "with the code's settings has T = 50, MEMOIR-l2 5 (20news) or 25. Cells "
                    "that exceeded their time are left out"
                ),
                tables.ratios,
                words=["what", "of", "relative to"],
            ),
            Table(
                (
                    "Printed memory of OVR and M-SVM beside a dense matrix of K·D numbers of "
                    "eight bytes"
                ),
                tables.dense_memory,
                words=["dataset"],
            ),
            Verdicts("Table 3", "Table 3: printed and measured numbers", ["method"]),
        ],
    ),
    Part(
        "Table 4: settings, and the number of batches T",
        tables=[
            Table(
                (
                    "Table 4's T: the first checkpoint, of one every 5 batches, after which "
                    "held-out macro-F1 gains no more than 1 % of itself in ten batches; "
                    "beside it T = 25, as for LSHTC1 and in the code. Table 3 takes T = 5 on "
                    "20news with the code's settings and 35 with the paper's settings, where "
                    "MEMOIR-l1 levels off (MEMOIR-l2 swings), and 25, the median, on "
                    "citeulike. A fifth of the test rows is held out, the test numbers are "
                    "those of the others; on citeulike of 10,000 drawn ones each, whose "
                    "macro-F1 is not that of all rows in Table 3. There rows are drawn one "
                    "by one, so that an article may have rows on both sides"
                ),
                tables.table4,
                words=["dataset", "variant", "method"],
            ),
            Verdicts("Table 4", "Settings as printed", ["dataset"]),
        ],
        figures="batches",
        run="experiment=memoir/table4",
    ),
    Part(
        "Algorithms 1 and 2 to the letter: the mean of the iterates, t from 1",
        tables=[
            Table(
                (
                    "The last iterate beside the mean of all, of which Theorems 2 and 3 "
                    "speak (method.average), with the paper's settings and, on citeulike, "
                    "the code's; and the rate eta_0 / (1 + 0.02 t) from t = 1 as in "
                    "Algorithms 1 and 2 (method.first_step), where the code begins at 0"
                ),
                Pivot(
                    by={
                        "dataset": AT_HAND,
                        "method": named(
                            c.METHOD, {"MEMOIR-l2": "memoir_l2", "MEMOIR-l1": "memoir_l1"}
                        ),
                        "weights": {
                            "paper: the last iterate": {c.GRID: TABLE3_PAPER},
                            "paper: the mean of the iterates": {
                                c.GRID: AVERAGED,
                                c.PREDICTION: "inner",
                            },
                            "paper: the last iterate, t from 1": {c.GRID: FIRST_STEP},
                            "code: the last iterate": {
                                c.GRID: TABLE3_CODE,
                                c.DATASET: "citeulike",
                            },
                            "code: the mean of the iterates": {
                                c.GRID: AVERAGED,
                                c.PREDICTION: "cosine",
                            },
                        },
                    },
                    columns=OUTCOMES,
                    where={c.METHOD: ["memoir_l2", "memoir_l1"]},
                ),
                words=["dataset", "method", "weights"],
            )
        ],
    ),
    Part(
        "Algorithm 2: truncation where little is lost",
        tables=[
            Table(
                (
                    "MEMOIR-l1 with the code's settings. The text truncates a class only "
                    "where what goes is small, without a number; here a class is truncated "
                    "where it changes by at most this share of its length "
                    "(method.truncation_limit), always as in the code"
                ),
                Pivot(
                    by={
                        "dataset": AT_HAND,
                        "strength": Labels(c.STRENGTH, "g"),
                        "truncated": {
                            "always": {c.GRID: FIGURE1, c.STRENGTH: [1e-4, 1e-3]},
                            "up to 10 % of its length": {c.TRUNCATION_LIMIT: 0.1},
                            "up to 1 % of its length": {c.TRUNCATION_LIMIT: 0.01},
                        },
                    },
                    columns=OUTCOMES,
                    where={c.GRID: [FIGURE1, TRUNCATION], c.DATASET: ["20news", "citeulike"]},
                ),
                words=["dataset", "strength", "truncated"],
            )
        ],
    ),
    Part(
        "Figure 1: strength of the l1 penalty",
        printed=(
            "quality and non-zeros of MEMOIR-l1 for strengths of the penalty from 1e-7 to 1e-3; "
            "the axes are not in the text."
        ),
        tables=[
            Table(
                (
                    "Figure 1: strength of the l1 penalty against quality and memory, with "
                    "the code's settings"
                ),
                Pivot(
                    by={
                        "dataset": Labels(c.DATASET),
                        "method": Labels(c.METHOD),
                        "strength": Labels(c.STRENGTH, "g"),
                    },
                    columns=COSTS,
                    where={c.GRID: FIGURE1},
                ),
                words=["dataset", "method", "strength", "remark"],
            )
        ],
        figures="figure1",
        run="experiment=memoir/figure1",
    ),
    Part(
        "Figure 2: methods side by side",
        printed=(
            "training time, memory, macro-F1 and accuracy of the seven best methods of Table 3 on "
            "each dataset."
        ),
        figures="figure2*",
        run="experiment=memoir/table3_code",
    ),
    Part(
        "Beyond the paper: thousands of classes",
        tables=[
            Table(
                (
                    "citeulike, a row per article and tag, by number of classes; precision@1 "
                    "is accuracy over its ceiling. With K = 8,310 all methods that ran; with "
                    "more classes MEMOIR-l2 and -l1 with the code's settings, and the "
                    "baselines. No ±: one seed"
                ),
                Pivot(
                    by={
                        "K": Labels(c.CLASSES, ",.0f"),
                        "method": ALL_METHODS,
                        "variant": {
                            "paper": {c.GRID: [TABLE3_PAPER, TABLE3_LSH_PAPER]},
                            "code": {c.GRID: [TABLE3_CODE, TABLE3_LSH_CODE, CITEULIKE]},
                            "–": {
                                c.GRID: [
                                    TABLE3_BASELINES,
                                    TABLE3_SYSTEMS,
                                    CITEULIKE_BASELINES,
                                ]
                            },
                        },
                    },
                    columns={
                        "train s": TIME,
                        "weights MB": MEMORY,
                        "accuracy %": ACCURACY,
                        "macro-F1 %": F1,
                        "precision@1 %": PRECISION,
                        "ceiling of accuracy %": Once(100 * c.ACCURACY_CEILING, ".2f"),
                        "remark": remark,
                    },
                    where={c.DATASET: "citeulike"},
                ),
                words=["method", "variant", "remark"],
            )
        ],
    ),
    Part(
        "Beyond the paper: the constant feature",
        tables=[
            Table(
                (
                    "With the constant feature, which is always 1, and without it; five "
                    "seeds, with the code's settings, T = 25"
                ),
                Pivot(
                    by={
                        "dataset": Labels(c.DATASET),
                        "method": Labels(c.METHOD),
                        "constant": Labels(c.CONSTANT, "g"),
                    },
                    columns={
                        "train s": TIME,
                        "weights MB": MEMORY,
                        "accuracy %": ACCURACY,
                        "macro-F1 %": F1,
                        "non-zeros": Cell(c.NONZEROS, ".0f"),
                        "accuracy %, lowest to highest": tables.ends,
                        "remark": remark,
                    },
                    where={c.GRID: CONSTANT},
                ),
                words=["dataset", "method", "constant", "remark"],
            )
        ],
    ),
    Part(
        "Beyond the paper: other margin oracles",
        tables=[
            Table(
                (
                    "MEMOIR-l2 under the code's settings, with other margin oracles; a "
                    "random class is Eq. 2, SimpleLSH has 64 bits and no SVD, of weights as "
                    "they are or (scaled) over the longest; the graph is nmslib's. 0: without "
                    "the feature that is always 1"
                ),
                Pivot(
                    by={
                        "dataset": Labels(c.DATASET),
                        "method": Labels(c.METHOD),
                        "oracle": {
                            "exact, constant 0": {c.ORACLE: "exact", c.CONSTANT: 0},
                            "exact, constant 1": {c.ORACLE: "exact", c.CONSTANT: 1},
                            "graph, constant 0": {c.ORACLE: "graph", c.CONSTANT: 0},
                            "graph, constant 1": {c.ORACLE: "graph", c.CONSTANT: 1},
                            "random, constant 0": {c.ORACLE: "random", c.CONSTANT: 0},
                            "random, constant 1": {c.ORACLE: "random", c.CONSTANT: 1},
                            "simple_lsh, constant 0": {c.ORACLE: "simple_lsh", c.CONSTANT: 0},
                            "simple_lsh, constant 1": {c.ORACLE: "simple_lsh", c.CONSTANT: 1},
                            "simple_lsh_scaled, constant 0": {
                                c.ORACLE: "simple_lsh_scaled",
                                c.CONSTANT: 0,
                            },
                            "simple_lsh_scaled, constant 1": {
                                c.ORACLE: "simple_lsh_scaled",
                                c.CONSTANT: 1,
                            },
                        },
                    },
                    columns=COSTS,
                    where={c.GRID: ORACLES},
                ),
                words=["dataset", "method", "oracle", "remark"],
            )
        ],
    ),
    Part(
        "Table 3 with the paper's oracles",
        tables=[
            Table(
                (
                    "MEMOIR-l2 and -l1 with inexact oracles beside the exact one, code's "
                    "settings: 20news, the tags of citeulike with at least 50 articles, and those "
                    "with at least 5 (K = 8,310, MEMOIR-l1 of one seed; MEMOIR-l2 stands in "
                    "the table above). The graph is nmslib's, "
                    "built anew for every batch; with K = 8,310 it takes 40 minutes a seed. "
                    "SimpleLSH has 64 bits and compares all codes"
                ),
                Pivot(
                    by={
                        "dataset": Labels(c.DATASET),
                        "K": Labels(c.CLASSES, ",.0f"),
                        "method": named(
                            c.METHOD, {"MEMOIR-l2": "memoir_l2", "MEMOIR-l1": "memoir_l1"}
                        ),
                        "oracle": {
                            "exact": {c.ORACLE: "exact"},
                            "small-world graph": {c.ORACLE: "graph"},
                            "SimpleLSH": {c.ORACLE: "simple_lsh"},
                            "SimpleLSH, scaled": {c.ORACLE: "simple_lsh_scaled"},
                        },
                    },
                    columns=COSTS,
                    where={c.GRID: TABLE3_ORACLES},
                ),
                words=["dataset", "method", "oracle", "remark"],
            )
        ],
    ),
    Part(
        "Section 4.3: strength of the l2 penalty",
        tables=[
            Table(
                (
                    "Strength of the l2 penalty against quality, time and memory, with the "
                    "code's settings"
                ),
                Pivot(
                    by={
                        "dataset": Labels(c.DATASET),
                        "method": Labels(c.METHOD),
                        "strength": Labels(c.STRENGTH, "g"),
                    },
                    columns=COSTS,
                    where={c.GRID: STRENGTH},
                ),
                words=["dataset", "method", "strength", "remark"],
            )
        ],
    ),
    inexact.section,
    hashing.section,
    convergence.section,
]
PAPER = Description(
    name="memoir",
    title=(
        "MEMOIR: multi-class extreme classification with inexact margin (Belyy and Sholokhov, 2018)"
    ),
    intro=(
        "'paper' has the settings of the paper's text (Algorithms 1 and 2); "
        "'code' has those with which the authors' code ran (revision 7c0bdac). "
        "Both are presets of ordinary settings: variant=memoir/paper, "
        "variant=memoir/code. The margin oracle is exact unless the table says "
        "otherwise; ± is the standard deviation over seeds."
    ),
    datasets=DATASETS,
    methods=METHODS,
    measures=MEASURES,
    statements=STATEMENTS,
    sections=SECTIONS,
    figures=figures.drawings,
    findings=findings,
)
