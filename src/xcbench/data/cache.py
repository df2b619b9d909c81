"""Prepared datasets on disk: plain arrays that are mapped into memory, not parsed again."""

from __future__ import annotations

import zlib
from dataclasses import asdict
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from xcbench.core.dataset import Dataset, Info, LabelSets, Split
from xcbench.errors import UserError
from xcbench.options import Content
from xcbench.system import arrays, durable, sealed

INFO, CODE = "info.json", "code"
ROLES = ("train", "test")
SPARSE = ("data", "indices", "indptr")  # of rows
SETS = ("sets_start", "sets_classes", "sets_weight")  # of labels
ERRORS = (OSError, ValueError, LookupError, TypeError, AttributeError)  # of a damaged cache


def save(where: Path, info: Info, train: Split, test: Split, code: dict[str, object]) -> None:
    """Write the arrays atomically, with a stamp of their code; they replace an earlier version.

    The caller holds the lock of this dataset, so leftovers next to it are from interrupted saves.
    """
    where.parent.mkdir(parents=True, exist_ok=True)
    durable.tidy([where])
    with durable.new_folder(where) as scratch:
        content: Content = {"info": asdict(info), "checksums": {}, CODE: code}
        for role, split in zip(ROLES, (train, test), strict=True):
            for name, array in _parts(split).items():
                path = scratch / f"{role}.{name}.npy"
                np.save(path, array)
                content["checksums"][path.name] = _checksum(path)
        (scratch / INFO).write_text(sealed.dumps(content))


def _parts(split: Split) -> dict[str, np.ndarray]:
    """Arrays of a split by name."""
    parts: dict[str, np.ndarray] = {"y": split.y.astype(np.int64)}
    X = split.X
    if isinstance(X, np.ndarray):
        parts["X"] = X
    else:
        kind = np.int32 if max(X.nnz, *X.shape) < 2**31 else np.int64
        rows = (X.data, X.indices.astype(kind), X.indptr.astype(kind))
        parts |= dict(zip(SPARSE, rows, strict=True))
    sets = vars(split.sets) if split.sets is not None else {}
    return parts | {f"sets_{name}": array for name, array in sets.items()}


def info(where: Path) -> Info | None:
    """Statistics of a cached dataset, or None if it is missing or damaged."""
    try:
        return read(where)
    except ERRORS:
        return None


def read(where: Path) -> Info:
    """Statistics of a cached dataset, after a check of its checksums and of all its arrays.

    Raises
    ------
    OSError, ValueError, LookupError, TypeError, AttributeError
        If it is missing or damaged.
    """
    content = sealed.loads((where / INFO).read_bytes())
    info = sealed.record(Info, content["info"])
    if info.digest != where.name:
        raise ValueError(f"these are the files of {info.digest}")
    if CODE not in content:
        raise ValueError("the code that prepared it is not known")
    for name, checksum in content["checksums"].items():
        if _checksum(where / name) != checksum:
            raise ValueError(f"{name} is not what was written")
    for role in ROLES:
        _check(_arrays(where, role, info), role, info)
    return info


def code(where: Path) -> Content:
    """Stamp of the code that prepared a dataset which `info` has read."""
    stamp: Content = sealed.loads((where / INFO).read_bytes())[CODE]
    return stamp


def renew(where: Path, code: dict[str, object]) -> None:
    """Replace the stamp of the code: today's prepares the same rows."""
    content = sealed.loads((where / INFO).read_bytes())
    durable.write(where / INFO, sealed.dumps({**content, CODE: code}))


def _checksum(path: Path) -> int:
    checksum = 0
    with path.open("rb") as handle:
        while block := handle.read(1 << 20):
            checksum = zlib.crc32(block, checksum)
    return checksum


def load(where: Path, info: Info) -> Dataset:
    """Map a cached dataset into memory.

    Raises
    ------
    UserError
        If the cache was removed or damaged since `info` looked at it.
    """
    try:
        train, test = (_split(_arrays(where, role, info), role, info) for role in ROLES)
        return Dataset(info, train, test, np.bincount(train.y, minlength=info.classes))
    except (OSError, ValueError, EOFError) as error:
        raise UserError(
            f"the prepared dataset {where} cannot be read ({error}); run again to rebuild it"
        ) from None


def _arrays(where: Path, role: str, info: Info) -> dict[str, np.ndarray]:
    """Arrays of a split by name, mapped into memory."""
    names = ["y", *(SPARSE if info.sparse else ("X",)), *(SETS if info.multi_label else ())]
    return {name: np.load(where / f"{role}.{name}.npy", mmap_mode="r") for name in names}


def _split(parts: dict[str, np.ndarray], role: str, info: Info) -> Split:
    y = np.array(parts["y"])
    sets = LabelSets(*(parts[name] for name in SETS)) if info.multi_label else None
    if not info.sparse:
        return Split(parts["X"], y, sets)
    data, indices, indptr = (parts[name] for name in SPARSE)
    return Split(
        sp.csr_array((data, indices, indptr), shape=(vars(info)[role], info.features)), y, sets
    )


def _check(parts: dict[str, np.ndarray], role: str, info: Info) -> None:
    """Check that compiled loops can index by these arrays."""
    rows: int = vars(info)[role]
    sizes = np.array([info.classes, info.features])  # of objects where one is beyond 64 bits
    arrays.integers("sizes", sizes, (2,), 1, np.iinfo(np.int64).max)
    arrays.integers("y", parts["y"], (rows,), 0, info.classes)
    if info.sparse:
        arrays.sparse(SPARSE, parts, (rows, info.features), "float32")
    else:
        arrays.real("X", parts["X"], (rows, info.features), "float32")
    if info.multi_label:
        start, classes, weight = (parts[name] for name in SETS)
        arrays.integers("sets_classes", classes, (None,), 0, info.classes)
        arrays.starts("sets_start", start, rows, len(classes))
        arrays.real("sets_weight", weight, (rows,))
