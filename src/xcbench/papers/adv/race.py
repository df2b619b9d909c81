"""Who is first, to an accuracy or a likelihood, and what that says of an order of magnitude."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from xcbench.papers import Measured
from xcbench.papers.adv.frames import ACCURACY, LIKELIHOOD, compared
from xcbench.papers.adv.names import HERE, PROPOSED, SHOWN
from xcbench.papers.frames import Values, evaluated, values
from xcbench.show.formats import NONE

SECONDS, EPOCHS = "train_seconds", "epoch"  # clocks of a race
MEASURES = {"accuracy": ACCURACY, "log likelihood": LIKELIHOOD}  # what it is to
LEVELS = (0.5, 0.75, 0.9)  # of the highest accuracy of any method of Figure 1
MATCHED = 0.95  # of that of the best other method, which it reaches itself
NATS = 0.05  # the same for the log likelihood: so much below it
ORDER = 10.0  # "an order of magnitude"
AT_LEAST, AT_MOST = "≥ ", "≤ "


@dataclass(frozen=True)
class Arrival:
    """When curves, one a seed, reach a level, in training seconds or epochs.

    Attributes
    ----------
    times : of the seeds that do.
    ends : when the curves of the others end.
    """

    times: tuple[float, ...]
    ends: tuple[float, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every seed arrives."""
        return bool(self.times) and not self.ends

    @property
    def mean(self) -> float:
        """Mean over seeds; a lower bound of it where some do not arrive."""
        return float(np.mean([*self.times, *self.ends]))

    def text(self) -> str:
        """``mean ± spread`` of those that arrive, and how many they are."""
        if not self.times:
            return f"not within {self.mean:.2f}"
        count = f"{len(self.times)} of {len(self.times) + len(self.ends)} seeds"
        return Values(self.times).text(2) + ("" if self.complete else f" ({count})")


def arrival(
    rows: pd.DataFrame, curves: pd.DataFrame, level: float, measure: str, clock: str
) -> Arrival:
    """When the cells of some rows reach a level (see `reached`)."""
    cell_curves = [curves[curves["cell"] == cell] for cell in rows["cell"]]
    arrivals = [
        (reached(curve, level, measure, clock), float(curve[clock].max())) for curve in cell_curves
    ]
    times = tuple(at for at, _ in arrivals if not np.isnan(at))
    return Arrival(times, tuple(end for at, end in arrivals if np.isnan(at)))


def reached(curve: pd.DataFrame, level: float, measure: str, clock: str) -> float:
    """When a curve first reaches an accuracy or a log likelihood; nan where it never does.

    Parameters
    ----------
    curve : checkpoints of one cell, with losses and errors of the test rows; linear in between.
    level : how high.
    measure : `ACCURACY` or `LIKELIHOOD`.
    clock : ``train_seconds`` or ``epoch``.
    """
    points = curve.assign(height=evaluated(curve, measure)).dropna(subset=["height"])
    points = points.sort_values(clock)
    times, heights = points[clock].to_numpy(float), points["height"].to_numpy(float)
    above = np.flatnonzero(heights >= level)
    if not len(above):
        return float("nan")
    at = int(above[0])
    if at == 0:
        return float(times[0])
    share = (level - heights[at - 1]) / (heights[at] - heights[at - 1])
    return float(times[at - 1] + share * (times[at] - times[at - 1]))


@dataclass(frozen=True)
class Level:
    """How high, and when the methods reach it.

    Attributes
    ----------
    judged : whether the claim is judged at it.
    measure : ``accuracy`` or ``log likelihood``.
    what : where the level comes from.
    seconds : training seconds by method.
    epochs : passes over the data by method, the tree's fit left out.
    """

    dataset: str
    judged: bool
    measure: str
    what: str
    value: float
    seconds: dict[str, Arrival]
    epochs: dict[str, Arrival]


def levels(results: pd.DataFrame, curves: pd.DataFrame) -> list[Level]:
    """Levels of the test rows: shares of the highest accuracy, then what the best other has."""
    return [level for dataset in HERE for level in _levels(results, curves, dataset)]


