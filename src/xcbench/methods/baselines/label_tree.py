"""A probabilistic label tree, by napkinXC; the extra ``plt``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import scipy.sparse as sp

from xcbench.core.dataset import Dataset, Rows
from xcbench.methods import baselines
from xcbench.methods.baselines.options import LabelTreeOptions


@dataclass
class LabelTree(baselines.ByLibrary):
    """Logistic regressions in the nodes of a tree over the classes, made by k-means of their means.

    One thread, the library's defaults, its scaling of rows to length 1 among them (without it
    version 0.7.2 does not return). The size is that of its files.
    """

    settings: LabelTreeOptions

    def train(self, dataset: Dataset, model: baselines.Library, rng: np.random.Generator) -> None:
        """Train; predict the most probable class, rank the best ones."""
        from napkinxc.models import PLT

        folder = TemporaryDirectory(prefix="xcbench-plt-")
        tree = PLT(
            folder.name,
            arity=self.settings.arity,
            max_leaves=self.settings.leaves,
            liblinear_c=self.settings.C,
            ensemble=self.settings.trees,
            bias=float(self.settings.bias),
            seed=int(rng.integers(2**31)),
            threads=1,
        )
        if self.settings.labels == "own":  # lists of one label each give another tree
            tree.fit(sp.csr_matrix(dataset.train.X), dataset.train.y.tolist())
        else:
            X, Y = baselines.with_labels(dataset.train, "all", model.n_classes)
            sets = [labels.tolist() for labels in np.split(Y.indices, Y.indptr[1:-1])]
            tree.fit(sp.csr_matrix(X), sets)
        model.size = sum(path.stat().st_size for path in Path(folder.name).rglob("*.*"))

        def predictor(X: Rows, _folder: TemporaryDirectory[str] = folder) -> np.ndarray:
            ranked = tree.predict(sp.csr_matrix(X), top_k=1)
            return np.array([classes[0] if classes else 0 for classes in ranked])

        def ranker(X: Rows, _folder: TemporaryDirectory[str] = folder) -> sp.csr_array:
            best = tree.predict_proba(sp.csr_matrix(X), top_k=baselines.RANKED)
            return baselines.ranked(best, model.n_classes)

        model.predictor, model.ranker = predictor, ranker


label_tree = baselines.method(
    "plt",
    LabelTreeOptions,
    lambda settings, info: LabelTree(settings),
    lacks=baselines.needs("napkinxc", "plt"),
    ranks=baselines.RANKED,
)
