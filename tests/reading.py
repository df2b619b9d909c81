"""Files of a dataset, written and read by its reader."""

from __future__ import annotations

import bz2
import functools
import gzip
import lzma
import warnings
from pathlib import Path

import numpy as np

from xcbench.core.dataset import Raw
from xcbench.data.readers import READERS
from xcbench.data.settings import DatasetSettings, Expected

COMPRESS = {
    "": bytes,
    ".xz": functools.partial(lzma.compress, preset=0),
    ".gz": functools.partial(gzip.compress, mtime=0),
    ".bz2": functools.partial(bz2.compress, compresslevel=1),
}


def read(folder: Path, reader: str, *, suffix="", features=0, labels=0, **content: bytes):
    """Write the files of a dataset and read them; a warning counts as a failure."""
    paths = {role: folder / f"{role}.file{suffix}" for role in content}
    for role, path in paths.items():
        path.write_bytes(content[role])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return READERS[reader](
            paths,
            DatasetSettings(name="toy", reader=reader, expected=Expected(0, 0, features, labels)),
        )


def dense(raw: Raw) -> np.ndarray:
    return raw.X if isinstance(raw.X, np.ndarray) else raw.X.toarray()


def label_lists(raw: Raw) -> list[list[int]]:
    return [part.tolist() for part in np.split(raw.labels, raw.label_start[1:-1])]
