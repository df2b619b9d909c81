"""Claims about Figure 1 that are made of curves: how many times as long others take."""

from __future__ import annotations

import numpy as np

from xcbench.papers import Measured, effects
from xcbench.papers.adv import race
from xcbench.papers.frames import values
from xcbench.report.formats import NONE

TREE = "method.tree.l2=0.1 method.tree.pca=plain method.tree.discrete_step=paper"
LEVEL = 0.9  # of the highest accuracy


def _over_the_tree(measured: Measured, dataset: str, method: str) -> list[float]:
    """Training seconds of a method over those of the proposed one, where every seed arrives."""
    chosen = race.compared(measured.results, dataset)
    if not {method, race.PROPOSED} <= {*chosen}:
        return []
    level = LEVEL * max(values(rows, race.ACCURACY).mean for rows in chosen.values())
    one, other = (
        race.arrival(chosen[name], measured.curves, level, race.ACCURACY, race.SECONDS)
        for name in (method, race.PROPOSED)
    )
    complete = one.complete and other.complete
    return [float(it) for it in np.divide(one.times, other.times)] if complete else []


def frequency(measured: Measured, dataset: str) -> list[float]:
    """How many times as long frequency-based negative sampling takes."""
    return _over_the_tree(measured, dataset, "frequency-based neg. sampling")


def ove(measured: Measured, dataset: str) -> list[float]:
    """How many times as long OVE takes."""
    return _over_the_tree(measured, dataset, "OVE")


def above_the_tree(measured: Measured, dataset: str) -> list[float]:
    """Log likelihood of the classifier less that of its tree, at the paper's lambda_n of 0.1.

    From weights 0 the first checkpoint predicts by the tree alone.
    """
    words = f"figure1 {dataset} negative_sampling method.sampler=tree"
    whole = effects.numbers(measured.results, words, "-test_log_loss")
    tree = f"tree {dataset} negative_sampling {TREE}"
    cells = effects.rows(measured.results, tree)["cell"]
    points = measured.curves[measured.curves["cell"].isin(cells)].sort_values("epoch")
    return [float(it) for it in whole + points["test_log_loss"].iloc[0]] if len(points) else []


def shown(measured: Measured, name: str) -> str:
    """A mean factor with its interval, of ``frequency`` or ``ove``, on citeulike."""
    numbers = {"frequency": frequency, "ove": ove}[name](measured, "citeulike")
    return _shown(numbers) + (" times as long" if name == "ove" else "")


def tree_shown(measured: Measured) -> str:
    """How far the classifier is above its tree on citeulike."""
    return _shown(above_the_tree(measured, "citeulike"))


def _shown(numbers: list[float]) -> str:
    found = effects.effect(numbers)
    return f"{found.mean:.2f} [{found.low:.2f}, {found.high:.2f}]" if numbers else NONE
