"""Fetch a dataset's files: download, unpack, verify, then move into place.

Until then the files are in a folder `WORK` next to them, from which the next attempt resumes.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from xcbench.data import download, files, unpack, verify
from xcbench.data.settings import DatasetSettings, Download
from xcbench.errors import UserError, one_line, reason
from xcbench.system import locks
from xcbench.units import readable

RUN_LIMIT = 100 * 2**20  # bytes that a run fetches without being asked
WORK = ".fetching"
Result = TypeVar("Result")

_attempted: set[str] = set()
"""What runs of this process tried to fetch: once is enough."""


def attempt(settings: DatasetSettings, data_dir: Path) -> None:
    """Fetch small files for a run; a failure is reported, and the run continues."""
    key = repr((settings.source, settings.folders, settings.files, data_dir))
    if key in _attempted:
        return
    _attempted.add(key)
    try:
        fetch(settings, data_dir, RUN_LIMIT)
    except UserError as error:
        print(one_line(error), flush=True)


def fetch(settings: DatasetSettings, data_dir: Path, limit: int | None = None) -> list[Path]:
    """Fetch the files of a dataset that are missing, into its first folder.

    Parameters
    ----------
    settings : the dataset's configuration.
    data_dir : folder of the raw files.
    limit : refuse to fetch more than this many bytes.

    Returns
    -------
    list of Path
        Fetched files; empty if none was missing.

    Raises
    ------
    UserError
        If a file is not available, is not the expected one, or cannot be written.
    """
    folder = destination(settings, data_dir)
    try:
        absent = _absent(settings, data_dir)
        if not absent:
            return []
        sources = _survey(_needed(settings, absent), limit, settings.name)
        with locks.alone(folder / f"{WORK}.lock", f"fetches {settings.name}"):
            absent = _absent(settings, data_dir)  # another process may have fetched them
            return _fetch(settings, data_dir, sources, absent) if absent else []
    except UserError as error:
        raise UserError(f"{settings.name} was not fetched: {error}") from None
    except OSError as error:
        raise UserError(
            f"{settings.name} was not fetched: {folder} cannot be written "
            f"({reason(error)}); make room there, or set data_dir or XCBENCH_DATA"
        ) from None


def destination(settings: DatasetSettings, data_dir: Path) -> Path:
    """Folder for fetched files."""
    return data_dir / (settings.folders or ["."])[0]


def _absent(settings: DatasetSettings, data_dir: Path) -> list[str]:
    paths = files.find_all(data_dir, settings)
    return [role for role, path in paths.items() if path is None]


def _needed(settings: DatasetSettings, absent: list[str]) -> list[Download]:
    """Downloads that hold what is missing."""
    source = settings.source
    for role in absent:
        name = settings.files[role]
        if not any(role in item.files for item in source.downloads):
            page = f"; it is found at {source.page}" if source.page else ""
            raise UserError(source.note or f"no source is known for {name}{page}")
        if Path(name).name != name:
            raise UserError(f"dataset.files.{role}={name} must be a name without folders")
    return [item for item in source.downloads if set(item.files) & set(absent)]


def _survey(
    downloads: list[Download], limit: int | None, name: str
) -> list[tuple[Download, list[str]]]:
    """Each download with its addresses, from the first that answers; nothing is written yet."""
    sources, sizes = [], []
    for item in downloads:
        start, size = _first(item.urls, download.size)
        sources.append((item, item.urls[start:]))
        sizes.append(size or item.bytes)
    total, announced = sum(sizes), all(sizes)
    what = readable(total) if announced else "a size that is not announced"
    if limit is not None and (total > limit or not announced):
        raise UserError(
            f"it has {what}, a run fetches at most {readable(limit)} by itself; "
            f"`xcbench data fetch {name}` fetches it"
        )
    print(f"fetching {name}, {what}", flush=True)
    return sources


def _first(urls: list[str], use: Callable[[str], Result]) -> tuple[int, Result]:
    """Place of the first address that can be used, and what it gives."""
    reasons = []
    for place, url in enumerate(urls):
        try:
            return place, use(url)
        except UserError as error:
            reasons.append(str(error))
    raise UserError("; ".join(dict.fromkeys(reasons)) or "no download address is known")


def _fetch(
    settings: DatasetSettings,
    data_dir: Path,
    sources: list[tuple[Download, list[str]]],
    absent: list[str],
) -> list[Path]:
    folder = destination(settings, data_dir)
    work = folder / WORK
    if work.is_symlink():
        raise UserError(f"{work} is a link, which is not followed; remove it")
    work.mkdir(exist_ok=True)
    fetched: list[Path] = []
    unchecked: dict[str, Path] = {}  # until all are there
    for item, urls in sources:
        roles = [role for role in item.files if role in absent]
        use = partial(_taken, settings, item, roles, work)
        taken = _first(urls, use)[1] if roles else {}
        for role, path in taken.items():
            if settings.sha256.get(role):
                fetched.append(path.replace(folder / path.name))
            else:
                unchecked[role] = path
    if unchecked:
        present = {role: path for role, path in files.find_all(data_dir, settings).items() if path}
        try:
            verify.read(settings, {role: (present | unchecked)[role] for role in settings.files})
        except UserError:
            shutil.rmtree(work)  # any of them may be the wrong one
            raise
        fetched += [path.replace(folder / path.name) for path in unchecked.values()]
    shutil.rmtree(work)
    return fetched


def _taken(
    settings: DatasetSettings, item: Download, roles: list[str], work: Path, url: str
) -> dict[str, Path]:
    """Files of these roles out of a download, under their names; wrong ones are removed."""
    taken = {role: work / settings.files[role] for role in roles}
    inside = {item.files[role]: taken[role] for role in roles if item.files[role]}
    archive = download.get(url, work, ", ".join(settings.files[role] for role in roles), item.bytes)
    try:
        if inside:
            unpack.unpack(archive, inside)
        for role in roles:
            if not item.files[role]:
                archive.replace(taken[role])
            taken[role] = _named(taken[role])
            if settings.sha256.get(role):
                verify.check_digest(settings, role, taken[role], files.fresh_digest(taken[role]))
    except UserError as error:
        for path in (archive, *taken.values()):
            path.unlink(missing_ok=True)
        raise UserError(f"{url}: {error}") from None
    return taken


def _named(path: Path) -> Path:
    """Give a compressed file the ending that says so."""
    suffix = files.compression(path)
    return path if path.suffix == suffix else path.replace(path.with_name(path.name + suffix))
