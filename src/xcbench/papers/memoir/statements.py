"""What the paper claims in prose, and the rows that test it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from xcbench.papers import columns as c
from xcbench.papers.memoir.experiments import (
    CORES,
    FIGURE1,
    ORACLES,
    STRENGTH,
    TABLE2,
    TABLE3_BASELINES,
    TABLE3_CODE,
    TABLE3_LSH_CODE,
    TABLE3_ORACLES,
    TABLE3_PAPER,
    TABLE3_SYSTEMS,
    TRUNCATION,
)
from xcbench.papers.memoir.theory import convergence, hashing, margin_loss
from xcbench.papers.prose import HIGHER, Bounds, Quality, Statement, above, below
from xcbench.papers.rows import RATIO, Rows

DATASETS_AT_HAND = ["20news", "citeulike"]
SMALLER = below(1)
QUALITY = Quality(c.TEST_ACCURACY, RATIO, above(0.67))
OVR_RUN = "one-vs-rest was run once"
STRONG_PENALTY = STRENGTH(method="memoir_l2", where={c.STRENGTH: 5})
WITHIN_A_FIFTH = Bounds(0.8, 1.2)
WITHIN_A_TWENTIETH = Bounds(0.95, 1.05)
FEW_CORES = "two cores are here"
WITHIN_A_HUNDREDTH = Bounds(-0.01, 0.01)
THEORY = "pytest tests/papers/test_memoir_theory.py"
COST_COLUMNS = {
    "takes less memory": c.MODEL_MIB,
    "trains in less time": c.TRAIN_SECONDS,
    "predicts in less time": c.PREDICT_SECONDS,
}


def variants(method: str) -> dict[str, Rows]:
    """A method of Table 3 with the text's and with the code's settings."""
    return {"paper": TABLE3_PAPER(method=method), "code": TABLE3_CODE(method=method)}


def costs(place: str, name: str, other: Rows, reason: str) -> list[Statement]:
    """Claims that MEMOIR-l2 costs less than another method, at near its accuracy."""
    return [
        Statement(
            place,
            f"MEMOIR-l2 {saves} than {name}, at 0.67 of its accuracy or more",
            left=variants("memoir_l2"),
            right=other,
            headline=name == "one-vs-rest" and cost == c.MODEL_MIB,
            by=RATIO,
            of=cost,
            datasets=DATASETS_AT_HAND,
            holds=SMALLER,
            together=QUALITY,
            reason=reason,
        )
        for saves, cost in COST_COLUMNS.items()
    ]


def rival(name: str, other: Rows, reason: str = "") -> list[Statement]:
    """The accuracy of MEMOIR-l2 and its costs beside those of a strong method."""
    place = "Section 4.4, the strongest beside it"
    accuracy = Statement(
        place,
        f"The accuracy of MEMOIR-l2 is at least 0.67 of that of {name}",
        left=variants("memoir_l2"),
        right=other,
        by=RATIO,
        of=c.TEST_ACCURACY,
        datasets=DATASETS_AT_HAND,
        holds=above(0.67),
        reason=reason,
    )
    return [accuracy, *costs(place, name, other, reason)]


def graph(penalty: str, classes: str, rows: Rows, reason: str = "") -> Statement:
    """The claim that a small-world graph does as well as the exact oracle."""
    graph_rows, exact = (
        replace(rows, method=f"memoir_{penalty}", where={**rows.where, c.ORACLE: oracle})
        for oracle in ("graph", "exact")
    )
    return Statement(
        "Section 3, Table 3",
        f"MEMOIR-{penalty} with the small-world graph is as accurate as with the exact oracle "
        f"(within a twentieth), K = {classes}",
        left=graph_rows,
        right=exact,
        by=RATIO,
        of=c.TEST_ACCURACY,
        holds=WITHIN_A_TWENTIETH,
        reason=reason,
    )


STATEMENTS = [
    Statement(
        "Section 4.4, Table 3",
        "The model of MEMOIR-l1 takes less memory than that of MEMOIR-l2",
        left=variants("memoir_l1"),
        right=variants("memoir_l2"),
        by=RATIO,
        of=c.MODEL_MIB,
        datasets=DATASETS_AT_HAND,
        holds=SMALLER,
    ),
    *costs("Section 4.4, Table 3", "one-vs-rest", TABLE3_BASELINES(method="svm_ovr"), OVR_RUN),
    Statement(
        "Section 4.4, Table 3",
        (
            "The accuracy of MEMOIR-l2 is at least 0.67 of that of one-vs-rest, the "
            "least printed share"
        ),
        left=variants("memoir_l2"),
        right=TABLE3_BASELINES(method="svm_ovr"),
        by=RATIO,
        of=c.TEST_ACCURACY,
        datasets=DATASETS_AT_HAND,
        holds=above(0.67),
        reason=OVR_RUN,
    ),
    Statement(
        "Section 4.4, Table 3",
        "MEMOIR-l2 has a higher accuracy than RecallTree",
        left=variants("memoir_l2"),
        right=TABLE3_BASELINES(method="recall_tree"),
        of=c.TEST_ACCURACY,
        datasets=DATASETS_AT_HAND,
        holds=HIGHER,
        reason="RecallTree was run once",
    ),
    Statement(
        "Section 4.4, Table 3",
        "MEMOIR-l2 has a higher macro-F1 than RecallTree",
        left=variants("memoir_l2"),
        right=TABLE3_BASELINES(method="recall_tree"),
        of=c.TEST_MACRO_F1,
        datasets=DATASETS_AT_HAND,
        holds=HIGHER,
        reason="RecallTree was run once",
    ),
    Statement(
        "Section 4.4, Table 3",
        "MEMOIR-l2 is more accurate than MEMOIR-l1",
        left=variants("memoir_l2"),
        right=variants("memoir_l1"),
        of=c.TEST_ACCURACY,
        datasets=DATASETS_AT_HAND,
        holds=HIGHER,
    ),
    Statement(
        "Section 4.4",
        "MEMOIR-LSH trains in the least time",
        left=TABLE3_LSH_CODE(method="memoir_l2"),
        right=TABLE3_CODE(method="memoir_l2"),
        of=c.TRAIN_SECONDS,
        by=RATIO,
        measured=(
            "training seconds of MEMOIR-LSH over those of MEMOIR-l2 with the exact "
            "oracle, code's settings"
        ),
        datasets=DATASETS_AT_HAND,
        holds=SMALLER,
        reason="in part measured beside other jobs",
        command="xcbench paper memoir grid=table3_lsh_code,table3_code",
    ),
    Statement(
        "Section 4.4, Table 3",
        "MEMOIR-LSH has about the accuracy of MEMOIR-l2, within a tenth of it",
        left=TABLE3_LSH_CODE(method="memoir_l2"),
        right=TABLE3_CODE(method="memoir_l2"),
        of=c.TEST_ACCURACY,
        by=RATIO,
        measured="accuracy of MEMOIR-LSH over that of MEMOIR-l2, code's settings",
        datasets=DATASETS_AT_HAND,
        holds=Bounds(0.9, 1.1),
        command="xcbench paper memoir grid=table3_lsh_code,table3_code",
    ),
    Statement(
        "Section 4.4, beyond the print",
        "MEMOIR-l2 is more accurate than sums of a class's rows predicted by cosine",
        left=variants("memoir_l2"),
        right=TABLE3_BASELINES(method="class_sums"),
        of=c.TEST_ACCURACY,
        datasets=DATASETS_AT_HAND,
        holds=HIGHER,
    ),
    Statement(
        "Section 4.4, beyond the print",
        "MEMOIR-l1 is more accurate than sums of a class's rows predicted by cosine",
        left=variants("memoir_l1"),
        right=TABLE3_BASELINES(method="class_sums"),
        of=c.TEST_ACCURACY,
        datasets=DATASETS_AT_HAND,
        holds=HIGHER,
    ),
    *rival("the label tree", TABLE3_BASELINES(method="plt"), "the label tree was run once"),
    *rival("FastXML", TABLE3_SYSTEMS(method="fastxml")),
    *rival("PfastReXML", TABLE3_SYSTEMS(method="pfastrexml"))[:2],  # its times are not claimed
    *rival("PD-Sparse", TABLE3_SYSTEMS(method="pd_sparse")),
    Statement(
        "Section 4.3",
        "A weaker l1 penalty leaves more non-zeros",
        left=FIGURE1(method="memoir_l1", where={c.STRENGTH: 1e-7}),
        right=FIGURE1(method="memoir_l1", where={c.STRENGTH: 1e-4}),
        by=RATIO,
        of=c.NONZEROS,
        datasets=DATASETS_AT_HAND,
        holds=above(1),
    ),
    Statement(
        "Section 4.3",
        "A weaker l1 penalty gives the better accuracy",
        left=FIGURE1(method="memoir_l1", where={c.STRENGTH: 1e-7}),
        right=FIGURE1(method="memoir_l1", where={c.STRENGTH: 1e-4}),
        of=c.TEST_ACCURACY,
        datasets=DATASETS_AT_HAND,
        holds=HIGHER,
    ),
    Statement(
        "Section 4.3",
        "Training MEMOIR-l1 takes a third longer at a penalty of 1e-3 than at 1e-7",
        left=FIGURE1(method="memoir_l1", where={c.STRENGTH: 0.001}),
        right=FIGURE1(method="memoir_l1", where={c.STRENGTH: 1e-7}),
        by=RATIO,
        of=c.TRAIN_SECONDS,
        datasets=DATASETS_AT_HAND,
        holds=above(1),
    ),
    Statement(
        "Section 4.3",
        "The strength of the l2 penalty hardly affects the time (5 against 0.01, within a fifth)",
        left=STRONG_PENALTY,
        right=STRENGTH(method="memoir_l2", where={c.STRENGTH: 0.01}),
        by=RATIO,
        of=c.TRAIN_SECONDS,
        datasets=DATASETS_AT_HAND,
        holds=WITHIN_A_FIFTH,
        reason="times of one machine, with the code's settings",
    ),
    Statement(
        "Section 4.3",
        (
            "The strength of the l2 penalty hardly affects the memory (5 against "
            "0.01, within a fifth)"
        ),
        left=STRONG_PENALTY,
        right=STRENGTH(method="memoir_l2", where={c.STRENGTH: 0.01}),
        by=RATIO,
        of=c.MODEL_MIB,
        datasets=DATASETS_AT_HAND,
        holds=WITHIN_A_FIFTH,
    ),
    Statement(
        "Section 4.3",
        (
            "The strength of the l2 penalty affects the quality (5 against 0.01, the "
            "accuracy at 0.01 is the higher)"
        ),
        left=STRENGTH(method="memoir_l2", where={c.STRENGTH: 0.01}),
        right=STRENGTH(method="memoir_l2", where={c.STRENGTH: 5}),
        of=c.TEST_ACCURACY,
        datasets=DATASETS_AT_HAND,
        holds=HIGHER,
        reason="the text does not say which way",
    ),
    graph("l2", "20", TABLE3_ORACLES("20news")),
    graph("l2", "829", TABLE3_ORACLES("citeulike", where={c.MIN_ROWS: 50})),
    graph("l2", "8,310", ORACLES("citeulike", where={c.CONSTANT: 1})),
    graph("l1", "20", TABLE3_ORACLES("20news")),
    graph("l1", "829", TABLE3_ORACLES("citeulike", where={c.MIN_ROWS: 50})),
    Statement(
        "Section 4.3, Table 2",
        "Accuracy falls again at the largest batch (1,000 sqrt K against 100 sqrt K)",
        left={"code": TABLE2("citeulike", "memoir_l2", {c.BATCH_SIZE: 91000})},
        right={"code": TABLE2("citeulike", "memoir_l2", {c.BATCH_SIZE: 9100})},
        of=c.TEST_ACCURACY,
        holds=below(0),
        reason="on 20news the largest batch is three steps",
    ),
    Statement(
        "Theorem 1, proof",
        (
            "The step from the margin with m to that with the inexact margin holds "
            "as printed, without a factor (1 + eps)"
        ),
        function=margin_loss.as_printed,
        measured=(
            "share of random pairs of a score and its inexact rival for which the "
            "printed step holds"
        ),
        holds=above(0.999),
        exact=True,
        command=THEORY,
    ),
    Statement(
        "Theorem 1, proof",
        "The step holds with the factor (1 + eps)",
        function=margin_loss.with_factor,
        measured=(
            "share of random pairs of a score and its inexact rival for which the "
            "step with the factor holds"
        ),
        holds=above(0.999),
        exact=True,
        command=THEORY,
    ),
    Statement(
        "Abstract",
        (
            "Memory is smaller and prediction faster at near the quality of the "
            "best, on five datasets"
        ),
        untested="none of the five datasets is here",
    ),
    Statement(
        "Section 4.2",
        "Up to 16 cores are used, queries of the graph in parallel",
        untested="two cores are here",
    ),
    Statement(
        "Section 4.1",
        (
            "Few cores speed training up perfectly (8 times with 8 cores; with two at least "
            "1.8 times), with the small-world graph, K = 829"
        ),
        left=CORES("citeulike", "memoir_l2", {c.THREADS: 1}),
        right=CORES("citeulike", "memoir_l2", {c.THREADS: 2}),
        of=c.TRAIN_SECONDS,
        by=RATIO,
        holds=above(1.8),
    ),
    Statement(
        "Section 4.1", "Training is 8 times as fast with 8 cores as with one", untested=FEW_CORES
    ),
    Statement("Section 4.1", "Training is 11 times as fast with 16 cores", untested=FEW_CORES),
    Statement("Section 4.1", "Training is 20 times as fast with 32 cores", untested=FEW_CORES),
    Statement(
        "Section 3, Eq. 9",
        (
            "The bits of x and w are equal with the probability 1 - cos(S) / pi, as "
            "printed (within 0.01)"
        ),
        function=partial(hashing.farthest_share, formula=hashing.as_printed),
        measured=(
            "share of equal bits of 20,000 hyperplanes less the printed probability, "
            "farthest of seven inner products"
        ),
        holds=WITHIN_A_HUNDREDTH,
        exact=True,
        command=THEORY,
    ),
    Statement(
        "Section 3, Eq. 9",
        "The bits of x and w are equal with the probability 1 - arccos(S) / pi (within 0.01)",
        function=partial(hashing.farthest_share, formula=hashing.equal_bits),
        measured=(
            "share of equal bits of 20,000 hyperplanes less the probability, "
            "farthest of seven inner products"
        ),
        holds=WITHIN_A_HUNDREDTH,
        exact=True,
        command=THEORY,
    ),
    Statement(
        "Section 3, Eq. 9",
        (
            "A query looks at O(n^rho) vectors, here rho = 0.36 (the measured "
            "exponent is within 0.1 of it)"
        ),
        function=hashing.exponent,
        measured=(
            "slope of the log of the vectors looked at against log n, in hash tables "
            "on planted neighbours"
        ),
        holds=Bounds(0.26, 0.46),
        exact=True,
        command=THEORY,
        reason="tables made for this; the oracle of the other runs compares all codes",
    ),
    Statement(
        "Theorem 2",
        "The mean of Algorithm 1's iterates is within the printed bound of the optimum",
        function=convergence.share_of_bound_2,
        measured="excess over the bound, the largest of 48 random problems and settings",
        holds=SMALLER,
        exact=True,
        command=THEORY,
    ),
    Statement(
        "Algorithm 1",
        "The optimum lies in the ball into which Algorithm 1 projects",
        function=convergence.length_of_optimum,
        measured=(
            "length of the optimal weights times the root of lambda, the largest of "
            "the random problems"
        ),
        holds=SMALLER,
        exact=True,
        command=THEORY,
    ),
    Statement(
        "Theorem 3",
        (
            "The mean of Algorithm 2's iterates is within the printed bound of the "
            "optimum, R being the length of the rows"
        ),
        function=convergence.share_of_bound_3,
        measured="excess over the bound, the largest of 24 random problems and settings",
        holds=SMALLER,
        exact=True,
        command=THEORY,
    ),
    Statement(
        "Theorem 3",
        "It is with R the distance of the optimum from the start, as in the standard proof",
        function=convergence.share_of_bound_3_from_optimum,
        measured="excess over that bound, the largest of the same",
        holds=SMALLER,
        exact=True,
        command=THEORY,
    ),
    Statement(
        "Section 3, Algorithm 2",
        (
            "Truncation only where little of a class goes keeps the accuracy of "
            "truncation always (within a twentieth)"
        ),
        left=TRUNCATION(method="memoir_l1", where={c.STRENGTH: 1e-4, c.TRUNCATION_LIMIT: 0.1}),
        right=FIGURE1(method="memoir_l1", where={c.STRENGTH: 1e-4}),
        by=RATIO,
        of=c.TEST_ACCURACY,
        datasets=DATASETS_AT_HAND,
        holds=WITHIN_A_TWENTIETH,
        reason="the text has no number for little; here a tenth of the length of a class",
    ),
]
