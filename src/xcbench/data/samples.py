"""A small fixed problem in the files of every format, on which code shows what it computes.

The files are written as their format asks, and read by its reader. What a maker makes is smaller.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from xcbench.core import statistics
from xcbench.core.dataset import Dataset, Raw, Split
from xcbench.data import protocol
from xcbench.data.readers import READERS
from xcbench.data.settings import DatasetSettings, Expected
from xcbench.errors import UserError
from xcbench.options import Options

TRAIN, TEST, SIDE, LABELS, DRAWERS = 120, 40, 4, 14, 20
FREQUENT = 19  # rows that some labels have in every format
FEATURES = SIDE * SIDE
SIZES = {"train": TRAIN, "test": TEST, "features": FEATURES, "classes": LABELS, "nonzeros": 4}
Make = Callable[[], tuple[Raw, Raw]]
Files = tuple[bytes, ...]


@dataclass(frozen=True)
class Table:
    """Rows of counts (N, D) below 10, and labels of each, the main one first."""

    counts: np.ndarray
    labels: list[list[int]]

    @property
    def main(self) -> np.ndarray:
        """First label of every row."""
        return np.array([labels[0] for labels in self.labels])

    @property
    def images(self) -> np.ndarray:
        """The counts of every row as grey values of a square (N, side, side)."""
        return self.counts.reshape(-1, SIDE, SIDE) * 28

    def entries(self, mark: str = ":") -> list[list[str]]:
        """The features of every row with their counts."""
        return [[f"{j}{mark}{row[j]}" for j in np.flatnonzero(row)] for row in self.counts]


def dataset(settings: DatasetSettings, make: Make | None) -> Dataset:
    """The sample in the protocol of a dataset, as arrays of the types that a cache gives.

    Parameters
    ----------
    settings : reader and protocol.
    make : makes the rows; None where a reader reads them.

    Raises
    ------
    UserError
        If there is no sample of the format, or nothing of it is left by the protocol.
    """
    raw = make() if make else _read(settings)
    kept = replace(settings.protocol, min_rows=min(settings.protocol.min_rows, FREQUENT))
    train, test, inputs, dropped = protocol.problem(*raw, kept)
    classes = len(inputs.labels)
    info = statistics.describe("sample", "sample", False, train, test, classes, dropped)
    counts = np.bincount(train.y, minlength=classes)
    return Dataset(info, _as_cached(train), _as_cached(test), counts)


def numbers(sample: Dataset) -> list[float]:
    """Numbers that change with any feature, class or label set of the prepared rows."""
    arrays: list[np.ndarray] = []
    for split in (sample.train, sample.test):
        X = split.X if isinstance(split.X, np.ndarray) else split.X.toarray()
        arrays += [X, split.y, split.labels(sample.info.classes).toarray()]
        arrays += [split.sets.weight] if split.sets else []
    return [number for array in arrays for number in projections(array)]


def projections(array: np.ndarray) -> Iterator[float]:
    """Numbers that change with any entry of an array, or with the order of its entries."""
    values = np.asarray(array, np.float64).ravel()
    place = np.arange(1, len(values) + 1)
    yield float(len(values))
    yield float(np.abs(values).sum())
    yield float(values @ np.cos(place))
    yield float(values @ np.sin(np.sqrt(2.0) * place))


def smaller(spec: Options) -> Options:
    """Settings of a maker with few rows, features and classes."""
    sizes = {name: min(value, SIZES[name]) for name, value in asdict(spec).items() if name in SIZES}
    return replace(spec, **sizes)


def _read(settings: DatasetSettings) -> tuple[Raw, Raw]:
    """Training and test rows of files in the reader's format."""
    if settings.reader not in FORMATS:
        raise UserError(f"there is no sample of reader {settings.reader}")
    with TemporaryDirectory() as folder:
        paths = {}
        for part, table in tables().items():
            contents = FORMATS[settings.reader](table)
            for role, content in zip((part, f"{part}_labels"), contents, strict=False):
                paths[role] = Path(folder) / role
                paths[role].write_bytes(content)
        expected = Expected(test=TEST, features=FEATURES, labels=LABELS)
        places = settings.features and min(settings.features, FEATURES)
        settings = replace(settings, expected=expected, features=places)
        train, test = READERS[settings.reader](paths, settings)
    return train.take(np.arange(len(train)) < TRAIN), test


