"""Figure 1 of the adversarial-softmax paper: learning curves, and who is first to a level."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from xcbench.papers import Lines, Measured
from xcbench.papers import columns as c
from xcbench.papers.adv.experiments import (
    DATASETS,
    FIGURE1_LARGE,
    HERE,
    PROPOSED,
    SHOWN,
    compared,
)
from xcbench.papers.columns import Column
from xcbench.papers.rows import Values, values
from xcbench.show import style
from xcbench.show.curves import draw_line, over_seeds
from xcbench.show.formats import NONE
from xcbench.show.pictures import Drawing

LOOKS: style.Styles = {
    PROPOSED: {"color": "#117733"},
    "frequency-based neg. sampling": {"color": style.OTHERS[0], "linestyle": "--"},
    "NCE": {"color": style.COLOURS["ove"], "linestyle": "-."},
    "uniform neg. sampling": {"color": style.COLOURS["vanilla"], "linestyle": ":"},
    "A&R": {"color": style.COLOURS["umax"], "linestyle": (0, (8, 2))},
    "OVE": {"color": style.OTHERS[4], "linestyle": (0, (3, 1, 1, 1))},
}
CAPTION = (
    "Figure 1: log likelihood and accuracy of test rows against training seconds (of the wall "
    "clock, one run after the other on the same machine), every method at its own tuned rate and "
    "regulariser. Negative sampling predicts with log p_n added to its scores (Eq. 5). Lines are "
    "means over seeds, bands reach from the lowest to the highest. Methods with the tree start "
    "further to the right, by the time of its fit. A&R and OVE run for 50 epochs, the others "
    "100. Below, the paper's four panels, with its linear hours: their features are not here."
)
HOURS = 4  # of the printed axes
BELOW = 1.5  # an axis of log likelihoods ends at so many times the lowest start


def drawings(measured: Measured) -> Iterator[Drawing]:
    """Figure 1."""
    yield Drawing("figure1", partial(figure1, measured.results, measured.curves), CAPTION)


def figure1(results: pd.DataFrame, curves: pd.DataFrame) -> Figure | None:
    """Draw two panels a dataset that ran, log likelihood and accuracy, and a box a printed one."""
    chosen = {dataset: compared(results, dataset) for dataset in HERE}
    shown = [dataset for dataset in HERE if chosen[dataset]]
    if not shown:
        return None
    measures = {c.TEST_LIKELIHOOD: "log likelihood (nats a test row)", c.TEST_ACCURACY: "accuracy"}
    absent = [
        name for name, dataset in DATASETS.items() if FIGURE1_LARGE(dataset).of(results).empty
    ]
    heights = [3.0] * len(shown) + [1.5] * len(absent)
    options = {"squeeze": False, "height_ratios": heights}
    fig, panels = style.panels(10, 0.5 + sum(heights), len(heights), 2, **options)
    for name, pair in zip(absent, panels[len(shown) :], strict=True):
        _boxes(pair, name)
    for dataset, pair in zip(shown, panels, strict=False):
        for ax, (measure, label) in zip(pair, measures.items(), strict=True):
            points = curves.assign(value=measure.of(curves))
            starts = []
            for name, cells in chosen[dataset].items():
                line = over_seeds(
                    points[points["cell"].isin(cells["cell"])], "value", "train_seconds"
                )
                if len(line):
                    draw_line(ax, line, LOOKS[name])
                    starts.append(line["mean"].iloc[0])
            if measure == c.TEST_LIKELIHOOD:
                ax.set_ylim(bottom=max(ax.get_ylim()[0], BELOW * min(starts)))
            ax.set(title=SHOWN[dataset], xlabel="training seconds", ylabel=label, xscale="log")
    style.legend(fig, "", LOOKS)
    return fig


def _boxes(pair: Iterable[Axes], name: str) -> None:
    """Draw the axes of a printed pair of panels whose data are not here."""
    for ax, label in zip(pair, ("pred. log likelihood", "pred. accuracy"), strict=True):
        style.not_run(ax)
        ax.set(title=name, xlabel="training time (hours)", xlim=(0, HOURS))
        ax.set_ylabel(label, fontsize="small")
        ax.tick_params(left=False, labelleft=False)


SECONDS, EPOCHS = "train_seconds", "epoch"  # clocks of a race
MEASURES = {"accuracy": c.TEST_ACCURACY, "log likelihood": c.TEST_LIKELIHOOD}  # what it is to
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
    rows: pd.DataFrame, curves: pd.DataFrame, level: float, measure: Column, clock: str
) -> Arrival:
    """When the cells of some rows reach a level (see `reached`)."""
    cell_curves = [curves[curves["cell"] == cell] for cell in rows["cell"]]
    arrivals = [
        (reached(curve, level, measure, clock), float(curve[clock].max())) for curve in cell_curves
    ]
    times = tuple(at for at, _ in arrivals if not np.isnan(at))
    return Arrival(times, tuple(end for at, end in arrivals if np.isnan(at)))


def reached(curve: pd.DataFrame, level: float, measure: Column, clock: str) -> float:
    """When a curve first reaches an accuracy or a log likelihood; nan where it never does.

    Parameters
    ----------
    curve : checkpoints of one cell, with losses and errors of the test rows; linear in between.
    level : how high.
    measure : `ACCURACY` or `LIKELIHOOD`.
    clock : ``train_seconds`` or ``epoch``.
    """
    points = curve.assign(height=measure.of(curve)).dropna(subset=["height"])
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


def levels(measured: Measured) -> list[Level]:
    """Levels of the test rows: shares of the highest accuracy, then what the best other has."""
    return [level for dataset in HERE for level in _levels(measured, dataset)]


def _levels(measured: Measured, dataset: str) -> Iterator[Level]:
    chosen = compared(measured.results, dataset)
    if not chosen:
        return

    def level(judged: bool, measure: str, what: str, value: float) -> Level:
        seconds, epochs = (
            {
                name: arrival(rows, measured.curves, value, MEASURES[measure], clock)
                for name, rows in chosen.items()
            }
            for clock in (SECONDS, EPOCHS)
        )
        return Level(dataset, judged, measure, what, value, seconds, epochs)

    best = {name: values(rows, c.TEST_ACCURACY).mean for name, rows in chosen.items()}
    for share in LEVELS:
        highest = share * max(best.values())
        yield level(share == LEVELS[-1], "accuracy", f"{share:.0%} of the highest", highest)
    others = [name for name in chosen if name != PROPOSED]
    if others:
        matched = MATCHED * max(best[name] for name in others)
        yield level(True, "accuracy", f"{MATCHED:.0%} of the best other", matched)
        likeliest = max(values(chosen[name], c.TEST_LIKELIHOOD).mean for name in others)
        what = f"{NATS:g} nats below the best other"
        yield level(True, "log likelihood", what, likeliest - NATS)


def race(measured: Measured) -> Lines:
    """Training seconds to given levels, and how many times as long as the proposed method."""
    return (
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
        for level in levels(measured)
        for name, time in level.seconds.items()
    )


def times(time: Arrival, first: Arrival | None) -> tuple[str, float] | None:
    """How many times as long; with a sign, a bound; nothing where neither wholly arrives."""
    if not first or not (time.complete or first.complete):
        return None
    sign = "" if time.complete and first.complete else AT_LEAST if first.complete else AT_MOST
    return sign, time.mean / first.mean


def _text(ratio: tuple[str, float] | None) -> str:
    return f"{ratio[0]}{ratio[1]:.2f}" if ratio else NONE


def verdict(measured: Measured) -> Iterator[str]:
    """What the race says about the claim, a sentence a level at which it is judged."""
    for level in levels(measured):
        others = {name: time for name, time in level.seconds.items() if name != PROPOSED}
        if level.judged and PROPOSED in level.seconds and others:
            article = "an" if level.measure == "accuracy" else "a"
            to = f"to {article} {level.measure} of {level.value:.3f} ({level.what})"
            yield f"{SHOWN[level.dataset]}, {to}: {_comparison(level.seconds[PROPOSED], others)}"


def _comparison(proposed: Arrival, others: dict[str, Arrival]) -> str:
    """The claim at one level, plainly."""
    arrived = {name: time for name, time in others.items() if time.complete} or others
    name = min(arrived, key=lambda method: arrived[method].mean)
    ratio = times(arrived[name], proposed)
    factor = f": {_text(ratio)} times as long" if ratio else ""
    return (
        f"seconds of adversarial negative sampling: {proposed.text()}; of the best other method, "
        f"{name}: {arrived[name].text()}{factor}. The claim of an order of magnitude "
        f"{_conclusion(ratio)}."
    )


def _conclusion(ratio: tuple[str, float] | None) -> str:
    """A bound judges only on its own side of the claim."""
    if ratio is None:
        return "cannot be judged: not every seed of either arrives"
    sign, factor = ratio
    if factor >= ORDER and sign != AT_MOST:
        return "is confirmed"
    if factor < ORDER and sign != AT_LEAST:
        return "is not confirmed"
    return "cannot be judged: the runs end too early"
