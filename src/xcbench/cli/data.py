"""``xcbench data``: list, fetch and verify the files of datasets."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

from xcbench.cli.command import Request
from xcbench.config import composing
from xcbench.data import MAKERS, external, files, verify
from xcbench.data.settings import DatasetSettings
from xcbench.errors import UserError, one_line, suggestion
from xcbench.system.processes import INTERRUPTED
from xcbench.units import readable

WITHOUT_FILES = {
    **dict.fromkeys(MAKERS, "synthetic"),
    "digits": "embedded",
    "own": "your own",
}
UNCHECKED = "not verified: no checksum known, and its shape needs the other files"


def data(request: Request) -> int:
    """Dispatch by the first word: list, fetch or verify."""
    actions = {"list": _list, "fetch": _fetch, "verify": _verify}
    action, *names = request.words
    if action not in actions:
        raise UserError(f"data {action} is not possible; it takes {', '.join(actions)}")
    if action == "list" and names:
        raise UserError(f"data list takes no names, so not {names[0]}")
    if action == "fetch" and not names:
        raise UserError("data fetch needs the names of datasets; `xcbench data list` lists them")
    return actions[action](request, names)


def _catalogue(request: Request, names: list[str]) -> tuple[dict[str, DatasetSettings], Path]:
    """Settings of these datasets, by default of all, and where their files are looked for."""
    from hydra import compose

    from xcbench.plan import sweeps

    available = external.catalogue()
    for name in names:
        if name not in available:
            likely = suggestion(name, available)
            raise UserError(f"unknown dataset '{name}'{likely}; available: {', '.join(available)}")
    given = {
        name: request.settings.pop(name)
        for name in list(request.settings)
        if name == "data_dir" or name.startswith("dataset.")
    }
    request.refuse_others("data_dir=… and dataset.…=…")
    overrides = [f"{name}={value}" for name, value in given.items()]
    for_one = [word for word in overrides if word.startswith("dataset.")]
    if for_one and len(names) != 1:
        raise UserError(f"{for_one[0]} applies to one dataset; name just one")
    catalogue, data_dir = {}, "data"
    with sweeps.hydra(given):
        for name in names or available:
            settings = composing.read(compose("config", overrides=[f"dataset={name}", *overrides]))
            catalogue[name], data_dir = settings.dataset, settings.data_dir
    return catalogue, Path(data_dir)


# ---------------------------------------------------------------- list
def _list(request: Request, names: list[str]) -> int:
    catalogue, data_dir = _catalogue(request, names)
    table = pd.DataFrame([_row(name, item, data_dir) for name, item in catalogue.items()])
    print(table.to_markdown(index=False, tablefmt="simple", disable_numparse=True))
    notes = {name: item.source.note for name, item in catalogue.items() if item.source.note}
    for name, note in notes.items():
        print(f"\n{name}: {note}")
    return 0


def _row(name: str, settings: DatasetSettings, data_dir: Path) -> dict[str, str]:
    from xcbench.data.fetch import destination

    source = settings.source
    if settings.reader in WITHOUT_FILES:
        state = WITHOUT_FILES[settings.reader]
        return {"dataset": name, "state": state, "folder": "", "size": "", "source": source.page}
    paths = [path for path in files.find_all(data_dir, settings).values() if path]
    sizes = [item.bytes for item in source.downloads]
    announced = sum(sizes) if all(sizes) else 0
    size = sum(path.stat().st_size for path in paths) if paths else announced
    folder = paths[0].parent if paths else destination(settings, data_dir)
    return {
        "dataset": name,
        "state": _state(settings, data_dir, len(paths)),
        "folder": str(folder),
        "size": readable(size) if size else "not known",
        "source": ("" if source.downloads else "by hand: ") + source.page,
    }


def _state(settings: DatasetSettings, data_dir: Path, present: int) -> str:
    from xcbench.data.fetch import WORK, destination

    if present == len(settings.files):
        return "here"
    begun = any((destination(settings, data_dir) / WORK).glob("*.download*"))
    return "part" if present or begun else "missing"


# ---------------------------------------------------------------- fetch
def _fetch(request: Request, names: list[str]) -> int:
    from xcbench.data.fetch import fetch

    catalogue, data_dir = _catalogue(request, names)
    code = 0
    for name, settings in catalogue.items():
        if settings.reader in WITHOUT_FILES:
            print(f"{name}: nothing to fetch, it is {WITHOUT_FILES[settings.reader]}")
            continue
        try:
            fetched = fetch(settings, data_dir)
        except UserError as error:
            print(f"error: {one_line(error)}", file=sys.stderr)
            code = 1
        except KeyboardInterrupt:
            print(
                "\ninterrupted: what has arrived is kept; "
                f"`xcbench data fetch {name}` continues from it"
            )
            return INTERRUPTED
        else:
            for path in fetched:
                print(f"{path}: {readable(path.stat().st_size)}, {_how(settings, path)}")
            if not fetched:
                print(f"{name}: its files are here; `xcbench data verify {name}` checks them")
    return code


def _how(settings: DatasetSettings, path: Path) -> str:
    """What speaks for a file that was found right."""
    checked = [name for role, name in settings.files.items() if settings.sha256.get(role)]
    if path.name in [name + end for name in checked for end in files.OPENERS]:
        return "SHA-256 is right"
    return "no checksum known: its shape is right"


# ---------------------------------------------------------------- verify
def _verify(request: Request, names: list[str]) -> int:
    catalogue, data_dir = _catalogue(request, names)
    wrong, absent = False, []
    for name, settings in catalogue.items():
        if settings.reader in WITHOUT_FILES:
            if names:
                print(f"{name}: no files to verify, it is {WITHOUT_FILES[settings.reader]}")
            continue
        paths = files.find_all(data_dir, settings)
        if not any(paths.values()) and not names:
            absent.append(name)
            continue
        for role, sentence in _verified(settings, paths).items():
            print(f"{paths[role] or settings.files[role]}: {sentence}", flush=True)
            wrong = wrong or not sentence.startswith("ok")
    if absent:
        print(f"not here: {', '.join(absent)}")
    return 1 if wrong else 0


def _verified(settings: DatasetSettings, paths: dict[str, Path | None]) -> dict[str, str]:
    """What is to be said of the file of each role; it begins with ok, if the file is right."""
    problems = {role: _problem(settings, role, path) for role, path in paths.items()}
    unchecked = UNCHECKED
    if not any(problems.values()):
        unchecked = "ok (no checksum known: its shape was checked)"
        problems = _wrong_shape(settings, {role: path for role, path in paths.items() if path})
    right = {role: "ok" if settings.sha256.get(role) else unchecked for role in paths}
    return {role: problems.get(role) or right[role] for role in paths}


def _problem(settings: DatasetSettings, role: str, path: Path | None) -> str:
    """What is wrong with a file by itself, or nothing."""
    if path is None:
        return f"missing; `xcbench data fetch {settings.name}`"
    try:
        verify.check_digest(settings, role, path, files.fresh_digest(path))
    except UserError as error:
        return _without_path(str(error), path)
    return ""


def _wrong_shape(settings: DatasetSettings, paths: dict[str, Path]) -> dict[str, str]:
    """What is wrong with files of right checksums, as far as there are any, by role."""
    try:
        verify.read(settings, paths)
    except UserError as error:
        blamed = [role for role, path in paths.items() if str(path) in str(error)] or list(paths)
        return {role: _without_path(str(error), paths[role]) for role in blamed}
    return {}


def _without_path(sentence: str, path: Path) -> str:
    return " ".join(sentence.removeprefix(str(path)).split()).lstrip(", ")