def _as_cached(split: Split) -> Split:
    """Read-only arrays with 32-bit indices: code that is compiled for them serves both."""
    X = split.X
    if isinstance(X, np.ndarray):
        X.flags.writeable = False
        return split
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    for array in (X.data, X.indices, X.indptr):
        array.flags.writeable = False
    return split


@cache
def tables() -> dict[str, Table]:
    """Training and test rows: counts that a class raises at features of its own."""
    rng = np.random.default_rng(0)
    raised = rng.random((LABELS, FEATURES)) < 0.25
    parts = {}
    for role, size in (("train", TRAIN), ("test", TEST)):
        main = np.minimum(rng.geometric(0.15, size) - 1, LABELS - 1)
        main[:LABELS] = np.arange(LABELS)
        counts = rng.poisson(0.3 + 1.5 * raised[main]).clip(0, 9)
        counts[-1] = 0
        further = [rng.choice(LABELS, rng.integers(3), replace=False) for _ in main]
        labels = [
            [y, *(int(k) for k in more if k != y)] for y, more in zip(main, further, strict=True)
        ]
        parts[role] = Table(counts, labels)
    return parts


# ---------------------------------------------------------------- a table in the files of a format
def _file(lines: Iterable[str], *head: str) -> bytes:
    return "".join(f"{line}\n" for line in (*head, *lines)).encode()


def _counted(words: list[str]) -> str:
    """Words behind their number."""
    return " ".join([str(len(words)), *words])


def _svmlight(table: Table, *head: str) -> Files:
    rows = zip(table.labels, table.entries(), strict=True)
    return (_file((f"{','.join(map(str, y))} {' '.join(x)}" for y, x in rows), *head),)


def _repository(table: Table) -> Files:
    return _svmlight(table, f"{len(table.labels)} {FEATURES} {LABELS}")


def _arff(table: Table) -> Files:
    attributes = [f"@attribute a{j} numeric" for j in range(FEATURES + LABELS)]
    labels = [[f"{FEATURES + k} 1" for k in sorted(its)] for its in table.labels]
    rows = zip(table.entries(mark=" "), labels, strict=True)
    lines = ("{" + ",".join(x + y) + "}" for x, y in rows)
    return (_file(lines, "@relation sample", *attributes, "@data"),)


def _idx(table: Table) -> Files:
    return _idx_file(table.images), _idx_file(table.main)


def _idx_file(array: np.ndarray) -> bytes:
    head = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return head + array.astype(np.uint8).tobytes()


def _dense_text(table: Table) -> Files:
    size = len(table.counts)
    rows = [" ".join(map(str, row / 8)) for row in table.counts]
    sets = [" ".join(f"{k}:1" for k in sorted(labels)) for labels in table.labels]
    return _file(rows, f"{size} {FEATURES}"), _file(sets, f"{size} {LABELS}")


def _bydate(table: Table) -> Files:
    counts = [f"{i + 1} {j + 1} {table.counts[i, j]}" for i, j in np.argwhere(table.counts)]
    return _file(counts), _file(str(y + 1) for y in table.main)


def _omniglot(table: Table) -> Files:
    content = io.BytesIO()
    drawer = (1 + np.arange(len(table.main)) % DRAWERS).astype(np.uint8)
    images, labels = table.images.astype(np.uint8), table.main.astype(np.int16)
    np.savez(content, X=images, y=labels, drawer=drawer)
    return (content.getvalue(),)


def _citeulike(table: Table) -> Files:
    articles = [
        [str(i) for i, labels in enumerate(table.labels) if label in labels]
        for label in range(LABELS)
    ]
    return _file(map(_counted, table.entries())), _file(map(_counted, articles))


def _triples(table: Table) -> Files:
    lines = [f"{LABELS + i % 20} {y} {i % 3}" for i, y in enumerate(table.main)]
    return (_file(lines, str(len(lines))),)


# Files of a part: the rows, then their labels. A reader without a test part takes the first ones.
FORMATS: dict[str, Callable[[Table], Files]] = {
    "repository": _repository,
    "svmlight": _svmlight,
    "own": _svmlight,
    "mulan_arff": _arff,
    "idx": _idx,
    "dense_text": _dense_text,
    "digits": lambda table: (),  # scikit-learn brings them along
    "bydate": _bydate,
    "words": _bydate,
    "omniglot": _omniglot,
    "citeulike": _citeulike,
    "triples": _triples,
}
