"""The catalogue: from a dataset's configuration to a prepared problem.

``conf/dataset/<name>.yaml`` says which reader, files, checksums and protocol; `prepare` finds,
checks, parses once and caches; `load` maps the cached arrays into memory.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock

from xcbench.config import Dataset as Settings
from xcbench.config import Synthetic
from xcbench.datasets import cache, files, protocol, synthetic
from xcbench.datasets.readers import READERS
from xcbench.datasets.value import Dataset, Info, Raw, Rows, square_norms
from xcbench.errors import UserError

__all__ = ["Dataset", "Info", "Missing", "load", "prepare"]

VERSION = 1  # of readers and protocols; a change parses everything again


@dataclass(frozen=True)
class Missing:
    """A dataset whose files are not there."""

    name: str
    digest: str
    reason: str


def prepare(settings: Settings, data_dir: Path, cache_dir: Path) -> Info | Missing:
    """Find, check, parse and cache a dataset; or its twin, where the files are missing.

    Parameters
    ----------
    settings : the dataset's configuration.
    data_dir : where raw files are looked for.
    cache_dir : where prepared datasets are kept.

    Returns
    -------
    Info or Missing
        `Missing` only where ``dataset.missing=skip``.

    Raises
    ------
    UserError
        If a file is damaged or is not the expected one, or files are missing and
        ``dataset.missing=error``.
    """
    paths = {
        role: files.find(data_dir, settings.folders, name) for role, name in settings.files.items()
    }
    absent = [settings.files[role] for role, path in paths.items() if path is None]
    if absent:
        where = data_dir / (settings.folders or ["."])[0]
        reason = (
            f"{settings.name}: {', '.join(absent)} not found in {where} (plain, .xz, .gz or .bz2)"
        )
        if settings.missing == "error":
            raise UserError(f"{reason}; put the files there, or set data_dir or XCBENCH_DATA")
        if settings.missing == "skip":
            return Missing(settings.name, "missing", f"not run: data ({reason})")
        return _twin(settings, cache_dir)
    return _real(settings, {role: path for role, path in paths.items() if path}, cache_dir)


def load(info: Info, cache_dir: Path) -> Dataset:
    """Load a prepared dataset."""
    return cache.load(cache_dir / info.digest, info)


def _real(settings: Settings, paths: dict[str, Path], cache_dir: Path) -> Info:
    if settings.reader == "synthetic":
        assert settings.synthetic is not None
        return _synthetic(settings, settings.synthetic, settings.name, False, cache_dir)
    if settings.reader not in READERS:
        raise UserError(
            f"dataset.reader={settings.reader} is unknown; readers: {', '.join(READERS)}, synthetic"
        )
    content = {}
    for role, path in paths.items():
        content[role] = files.content_digest(path, cache_dir / "files.json")
        accepted = settings.sha256.get(role)
        if accepted and content[role] not in accepted:
            raise UserError(
                f"{path} is not the expected file: the SHA-256 of its content is {content[role]}, "
                f"accepted is {' or '.join(accepted)}; get the file again"
            )
    source = {
        "reader": settings.reader,
        "content": content,
        "expected": asdict(settings.expected),
        "protocol": asdict(settings.protocol),
    }

    def read() -> tuple[Raw, Raw]:
        train, test = READERS[settings.reader](paths, settings)
        _check_shape(settings, train, test)
        return train, test

    return _prepared(settings, source, settings.name, False, cache_dir, read)


def _twin(settings: Settings, cache_dir: Path) -> Info:
    if settings.synthetic is None:
        raise UserError(f"dataset '{settings.name}' has neither files nor a synthetic twin")
    return _synthetic(settings, settings.synthetic, f"{settings.name}-twin", True, cache_dir)


def _synthetic(settings: Settings, spec: Synthetic, name: str, twin: bool, cache_dir: Path) -> Info:
    # Word counts need no division by a pixel's range; rows are normalised as the protocol says.
    settings = replace(
        settings, protocol=replace(settings.protocol, divide_by=1.0, classes="train")
    )
    source = {
        "synthetic": asdict(spec),
        "version": synthetic.VERSION,
        "protocol": asdict(settings.protocol),
    }
    return _prepared(settings, source, name, twin, cache_dir, lambda: synthetic.make(spec))


def _prepared(
    settings: Settings,
    source: dict[str, Any],
    name: str,
    twin: bool,
    cache_dir: Path,
    read: Callable[[], tuple[Raw, Raw]],
) -> Info:
    """Cached dataset of this content, made by ``read`` and the protocol if it is not there yet."""
    text = json.dumps({**source, "name": name, "code": VERSION}, sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    where = cache_dir / digest
    cache_dir.mkdir(parents=True, exist_ok=True)
    with FileLock(cache_dir / f"{digest}.lock"):
        known = cache.info(where)
        if known is None:
            train, test, n_classes = protocol.apply(*read(), settings.protocol)
            norms = square_norms(train.X)
            known = Info(
                name=name,
                digest=digest,
                twin=twin,
                train=len(train),
                test=len(test),
                features=train.X.shape[1],
                classes=n_classes,
                sparse=not isinstance(train.X, np.ndarray),
                nonzeros_per_row=_nonzeros(train.X) / max(1, len(train)),
                mean_square_norm=float(norms.mean()) if len(train) else 0.0,
            )
            cache.save(where, known, train, test)
    return known


def _nonzeros(X: Rows) -> int:
    return int(np.count_nonzero(X)) if isinstance(X, np.ndarray) else int(X.nnz)


def _check_shape(settings: Settings, train: Raw, test: Raw) -> None:
    found = {
        "train": train.X.shape[0],
        "test": test.X.shape[0],
        "features": train.X.shape[1],
        "labels": train.n_labels,
    }
    if test.X.shape[1] != train.X.shape[1] or test.n_labels != train.n_labels:
        raise UserError(f"{settings.name}: training and test file disagree on features or labels")
    for name, number in asdict(settings.expected).items():
        if number and found[name] != number:
            raise UserError(
                f"{settings.name}: {found[name]} {name} found, {number} expected; "
                f"this is another version of the data"
            )
