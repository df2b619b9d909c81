"""Good files of every format, and the settings of a dataset of them."""

from __future__ import annotations

import io
import struct
from dataclasses import dataclass

import numpy as np

from toy_files import TEST, TRAIN


def idx_bytes(array: np.ndarray) -> bytes:
    head = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return head + array.tobytes()


def npz_bytes(**named: object) -> bytes:
    content = io.BytesIO()
    np.savez_compressed(content, **named)  # type: ignore[arg-type]
    return content.getvalue()


@dataclass(frozen=True)
class Format:
    """A file format: the settings of a dataset of it, and good files."""

    words: tuple[str, ...]
    files: dict[str, bytes]


CHECKED = {
    "eurlex": (),
    "bibtex": ("train", "test"),
    "mnist": ("train", "train_labels", "test", "test_labels"),
    "20news": ("train_labels", "test_labels"),
    "citeulike": ("train", "train_labels"),
    "omniglot": ("train",),
}  # files whose content the catalogue knows


def catalogue(dataset: str, names: dict[str, str], **expected: int) -> tuple[str, ...]:
    """A dataset of the catalogue with other files, checked by nothing but ``expected``."""
    sizes = {"train": 0, "test": 0, "features": 0, "labels": 0, **expected}
    return (
        f"dataset={dataset}",
        "dataset.name=toy",
        f"dataset.files={{{', '.join(f'{role}: {name}' for role, name in names.items())}}}",
        *(f"dataset.sha256.{role}=[]" for role in CHECKED.get(dataset, ())),
        f"dataset.expected={{{', '.join(f'{name}: {size}' for name, size in sizes.items())}}}",
        "dataset.folders=[]",
        "dataset.missing=error",
    )


SVMLIGHT = b"2 1:3 3:4 # remark\n-1,2 2:-2\n\n# remark\n2 1:0.5\n"
ARFF = (
    b"@relation t\n@attribute a {0,1}\n@attribute b {0,1}\n"
    b"@attribute c {0,1}\n@attribute d {0,1}\n@data\n"
)
ARFF_ROWS = b"{0 1,2 1}\n{1 1,3 1}\n"
IMAGES = idx_bytes(np.arange(12, dtype=np.uint8).reshape(3, 2, 2))
DIGITS = idx_bytes(np.array([0, 1, 2], np.uint8))
DRAWINGS = {
    "X": np.arange(24, dtype=np.uint8).reshape(6, 2, 2),
    "y": np.array([0, 0, 1, 1, 2, 2], np.int16),
    "drawer": np.array([1, 17, 16, 20, 2, 18], np.uint8),
}
FORMATS = {
    "repository": Format(
        catalogue("eurlex", {"train": "a.txt", "test": "b.txt"}),
        {"a.txt": TRAIN, "b.txt": TEST},
    ),
    "svmlight": Format(
        ("dataset=file", "dataset.train={data}/a.txt", "dataset.test={data}/b.txt"),
        {"a.txt": SVMLIGHT, "b.txt": b"-1 4:1\n2 1:2\n"},
    ),
    "ARFF": Format(
        catalogue("bibtex", {"train": "a.arff", "test": "b.arff"}, features=2),
        {"a.arff": ARFF + ARFF_ROWS, "b.arff": ARFF + ARFF_ROWS},
    ),
    "idx": Format(
        catalogue(
            "mnist",
            {"train": "X", "train_labels": "y", "test": "X2", "test_labels": "y2"},
            labels=3,
        ),
        {"X": IMAGES, "y": DIGITS, "X2": IMAGES, "y2": DIGITS},
    ),
    "bydate": Format(
        catalogue(
            "20news",
            {"train": "X", "train_labels": "y", "test": "X2", "test_labels": "y2"},
            features=4,
            labels=2,
        ),
        {"X": b"1 1 1\n", "y": b"1\n2\n", "X2": b"1 1 1\n", "y2": b"1\n2\n"},
    ),
    "citeulike": Format(
        catalogue("citeulike", {"train": "words", "train_labels": "tags"}, features=4),
        {"words": b"1 0:1\n1 1:1\n1 2:1\n1 3:1\n", "tags": b"2 0 1\n2 2 3\n"},
    ),
    "omniglot": Format(
        catalogue("omniglot", {"train": "all.npz"}, labels=3),
        {"all.npz": npz_bytes(**DRAWINGS)},
    ),
}
SPLIT = ("dataset.protocol.split=given",)
