"""When a printed number counts as reproduced.

Results are judged as errors and losses, so that 3 % of a small error are little. The error of an
accuracy is 1 (or 100 %) minus it; the loss of a log likelihood is minus it.

- ``reproduced``: the mean over seeds (or splits) rounds to the print, or the print lies between the
  lowest and the highest of at least five. A printed bound, ``<1``, holds a mean inside it.
- ``close``: the mean is within 3 % of the print, no other method's print in the same table, dataset
  and metric is as near, and over at least five seeds it is within 3 standard errors.
- ``... with the code's settings``: the same, where the text's settings were run and are neither.
- ``agrees with the code's settings, the text's were not run``.
- ``deviates``: none of these; the row has a reason.

Other kinds of numbers are counted apart from results:

- sizes: equal, or between the lowest and the highest where seeds draw the split
- learning rates and other tuned settings: equal; ``not decided`` where a neighbour of the best one
  is within the spread of the seeds
- definitions: 1 by definition
- ``fitted``: all numbers of a trajectory one of whose settings was chosen to hit a print
- settings
- times: for orientation, never judged
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

REPRODUCED = "reproduced"
CLOSE = "close"
REPRODUCED_WITH_CODE = "reproduced with the code's settings"
CLOSE_WITH_CODE = "close with the code's settings"
CODE_ALONE = "agrees with the code's settings, the text's were not run"
NOT_DECIDED = "not decided"
DEVIATES = "deviates"
AS_NEAR = "within 3 %, but as near to what is printed of another method"
FITTED = "fitted"
DEFINITION = "by definition"
NO_DATA = "not run: data"
NO_PACKAGE = "not run: no package"
NOT_YET = "not run yet"
NOT_PRINTED = "not printed"
SETTING = "setting"
TIME = "orientation only (times)"
ALL = (
    REPRODUCED,
    CLOSE,
    REPRODUCED_WITH_CODE,
    CLOSE_WITH_CODE,
    CODE_ALONE,
    NOT_DECIDED,
    DEVIATES,
    FITTED,
    DEFINITION,
    NO_DATA,
    NO_PACKAGE,
    NOT_YET,
    NOT_PRINTED,
    SETTING,
    TIME,
)

UNMEASURED = (NO_DATA, NO_PACKAGE, NOT_YET, NOT_PRINTED, SETTING, TIME)

KINDS = ("result", "fitted", "size", "rate", "definition", "setting", "time")
RESULT, OF_FIT, SIZE, RATE, BY_DEFINITION, OF_SETTING, OF_TIME = KINDS
RELATIVE = 0.03
SEEDS = 5
ERRORS = 3.0  # standard errors within which a mean is close
DIGITS = 5e-6  # of a mean in a table, relative
SETTINGS = (
    "epochs",
    "hyperparameter",
    "iterations",
    "learning_rate_factor",
    "learning_rate_initial",
    "minibatch",
    "sampled_classes",
    "delta",
    "n_and_m",
    "ridge",
    "instances",
)
TUNED = ("tuned_initial_learning_rate", "learning_rate_rho", "regulariser", "prior_variance")
SHARES = ("accuracy", "macro_f1")  # of which a method wants much
LIKELIHOODS = ("log_likelihood", "bound")
SIZES = ("classes",)  # besides what is printed as a count


@dataclass(frozen=True)
class Printed:
    """A printed result.

    Attributes
    ----------
    kind : one of `KINDS`.
    others : prints of the other methods in the same table, dataset and metric, in the same unit.
    """

    value: str
    metric: str = ""
    unit: str = ""
    kind: str = RESULT
    others: Sequence[float] = ()

    @property
    def judged(self) -> bool:
        """Whether it is a result."""
        return self.kind in (RESULT, OF_FIT)

    def loss(self, value: float) -> float:
        """A value as an error or a loss."""
        if self.metric.endswith(SHARES):
            return (100 if self.unit.startswith("%") else 1) - value
        return -value if self.metric.endswith(LIKELIHOODS) else value


def kind(metric: str, unit: str) -> str:
    """What a printed number is, where nothing else is declared."""
    if "time" in metric:
        return OF_TIME
    if metric.startswith(SETTINGS):
        return OF_SETTING
    if metric.startswith(TUNED):
        return RATE
    return SIZE if unit.startswith("count") or metric in SIZES else RESULT


def agreement(printed: Printed, values: Sequence[float]) -> str:
    """`REPRODUCED`, `CLOSE` or `DEVIATES`: measurements, one a seed, beside a printed number."""
    mean = sum(values) / len(values)
    if is_bound(printed.value):
        difference = mean - float(printed.value[1:])
        return (
            REPRODUCED
            if (difference < 0 if printed.value[0] == "<" else difference > 0)
            else DEVIATES
        )
    value = float(printed.value)
    if printed.kind in (SIZE, RATE):
        equal = min(values) * (1 - 1e-9) <= value <= max(values) * (1 + 1e-9)
        return REPRODUCED if equal else DEVIATES
    half_digit = float(Decimal(10) ** int(Decimal(printed.value).as_tuple().exponent)) / 2
    inside = len(values) >= SEEDS and min(values) <= value <= max(values)
    if inside or abs(mean - value) <= half_digit * (1 + 1e-9):
        return REPRODUCED
    far = as_near(printed, mean) or abs(distance(printed, values)) > ERRORS
    return CLOSE if near(printed, mean) and not far else DEVIATES


def distance(printed: Printed, values: Sequence[float]) -> float:
    """Distance z of the mean from the print in standard errors; nan of fewer than five seeds."""
    if len(values) < SEEDS or is_bound(printed.value) or not printed.judged:
        return math.nan
    error = statistics.stdev(values) / math.sqrt(len(values))
    return (statistics.fmean(values) - float(printed.value)) / error if error else math.nan


def near(printed: Printed, mean: float) -> bool:
    """Whether a mean is within 3 % of a printed number."""
    value = float(printed.value)
    return abs(mean - value) <= RELATIVE * abs(printed.loss(value)) * (1 + 1e-9)


def as_near(printed: Printed, mean: float) -> bool:
    """Whether a mean within 3 % is as near to what is printed of another method."""
    if is_bound(printed.value) or printed.kind in (SIZE, RATE) or not near(printed, mean):
        return False
    difference, value = abs(mean - float(printed.value)), float(printed.value)
    return any(abs(mean - other) <= difference for other in printed.others if other != value)


def verdict(kind: str, text: str, code: str) -> str:
    """Verdict of a number by its agreement with the text's and the code's settings.

    Parameters
    ----------
    kind : of the number, one of `KINDS`.
    text, code : agreement (`agreement`), empty where those settings were not run.
    """
    agrees = (REPRODUCED, CLOSE)
    if kind in (OF_TIME, BY_DEFINITION):
        return TIME if kind == OF_TIME else DEFINITION
    if kind == OF_FIT:
        return FITTED if text in agrees else DEVIATES
    if text in (*agrees, NOT_DECIDED):
        return text
    if code not in agrees:
        return NOT_DECIDED if code == NOT_DECIDED else DEVIATES
    if text:
        return REPRODUCED_WITH_CODE if code == REPRODUCED else CLOSE_WITH_CODE
    return REPRODUCED if kind == SIZE else CODE_ALONE  # files have a size without settings


def possible(printed: Printed, mean: float, seeds: int, variant: str) -> set[str]:
    """Verdicts that a row of a table can have: it holds no more than the mean of the seeds.

    Whether the print lies between the lowest and the highest of them, it does not tell, nor
    whether the text's settings were run where the code's are shown.
    """
    ends = [mean * (1 - DIGITS), mean * (1 + DIGITS)]
    seen = {agreement(printed, values) for values in ([mean], ends, *([end] for end in ends))}
    if seeds >= SEEDS or (seeds > 1 and printed.kind in (SIZE, RATE)):
        seen.add(REPRODUCED)
    if seeds >= SEEDS:
        seen.add(DEVIATES)  # by its distance in standard errors
    if printed.kind == RATE:
        seen.add(NOT_DECIDED)
    if variant == "paper":
        return {verdict(printed.kind, agreed, "") for agreed in seen}
    return {verdict(printed.kind, text, agreed) for agreed in seen for text in ("", DEVIATES)}


def is_bound(printed: str) -> bool:
    """Whether only a bound is printed, such as ``<1``."""
    return printed.startswith(("<", ">"))


def without_run(kind: str, value: str) -> str:
    """Verdict of a printed number that nothing was run for."""
    if value == "NA":
        return NOT_PRINTED
    return {OF_TIME: TIME, OF_SETTING: SETTING}.get(kind, NOT_YET)
