"""Claims about Figure 1 that are made of curves: how many times as long others take."""

from __future__ import annotations

import numpy as np

from xcbench.papers import Measured
from xcbench.papers import columns as c
from xcbench.papers.adv import race
from xcbench.papers.adv.experiments import FIGURE1, SCALE, TREE
from xcbench.papers.adv.frames import LIKELIHOOD, at_start
from xcbench.papers.frames import having, values
from xcbench.papers.rows import Rows
from xcbench.show import effects
from xcbench.show.formats import NONE

TREE_OF_TEXT = {
    c.TREE_L2: 0.1,
    c.TREE_PCA: "plain",
    c.TREE_DISCRETE_STEP: "paper",
    c.TREE_INITIAL_SPLIT: "scores",
    c.TREE_NEWTON_STEPS: 0,
}
OF_TREE = "method.tree."
OF_TEXT = {f"{OF_TREE}l2": 0.1, f"{OF_TREE}pca": "plain", f"{OF_TREE}discrete_step": "paper"}
SCALES = ("plain", "unit_variance", "whitened")
ORDINALS = {1: "first", 2: "second", 3: "last"}
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
    classifier = FIGURE1(dataset, "negative_sampling", {c.SAMPLER: "tree"})
    whole = classifier.numbers(measured.results, -c.TEST_LOG_LOSS)
    cells = TREE(dataset, "negative_sampling", TREE_OF_TEXT).of(measured.results)["cell"]
    points = measured.curves[measured.curves["cell"].isin(cells)].sort_values("epoch")
    return [float(it) for it in whole + points["test_log_loss"].iloc[0]] if len(points) else []


def shown(measured: Measured, name: str) -> str:
    """A mean factor with its interval, of ``frequency`` or ``ove``, on citeulike."""
    numbers = {"frequency": frequency, "ove": ove}[name](measured, "citeulike")
    return _shown(numbers) + (" times as long" if name == "ove" else "")


def tree_shown(measured: Measured) -> str:
    """How far the classifier is above its tree on citeulike."""
    return _shown(above_the_tree(measured, "citeulike"))


def tree_difference(measured: Measured, initial_split: str, newton_steps: int) -> str:
    """Log likelihood of the tree alone less that with halves and one Newton step, on citeulike.

    Rows from before these were options have neither.
    """
    tree = having(at_start(measured), {"grid": "tree", "dataset": "citeulike", **OF_TEXT})
    fits = [
        having(tree, {f"{OF_TREE}initial_split": split, f"{OF_TREE}newton_steps": steps})
        for split, steps in (
            (initial_split, newton_steps),
            (["halves", np.nan], [1, np.nan]),
        )
    ]
    one, other = (values(fit, LIKELIHOOD).mean for fit in fits)
    return NONE if np.isnan(one - other) else f"{one - other:+.3f}"


def lambdas(measured: Measured) -> str:
    """lambda_n of each scale of the components, as validation rows chose it."""
    fits = [_scaled(name).of(measured.results) for name in SCALES]
    shown = [f"{rows[f'{OF_TREE}l2'].iloc[0]:g}" if len(rows) else NONE for rows in fits]
    return f"{shown[0]}, {shown[1]} and {shown[2]}"


def ranking(measured: Measured) -> str:
    """Whether the place of the tree among the three noises depends on the scale, in a sentence."""
    noises = [
        FIGURE1("citeulike", "negative_sampling", {c.SAMPLER: name})
        .numbers(measured.results, -c.TEST_LOG_LOSS)
        .mean()
        for name in ("uniform", "frequency")
    ]
    trees = [_scaled(name).numbers(measured.results, -c.TEST_LOG_LOSS).mean() for name in SCALES]
    if np.isnan([*noises, *trees]).any():
        return ""
    places = [1 + sum(other > tree for other in noises) for tree in trees]
    if len(set(places)) == 1:
        return f"The tree is the {ORDINALS[places[0]]} of the three samplers on each scale."
    told = ", ".join(ORDINALS[place] for place in places)
    return f"The ranking changes: the tree is the {told} of the three, in this order of scales."


def _scaled(name: str) -> Rows:
    """Runs with the tree on components of a scale."""
    return SCALE("citeulike", "negative_sampling", {c.TREE_PCA: name})


def _shown(numbers: list[float]) -> str:
    effect = effects.effect(numbers)
    return f"{effect.mean:.2f} [{effect.low:.2f}, {effect.high:.2f}]" if numbers else NONE
