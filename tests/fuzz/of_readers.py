"""Readers of data files, of rows to predict, and of archives."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from functools import partial

import numpy as np
import scipy.sparse as sp

import reading
from fuzz.edits import CUT, FOLDER, Target, written
from good_files import ARFF, ARFF_ROWS, DIGITS, DRAWINGS, IMAGES, SVMLIGHT, TEST, TRAIN, npz_bytes
from xcbench.core.dataset import Raw
from xcbench.data import dense_text, labelled_rows, new_rows, unpack
from xcbench.data.inputs import Inputs

SPARSE = TRAIN, TEST
DENSE = b"2 3\n1 2.5 -3\n0 0 1e3\n", b"2 2\n0:1\n1:1\n"
COUNTS = b"1 1 1\n2 2 3\n", b"1\n2\n"
CITEULIKE = b"1 0:1\n1 1:1\n1 2:1\n1 3:1\n", b"2 0 1\n2 2 3\n"
TRIPLES = b"2\n0 1 0\n1 2 1\n", b"1\n2 0 0\n"


def read(reader: str, roles: tuple[str, ...], content: bytes, **sizes: int) -> None:
    """Read a dataset's files; what is missing at the end is empty."""
    parts = [*content.split(CUT), *[b""] * len(roles)]
    for raw in reading.read(FOLDER, reader, **sizes, **dict(zip(roles, parts, strict=False))):
        assert_sound(raw)


def assert_sound(raw: Raw) -> None:
    """What every later step takes for granted."""
    data = raw.X if isinstance(raw.X, np.ndarray) else raw.X.data
    assert data.dtype == np.float32 and np.isfinite(data).all()
    assert raw.label_start[0] == 0 and raw.label_start[-1] == len(raw.labels)
    assert len(raw.label_start) == raw.X.shape[0] + 1 and (np.diff(raw.label_start) >= 0).all()
    if len(raw.labels):
        assert raw.labels.min() >= 0 and raw.labels.max() < raw.n_labels
    if sp.issparse(raw.X):
        raw.X.check_format(full_check=True)
        ordered = raw.X.copy()  # a derived problem takes its features in another order
        ordered.sort_indices()
        assert ordered.has_canonical_format


def rows_to_predict(content: bytes) -> None:
    """A first byte that says the format, then the file."""
    first = -1 if content[:1] < b"\x80" else 1
    inputs = Inputs(first, 12, np.ones(12), np.ones((12, 0)), np.arange(3))
    X = new_rows.read(written("rows", content[1:]), inputs)
    assert X.shape[1] == 12 and np.isfinite(X.data).all()


def archive(content: bytes) -> None:
    unpack.unpack(written("archive", content), {"a.txt": FOLDER / "out"})


def compressed(content: bytes) -> None:
    labelled_rows.read([written("rows.gz", content)])


def zipped() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as bundle:
        bundle.writestr("x/a.txt", "1 1:1\n")
    return out.getvalue()


def tarred() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as bundle:
        entry = tarfile.TarInfo("x/a.txt")
        entry.size = 6
        bundle.addfile(entry, io.BytesIO(b"1 1:1\n"))
    return out.getvalue()


def of_reader(reader: str, good: tuple[bytes, ...], roles: str, **sizes: int) -> Target:
    take = partial(read, reader, tuple(roles.split()), **sizes)
    return Target(lambda content: take(content), (CUT.join(good),))


FOUR = "train train_labels test test_labels"
IMAGED = (IMAGES, DIGITS, IMAGES, DIGITS)


FOUR = "train train_labels test test_labels"
IMAGED = (IMAGES, DIGITS, IMAGES, DIGITS)


def targets() -> dict[str, Target]:
    """One for each format."""
    return {
        "repository": of_reader("repository", SPARSE, "train test"),
        "svmlight": of_reader("svmlight", (SVMLIGHT, b"-1 4:1\n2 1:2\n"), "train test"),
        "own": of_reader("own", (SVMLIGHT, b"-1 4:1\n2 1:2\n"), "train test"),
        "arff": of_reader("mulan_arff", (ARFF + ARFF_ROWS,) * 2, "train test", features=2),
        "idx": of_reader("idx", IMAGED, FOUR, labels=3),
        "dense_text": of_reader("dense_text", DENSE * 2, FOUR, features=3, labels=2),
        "bydate": of_reader("bydate", COUNTS * 2, FOUR, features=4, labels=2),
        "words": of_reader("words", COUNTS * 2, FOUR, features=4, labels=2),
        "triples": of_reader("triples", TRIPLES, "train test"),
        "citeulike": of_reader("citeulike", CITEULIKE, "train train_labels", features=4),
        "omniglot": of_reader("omniglot", (npz_bytes(**DRAWINGS),), "train", labels=3),
        "labelled_rows": Target(
            lambda content: assert_sound(*labelled_rows.read([written("rows", content)])),
            (b"sport,news 3:0.5 7:1\n", TRAIN),
        ),
        "dense_rows": Target(
            lambda content: dense_text.rows(written("rows", content)), (b"2 2\n1 2\n3 4\n",)
        ),
        "rows_to_predict": Target(rows_to_predict, (b"\0" + TRAIN, b"\xff1 1:1\n")),
        "archive": Target(archive, (zipped(), tarred())),
        "compressed": Target(compressed, (gzip.compress(b"1 1:1\n"),)),
    }
