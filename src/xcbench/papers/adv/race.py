"""Who is first, to an accuracy or a likelihood, and what that says of an order of magnitude."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from xcbench.papers.adv.frames import (
    ACCURACY,
    EPOCHS,
    LIKELIHOOD,
    SECONDS,
    Arrival,
    accuracy,
    arrival,
    compared,
    likelihood,
)
from xcbench.papers.adv.names import HERE, PROPOSED, SHOWN
from xcbench.papers.adv.tables import table
from xcbench.papers.section import Table
from xcbench.report.formats import NONE

LEVELS = (0.5, 0.75, 0.9)  # of the highest accuracy of any method of Figure 1
MATCHED = 0.95  # of that of the best other method, which it reaches itself
NATS = 0.05  # the same for the log likelihood: so much below it
ORDER = 10.0  # "an order of magnitude"
AT_LEAST, AT_MOST = "≥ ", "≤ "


@dataclass(frozen=True)
class Level:
    """How high, and when the methods reach it.

    Attributes
    ----------
    judged : whether the claim is judged at it.
    measure : ``accuracy`` or ``log likelihood``.
    what : where the level comes from.
    found : training seconds by method.
    epochs : passes over the data by method, the tree's fit left out.
    """

    dataset: str
    judged: bool
    measure: str
    what: str
    value: float
    found: dict[str, Arrival]
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
            {name: arrival(rows, curves, value, measure, clock) for name, rows in chosen.items()}
            for clock in (SECONDS, EPOCHS)
        )
        return Level(dataset, judged, measure, what, value, seconds, epochs)

    best = {name: accuracy(rows).mean for name, rows in chosen.items()}
    for share in LEVELS:
        highest = share * max(best.values())
        yield level(share == LEVELS[-1], ACCURACY, f"{share:.0%} of the highest", highest)
    others = [name for name in chosen if name != PROPOSED]
    if others:
        matched = MATCHED * max(best[name] for name in others)
        yield level(True, ACCURACY, f"{MATCHED:.0%} of the best other", matched)
        likeliest = max(likelihood(chosen[name]).mean for name in others)
        yield level(True, LIKELIHOOD, f"{NATS:g} nats below the best other", likeliest - NATS)


def race(found: list[Level]) -> Table:
    """Training seconds to given levels, and how many times as long as the proposed method."""
    lines = [
        {
            "dataset": SHOWN[level.dataset],
            "measure": level.measure,
            "level": level.what,
            "value": f"{level.value:.3f}",
            "method": name,
            "seconds": own.text(),
            "times the proposed": _text(times(own, level.found.get(PROPOSED))),
            "epochs": level.epochs[name].text(),
        }
        for level in found
        for name, own in level.found.items()
    ]
    columns = ["dataset", "measure", "level", "value", "method"]
    columns += ["seconds", "times the proposed", "epochs"]
    caption = (
        "Training seconds (wall clock, runs one after the other on the same machine; the tree's "
        "fit included) to shares of the highest accuracy of any method, and to the accuracy and "
        "the log likelihood of the best method but the proposed one, or nearly; mean over the "
        "seeds that arrive. Where some do not, the end of their runs bounds the factor. Epochs "
        "leave out the tree's fit, which is before the first"
    )
    return table(caption, lines, columns, 5)


def times(own: Arrival, first: Arrival | None) -> tuple[str, float] | None:
    """How many times as long; with a sign, a bound; nothing where neither wholly arrives."""
    if not first or not (own.complete or first.complete):
        return None
    sign = "" if own.complete and first.complete else AT_LEAST if first.complete else AT_MOST
    return sign, own.mean / first.mean


def _text(found: tuple[str, float] | None) -> str:
    return f"{found[0]}{found[1]:.2f}" if found else NONE


def verdict(found: list[Level]) -> list[str]:
    """What the race says about the claim, a sentence a level at which it is judged."""
    said = []
    for level in found:
        others = {name: own for name, own in level.found.items() if name != PROPOSED}
        if level.judged and PROPOSED in level.found and others:
            article = "an" if level.measure == ACCURACY else "a"
            to = f"to {article} {level.measure} of {level.value:.3f} ({level.what})"
            said.append(f"{SHOWN[level.dataset]}, {to}: {_said(level.found[PROPOSED], others)}")
    return said


def _said(proposed: Arrival, others: dict[str, Arrival]) -> str:
    """The claim at one level, plainly."""
    there = {name: own for name, own in others.items() if own.complete} or others
    name = min(there, key=lambda it: there[it].mean)
    found = times(there[name], proposed)
    factor = f": {_text(found)} times as long" if found else ""
    return (
        f"seconds of adversarial negative sampling: {proposed.text()}; of the best other method, "
        f"{name}: {there[name].text()}{factor}. The claim of an order of magnitude "
        f"{_judged(found)}."
    )


def _judged(found: tuple[str, float] | None) -> str:
    """A bound judges only on its own side of the claim."""
    if found is None:
        return "cannot be judged: not every seed of either arrives"
    sign, factor = found
    if factor >= ORDER and sign != AT_MOST:
        return "is confirmed"
    if factor < ORDER and sign != AT_LEAST:
        return "is not confirmed"
    return "cannot be judged: the runs end too early"
