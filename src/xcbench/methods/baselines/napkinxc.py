"""What the methods of napkinXC share; the extra ``plt``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import scipy.sparse as sp

from xcbench.core.dataset import Dataset, Rows
from xcbench.methods import baselines
from xcbench.options import Options


@dataclass
class Napkin(baselines.ByLibrary):
    """Models of napkinXC: a tree over classes, clustered by k-means of their means, or one-vs-rest.

    One thread and the library's defaults, including scaling of rows to length 1; without it version
    0.7.2 does not return. The size is that of its files.

    Attributes
    ----------
    learner : of the library's module, a folder, the settings, and what all learners share.
    labels : whose classes a row trains, ``own`` or ``all``.
    """

    settings: Options
    learner: Callable[..., Any]
    labels: str

    def train(self, dataset: Dataset, model: baselines.Library, rng: np.random.Generator) -> None:
        """Train; predict the most probable class, rank the best ones."""
        from napkinxc import models

        folder = TemporaryDirectory(prefix="xcbench-napkinxc-")
        common = {
            "liblinear_c": self.settings.C,
            "bias": float(self.settings.bias),
            "seed": int(rng.integers(2**31)),
            "threads": 1,
        }
        learner = self.learner(models, folder.name, self.settings, **common)
        baselines.restart_rand()
        if self.labels == "own":  # lists of one label each give another tree
            learner.fit(sp.csr_matrix(dataset.train.X), dataset.train.y.tolist())
        else:
            X, Y = baselines.with_labels(dataset.train, "all", model.n_classes)
            sets = [labels.tolist() for labels in np.split(Y.indices, Y.indptr[1:-1])]
            learner.fit(sp.csr_matrix(X), sets)
        model.size = sum(path.stat().st_size for path in Path(folder.name).rglob("*.*"))

        def predictor(X: Rows, _folder: TemporaryDirectory[str] = folder) -> np.ndarray:
            ranked = learner.predict(sp.csr_matrix(X), top_k=1)
            return np.array([classes[0] if classes else 0 for classes in ranked])

        def ranker(X: Rows, _folder: TemporaryDirectory[str] = folder) -> sp.csr_array:
            most = min(baselines.RANKED, model.n_classes)
            best = learner.predict_proba(sp.csr_matrix(X), top_k=most)
            return baselines.ranked(best, model.n_classes)

        model.predictor, model.ranker = predictor, ranker


lacks = baselines.needs("napkinxc", "plt")
