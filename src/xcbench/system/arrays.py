"""Arrays from files: read within the size of the file, and checked before anything indexes by them.

Compiled loops and SciPy's products look at no bounds. So models, prepared datasets and saved
weights pass these checks when they are read; what does not fit is a `ValueError`.
"""

from __future__ import annotations

import math
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import numpy as np
from numpy.lib import format as npy

Shape = Sequence[int | None]  # None: any length
BLOCK = 1 << 20  # bytes that are read at a time


def load(path: Path) -> dict[str, np.ndarray]:
    """Arrays of an ``.npz`` file that `numpy.savez` wrote.

    Raises
    ------
    OSError, ValueError
        If it cannot be read, its members are compressed, or they claim another size than they have.
    """
    try:
        with zipfile.ZipFile(path) as bundle:
            members = bundle.infolist()
            if sum(member.file_size for member in members) > path.stat().st_size:
                raise ValueError("its arrays are larger than the file")
            if len({member.filename for member in members}) < len(members):
                raise ValueError("it has two arrays of one name")
            arrays = {}
            for member in members:
                with bundle.open(member) as handle:
                    name = member.filename.removesuffix(".npy")
                    arrays[name] = _array(name, handle, member.file_size)
            return arrays
    except (OSError, ValueError, MemoryError):
        raise
    except Exception as error:  # there are many ways to damage an archive
        raise ValueError(str(error) or type(error).__name__) from None


def _array(name: str, handle: IO[bytes], size: int) -> np.ndarray:
    """An array whose header says the size that it has."""
    version = npy.read_magic(handle)
    header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}.get(version)
    if header is None:
        raise ValueError(f"{name} has a header of an unknown version")
    shape, by_columns, dtype = header(handle)
    bytes_of = math.prod(shape) * dtype.itemsize
    if dtype.hasobject or not dtype.itemsize or bytes_of != size - handle.tell():
        raise ValueError(f"{name} does not hold the numbers that its header says")
    content = np.empty(bytes_of, np.uint8)
    for first in range(0, bytes_of, BLOCK):
        block = handle.read(BLOCK)  # whose checksum the last one completes
        content[first : first + BLOCK] = np.frombuffer(block, np.uint8)
    return content.view(dtype).reshape(shape, order="F" if by_columns else "C")


def real(name: str, array: np.ndarray, shape: Shape, dtype: str = "") -> np.ndarray:
    """An array of finite real numbers, of a type if one is given."""
    _check_shape(name, array, shape, "f")
    if dtype and array.dtype != dtype:
        raise ValueError(f"{name} is of type {array.dtype}, not {dtype}")
    with np.errstate(all="ignore"):  # a sum needs no memory; where it overflows, each number tells
        finite = np.isfinite(array.sum()) or np.isfinite(array).all()
    if not finite:
        raise ValueError(f"{name} has numbers that are not finite")
    return array


def integers(name: str, array: np.ndarray, shape: Shape, low: int, high: int) -> np.ndarray:
    """An array of whole numbers from ``low`` to ``high - 1``."""
    _check_shape(name, array, shape, "iu")
    if array.size and not low <= int(array.min()) <= int(array.max()) < high:
        raise ValueError(f"{name} has numbers outside of {low} to {high - 1}")
    return array


def starts(name: str, array: np.ndarray, count: int, end: int) -> np.ndarray:
    """Where each of ``count`` rows begins among ``end`` numbers, with the end of the last one."""
    integers(name, array, (count + 1,), 0, end + 1)
    if array[0] != 0 or array[-1] != end or (array[1:] < array[:-1]).any():
        raise ValueError(f"{name} does not rise from 0 to {end}")
    return array


def sparse(
    names: tuple[str, str, str], arrays: dict[str, np.ndarray], shape: tuple[int, int], dtype: str
) -> None:
    """Values, columns and starts of a sparse array by rows."""
    values, columns, start = (arrays[name] for name in names)
    real(names[0], values, (None,), dtype)
    integers(names[1], columns, values.shape, 0, shape[1])
    starts(names[2], start, shape[0], len(values))


