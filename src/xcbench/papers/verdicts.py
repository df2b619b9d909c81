"""When a printed number counts as reproduced. Written down before the papers' grids were run.

- A printed number agrees with a measurement if the mean over seeds rounds to it, or lies within 3 %
  of it, or if it lies between the lowest and the highest of at least three seeds.
- A count agrees if it is equal, or, where the seeds draw the split, lies between their lowest and
  highest. A learning rate, a power of ten, agrees if it is equal. A printed bound, ``<1``, agrees
  with a mean inside it.
- ``reproduced``: the variant of the text agrees. ``reproduced with the code's settings``: it does
  not, but what the authors' code did agrees. ``deviates``: neither does; the row has a reason.
- Times are shown for orientation and never judged; settings are no results.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

REPRODUCED = "reproduced"
WITH_CODE_SETTINGS = "reproduced with the code's settings"
DEVIATES = "deviates"
NO_DATA = "not run: data"
NO_PACKAGE = "not run: no package"
NOT_YET = "not run yet"
NOT_PRINTED = "not printed"
SETTING = "setting"
TIME = "orientation only (times)"
ALL = (
    REPRODUCED,
    WITH_CODE_SETTINGS,
    DEVIATES,
    NO_DATA,
    NO_PACKAGE,
    NOT_YET,
    NOT_PRINTED,
    SETTING,
    TIME,
)

RELATIVE = 0.03
SEEDS = 3
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
EXACT = ("count", "power of ten")


def agrees(printed: str, unit: str, values: Sequence[float]) -> bool:
    """Whether measurements, one a seed, agree with a printed number."""
    mean = sum(values) / len(values)
    if is_bound(printed):
        apart = mean - float(printed[1:])
        return apart < 0 if printed[0] == "<" else apart > 0
    value = float(printed)
    if unit.startswith(EXACT):
        return min(values) * (1 - 1e-9) <= value <= max(values) * (1 + 1e-9)
    half_digit = float(Decimal(10) ** int(Decimal(printed).as_tuple().exponent)) / 2
    inside = len(values) >= SEEDS and min(values) <= value <= max(values)
    return abs(mean - value) <= max(half_digit, RELATIVE * abs(value)) * (1 + 1e-9) or inside


def is_bound(printed: str) -> bool:
    """Whether only a bound is printed, such as ``<1``."""
    return printed.startswith(("<", ">"))


def without_run(metric: str, value: str) -> str:
    """Verdict of a printed number that nothing was run for."""
    if value == "NA":
        return NOT_PRINTED
    if "time" in metric:
        return TIME
    if metric.startswith(SETTINGS):
        return SETTING
    return NOT_YET