def _levels(results: pd.DataFrame, curves: pd.DataFrame, dataset: str) -> Iterator[Level]:
    chosen = compared(results, dataset)
    if not chosen:
        return

    def level(judged: bool, measure: str, what: str, value: float) -> Level:
        seconds, epochs = (
            {
                name: arrival(rows, curves, value, MEASURES[measure], clock)
                for name, rows in chosen.items()
            }
            for clock in (SECONDS, EPOCHS)
        )
        return Level(dataset, judged, measure, what, value, seconds, epochs)

    best = {name: values(rows, ACCURACY).mean for name, rows in chosen.items()}
    for share in LEVELS:
        highest = share * max(best.values())
        yield level(share == LEVELS[-1], "accuracy", f"{share:.0%} of the highest", highest)
    others = [name for name in chosen if name != PROPOSED]
    if others:
        matched = MATCHED * max(best[name] for name in others)
        yield level(True, "accuracy", f"{MATCHED:.0%} of the best other", matched)
        likeliest = max(values(chosen[name], LIKELIHOOD).mean for name in others)
        what = f"{NATS:g} nats below the best other"
        yield level(True, "log likelihood", what, likeliest - NATS)


def seconds(measured: Measured) -> pd.DataFrame:
    """The race of Figure 1."""
    return race(levels(measured.results, measured.curves))


def sentences(measured: Measured) -> list[str]:
    """What the race of Figure 1 says about the claim."""
    return verdict(levels(measured.results, measured.curves))


def race(levels: list[Level]) -> pd.DataFrame:
    """Training seconds to given levels, and how many times as long as the proposed method."""
    lines = [
        {
            "dataset": SHOWN[level.dataset],
            "measure": level.measure,
            "level": level.what,
            "value": f"{level.value:.3f}",
            "method": name,
            "seconds": time.text(),
            "times the proposed": _text(times(time, level.seconds.get(PROPOSED))),
            "epochs": level.epochs[name].text(),
        }
        for level in levels
        for name, time in level.seconds.items()
    ]
    return pd.DataFrame(lines)


def times(time: Arrival, first: Arrival | None) -> tuple[str, float] | None:
    """How many times as long; with a sign, a bound; nothing where neither wholly arrives."""
    if not first or not (time.complete or first.complete):
        return None
    sign = "" if time.complete and first.complete else AT_LEAST if first.complete else AT_MOST
    return sign, time.mean / first.mean


def _text(ratio: tuple[str, float] | None) -> str:
    return f"{ratio[0]}{ratio[1]:.2f}" if ratio else NONE


def verdict(levels: list[Level]) -> list[str]:
    """What the race says about the claim, a sentence a level at which it is judged."""
    said = []
    for level in levels:
        others = {name: time for name, time in level.seconds.items() if name != PROPOSED}
        if level.judged and PROPOSED in level.seconds and others:
            article = "an" if level.measure == "accuracy" else "a"
            to = f"to {article} {level.measure} of {level.value:.3f} ({level.what})"
            said.append(f"{SHOWN[level.dataset]}, {to}: {_said(level.seconds[PROPOSED], others)}")
    return said


def _said(proposed: Arrival, others: dict[str, Arrival]) -> str:
    """The claim at one level, plainly."""
    arrived = {name: time for name, time in others.items() if time.complete} or others
    name = min(arrived, key=lambda method: arrived[method].mean)
    ratio = times(arrived[name], proposed)
    factor = f": {_text(ratio)} times as long" if ratio else ""
    return (
        f"seconds of adversarial negative sampling: {proposed.text()}; of the best other method, "
        f"{name}: {arrived[name].text()}{factor}. The claim of an order of magnitude "
        f"{_judged(ratio)}."
    )


def _judged(ratio: tuple[str, float] | None) -> str:
    """A bound judges only on its own side of the claim."""
    if ratio is None:
        return "cannot be judged: not every seed of either arrives"
    sign, factor = ratio
    if factor >= ORDER and sign != AT_MOST:
        return "is confirmed"
    if factor < ORDER and sign != AT_LEAST:
        return "is not confirmed"
    return "cannot be judged: the runs end too early"