def state(arrays: dict[str, np.ndarray], classes: int, features: int, dtype: str) -> None:
    """All arrays of a trained model of K classes and D features, whatever its kind.

    Weights W and b, or sparse ones by rows; machines of clusters and of their classes, or buckets
    of hashed classes; which classes are trained; and what a sampler's correction needs: a
    distribution function, or a projection, the nodes of a tree and its leaves.
    """
    K, D = classes, features
    if "cluster" in arrays:
        _check_machines(arrays, K, D, dtype)
        return
    if "bucket" in arrays:
        _check_hashed(arrays, K, D, dtype)
        return
    weights: dict[str, Shape] = {"W": (K, D), "b": (K,), "values": (None,)}
    coordinates = arrays["A"].shape[-1] if "A" in arrays else None
    correction: dict[str, Shape] = {"cumulative": (K + 1,), "A": (D, None), "c": (coordinates,)}
    correction["nodes"] = (None, None if coordinates is None else coordinates + 1)
    for name, array in arrays.items():
        if name in weights:
            real(name, array, weights[name], dtype)
        elif name in correction:
            real(name, array, correction[name])
        elif name == "trained":
            _check_shape(name, array, (K,), "b")
        elif name == "leaf":
            size = len(arrays["nodes"])
            distinct(name, integers(name, array, (K,), size, 2 * size), K)
            if size & (size - 1):
                raise ValueError(f"nodes has {size} rows, which is no power of 2")
        elif name not in ("features", "start"):
            real(name, array, array.shape)
    if "values" in arrays:
        sparse(("values", "features", "start"), arrays, (K, D), dtype)
    if "cumulative" in arrays and (np.diff(arrays["cumulative"]) < 0).any():
        raise ValueError("cumulative falls")


def _check_machines(arrays: dict[str, np.ndarray], K: int, D: int, dtype: str) -> None:
    """Arrays of `xcbench.core.models.clustered.ClusteredModel`."""
    cluster = arrays["cluster"]
    clusters = len(arrays["matcher_indptr"]) - 1
    integers("cluster", cluster, (None, K), 0, clusters)
    for name, rows in (("matcher", clusters), ("classes", cluster.size)):
        parts = f"{name}_data", f"{name}_indices", f"{name}_indptr"
        sparse(parts, arrays, (rows, D + 1), dtype)


def _check_hashed(arrays: dict[str, np.ndarray], K: int, D: int, dtype: str) -> None:
    """Arrays of `xcbench.core.models.hashed.HashedModel`."""
    bucket, W = arrays["bucket"], arrays["hashed_W"]
    real("hashed_W", W, (None, D), dtype)
    buckets = len(W) // max(len(bucket), 1)
    integers("bucket", bucket, (None, K), 0, buckets)
    if buckets * len(bucket) != len(W):
        raise ValueError(f"hashed_W has {len(W)} rows for {len(bucket)} repetitions")
    if "hashed_b" in arrays:
        real("hashed_b", arrays["hashed_b"], (len(W),), dtype)


def distinct(name: str, labels: np.ndarray, count: int, ascending: bool = False) -> np.ndarray:
    """Labels of classes: numbers or text, none of them twice."""
    _check_shape(name, labels, (count,), "biufU")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError(f"{name} has numbers that are not finite")
    ordered = labels if ascending else np.sort(labels)
    if not (ordered[1:] > ordered[:-1]).all():
        wrong = (
            "are not in ascending order, or one is there twice" if ascending else "has one twice"
        )
        raise ValueError(f"{name} {wrong}")
    return labels


def _check_shape(name: str, array: np.ndarray, shape: Shape, kinds: str) -> None:
    if array.dtype.kind not in kinds:
        raise ValueError(f"{name} is of type {array.dtype}")
    fits = len(shape) == array.ndim and all(
        expected in (None, length) for expected, length in zip(shape, array.shape, strict=True)
    )
    if not fits:
        sizes = " x ".join("any" if size is None else str(size) for size in shape) or "one number"
        raise ValueError(f"{name} is of shape {array.shape}, not {sizes}")
