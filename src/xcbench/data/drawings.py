"""Omniglot's drawings, as a file of NumPy arrays."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from xcbench.core.dataset import Raw
from xcbench.data.files import largest, open_content
from xcbench.data.settings import DatasetSettings as Settings
from xcbench.errors import UserError, one_line
from xcbench.units import readable

LAST_TRAINING_DRAWER = 16


def omniglot(paths: dict[str, Path], settings: Settings) -> tuple[Raw, Raw]:
    """Images ``X``, their character ``y`` and their ``drawer`` (1 to 20) in an ``.npz`` file.

    Drawers 17 to 20 make the test part.
    """
    path = paths["train"]
    X, y, drawer = (_array(path, name) for name in ("X", "y", "drawer"))
    if X.ndim < 2 or X.size == 0 or not len(X) == len(y) == len(drawer):
        raise UserError(
            f"{path} must hold images X, and y and drawer of each; their shapes are {X.shape}, "
            f"{y.shape} and {drawer.shape}; get the file again"
        )
    n_labels = settings.expected.labels or 1 + max(0, int(y.max()))
    if y.min() < 0 or y.max() >= n_labels:
        wrong = int(np.argmax((y < 0) | (y >= n_labels)))
        raise UserError(
            f"{path}: label {y[wrong]} of image {wrong} is out of range, "
            f"there are {n_labels} labels counted from 0; get the file again"
        )
    flat = sp.csr_array(X.reshape(len(X), -1).astype(np.float32))  # a seventh is ink
    trains = drawer <= LAST_TRAINING_DRAWER
    both = Raw.single(flat, y.astype(np.int64), n_labels)
    return both.take(trains), both.take(~trains)


def _array(path: Path, name: str) -> np.ndarray:
    """One array of whole numbers; nothing of the file is executed."""
    with open_content(path) as handle:
        content = io.BytesIO(handle.read())
    try:
        with zipfile.ZipFile(content) as members:
            size = sum(member.file_size for member in members.infolist())
        if size > largest(path):
            raise ValueError(f"its arrays unpack to {readable(size)}, more than any data file has")
        with np.load(content, allow_pickle=False) as arrays:
            array = np.asarray(arrays[name])  # a member that is no .npy comes as bytes
    except Exception as error:  # a damaged archive fails in many ways, inside NumPy and zipfile
        reason = one_line(error)[:120]
        raise UserError(
            f"{path}: no array {name!r} can be read ({reason!r}); it is damaged or not this file, "
            "get it again"
        ) from None
    if array.dtype.kind not in "iu" or array.ndim == 0 or (name != "X" and array.ndim != 1):
        raise UserError(
            f"{path}: the array {name!r} of {array.dtype} and shape {array.shape} does not hold "
            "the whole numbers it should; get the file again"
        )
    return array
