"""scikit-learn's logistic regression by LIBLINEAR, one class against the rest."""

from __future__ import annotations

import numpy as np

from xcbench.methods.baselines import Baseline
from xcbench.methods.baselines.liblinear import OneVsRest, weights
from xcbench.methods.baselines.options import LogisticOptions


def logistic(settings: LogisticOptions, rng: np.random.Generator) -> object:
    """LIBLINEAR's solver 0, the l2-regularised logistic regression by Newton's method."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(
        C=settings.C,
        tol=settings.tolerance,
        max_iter=settings.iterations,
        fit_intercept=settings.bias,
        solver="liblinear",
    )


method = Baseline(
    "logistic_ovr",
    LogisticOptions,
    solver=lambda settings, info: OneVsRest(settings, logistic),
    memory=weights,
    needs_features=True,
)
