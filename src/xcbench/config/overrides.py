"""Overrides ``name=value`` of a launch, translated for Hydra."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException

from xcbench.config.settings import Config
from xcbench.data import MAKERS, external, files
from xcbench.data.settings import DatasetSettings
from xcbench.errors import UserError, suggestion
from xcbench.methods import registry
from xcbench.options import Options, declared, folder, multiplied
from xcbench.system import yaml_files

SWEEP = ("-m", "--multirun")
GROUPS = ("dataset", "method", "experiment", "rates", "variant")
NAMELESS = re.compile(rf"\+*({'|'.join(GROUPS)})=(null|true|false|[-+.\d]+)", re.IGNORECASE)
ONLY = "only."  # only.METHOD.OPTION=VALUE holds for one method of a sweep


def for_hydra(words: Sequence[str]) -> list[str]:
    """Translate the words of a command line, with ``-m`` anywhere.

    Raises
    ------
    UserError
        If a word is not a valid override.
    """
    flags = [word for word in words if word in SWEEP]
    rest = [word for word in words if word not in flags]
    _refuse_flags(rest)
    refuse_nameless(rest)
    for place in _folders(rest):
        yaml_files.check_folder(place)
    rest = [_expanded(word, rest) for word in _targets_as_choices(rest)]
    if flags or any(word.startswith("experiment=") for word in rest):
        return flags + [_left_to_points(word) for word in rest]
    for word in rest:
        if word.startswith(ONLY):
            raise UserError(f"{word} applies to one method of a sweep; add -m, or write method.…=")
        if _is_sweep(word) and not word.startswith("hydra."):
            raise UserError(f"{word} has several values; add -m to run all of them")
    return rest


def for_methods(points: Sequence[Sequence[str]]) -> list[list[str]]:
    """Points of a sweep, each with only the options of its method.

    Raises
    ------
    UserError
        If no method has an option, or none of them can be used.
    """
    names = dict.fromkeys(filter(None, map(_method, points)))
    if not any(word.startswith(ONLY) for point in points for word in point) and len(names) < 2:
        return [list(point) for point in points]
    schemas = _schemas(names)
    by_method = {name: options(schema, "method.") for name, schema in schemas.items()}
    chosen = []
    for point in points:
        name = _method(point)
        if name in names and name not in by_method:
            continue
        words, last = [], []
        for word in point:
            key, _, value = word.partition("=")
            if key.startswith(ONLY):
                method, _, option = key.removeprefix(ONLY).partition(".")
                _check_only(key, method, option, by_method)
                if method == name:
                    last.append(f"method.{option}={value}")
            elif name is None or not key.startswith("method.") or key in by_method[name]:
                words.append(word)
        chosen.append((*words, *last))
    swept = (word for point in points for word in point if word.startswith("method."))
    for key in dict.fromkeys(word.partition("=")[0] for word in swept):
        holders = [name for name in by_method if key in by_method[name]]
        others = [name for name in by_method if key not in by_method[name]]
        if not holders:
            likely = suggestion(key, set().union(*by_method.values()))
            raise UserError(f"{key} is no option of {', '.join(others)}{likely}")
        if others:
            print(f"{key} applies to {', '.join(holders)}; no such option: {', '.join(others)}")
    return [list(point) for point in dict.fromkeys(chosen)]


def options(schema: Options, prefix: str = "") -> set[str]:
    """Names of all options of a configuration dataclass, nested ones too."""
    return {name for name, _ in declared(schema, prefix)}


def all_options() -> set[str]:
    """Names of the options of every method and of a launch."""
    names = {*options(Config), *options(DatasetSettings, "dataset.")}
    return names.union(
        *(options(method.schema, "method.") for method in registry.builtin().values())
    )


def _refuse_flags(words: Sequence[str]) -> None:
    """``--dataset mnist`` is not how an option is written."""
    for word, follower in zip(words, [*words[1:], ""], strict=False):  # of no word, none
        name, _, value = word.removeprefix("--").partition("=")
        if word.startswith("--") and (name in GROUPS or name in options(Config)):
            value = value or (follower if "=" not in follower else "") or "VALUE"
            raise UserError(f"{word} is not understood; write {name}={value}")


def _folders(words: Sequence[str]) -> Iterator[Path]:
    """Folders of configurations that words name, besides ours."""
    for word, follower in zip(words, [*words[1:], ""], strict=False):
        flag, _, value = word.partition("=")
        if flag.startswith("--config-") or flag in ("-cd", "-cp"):
            yield Path(value or follower)
        elif flag.lstrip("+").startswith("hydra.searchpath"):
            yield from map(Path, re.findall(r"file://([^\s,'\"\]]+)", value))


def refuse_nameless(words: Iterable[str]) -> None:
    """``method=null`` and ``dataset=1`` name nothing; Hydra says so of no word."""
    for word in words:
        if match := NAMELESS.fullmatch(word):
            raise UserError(
                f"{word} is not possible: {match[2]} is no name; "
                f"write {match[1]}=NAME, or leave it out"
            )


def _targets_as_choices(words: Sequence[str]) -> list[str]:
    """``method._target_=module.thing`` as ``method=module.thing``, with another ``method=…``."""
    rest = list(words)
    for group in ("method", "dataset"):
        named = [word for word in rest if word.lstrip("+").startswith(f"{group}._target_=")]
        if named:
            chosen = [word for word in rest if word in named or word.startswith(f"{group}=")]
            rest = [word for word in rest if word not in chosen]
            rest.append(f"{group}={','.join(word.partition('=')[2] for word in chosen)}")
    return rest


def _expanded(word: str, words: Sequence[str]) -> str:
    """``method=all``: those that can run; ``dataset=here``: data that are here; ``2**20``."""
    if word == "method=all":
        names = [
            name
            for name, method in registry.builtin().items()
            if not method.lacks(method.schema(name=name))
        ]
        return f"method={','.join(names)}"
    if word == "dataset=here":
        data_dirs = [item.partition("=")[2] for item in words if item.startswith("data_dir=")]
        default = yaml_files.load(folder() / "config.yaml").data_dir
        return f"dataset={','.join(_here(Path(data_dirs[-1] if data_dirs else default)))}"
    return multiplied(word) if word.startswith("dataset.features=") else word


def _here(data_dir: Path) -> Iterator[str]:
    """Datasets that need no files, or whose files are here."""
    for name, path in external.catalogue().items():
        content = yaml_files.plain(path)
        folders = content.get("folders") or ["."]
        paths = [files.find(data_dir, folders, file) for file in content.get("files", {}).values()]
        if content["reader"] in (*MAKERS, "digits") or (paths and all(paths)):
            yield name


def _left_to_points(word: str) -> str:
    """An option of a method or dataset as a sweep of one value: it is set where these are known."""
    if word.startswith(("method.", "dataset.", ONLY)) and "=" in word and not _is_sweep(word):
        key, _, value = word.partition("=")
        swept = f"{key}=choice({value})"
        return swept if _is_sweep(swept) else word  # there, not every value can stand
    return word


def _is_sweep(word: str) -> bool:
    try:
        return OverridesParser.create().parse_override(word).is_sweep_override()
    except (HydraException, AssertionError, ValueError):
        return False  # Hydra says what is wrong with it


def _method(point: Sequence[str]) -> str | None:
    chosen = [word.removeprefix("method=") for word in point if word.startswith("method=")]
    return chosen[-1] if chosen else None


def _schemas(names: Iterable[str]) -> dict[str, object]:
    """Settings of methods; one that cannot be used is skipped if there are others."""
    schemas: dict[str, object] = {}
    problems = []
    for name in names:
        try:
            schemas[name] = registry.find(name).thing.schema
        except UserError as error:
            problems.append(error)
    if problems and not schemas:
        raise problems[0]
    for problem in problems:
        print(f"skipped: {problem}")
    return schemas


def _check_only(key: str, method: str, option: str, by_method: dict[str, set[str]]) -> None:
    if method not in by_method:
        raise UserError(f"{key}: the sweep has no method {method}{suggestion(method, by_method)}")
    possible = {name.removeprefix("method.") for name in by_method[method]}
    if option not in possible:
        raise UserError(f"{key}: {method} has no option {option}{suggestion(option, possible)}")
