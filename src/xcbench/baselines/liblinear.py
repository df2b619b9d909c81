"""Linear SVMs of LIBLINEAR, through scikit-learn: one-vs-rest, and Crammer and Singer's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from xcbench import baselines, config
from xcbench.datasets import Dataset, Info
from xcbench.linear import LinearModel
from xcbench.method import itemsize
from xcbench.solvers import Progress, Streams


class MarginScores(LinearModel):
    """`LinearModel` whose scores are no log-odds: there is no log loss."""

    probabilistic = False

    @classmethod
    def made(
        cls, engine: str, n_classes: int, n_features: int, bias: bool, dtype: str
    ) -> MarginScores:
        """Weights 0; those of classes that are not trained stay so."""
        return cls(n_classes, n_features, bias, dtype)


def svm(settings: config.Liblinear, rng: np.random.Generator, multi_class: str) -> Any:
    """LIBLINEAR's solver 1 (l2-regularised squared hinge, dual) or 4 (Crammer and Singer)."""
    from sklearn.svm import LinearSVC

    return LinearSVC(
        C=settings.C,
        tol=settings.tolerance,
        max_iter=settings.iterations,
        fit_intercept=settings.bias,
        multi_class=multi_class,
        dual=True,
        random_state=int(rng.integers(2**31)),
    )


@dataclass
class OneVsRest:
    """An SVM a class against all others, class after class, so that it can be interrupted.

    Iterations are classes; an epoch is all of them.
    """

    settings: config.Liblinear
    precision: str | None = None
    interruptible: bool = True
    is_bound: bool = False
    epochs = 1.0
    compiles = False
    model = MarginScores.made

    def fit(
        self, dataset: Dataset, model: LinearModel, streams: Streams, stops: list[float]
    ) -> Iterator[Progress]:
        """Train the classes that have rows, most frequent first."""
        X, y = dataset.train.X, dataset.train.y
        counts = np.bincount(y, minlength=model.n_classes)
        classes = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
        done = 0
        yield Progress(0, 0, 0.0)
        for stop in stops:
            while done < round(stop * len(classes)):
                k = classes[done]
                if len(classes) > 1:
                    found = svm(self.settings, streams.classes, "ovr").fit(X, y == k)
                    model.V[k] = found.coef_[0]
                    if model.b is not None:
                        model.b[k] = found.intercept_[0]
                done += 1
            share = done / len(classes)
            yield Progress(done, round(share * len(y)), share, 0.0)


@dataclass
class CrammerSinger(baselines.Once):
    """The multi-class SVM of Crammer and Singer."""

    settings: config.Liblinear
    model = MarginScores.made

    def train(self, dataset: Dataset, model: LinearModel, rng: np.random.Generator) -> None:
        """One call of the library; of two classes scikit-learn gives w_1 - w_0 alone."""
        X, y = dataset.train.X, dataset.train.y
        classes = np.unique(y)
        if len(classes) == 1:
            return
        found = svm(self.settings, rng, "crammer_singer").fit(X, y)
        signs = np.array([[-0.5], [0.5]]) if len(found.coef_) == 1 else 1.0
        model.V[classes] = signs * found.coef_
        if model.b is not None:
            model.b[classes] = np.ravel(signs * found.intercept_[:, None])


def weights(settings: config.Config, info: Info) -> float:
    """Bytes of the library's weights, and ours."""
    return (8 + itemsize(settings)) * info.classes * (info.features + 1.0)


def with_dual(settings: config.Config, info: Info) -> float:
    """Bytes with Crammer and Singer's dual variables: a number and a place a row and class."""
    return weights(settings, info) + 12.0 * info.train * info.classes


one_vs_rest = baselines.method(
    "svm_ovr", config.OneVsRest, lambda settings, info: OneVsRest(settings), memory=weights
)
crammer_singer = baselines.method(
    "svm_cs", config.Liblinear, lambda settings, info: CrammerSinger(settings), memory=with_dual
)
