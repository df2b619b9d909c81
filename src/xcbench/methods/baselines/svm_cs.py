"""LIBLINEAR's multi-class SVM of Crammer and Singer, through scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xcbench.core.dataset import Dataset
from xcbench.methods import baselines
from xcbench.methods.baselines.liblinear import MarginScores, svm, weights
from xcbench.methods.baselines.options import LiblinearOptions


@dataclass
class CrammerSinger(baselines.Once):
    """The multi-class SVM of Crammer and Singer."""

    settings: LiblinearOptions
    make_model = MarginScores

    def train(self, dataset: Dataset, model: MarginScores, rng: np.random.Generator) -> None:
        """Train in one call of the library; for two classes scikit-learn gives only w_1 - w_0."""
        X, y = dataset.train.X, dataset.train.y
        classes = np.unique(y)
        if len(classes) == 1:
            return
        fit = svm(self.settings, rng, "crammer_singer").fit(X, y)
        signs = np.array([[-0.5], [0.5]]) if len(fit.coef_) == 1 else 1.0
        model.put(classes, fit, signs)


method = baselines.Baseline(
    "svm_cs",
    LiblinearOptions,
    solver=lambda settings, info: CrammerSinger(settings),
    # With the dual variables: a number and a place a row and class.
    memory=lambda settings, info, *of: (
        weights(settings, info, *of) + 12.0 * info.train * info.classes
    ),
    needs_features=True,
    version=2,
)
