"""All classes of sparse rows, a panel of transposed weights at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise

import numba
import numpy as np

from xcbench.core import kernels
from xcbench.core.dataset import Split
from xcbench.core.models.linear import LinearModel
from xcbench.core.models.model import Summary
from xcbench.core.models.row_view import RowView
from xcbench.system import threads

WIDTH = kernels.FLOATS * kernels.REGISTERS  # of a panel: classes of one model, or of several
NARROW = WIDTH // 2  # of a panel of many classes: more of its features fit a cache
LINE = 64  # bytes of a cache that come together
ROWS_OF_THREAD = 256  # below which another thread takes longer to wake than its rows,
FEATURES_OF_THREAD = 1 << 14  # or than its features


def summaries(
    models: Sequence[LinearModel], splits: Sequence[Split], depth: int
) -> list[list[Summary]]:
    """What `summarise` gives of models of one shape, for every split.

    Models of few classes share a panel, so that a row is read once for all. The classes of a panel
    do not depend on the number of models, and neither does any bit of a result.
    """
    rows = [RowView.of(models[0].layout(split.X), slice(None)).record for split in splits]
    so_far = [running(split, len(models), depth) for split in splits]
    n_features, sizes = models[0].V.shape[1], [len(split) for split in splits]
    features = shares(n_features, n_features // FEATURES_OF_THREAD)
    parts = [shares(size, sum(sizes) // ROWS_OF_THREAD) for size in sizes]
    by_thread = list(zip(*parts, strict=True))
    for some, weights, panel in _panels(models):
        of_some = [kernels.Running(it.y, *(array[some] for array in it[1:])) for it in so_far]
        threads.each(partial(_fill, panel, weights), features)
        threads.each(partial(_absorb, panel, rows, of_some), by_thread)
    return [[summary(it, r) for r in range(len(models))] for it in so_far]


def _fill(panel: kernels.Panel, weights: kernels.Weights, features: slice) -> None:
    kernels.fill_panel(weights, panel, features.start, features.stop)


def _absorb(
    panel: kernels.Panel,
    rows: Sequence[kernels.Rows],
    so_far: Sequence[kernels.Running],
    parts: Sequence[slice],
) -> None:
    for record, statistics, part in zip(rows, so_far, parts, strict=True):
        kernels.absorb_panel(panel, part.start, part.stop, record, statistics)


def _panels(
    models: Sequence[LinearModel],
) -> Iterator[tuple[slice, kernels.Weights, kernels.Panel]]:
    """Panels to fill in the same place, and the models whose weights fill them."""
    n_classes, n_features = models[0].V.shape
    widest = WIDTH if n_classes < WIDTH else NARROW
    dtype, together = models[0].dtype, max(1, widest // n_classes)
    room = aligned(n_features * widest, dtype)
    for r in range(0, len(models), together):
        some = slice(r, r + together)
        biases = [np.empty(0, dtype) if model.b is None else model.b for model in models[some]]
        weights = kernels.Weights(_stacked([model.V for model in models[some]]), _stacked(biases))
        scale = np.array([model.scale for model in models[some]], dtype)
        for begin in range(0, n_classes, widest):
            classes = begin, min(begin + widest, n_classes)
            used = len(scale) * (classes[1] - begin)
            width = -(-used // kernels.FLOATS) * kernels.FLOATS
            by_feature = room[: n_features * width].reshape(-1, width)
            yield some, weights, kernels.Panel(by_feature, np.zeros(width, dtype), scale, classes)


def shares(number: int, most: int) -> list[slice]:
    """Consecutive parts of so many things, one for each of at most so many threads."""
    there = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    ends = np.linspace(0, number, max(1, min(there, most)) + 1).astype(int).tolist()
    return [slice(*pair) for pair in pairwise(ends)]


def _stacked(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """All of them (R, ...); a single one is not copied."""
    return arrays[0][None] if len(arrays) == 1 else np.stack(arrays)


def running(split: Split, n_models: int, depth: int) -> kernels.Running:
    """As before the first class."""
    shape = n_models, len(split)
    return kernels.Running(
        np.asarray(split.y),
        np.full((*shape, depth), -np.inf, np.float32),
        np.zeros((*shape, depth), np.int64),
        np.zeros(shape),
        np.full(shape, np.nan, np.float32),
    )


def summary(running: kernels.Running, r: int) -> Summary:
    """Of model r: -log softmax_y of every row, and the classes of the highest scores."""
    _, highest, best, total, true_score = running
    losses = np.log(total[r]) + highest[r, :, 0].astype(np.float64) - true_score[r]
    return losses, best[r]


def aligned(size: int, dtype: np.dtype) -> np.ndarray:
    """Uninitialised array that begins with a line of the cache."""
    room = np.empty(size * dtype.itemsize + LINE, np.uint8)
    first = -room.ctypes.data % LINE
    return room[first : first + size * dtype.itemsize].view(dtype)
