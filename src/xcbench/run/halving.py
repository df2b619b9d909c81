"""Successive halving of a sweep: all points train for a part of their epochs, the best go on.

A rung is a launch of ordinary cells with fewer epochs (Karnin et al. 2013). They begin anew on the
next rung, since a schedule may depend on the epochs. At ``halving=3`` the three rungs of P points
cost P/3 trainings. Points compete with those of the same dataset and method; seeds count together.
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from xcbench.config.settings import Config
from xcbench.errors import UserError
from xcbench.run import objective
from xcbench.units import count

RUNGS = 3


def rungs(points: Sequence[Config]) -> Iterator[list[Config]]:
    """Launches of the rungs, one after the other; the next asks for the cells of that before.

    Raises
    ------
    UserError
        If there are no validation rows, which choose.
    """
    eta = points[0].halving
    if eta == 1:
        raise UserError("halving=1 ends no point early; take 2 or more, or 0 to train all")
    if not all(point.evaluation.validation for point in points):
        raise UserError(
            f"halving={eta} goes on with the best points by validation rows: "
            "set evaluation.validation=0.1"
        )
    for rung in range(RUNGS - 1, 0, -1):
        part = [shortened(point, rung) for point in points]
        yield part
        points = best(points, part)
        epochs = f"{part[0].budget.epochs:.3g} epochs"
        print(f"halving: {epochs} of {count(len(part), 'point')}; the best {len(points)} go on\n")
    yield list(points)


def shortened(point: Config, rung: int) -> Config:
    """A point on a lower rung: its epochs, and seconds where it has them, divided."""
    budget, times = point.budget, point.halving**rung
    seconds = budget.seconds and budget.seconds / times
    return replace(point, budget=replace(budget, epochs=budget.epochs / times, seconds=seconds))


def best(points: Sequence[Config], part: Sequence[Config]) -> list[Config]:
    """The best of every dataset and method, in their order.

    Parameters
    ----------
    part : the points as they have trained.
    """
    groups: dict[tuple[str, str], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    names = [repr(replace(point, seed=0)) for point in points]
    for name, point, trained in zip(names, points, part, strict=True):
        groups[repr(point.dataset), point.method.name][name] += _loss(trained)
    kept = set[str]()
    for losses in groups.values():
        number = math.ceil(len(losses) / points[0].halving)
        kept.update(heapq.nsmallest(number, losses, key=losses.__getitem__))
    return [point for name, point in zip(names, points, strict=True) if name in kept]


def _loss(trained: Config) -> float:
    """Of a cell; infinite where there is none."""
    try:
        return objective.of_point(trained)
    except UserError:
        return math.inf
