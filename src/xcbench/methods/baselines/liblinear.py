"""What one-vs-rest classifiers and the linear SVMs of LIBLINEAR share, through scikit-learn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xcbench.core.dataset import Dataset, Info, Rows, distinct_rows
from xcbench.core.models.linear import LinearModel
from xcbench.core.solvers import Progress, Solver, Streams
from xcbench.methods import baselines
from xcbench.methods.baselines.options import LiblinearOptions
from xcbench.methods.options import MethodOptions
from xcbench.options import Options


class MarginScores(LinearModel):
    """`LinearModel` with scores that are not log-odds, and so without a log loss.

    Attributes
    ----------
    trained : whether each class has been trained (K,). Others are never predicted, since their
        score 0 would win whenever all trained ones are negative.
    """

    link = None

    def __init__(
        self, engine: str, n_classes: int, n_features: int, bias: bool, dtype: str
    ) -> None:
        super().__init__(n_classes, n_features, bias, dtype)
        self.trained = np.zeros(n_classes, bool)

    def passes(
        self, X: Rows, parts: Iterable[slice] | None = None
    ) -> Iterator[tuple[slice, np.ndarray]]:
        """Scores, minus infinity for classes that are not trained."""
        for block, scores in super().passes(X, parts):
            scores[:, ~self.trained] = -np.inf
            yield block, scores

    def state(self) -> dict[str, np.ndarray]:
        """Weights, and which classes are trained."""
        return {**self.weights(), "trained": self.trained}

    def copies(self) -> dict[str, np.ndarray]:
        """Of both."""
        return {**super().copies(), "trained": self.trained.copy()}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Take over both."""
        super().restore(state)
        self.trained = state["trained"]

    def put(
        self, classes: Sequence[int] | np.ndarray | slice, fit: Any, signs: np.ndarray | float = 1.0
    ) -> None:
        """Take the weights of classes over from the library."""
        self.V[classes] = signs * fit.coef_
        if self.b is not None:
            self.b[classes] = np.ravel(signs * fit.intercept_[:, None])
        self.trained[classes] = True


def svm(settings: LiblinearOptions, rng: np.random.Generator, multi_class: str = "ovr") -> Any:
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
class OneVsRest(Solver):
    """One binary classifier for each class, trained one after the other, so it can be interrupted.

    Iterations are classes; an epoch is all of them. Equal rows with the same target become one row
    weighted by their number, an equivalent problem. If an article has a row for each of its tags, a
    class then takes a tenth of the time.

    Attributes
    ----------
    settings : with ``labels``: whose classes a row trains.
    classifier : of two classes, by scikit-learn's rules, for these settings.
    """

    settings: Options
    classifier: Callable[[Options, np.random.Generator], Any]
    epochs = 1.0
    compiles = False
    min_epochs = float("inf")
    make_model = MarginScores

    def fit(
        self, dataset: Dataset, model: MarginScores, streams: Streams, stops: Iterable[float]
    ) -> Iterator[Progress]:
        """Train the classes that have rows, most frequent first."""
        originals, Y = baselines.with_labels(dataset.train, self.settings.labels, model.n_classes)
        members = Y.tocsc()
        X, place = distinct_rows(originals)
        X, rows = X.astype(np.float64), np.bincount(place)  # LIBLINEAR's precision
        counts = np.diff(members.indptr)
        classes = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
        done = 0
        yield Progress(0, 0, 0.0)
        for stop in stops:
            while done < round(stop * len(classes)):
                k = classes[done]
                if len(classes) > 1:
                    positives = members.indices[members.indptr[k] : members.indptr[k + 1]]
                    positive = np.bincount(place[positives], minlength=len(rows))
                    inside, outside = np.flatnonzero(positive), np.flatnonzero(rows - positive)
                    index = np.concatenate([inside, outside])
                    weight = np.concatenate([positive[inside], (rows - positive)[outside]])
                    target = np.arange(len(index)) < len(inside)
                    one = self.classifier(self.settings, streams.classes)
                    model.put([k], one.fit(X[index], target, sample_weight=weight))
                done += 1
            share = done / len(classes)
            left = f"{done:,} of {len(classes):,} classes" if done < len(classes) else None
            yield Progress(done, round(share * len(dataset.train)), share, 0.0, message=left)


def weights(settings: MethodOptions, info: Info, itemsize: int, epochs: float) -> float:
    """Bytes of the library's weights, and ours."""
    return (8 + itemsize) * info.classes * (info.features + 1.0)
