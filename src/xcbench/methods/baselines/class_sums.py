"""One pass: a class's weights are the sum of its rows, compared by cosine."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from xcbench.core.dataset import Dataset
from xcbench.core.models.sparse import SparseModel, sparse_rows
from xcbench.methods import baselines
from xcbench.methods.baselines.options import UnbiasedOptions
from xcbench.methods.method import sparse_weights
from xcbench.methods.options import MethodOptions


class ClassSums(baselines.Once):
    """A baseline for MEMOIR, whose first class-balanced batches do little else."""

    def make_model(
        self, engine: str, n_classes: int, n_features: int, bias: bool, dtype: str
    ) -> SparseModel:
        """Sparse weights, predicted with by cosine."""
        return SparseModel(engine, n_classes, n_features, dtype, cosine=True)

    def train(self, dataset: Dataset, model: SparseModel, rng: np.random.Generator) -> None:
        """w_k = sum of the rows of class k."""
        y, one = dataset.train.y, np.ones(len(dataset.train), model.dtype)
        members = sp.csr_array((one, (y, np.arange(len(y)))), (model.n_classes, len(y)))
        X = sparse_rows(dataset.train.X, slice(None), model.dtype)
        model.move(np.arange(model.n_classes), members @ X)


def impossible(settings: MethodOptions) -> str:
    """Refuse biases."""
    return "method.bias=true is not possible for class_sums" if settings.bias else ""


method = baselines.Baseline(
    "class_sums",
    UnbiasedOptions,
    solver=lambda settings, info: ClassSums(),
    impossible=impossible,
    memory=lambda settings, info, itemsize, epochs: sparse_weights(info, itemsize, info.train),
)
