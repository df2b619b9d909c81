"""What the paper claims in prose, and the rows that test it."""

from __future__ import annotations

from xcbench.papers import columns as c
from xcbench.papers.prose import Statement, below
from xcbench.papers.scent import theory
from xcbench.papers.scent.experiments import LOSSES, LOSSES_CODE, rows

AT_HAND = ["omniglot", "citeulike", "bibtex"]
NO_FEATURES = (
    "its data are features of networks for Glint360K (35 GB) and TreeOfLife-10M, made from "
    "collections of images that are not here"
)


def compared(
    lower: str,
    other: str,
    of: c.Column = c.TRAIN_LOG_LOSS,
    place: str = "Extreme classification",
    reason: str = "on stand-ins, each at its best of the rates for the training loss",
) -> Statement:
    """That a system ends lower than another one."""
    kind = "training" if of == c.TRAIN_LOG_LOSS else "test"
    return Statement(
        place,
        f"{lower} ends at a lower {kind} loss than {other}",
        left={"paper": rows(LOSSES, lower), "code": rows(LOSSES_CODE, lower)},
        right={"paper": rows(LOSSES, other), "code": rows(LOSSES_CODE, other)},
        of=of,
        datasets=AT_HAND,
        holds=below(0),
        headline=of == c.TRAIN_LOG_LOSS and (lower, other) == ("SCENT", "U-max"),
        reason=reason,
    )


OTHERS = ("BSGD", "ASGD", "ASGD (softplus)", "U-max", "SOX")
FIGURE = "Extreme classification, figure"
STATEMENTS = [
    *(compared("SCENT", system) for system in OTHERS),
    *(compared("SCENT", system, c.TEST_LOG_LOSS) for system in OTHERS),
    compared(
        "SOX",
        "BSGD",
        place=FIGURE,
        reason="with weights of 0.3; those of the authors' code fall from 1 to almost 0",
    ),
    compared("U-max", "ASGD", place=FIGURE, reason=""),
    Statement(
        FIGURE,
        "On TreeOfLife-10M ASGD ends at a lower training loss than BSGD",
        untested=NO_FEATURES,
    ),
    Statement(
        "Equation of the dual",
        "The least value of the dual over u is the log sum of exponentials",
        function=theory.dual_minimum_is_the_log_loss,
        measured="largest difference over 200 random rows of scores",
        holds=below(1e-12),
        exact=True,
        command="pytest tests/papers/test_scent_theory.py",
    ),
    Statement(
        "Lemma 3.3",
        "The proximal step keeps u between the least and the largest log sum that it has seen",
        function=theory.outside_of_what_was_seen,
        measured="how far u got outside, at random steps of 0.001 to 1,000",
        holds=below(1e-9),
        exact=True,
        command="pytest tests/papers/test_scent_theory.py",
    ),
    Statement(
        "Contribution ii",
        "With fixed weights the proximal step of u ends nearer to the optimum than gradient steps",
        function=theory.proximal_over_gradient,
        measured="error over that of gradient steps, each at the best of nine rates, by problem",
        holds=below(1),
        command="pytest tests/papers/test_scent_theory.py",
    ),
    Statement(
        "Contribution i",
        "The error of averaged weights falls at least as fast as one over the root of the steps",
        function=theory.slope_of_the_error,
        measured="slope of the log error over the log of the steps, of a convex problem a seed",
        holds=below(-0.5),
        command="pytest tests/papers/test_scent_theory.py",
    ),
    Statement(
        "Other tasks",
        "SCENT is better on partial AUC, contrastive learning and robust optimisation too",
        untested="these tasks are no classification over many classes",
    ),
]
