"""Columns of the measured rows by name, and expressions of them.

``1 - TEST_ERROR`` and ``TRAIN_SECONDS / EPOCH`` are columns too. A name that is not here is found
by the type checker, before anything runs.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

NAME, PRODUCT, SUM = range(3)  # what an expression is made of last, as brackets depend on it


@dataclass(frozen=True)
class Column:
    """A column of the measured rows, or an expression of columns.

    Attributes
    ----------
    text : its name, or the expression, where names with a dot are quoted.
    form : `NAME`, `PRODUCT` or `SUM`.
    computed : what an expression is in rows; a name alone has none.
    """

    text: str
    form: int = NAME
    computed: Callable[[pd.DataFrame], Any] | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return self.text

    def of(self, rows: pd.DataFrame) -> pd.Series:
        """Its values in rows; empty where a column that it needs is missing."""
        try:
            return self.computed(rows) if self.computed else rows[self.text]
        except KeyError:
            return pd.Series(dtype=float)

    def __neg__(self) -> Column:
        return Column(f"-{self._inside(PRODUCT)}", PRODUCT, lambda rows: -_operand(self, rows))

    def __add__(self, other: Column | float) -> Column:
        return _expression(self, "+", other, SUM, SUM)

    def __sub__(self, other: Column | float) -> Column:
        return _expression(self, "-", other, SUM, PRODUCT)

    def __rsub__(self, number: float) -> Column:
        return _expression(number, "-", self, SUM, PRODUCT)

    def __mul__(self, other: Column | float) -> Column:
        return _expression(self, "*", other, PRODUCT, PRODUCT)

    def __rmul__(self, number: float) -> Column:
        return _expression(number, "*", self, PRODUCT, PRODUCT)

    def __truediv__(self, other: Column | float) -> Column:
        return _expression(self, "/", other, PRODUCT, NAME)

    def fillna(self, other: Column | float) -> Column:
        """Values of another where there are none."""
        text = f"`{self.text}`.fillna({_text(other, SUM)})"
        return Column(text, NAME, lambda rows: _operand(self, rows).fillna(_operand(other, rows)))

    def _inside(self, weakest: int) -> str:
        """The text as an operand, in brackets where it is made of something weaker."""
        if self.form > weakest:
            return f"({self.text})"
        return f"`{self.text}`" if "." in self.text and not self.computed else self.text


OPERATIONS: dict[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


def _expression(
    left: Column | float, sign: str, right: Column | float, form: int, weakest: int
) -> Column:
    """Two operands with a sign; ``weakest`` is what the right one may be made of unbracketed."""
    return Column(
        f"{_text(left, form)} {sign} {_text(right, weakest)}",
        form,
        lambda rows: OPERATIONS[sign](_operand(left, rows), _operand(right, rows)),
    )


def _operand(operand: Column | float, rows: pd.DataFrame) -> Any:
    """The numbers of a column in rows; a number as it is."""
    if not isinstance(operand, Column):
        return operand
    return operand.computed(rows) if operand.computed else rows[operand.text].astype(float)


def _text(operand: Column | float, weakest: int) -> str:
    if isinstance(operand, Column):
        return operand._inside(weakest)
    short = f"{operand:g}"
    return short if float(short) == operand else repr(operand)


# ---------------------------------------------------------------- what a row is of
GRID = Column("grid")
DATASET = Column("dataset")
METHOD = Column("method")
SEED = Column("seed")
LR = Column("lr")
CLASSES = Column("shape.classes")
FEATURES = Column("shape.features")
TRAIN_ROWS = Column("shape.train")
TEST_ROWS = Column("shape.test")
TEST_DROPPED = Column("shape.test_dropped")
ACCURACY_CEILING = Column("shape.accuracy_ceiling")

# ---------------------------------------------------------------- settings
CATEGORIES = Column("dataset.categories.classes")
CONSTANT = Column("dataset.protocol.constant")
MIN_ROWS = Column("dataset.protocol.min_rows")
BATCH_SIZE = Column("method.batch_size")
DOUBLE_SUM = Column("method.double_sum")
DUAL = Column("method.dual")
GROUP = Column("method.group")
NEGATIVES = Column("method.negatives")
ORACLE = Column("method.oracle")
THREADS = Column("method.threads")
PREDICTION = Column("method.prediction")
SAMPLER = Column("method.sampler")
SCORE_L2 = Column("method.score_l2")
STRENGTH = Column("method.strength")
TREE_DISCRETE_STEP = Column("method.tree.discrete_step")
TREE_INITIAL_SPLIT = Column("method.tree.initial_split")
TREE_L2 = Column("method.tree.l2")
TREE_NEWTON_STEPS = Column("method.tree.newton_steps")
TREE_PCA = Column("method.tree.pca")
TRUNCATION_LIMIT = Column("method.truncation_limit")

# ---------------------------------------------------------------- cost
EPOCH = Column("epoch")
ITERATION = Column("iteration")
TRAIN_SECONDS = Column("train_seconds")
PREDICT_SECONDS = Column("predict_seconds")
FIT_SECONDS = Column("fit_seconds")
MODEL_MIB = Column("model_mib")
TRAIN_MIB = Column("train_mib")
NONZEROS = Column("nonzeros")

# ---------------------------------------------------------------- quality
BOUND = Column("bound")
OBJECTIVE = Column("objective")
L2_TERM = Column("l2_term")
PARAM_NORM = Column("param_norm")
PARAM_NORM_WITHOUT_BIASES = Column("param_norm_without_biases")
TRAIN_LOG_LOSS = Column("train_log_loss")
TRAIN_LOG_LOSS_SOFTMAX_TWICE = Column("train_log_loss_softmax_twice")
TRAIN_ERROR = Column("train_error")
TRAIN_L1_ERROR = Column("train_l1_error")
VALIDATION_LOG_LOSS = Column("validation_log_loss")
TEST_LOG_LOSS = Column("test_log_loss")
TEST_LIKELIHOOD = -TEST_LOG_LOSS
TEST_LOG_LOSS_CLIPPED = Column("test_log_loss_clipped")
TEST_LOG_LOSS_IMPORTANCE = Column("test_log_loss_importance")
TEST_LOG_LOSS_UNCORRECTED = Column("test_log_loss_uncorrected")
TEST_ERROR = Column("test_error")
TEST_ACCURACY = 1 - TEST_ERROR
TEST_ERROR_UNCORRECTED = Column("test_error_uncorrected")
ERROR_EPOCH = Column("error_epoch")
TEST_PRECISION_AT_1 = Column("test_precision_at_1")
TEST_PRECISION_AT_1_UNCORRECTED = Column("test_precision_at_1_uncorrected")
TEST_MACRO_F1 = Column("test_macro_f1")
TEST_MACRO_F1_OF_MEANS = Column("test_macro_f1_of_means")
TREE_NODES_FELL = Column("tree_nodes_fell")

IMPLICIT = Column("implicit")  # training log loss of Implicit SGD in the same grid and seed
