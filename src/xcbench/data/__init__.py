"""Datasets: from a configuration to a prepared problem.

``conf/dataset/<name>.yaml`` names the reader, files, checksums and protocol. `prepare` finds,
checks, parses and caches the files; `load` maps the cached arrays into memory.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from xcbench import plugins
from xcbench.core import statistics
from xcbench.core.dataset import Dataset, Info, Raw
from xcbench.data import cache, external, files, inputs, protocol, verify
from xcbench.data.code import MAKERS, Stamp, maker_of, modules, reading
from xcbench.data.external import External
from xcbench.data.readers import READERS, ROLES
from xcbench.data.settings import DatasetSettings as Settings
from xcbench.errors import UserError
from xcbench.options import Content, changed, check_name
from xcbench.system import durable, locks, sealed, sources, yaml_files

__all__ = [
    "Dataset",
    "External",
    "Info",
    "Missing",
    "Raw",
    "Unprepared",
    "load",
    "look_up",
    "maker_of",
    "prepare",
]

FORM = 2  # of the content of a digest


@dataclass(frozen=True)
class Missing:
    """Returned instead of a prepared dataset: why a point cannot run.

    Attributes
    ----------
    kind : ``data``: files are missing; ``no package``: the method needs a missing package;
        ``refused``: settings are invalid or files damaged.
    detail : the sentence that says so.
    """

    name: str
    digest: str
    kind: str
    detail: str

    @property
    def reason(self) -> str:
        """Message of the cell."""
        return f"not run: {self.kind} ({self.detail})"

    @property
    def lacking(self) -> str:
        """What is missing, in two words."""
        return "no data" if self.kind == "data" else self.kind


@dataclass(frozen=True)
class Unprepared:
    """In the place of a dataset that is not in the cache yet: what its files and settings tell."""

    name: str
    digest: str
    twin: bool


@dataclass(frozen=True)
class _Source:
    """What a dataset is prepared from, once its files are found and checked."""

    settings: Settings
    name: str
    twin: bool
    content: Content
    read: Callable[[], tuple[Raw, Raw]]

    @property
    def digest(self) -> str:
        text = json.dumps({**self.content, "name": self.name, "code": FORM}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def prepare(
    settings: Settings,
    data_dir: Path,
    cache_dir: Path,
    fetching: bool = False,
    with_inputs: bool = False,
) -> Info | Missing:
    """Find, check, parse and cache a dataset, or its twin if the files are missing.

    Parameters
    ----------
    settings : the dataset's configuration.
    data_dir : folder of the raw files.
    cache_dir : folder of prepared datasets.
    fetching : whether small missing files may be fetched.
    with_inputs : whether `inputs` are required. Caches of earlier versions lack them; such a
        dataset is prepared again.

    Returns
    -------
    Info or Missing
        `Missing` only where ``dataset.missing=skip``.

    Raises
    ------
    UserError
        If a file is damaged or not the expected one, or files are missing with
        ``dataset.missing=error``. Also if the configuration is contradictory, or the cache cannot
        be written.
    """
    with _explained(settings, cache_dir):
        source = _source(settings, data_dir, cache_dir, fetching)
        if isinstance(source, Missing):
            return source
        info = _prepared(source, cache_dir)
        if with_inputs and inputs.load(cache_dir / info.digest) is None:
            durable.remove(cache_dir / info.digest)
            info = _prepared(source, cache_dir)
        return info


def look_up(
    settings: Settings, data_dir: Path, cache_dir: Path, fetching: bool = False
) -> Info | Unprepared | Missing:
    """As `prepare`, but a dataset that is not in the cache is not prepared."""
    with _explained(settings, cache_dir):
        source = _source(settings, data_dir, cache_dir, fetching)
        if isinstance(source, Missing):
            return source
        return _cached(source, cache_dir) or Unprepared(source.name, source.digest, source.twin)


@contextmanager
def _explained(settings: Settings, cache_dir: Path) -> Iterator[None]:
    """Say in a sentence that there is no room, on the disk or in memory."""
    try:
        yield
    except OSError as error:
        raise UserError(
            f"{settings.name}: the cache {cache_dir} cannot be used ({error}); "
            "make room there, or set runs_dir"
        ) from None
    except MemoryError:
        raise UserError(
            f"{settings.name}: out of memory while its rows are prepared; look for a far too "
            "large number of a feature in its files, or use a machine with more memory"
        ) from None


def _check_settings(settings: Settings) -> None:
    builtin = settings.reader in READERS or settings.reader in MAKERS
    if not builtin and not external.external(settings):
        raise UserError(
            f"dataset.reader={settings.reader} is unknown; "
            f"readers: {', '.join((*READERS, *MAKERS))}"
        )
    if builtin and settings.name in external.catalogue():
        plugins.refuse_clash("dataset", settings.name)
    if settings.reader in MAKERS and vars(settings)[settings.reader] is None:
        raise UserError(
            f"{settings.name}: reader {settings.reader} needs dataset.{settings.reader}"
        )
    if settings.reader == "own":
        _check_files(settings)
    elif settings.train or settings.test or reading(settings):
        raise UserError(
            "dataset.train, dataset.test, dataset.encoding and dataset.features are of files of "
            "your own; add dataset=file"
        )
    _check_name(settings)
    lacking = [role for role in ROLES.get(settings.reader, ()) if role not in settings.files]
    if lacking:
        raise UserError(
            f"{settings.name}: reader {settings.reader} needs dataset.files.{lacking[0]}"
        )


def _check_name(settings: Settings) -> None:
    """A name says which data they are: those of the catalogue have theirs for themselves."""
    check_name("dataset.name", settings.name)
    if settings.name.lower().endswith("-twin"):
        raise UserError(
            f"dataset.name={settings.name} is not possible: '-twin' marks synthetic stand-ins; "
            "choose another dataset.name"
        )
    path = external.catalogue().get(settings.name.lower())
    if path is None or path.stem == "file":
        return
    entry = yaml_files.load(path)
    its = (path.stem, entry.reader, entry.get("files", {}))
    if (settings.name, settings.reader, settings.files) != its:
        raise UserError(
            f"dataset.name={settings.name} is a dataset of the catalogue, and these are other "
            "files; choose another dataset.name"
        )


def _check_files(settings: Settings) -> None:
    if "train" not in settings.files:
        raise UserError("dataset=file needs dataset.train=PATH, and dataset.test=PATH")
    if "test" not in settings.files and settings.protocol.split == "given":
        raise UserError(
            f"{settings.name}: dataset=file needs dataset.test=PATH; "
            "or draw a test part of the training file with dataset.protocol.split=random"
        )
    for role, path in settings.files.items():
        if not os.path.isfile(path):
            raise UserError(f"dataset.{role}: there is no file {path}; correct the path")


def _source(
    settings: Settings, data_dir: Path, cache_dir: Path, fetching: bool
) -> _Source | Missing:
    _check_settings(settings)
    paths = files.find_all(data_dir, settings)
    fetching = fetching and settings.missing != "skip" and bool(settings.source.downloads)
    if fetching and None in paths.values():
        from xcbench.data import fetch  # what it imports takes time

        fetch.attempt(settings, data_dir)
        paths = files.find_all(data_dir, settings)
    absent = [settings.files[role] for role, path in paths.items() if path is None]
    if absent:
        where = " or ".join(str(data_dir / folder) for folder in settings.folders or ["."])
        reason = (
            f"{settings.name}: {', '.join(absent)} not found in {where} (plain, .xz, .gz or .bz2)"
        )
        remedy = "put the files there, or set data_dir or XCBENCH_DATA"
        if settings.source.downloads:
            remedy = f"`xcbench data fetch {settings.name}` gets them; or {remedy}"
        if settings.missing == "error":
            raise UserError(f"{reason}; {remedy}")
        if settings.missing == "skip":
            return Missing(settings.name, "missing", "data", reason)
        if settings.synthetic is None:
            raise UserError(f"{reason}, and it has no synthetic twin; {remedy}")
        return _twin(settings)
    return _real(settings, {role: path for role, path in paths.items() if path}, cache_dir)


def load(info: Info, cache_dir: Path) -> Dataset:
    """Load a prepared dataset."""
    return cache.load(cache_dir / info.digest, info)


def _real(settings: Settings, paths: dict[str, Path], cache_dir: Path) -> _Source:
    if settings.reader == "synthetic":
        # Word counts need no division by a pixel's range, and every class has a training row.
        protocol = replace(settings.protocol, divide_by=1.0, classes="train")
        settings = replace(settings, protocol=protocol)
    if settings.reader in MAKERS:
        return _made(settings, settings.name, False)
    content = {}
    for role, path in paths.items():
        content[role] = files.content_digest(path, cache_dir / "files.json")
        verify.check_digest(settings, role, path, content[role])
    described = {
        "reader": settings.reader,
        **_external(settings),
        "content": content,
        "expected": asdict(settings.expected),
        "protocol": changed(settings.protocol),
    }
    return _Source(settings, settings.name, False, described, lambda: verify.read(settings, paths))


def _external(settings: Settings) -> dict[str, object]:
    """Name and version of a dataset from outside, wherever it was found; or how files are read."""
    if how := reading(settings):
        return how
    plugin = external.external(settings)
    return {"reader": plugin.thing.name, "version": plugin.thing.version} if plugin else {}


def _twin(settings: Settings) -> _Source:
    """Word counts of the size that the real rows have once they are chosen and split."""
    protocol = replace(settings.protocol, divide_by=1.0, classes="train", split="given", min_rows=1)
    return _made(replace(settings, protocol=protocol), f"{settings.name}-twin", True)


def _made(settings: Settings, name: str, twin: bool) -> _Source:
    maker = maker_of(settings, twin)
    assert maker is not None
    kind, spec = maker
    content = {
        kind: asdict(spec),
        "version": MAKERS[kind].VERSION,
        "protocol": changed(settings.protocol),
    }
    return _Source(settings, name, twin, content, lambda: MAKERS[kind].make(spec))


def _prepared(source: _Source, cache_dir: Path) -> Info:
    """Cached dataset of this content, read and brought into its protocol if it is not there yet."""
    name, digest = source.name, source.digest
    where = cache_dir / digest
    if info := _cached(source, cache_dir):  # no lock is needed, which a folder to read cannot have
        return info
    with locks.alone(cache_dir / f"{digest}.lock", f"prepares {name}"):
        info = _cached(source, cache_dir)
        if info is None:
            raw = source.read()
            try:
                train, test, fitted, dropped = protocol.problem(*raw, source.settings.protocol)
            except UserError as error:
                raise UserError(f"{name}: {error}") from None
            info = statistics.describe(
                name, digest, source.twin, train, test, len(fitted.labels), dropped
            )
            stamp = asdict(Stamp.today(source.settings, source.twin))
            cache.save(where, info, train, test, stamp)
            inputs.save(where, replace(fitted, hashed=int(bool(source.settings.features))))
    return info


def _cached(source: _Source, cache_dir: Path) -> Info | None:
    """Dataset in the cache, if today's code prepares the same rows."""
    where = cache_dir / source.digest
    info = cache.info(where)
    if info is None:
        return None
    try:
        stamp = sealed.record(Stamp, cache.code(where))
    except TypeError:
        return None
    with sources.remembered():
        if not stamp.holds(source.settings, source.twin):
            return None
        today = sources.digest(*modules(source.settings.reader, source.twin))
    if today != stamp.digest:
        with suppress(OSError):  # of a folder that can only be read; it is compared again
            cache.renew(where, asdict(replace(stamp, digest=today)))
    return info
