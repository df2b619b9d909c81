"""Who reaches an accuracy first, and what that says about the claim of an order of magnitude."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from xcbench.papers.adv.frames import Arrival, accuracy, arrival, run
from xcbench.papers.adv.names import HERE, METHODS, PROPOSED, SHOWN
from xcbench.papers.adv.tables import ended, table
from xcbench.papers.section import Table
from xcbench.report.formats import NONE

LEVELS = (0.5, 0.75, 0.9)  # of the highest accuracy of any method of Figure 1
MATCHED = 0.95  # of that of the best other method, which it reaches itself
ORDER = 10.0  # "an order of magnitude"
AT_LEAST, AT_MOST = "≥ ", "≤ "
Level = tuple[str, float, dict[str, Arrival]]


def race(results: pd.DataFrame, curves: pd.DataFrame) -> Table:
    """Training seconds to given accuracies, and how many times as long as the proposed method."""
    lines = [
        {
            "dataset": SHOWN[dataset],
            "level": what,
            "accuracy": f"{level:.3f}",
            "method": name,
            "seconds": own.text(),
            "times the proposed": _times_text(own, found.get(PROPOSED)),
        }
        for dataset in HERE
        for what, level, found in raced(results, curves, dataset)
        for name, own in found.items()
    ]
    columns = ["dataset", "level", "accuracy", "method", "seconds", "times the proposed"]
    caption = (
        "Training seconds (wall clock, runs one after the other on the same machine; the tree's "
        "fit included) to shares of the highest accuracy of any method, and of that of the best "
        "method but the proposed one; mean over the seeds that arrive. Where some do not, the end "
        "of their runs bounds the factor"
    )
    return table(caption, lines, columns, 4)


def raced(results: pd.DataFrame, curves: pd.DataFrame, dataset: str) -> Iterator[Level]:
    """Levels of accuracy: what each is, how high, and when the methods reach it."""
    chosen = {name: ended(run(results, "figure1", dataset, *own)) for name, own in METHODS.items()}
    chosen = {name: rows for name, rows in chosen.items() if len(rows)}
    if not chosen:
        return
    best = {name: accuracy(rows).mean for name, rows in chosen.items()}
    highest = max(best.values())
    levels = {f"{share:.0%} of the highest": share * highest for share in LEVELS}
    others = [value for name, value in best.items() if name != PROPOSED]
    if others:
        levels[f"{MATCHED:.0%} of the best other"] = MATCHED * max(others)
    for what, level in levels.items():
        yield what, level, {name: arrival(rows, curves, level) for name, rows in chosen.items()}


def times(own: Arrival, first: Arrival) -> tuple[str, float] | None:
    """How many times as long; with a sign, a bound; nothing where neither wholly arrives."""
    if not (own.complete or first.complete):
        return None
    sign = "" if own.complete and first.complete else AT_LEAST if first.complete else AT_MOST
    return sign, own.mean / first.mean


def _times_text(own: Arrival, first: Arrival | None) -> str:
    found = times(own, first) if first else None
    return f"{found[0]}{found[1]:.2f}" if found else NONE


def verdict(results: pd.DataFrame, curves: pd.DataFrame) -> list[str]:
    """What the race says about the claim, a sentence each at the last two levels."""
    said = []
    for dataset in HERE:
        for what, level, found in list(raced(results, curves, dataset))[-2:]:
            others = {name: own for name, own in found.items() if name != PROPOSED}
            if PROPOSED in found and others:
                where = f"{SHOWN[dataset]}, to an accuracy of {level:.3f} ({what})"
                said.append(f"{where}: {_said(found[PROPOSED], others)}")
    return said


def _said(proposed: Arrival, others: dict[str, Arrival]) -> str:
    """The claim at one accuracy, plainly."""
    there = {name: own for name, own in others.items() if own.complete} or others
    name = min(there, key=lambda it: there[it].mean)
    found = times(there[name], proposed)
    factor = f": {_times_text(there[name], proposed)} times as long" if found else ""
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
