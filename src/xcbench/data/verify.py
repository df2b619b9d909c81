"""Verify files by their SHA-256 if it is known, else by their shape."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from xcbench.core.dataset import Raw
from xcbench.data import external
from xcbench.data.readers import READERS
from xcbench.data.settings import DatasetSettings
from xcbench.errors import UserError


def check_digest(settings: DatasetSettings, role: str, path: Path, digest: str) -> None:
    """Refuse a file whose hash is not among the accepted ones, if any are known.

    Raises
    ------
    UserError
        With both digests.
    """
    accepted = settings.sha256.get(role)
    if accepted and digest not in accepted:
        raise UserError(
            f"{path} is not the expected file: the SHA-256 of its content is {digest}, "
            f"accepted is {' or '.join(accepted)}; get the file again"
        )


def read(settings: DatasetSettings, paths: dict[str, Path]) -> tuple[Raw, Raw]:
    """Read training and test rows, and check their shape.

    Raises
    ------
    UserError
        If a file is damaged or has another version of the data.
    """
    outside = external.external(settings)
    if outside:
        train, test = external.read(outside, paths, settings)
    else:
        train, test = READERS[settings.reader](paths, settings)
    _check_shape(settings, paths, train, test)
    return train, test


def _check_shape(settings: DatasetSettings, paths: dict[str, Path], train: Raw, test: Raw) -> None:
    source = ", ".join(str(path) for path in paths.values()) or settings.reader
    shape = {
        "train": train.X.shape[0],
        "test": test.X.shape[0],
        "features": train.X.shape[1],
        "labels": train.n_labels,
    }
    if test.X.shape[1] != train.X.shape[1] or test.n_labels != train.n_labels:
        raise UserError(
            f"{settings.name}: training rows have {train.X.shape[1]} features and "
            f"{train.n_labels} labels, test rows {test.X.shape[1]} and {test.n_labels} ({source}); "
            "get files that belong together"
        )
    for name, number in asdict(settings.expected).items():
        if number and shape[name] != number:
            raise UserError(
                f"{settings.name}: dataset.expected.{name} is {number}, but {shape[name]} found; "
                f"this is another version of the data ({source})"
            )
