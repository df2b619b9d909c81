"""Measurements of models at a checkpoint."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xcbench.config.settings import Evaluation
from xcbench.core.dataset import Dataset, Split
from xcbench.core.evaluation import Extras
from xcbench.core.metrics import BOTH, costs, depth, evaluate
from xcbench.core.models.model import Model
from xcbench.core.statistics import inverse_propensity

Parts = dict[str, tuple[Split, bool]]


class Evaluator:
    """Measures losses, errors and costs on the parts of a dataset.

    Attributes
    ----------
    parts : rows by their role, and whether they are a sample.
    of_curve : the same for checkpoints before the last.
    """

    def __init__(self, dataset: Dataset, evaluation: Evaluation, seed: int) -> None:
        parts = {"train": dataset.train, "test": dataset.test}
        if dataset.validation is not None:
            parts["validation"] = dataset.validation
        elif evaluation.validation:
            parts["validation"], parts["test"] = dataset.test.divided(evaluation.validation)
        most = dict.fromkeys(parts, evaluation.rows)
        most["train"] = evaluation.train_rows or evaluation.rows
        self.parts = self.of_curve = _sampled(parts, most)
        if evaluation.curve_rows:
            fewer = {role: _least(most[role], evaluation.curve_rows) for role in BOTH}
            self.of_curve = self.parts | _sampled({role: parts[role] for role in fewer}, fewer)
        self.evaluation, self.seed = evaluation, seed
        self.inverse_propensity: np.ndarray | None = None
        if evaluation.metrics and dataset.info.multi_label:
            originals = dataset.train.original_rows()
            counts = originals.labels(dataset.info.classes).sum(axis=0)
            a, b = evaluation.propensity_a, evaluation.propensity_b
            self.inverse_propensity = inverse_propensity(counts, len(originals), a, b)

    def measured(
        self, models: Sequence[Model], iteration: int, last: bool = True
    ) -> list[dict[str, float]]:
        """Losses and errors of each model on all parts, and costs on request.

        Before the last checkpoint, ``curve_rows`` limits the rows. If models have a correction,
        columns without it end with ``_uncorrected``.
        """
        parts = self.parts if last else self.of_curve
        columns = self._losses([model.corrected for model in models], parts, iteration)
        if models[0].correction:
            for row, bare in zip(columns, self._losses(models, parts, iteration), strict=True):
                row |= {f"{name}_uncorrected": value for name, value in bare.items()}
        if self.evaluation.costs:
            for row, model in zip(columns, models, strict=True):
                row |= costs(model.corrected, parts["test"][0])
        return columns

    def _losses(
        self, models: Sequence[Model], parts: Parts, iteration: int
    ) -> list[dict[str, float]]:
        e = self.evaluation
        columns: list[dict[str, float]] = [{} for _ in models]
        rngs = [np.random.default_rng([self.seed, iteration]) for _ in models]
        splits = [split for split, _ in parts.values()]
        n_best = max(1, e.top_k, depth(e.metrics))
        measured = models[0].summaries(models, splits, n_best)
        for (role, (split, sampled)), summaries in zip(parts.items(), measured, strict=True):
            for row, model, rng, summary in zip(columns, models, rngs, summaries, strict=True):
                extras = Extras(
                    metrics=tuple(e.metrics),
                    softmax_twice=e.softmax_twice,
                    top_k=e.top_k,
                    macro_f1=e.macro_f1,
                    clip=e.clip,
                    importance=e.importance,
                    rng=rng,
                    standard_error=sampled,
                    inverse_propensity=self.inverse_propensity,
                )
                values = evaluate(model, split, extras, summary)
                row |= {f"{role}_{name}": value for name, value in values.items()}
        return columns


def _least(*numbers: int) -> int:
    """The least limit, where 0 is none."""
    return min(filter(None, numbers), default=0)


def _sampled(parts: dict[str, Split], most: dict[str, int]) -> Parts:
    """At most so many rows of each part, and whether they are a sample."""
    return {
        role: (originals.sample(most[role]), 0 < most[role] < len(originals))
        for role, originals in parts.items()
    }
