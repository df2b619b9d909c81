"""Datasets: raw rows with label lists, and the problem that a protocol makes of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from xcbench.errors import UserError
from xcbench.options import Content

Rows = np.ndarray | sp.csr_array


@dataclass(frozen=True)
class Raw:
    """Rows as read from a file.

    Attributes
    ----------
    X : (N, D) features, sparse or dense.
    label_start, labels : row i has the labels ``labels[label_start[i]:label_start[i + 1]]``,
        in file order.
    n_labels : number of labels declared by the file.
    label_names : names of the labels in the file, ascending; 0, 1, 2, … if missing.
    first_feature : number of the first feature in svmlight files, None in other formats.
    """

    X: Rows
    label_start: np.ndarray
    labels: np.ndarray
    n_labels: int
    label_names: np.ndarray | None = None
    first_feature: int | None = None

    @classmethod
    def single(cls, X: Rows, y: np.ndarray, n_labels: int) -> Raw:
        """Rows with exactly one label each."""
        return cls(X, np.arange(len(y) + 1), np.asarray(y), n_labels)

    def __len__(self) -> int:
        return self.X.shape[0]

    @property
    def label_counts(self) -> np.ndarray:
        """Number of labels of every row."""
        return np.diff(self.label_start)

    def take(self, keep: np.ndarray) -> Raw:
        """The rows of a boolean mask."""
        if keep.all():
            return self
        labels = self.labels[np.repeat(keep, self.label_counts)]
        start = np.concatenate([[0], np.cumsum(self.label_counts[keep])])
        return replace(self, X=self.X[keep], label_start=start, labels=labels)

    def keep_labels(self, keep: np.ndarray) -> Raw:
        """All rows, with only the labels of a boolean mask."""
        start = np.concatenate([[0], np.cumsum(keep)])[self.label_start]
        return replace(self, label_start=start, labels=self.labels[keep])


@dataclass(frozen=True)
class LabelSets:
    """All classes of each row of multi-label data, whichever of them is y.

    Attributes
    ----------
    start, classes : row i has ``classes[start[i]:start[i + 1]]``.
    weight : (N,) 1, or 1 over the number of rows that ``label=each`` made of the original row. Its
        mean is the highest possible accuracy.
    """

    start: np.ndarray
    classes: np.ndarray
    weight: np.ndarray

    def contain(self, predicted: np.ndarray) -> np.ndarray:
        """Whether the given class of every row (N,) is among the row's classes."""
        row = np.repeat(np.arange(len(predicted)), np.diff(self.start))
        return np.bincount(row[self.classes == predicted[row]], minlength=len(predicted)) > 0

    def take(self, rows: np.ndarray) -> LabelSets:
        """Label sets of some rows."""
        count = np.diff(self.start)[rows]
        start = np.concatenate([[0], np.cumsum(count)])
        place = np.arange(start[-1]) + np.repeat(self.start[rows] - start[:-1], count)
        return LabelSets(start, self.classes[place], self.weight[rows])


@dataclass(frozen=True)
class Split:
    """Rows of a problem: X (N, D) float32, y (N,) class of each row.

    ``sets`` has all classes of each row, if the data have several labels a row. ``weight`` (N,) is
    the number of times each row counts, None for once; only full-batch solvers use it.
    """

    X: Rows
    y: np.ndarray
    sets: LabelSets | None = None
    weight: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.y)

    def first(self, size: int) -> Split:
        """The first rows, without their label sets."""
        return Split(self.X[:size], self.y[:size])

    def sample(self, size: int) -> Split:
        """Rows drawn without replacement by a fixed seed, in their order; all for size 0."""
        if not 0 < size < len(self):
            return self
        return self.take(np.sort(np.random.default_rng(0).choice(len(self), size, replace=False)))

    def take(self, rows: np.ndarray) -> Split:
        """Rows of these numbers, with their label sets."""
        return Split(self.X[rows], self.y[rows], self.sets.take(rows) if self.sets else None)

    def original_rows(self) -> Split:
        """The original rows, before ``label=each`` made one row for each label; all of weight 1."""
        if self.sets is None or (self.sets.weight == 1).all():
            return self
        rows = self.take(np.flatnonzero(self.y == self.sets.classes[self.sets.start[:-1]]))
        assert rows.sets
        return replace(rows, sets=replace(rows.sets, weight=np.ones(len(rows))))

    def labels(self, n_classes: int) -> sp.csr_array:
        """Indicators (N, K) of all classes of every row."""
        start, classes = np.arange(len(self) + 1), self.y
        if self.sets is not None:
            start, classes = self.sets.start, self.sets.classes
        return sp.csr_array((np.ones(len(classes)), classes, start), (len(self), n_classes))

    @property
    def originals(self) -> np.ndarray:
        """Number (N,) of each row's original, before ``label=each`` made one row for each label."""
        if self.sets is None or (self.sets.weight == 1).all():
            return np.arange(len(self))
        return np.cumsum(self.y == self.sets.classes[self.sets.start[:-1]]) - 1

    def divided(self, share: float, seed: int = 0, seen: bool = False) -> tuple[Split, Split]:
        """Split off a random share of the rows, at least one (but with ``seen``), never all.

        Both parts keep their order. Rows that ``label=each`` made of one original row stay
        together.

        Parameters
        ----------
        seen : keep a class's rows in the second part if it would have none there otherwise.
        """
        row = self.originals
        number = int(row[-1]) + 1
        place = np.random.default_rng(seed).permutation(number)[row]
        drawn = place < min(share * number, number - 1)
        if seen:
            drawn &= ~np.isin(row, row[~np.isin(self.y, self.y[~drawn])])
        return self.take(np.flatnonzero(drawn)), self.take(np.flatnonzero(~drawn))


