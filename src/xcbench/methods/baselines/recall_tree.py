"""RecallTree of Vowpal Wabbit: a tree selects a few classes to score; the extra ``vw``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, count, islice

import numpy as np

from xcbench.core.dataset import Dataset, Info, Rows
from xcbench.core.models.sparse import sparse_rows
from xcbench.core.solvers import Progress, Solver, Streams
from xcbench.methods import baselines
from xcbench.methods.baselines.options import RecallTreeOptions

TEXT_BYTES = 20  # of a feature with its value


@dataclass
class RecallTree(Solver):
    """Online training, in a fresh order each pass. The size is that of the weight table.

    Attributes
    ----------
    classes : K, which the library counts from 1.
    """

    settings: RecallTreeOptions
    classes: int
    compiles = False
    make_model = baselines.Library

    @property
    def epochs(self) -> float:
        """Passes over the rows, as the settings say."""
        return float(self.settings.passes)

    def fit(
        self, dataset: Dataset, model: baselines.Library, streams: Streams, stops: Iterable[float]
    ) -> Iterator[Progress]:
        """Learn from a row after the other until the last stop."""
        from vowpalwabbit import Workspace

        yield Progress(0, 0, 0.0)
        s, rng = self.settings, streams.classes
        learner = Workspace(
            f"--recall_tree {self.classes} -b {s.bits} -l {s.rate} "
            f"--loss_function {s.loss} --random_seed {int(rng.integers(2**31))} --quiet "
            + ("" if s.bias else "--noconstant")
        )
        examples, y = list(lines(dataset.train.X)), (dataset.train.y + 1).tolist()
        model.size = 4 * learner.num_weights() * learner.get_stride()
        model.predictor = lambda X: np.array([learner.predict(line) - 1 for line in lines(X)])
        rows = chain.from_iterable(rng.permutation(len(y)) for _ in count())
        visited = 0
        for stop in stops:
            for i in islice(rows, round(stop * len(y)) - visited):
                learner.learn(f"{y[i]} {examples[i]}")
                visited += 1
            yield Progress(visited, visited, visited / len(y), 0.0)


def lines(X: Rows) -> Iterator[str]:
    """Rows in the library's format."""
    rows = sparse_rows(X, slice(None), np.dtype(np.float32))
    for a, b in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        pairs = zip(rows.indices[a:b].tolist(), rows.data[a:b].tolist(), strict=True)
        yield "| " + " ".join(f"{feature}:{value:.7g}" for feature, value in pairs)


def memory(settings: RecallTreeOptions, info: Info, itemsize: int, epochs: float) -> float:
    """Bytes of the library's table, which is hashed into, and of the rows as text."""
    return 16 * 2.0**settings.bits + TEXT_BYTES * info.train * info.nonzeros_per_row


method = baselines.Baseline(
    "recall_tree",
    RecallTreeOptions,
    solver=lambda settings, info: RecallTree(settings, info.classes),
    lacks=baselines.needs("vowpalwabbit", "vw"),
    memory=memory,
    version=2,
    ranks=False,
)
