"""Measurements of models at a checkpoint."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xcbench.config.settings import Evaluation
from xcbench.core import metrics
from xcbench.core.dataset import Dataset
from xcbench.core.evaluation import Extras
from xcbench.core.models.model import Model
from xcbench.core.statistics import inverse_propensity


class Evaluator:
    """Measures losses, errors and costs on the parts of a dataset."""

    def __init__(self, dataset: Dataset, evaluation: Evaluation, seed: int) -> None:
        parts = {"train": dataset.train, "test": dataset.test}
        if dataset.validation is not None:
            parts["validation"] = dataset.validation
        elif evaluation.validation:
            parts["validation"], parts["test"] = dataset.test.divided(evaluation.validation)
        most = dict.fromkeys(parts, evaluation.rows)
        most["train"] = evaluation.train_rows or evaluation.rows
        self.parts = {
            role: (whole.sample(most[role]), 0 < most[role] < len(whole))
            for role, whole in parts.items()
        }
        self.evaluation, self.seed = evaluation, seed
        self.inverse_propensity: np.ndarray | None = None
        if evaluation.metrics and dataset.info.multi_label:
            whole = dataset.train.whole_rows()
            counts = whole.labels(dataset.info.classes).sum(axis=0)
            a, b = evaluation.propensity_a, evaluation.propensity_b
            self.inverse_propensity = inverse_propensity(counts, len(whole), a, b)

    def measured(self, models: Sequence[Model], iteration: int) -> list[dict[str, float]]:
        """Losses and errors of each model on all parts, and costs on request.

        If models have a correction, columns without it end with ``_uncorrected``.
        """
        columns = self._losses([model.corrected for model in models], iteration)
        if models[0].correction:
            for row, bare in zip(columns, self._losses(models, iteration), strict=True):
                row |= {f"{name}_uncorrected": value for name, value in bare.items()}
        if self.evaluation.costs:
            for row, model in zip(columns, models, strict=True):
                row |= metrics.costs(model.corrected, self.parts["test"][0])
        return columns

    def _losses(self, models: Sequence[Model], iteration: int) -> list[dict[str, float]]:
        e = self.evaluation
        columns: list[dict[str, float]] = [{} for _ in models]
        rngs = [np.random.default_rng([self.seed, iteration]) for _ in models]
        splits = [split for split, _ in self.parts.values()]
        depth = max(1, e.top_k, metrics.depth(e.metrics))
        measured = models[0].summaries(models, splits, depth)
        for (role, (split, sampled)), summaries in zip(self.parts.items(), measured, strict=True):
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
                values = metrics.evaluate(model, split, extras, summary)
                row |= {f"{role}_{name}": value for name, value in values.items()}
        return columns
