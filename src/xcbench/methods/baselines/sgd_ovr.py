"""scikit-learn's SGD, one class against the rest."""

from __future__ import annotations

import numpy as np

from xcbench.methods.baselines import Baseline
from xcbench.methods.baselines.liblinear import OneVsRest, weights
from xcbench.methods.baselines.options import SGDOptions


def sgd(settings: SGDOptions, rng: np.random.Generator) -> object:
    """Steps on a row at a time, with the library's own schedule."""
    from sklearn.linear_model import SGDClassifier

    return SGDClassifier(
        loss=settings.loss,
        alpha=settings.alpha,
        max_iter=settings.iterations,
        tol=settings.tolerance,
        fit_intercept=settings.bias,
        random_state=int(rng.integers(2**31)),
    )


method = Baseline(
    "sgd_ovr",
    SGDOptions,
    solver=lambda settings, info: OneVsRest(settings, sgd),
    memory=weights,
    needs_features=True,
)
