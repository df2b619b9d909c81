"""All classes of sparse rows, a panel of transposed weights at a time."""

from __future__ import annotations

from collections.abc import Sequence
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

PANEL_BYTES = 1 << 21  # transposed weights held at a time in a pass over all classes
PANEL_CLASSES = (64, 512)
LINE = 16  # float32 numbers of a cache line
ROWS_OF_THREAD = 256  # below which another thread takes longer to wake than its rows


def summaries(models: Sequence[LinearModel], split: Split) -> list[Summary]:
    """What `summarise` gives of models of one shape; a sparse row is read once for all."""
    first, n_models = models[0], len(models)
    rows = RowView.of(first.layout(split.X), slice(None))
    weights = (
        _stacked([model.V for model in models]),
        _stacked([np.empty(0, first.dtype) if model.b is None else model.b for model in models]),
    )
    scale = np.array([model.scale for model in models], first.dtype)
    n_classes, n_features = first.V.shape
    most = int(np.clip(PANEL_BYTES // (4 * n_features), *PANEL_CLASSES))
    n_panels = -(-n_classes // most)
    size = min(_whole_lines(-(-n_classes // n_panels)), n_classes)
    room = _aligned(n_features * _whole_lines(n_models * size), first.dtype)
    so_far = running(split, n_models)
    for begin in range(0, n_classes, size):
        classes = begin, min(begin + size, n_classes)
        width = _whole_lines(n_models * (classes[1] - begin))
        by_feature = room[: n_features * width].reshape(-1, width)
        panel = kernels.Panel(by_feature, np.empty(width, first.dtype), scale, classes)
        kernels.fill_panel(weights, panel)
        threads.each(partial(_absorb, panel, rows, so_far), shares(len(split), ROWS_OF_THREAD))
    return [summary(so_far, r) for r in range(n_models)]


def _absorb(panel: kernels.Panel, rows: RowView, running: kernels.Running, part: slice) -> None:
    kernels.absorb_panel(panel, part.start, part.stop, rows.record, running)


def shares(number: int, least: int = 1) -> list[slice]:
    """Consecutive parts of so many things, one for each thread that gets at least a few."""
    most = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    ends = np.linspace(0, number, max(1, min(most, number // least)) + 1).astype(int).tolist()
    return [slice(*pair) for pair in pairwise(ends)]


def _stacked(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """All of them (R, ...); a single one is not copied."""
    return arrays[0][None] if len(arrays) == 1 else np.stack(arrays)


def _whole_lines(numbers: int) -> int:
    return -(-numbers // LINE) * LINE


def running(split: Split, n_models: int) -> kernels.Running:
    """As before the first class."""
    shape = n_models, len(split)
    return kernels.Running(
        np.asarray(split.y),
        np.full(shape, -np.inf, np.float32),
        np.zeros(shape),
        np.zeros(shape, np.int64),
        np.full(shape, np.nan, np.float32),
    )


def summary(running: kernels.Running, r: int) -> Summary:
    """Of model r: -log softmax_y of every row, and the class of the highest score."""
    _, top, total, best, true_score = running
    return np.log(total[r]) + top[r].astype(np.float64) - true_score[r], best[r]


def _aligned(size: int, dtype: np.dtype) -> np.ndarray:
    """Uninitialised array that begins with a cache line."""
    room = np.empty(size * dtype.itemsize + 64, np.uint8)
    first = -room.ctypes.data % 64
    return room[first : first + size * dtype.itemsize].view(dtype)
