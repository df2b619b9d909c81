"""Prepared datasets on disk: plain arrays that are mapped into memory, not parsed again."""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import asdict
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from xcbench.datasets.value import Dataset, Info, Split


def save(where: Path, info: Info, train: Split, test: Split) -> None:
    """Write the arrays into a temporary sibling, then rename it into its place."""
    where.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{where.name}-", dir=where.parent))
    sizes = {}
    for role, split in (("train", train), ("test", test)):
        arrays: dict[str, np.ndarray] = {"y": split.y.astype(np.int64)}
        if isinstance(split.X, np.ndarray):
            arrays["X"] = split.X
        else:
            arrays |= {"data": split.X.data, "indices": split.X.indices, "indptr": split.X.indptr}
        for name, array in arrays.items():
            path = scratch / f"{role}.{name}.npy"
            np.save(path, array)
            sizes[path.name] = path.stat().st_size
    content = {"info": asdict(info), "sizes": sizes}
    (scratch / "info.json").write_text(json.dumps(content, indent=1))
    scratch.chmod(0o755)
    shutil.rmtree(where, ignore_errors=True)
    scratch.rename(where)


def info(where: Path) -> Info | None:
    """What is known of a cached dataset, or None where it is missing or damaged."""
    try:
        content = json.loads((where / "info.json").read_text())
        for name, size in content["sizes"].items():
            if (where / name).stat().st_size != size:
                return None
        return Info(**content["info"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def load(where: Path, known: Info) -> Dataset:
    """Map a cached dataset into memory."""
    splits = {}
    for role in ("train", "test"):
        rows = known.train if role == "train" else known.test
        shape = (rows, known.features)
        y = np.load(where / f"{role}.y.npy")
        if known.sparse:
            parts = tuple(
                np.load(where / f"{role}.{part}.npy", mmap_mode="r")
                for part in ("data", "indices", "indptr")
            )
            splits[role] = Split(sp.csr_array(parts, shape=shape), y)
        else:
            splits[role] = Split(np.load(where / f"{role}.X.npy", mmap_mode="r"), y)
    counts = np.bincount(splits["train"].y, minlength=known.classes)
    return Dataset(known, splits["train"], splits["test"], counts)
