"""scikit-learn's classifiers, one class against the rest: logistic regression, and SGD."""

from __future__ import annotations

from typing import Any

import numpy as np

from xcbench.methods import baselines
from xcbench.methods.baselines.liblinear import OneVsRest, weights
from xcbench.methods.baselines.options import LogisticOptions, SGDOptions


def logistic(settings: LogisticOptions, rng: np.random.Generator) -> Any:
    """LIBLINEAR's solver 0, the l2-regularised logistic regression by Newton's method."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(
        C=settings.C,
        tol=settings.tolerance,
        max_iter=settings.iterations,
        fit_intercept=settings.bias,
        solver="liblinear",
    )


def sgd(settings: SGDOptions, rng: np.random.Generator) -> Any:
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


logistic_ovr = baselines.method(
    "logistic_ovr",
    LogisticOptions,
    lambda settings, info: OneVsRest(settings, logistic),
    memory=weights,
    needs_features=True,
)
sgd_ovr = baselines.method(
    "sgd_ovr",
    SGDOptions,
    lambda settings, info: OneVsRest(settings, sgd),
    memory=weights,
    needs_features=True,
)
