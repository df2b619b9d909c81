"""Partitioned label trees (Parabel, Bonsai), by omikuji; the extra ``omikuji``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import scipy.sparse as sp

from xcbench.core.dataset import Dataset, Rows
from xcbench.core.models.sparse import sparse_rows
from xcbench.methods import baselines
from xcbench.methods.baselines.options import OmikujiOptions
from xcbench.methods.options import MethodOptions


@dataclass
class Partitioned(baselines.ByLibrary):
    """Linear classifiers in the nodes of label trees, clustered by k-means of label means.

    One thread. The library scales rows to length 1 and adds a constant feature 1. Its initial means
    cannot be seeded. It reads training rows from a file.
    """

    settings: OmikujiOptions

    def train(self, dataset: Dataset, model: baselines.Library, rng: np.random.Generator) -> None:
        """Train; rank the best classes."""
        from omikuji import Model

        s = self.settings
        hyper = Model.default_hyper_param()
        hyper.linear_c, hyper.linear_weight_threshold, hyper.n_trees = s.C, s.threshold, s.trees
        hyper.cluster_k, hyper.cluster_balanced = s.arity, s.balanced
        hyper.min_branch_size, hyper.max_depth = s.leaves, s.depth
        hyper.collapse_every_n_layers = s.collapse
        X, Y = baselines.with_labels(dataset.train, s.labels, model.n_classes)
        with TemporaryDirectory(prefix="xcbench-omikuji-") as folder, silent():
            path = Path(folder, "train.txt")
            write(path, X, Y)
            trees = Model.train_on_data(str(path), hyper, 1)
            trees.save(str(Path(folder, "model")))
            model.size = sum(part.stat().st_size for part in Path(folder, "model").iterdir())

        def ranker(X: Rows, most: int = baselines.RANKED) -> sp.csr_array:
            beam = max(s.beam, -(-most // s.leaves))
            best = [trees.predict(row, beam_size=beam, top_k=most) for row in pairs(X)]
            return baselines.ranked(best, model.n_classes)

        def predictor(X: Rows) -> np.ndarray:
            best = ranker(X, 1)
            first = np.zeros(best.shape[0], np.int64)
            first[np.diff(best.indptr) > 0] = best.indices
            return first

        model.predictor, model.ranker = predictor, ranker


def pairs(X: Rows) -> Iterator[list[tuple[int, float]]]:
    """Features of every row with their values."""
    rows = sparse_rows(X, slice(None), np.dtype(np.float32))
    for a, b in pairwise(rows.indptr):
        yield list(zip(rows.indices[a:b].tolist(), rows.data[a:b].tolist(), strict=True))


def write(path: Path, X: Rows, Y: sp.csr_array) -> None:
    """Write rows in the format of the Extreme Classification Repository.

    The library takes no row without features: such a row has a zero.
    """
    with path.open("w") as file:
        file.write(f"{X.shape[0]} {X.shape[1]} {Y.shape[1]}\n")
        for (a, b), row in zip(pairwise(Y.indptr), pairs(X), strict=True):
            features = " ".join(f"{feature}:{value:.9g}" for feature, value in row or [(0, 0.0)])
            file.write(f"{','.join(map(str, Y.indices[a:b]))} {features}\n")


@contextmanager
def silent() -> Iterator[None]:
    """Context that hides the standard error of compiled code."""
    kept, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nothing, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nothing)


def impossible(settings: MethodOptions) -> str:
    """Refuse models without biases, which the library does not have."""
    return "" if settings.bias else "method.bias=false is not possible for omikuji"


method = baselines.Baseline(
    "omikuji",
    OmikujiOptions,
    solver=lambda settings, info: Partitioned(settings),
    impossible=impossible,
    lacks=baselines.needs("omikuji", "omikuji"),
    needs_features=True,
    seeded=False,
    ranks=baselines.RANKED,
)