@dataclass(frozen=True)
class Info:
    """Statistics of a prepared dataset, available without loading it.

    Attributes
    ----------
    name : name in reports; ends with ``-twin`` for a synthetic stand-in.
    digest : hash of the raw content and the protocol.
    nonzeros_per_row, mean_square_norm : means over the training rows.
    heavy_square_norm : mean |x|² of the training rows, each weighted by its |x|².
    largest_moment : largest eigenvalue of the mean of x x^T over training rows.
    largest_class : share of the training rows in the most frequent class.
    prior_log_loss : log loss of the test rows under the training frequencies; None without test
        rows.
    majority_error : share of the test rows outside the most frequent class of the training rows.
    test_dropped : test rows dropped because their label has no training row.
    multi_label : whether the splits have label sets.
    accuracy_ceiling : highest possible test accuracy; below 1 if ``label=each`` makes rows that
        differ only in their label.
    """

    name: str
    digest: str
    twin: bool
    train: int
    test: int
    features: int
    classes: int
    sparse: bool
    nonzeros_per_row: float
    mean_square_norm: float
    heavy_square_norm: float
    largest_moment: float
    largest_class: float
    prior_log_loss: float | None
    majority_error: float | None
    test_dropped: int = 0
    multi_label: bool = False
    accuracy_ceiling: float = 1.0

    def shape(self) -> Content:
        """Sizes for a report."""
        cost: dict[str, object] = {"test_dropped": self.test_dropped} if self.test_dropped else {}
        if self.prior_log_loss is not None and self.majority_error is not None:
            cost["prior_log_loss"] = round(self.prior_log_loss, 6)
            cost["majority_error"] = round(self.majority_error, 6)
        if self.accuracy_ceiling < 1:
            cost["accuracy_ceiling"] = round(self.accuracy_ceiling, 6)
        return {
            "train": self.train,
            "test": self.test,
            "features": self.features,
            "classes": self.classes,
            "nonzeros_per_row": round(self.nonzeros_per_row, 2),
            "twin": self.twin,
            **cost,
        }


@dataclass(frozen=True)
class Dataset:
    """A problem: training and test rows over the classes 0..K-1.

    ``validation`` are rows held out of the training rows, if any.
    """

    info: Info
    train: Split
    test: Split
    class_counts: np.ndarray
    validation: Split | None = None

    def first(self, share: float) -> Dataset:
        """The problem with only the first floor(share · N) training rows, at least one."""
        if share == 1:
            return self
        train = self.train.first(max(1, int(share * len(self.train) + 1e-9)))
        counts = np.bincount(train.y, minlength=len(self.class_counts))
        info = replace(self.info, train=len(train))
        return replace(self, info=info, train=train, class_counts=counts)

    def held_out(self, share: float, seed: int, seen: bool = False) -> Dataset:
        """The problem with a share of the training rows held out (see `Split.divided`).

        Raises
        ------
        UserError
            If no row may be held out.
        """
        validation, train = self.train.divided(share, seed, seen)
        if not len(validation):
            raise UserError(
                f"evaluation.validation={share:g} sets no training row of {self.info.name} aside: "
                "no other row would train its class; set evaluation.validation_from=test"
            )
        counts = np.bincount(train.y, minlength=len(self.class_counts))
        info = replace(self.info, train=len(train))
        return replace(self, info=info, train=train, class_counts=counts, validation=validation)


def distinct_rows(X: Rows) -> tuple[Rows, np.ndarray]:
    """Distinct rows in their order, and the place (N,) of each row among them.

    ``label=each`` makes one row for each label of an original, all with its features.
    """
    if isinstance(X, np.ndarray):
        rows = (row.tobytes() for row in X)
    else:
        ends = pairwise(X.indptr)
        rows = (X.indices[a:b].tobytes() + X.data[a:b].tobytes() for a, b in ends)
    places: dict[bytes, int] = {}  # by a digest, which takes less memory than the row
    place = np.array([places.setdefault(sha256(row).digest(), len(places)) for row in rows])
    if len(places) < len(place):
        X = X[np.unique(place, return_index=True)[1]]
    return X, place


def square_norms(X: Rows) -> np.ndarray:
    """Squared Euclidean norm of every row, in float64."""
    if isinstance(X, np.ndarray):
        return np.einsum("ij,ij->i", X, X, dtype=np.float64)
    squares = sp.csr_array((np.asarray(X.data, np.float64) ** 2, X.indices, X.indptr), X.shape)
    return np.asarray(squares.sum(axis=1)).ravel()
