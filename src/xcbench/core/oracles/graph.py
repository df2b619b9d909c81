"""A navigable small-world graph of an existing library, nmslib; the extra ``graph``."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.sparse as sp

from xcbench.core.models.sparse import SparseModel

MISSING = (
    "method.oracle=graph needs nmslib, which is not installed; pip install 'xcbench[graph]', or "
    "choose method.oracle=exact"
)


def installed() -> bool:
    """Whether the library is there."""
    return find_spec("nmslib") is not None


class Graph:
    """The best class that a walk on an SW-graph of the weights finds, by the inner product.

    As in the published code: sparse vectors, the library's default parameters, two neighbours, and
    the second if the first is y. The graph is rebuilt for every batch, because the library cannot
    delete points. The library's random numbers cannot be seeded.

    Parameters
    ----------
    threads : that build the graph and answer. With more than one, the order in which points come is
        chance, and with it the graph.
    """

    by_score = True

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads
        self.cached: Any = None

    def moved(self, model: SparseModel, classes: np.ndarray) -> None:
        """Discard the graph."""
        self.cached = None

    def _graph(self, model: SparseModel) -> Any:
        if self.cached is None:
            import nmslib

            seen = np.flatnonzero(model.seen)
            self.cached = nmslib.init(
                method="sw-graph",
                space="negdotprod_sparse_fast",
                data_type=nmslib.DataType.SPARSE_VECTOR,
            )
            points = sp.csr_matrix(model.V.take(seen), dtype=np.float32)
            self.cached.addDataPointBatch(points, seen.astype(np.int32))
            self.cached.createIndex({"indexThreadQty": self.threads})
        return self.cached

    def rivals(self, model: SparseModel, X: sp.csr_array, y: np.ndarray) -> np.ndarray:
        """The first of two neighbours that is not y."""
        if not model.seen.any():
            return np.full(len(y), -1)
        rows = sp.csr_matrix(X, dtype=np.float32)
        answers = self._graph(model).knnQueryBatch(rows, k=2, num_threads=self.threads)
        return np.array(
            [
                next((int(k) for k in near if k != true), -1)
                for (near, _), true in zip(answers, y, strict=True)
            ]
        )
