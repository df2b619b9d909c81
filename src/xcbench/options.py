"""Options: declared in one line each, and checked against the configuration's schema."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, Field, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from xcbench.errors import UserError

Content = dict[str, Any]  # names and plain values, as JSON and YAML have them
Options = Any  # a configuration dataclass: a method or dataset has one of its own

EMPTY = "it must not be empty"
BOUNDS: tuple[tuple[str, Callable[[Any, Any], bool], str], ...] = (
    ("above", operator.gt, "greater than"),
    ("at_least", operator.ge, "at least"),
    ("at_most", operator.le, "at most"),
)


def option(
    default: object = MISSING,
    doc: str = "",
    *,
    choices: Sequence[str] = (),
    above: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
    words: Sequence[str] = (),
    identity: bool = True,
    former: object = MISSING,
) -> Any:
    """Declare a field of a configuration dataclass with its documentation and its range.

    Of a text, ``at_least`` is its length. With ``words``, the value is a number or one of these.
    With ``identity=False``, it does not change the identity of a cell. ``former`` is the default
    of the first cells, where it has changed since.
    """
    metadata = {
        "doc": doc,
        "choices": tuple(choices),
        "above": above,
        "at_least": at_least,
        "at_most": at_most,
        "words": tuple(words),
        "identity": identity,
        "former": default if former is MISSING else former,
    }
    if isinstance(default, list | dict):
        return field(default_factory=lambda: type(default)(default), metadata=metadata)
    return field(default=default, metadata=metadata)


def group(schema: type, chooser: str) -> Any:
    """Declare a field of options that count only where the option ``chooser`` names the field."""
    return field(default_factory=schema, metadata={"chooser": chooser})


def folder() -> Path:
    """Folder of the configuration files: inside the installed package, or in the checkout."""
    inside = Path(__file__).parent / "conf"
    return inside if inside.is_dir() else Path(__file__).parents[2] / "conf"


def program() -> str:
    """Command that starts a launch: the checkout's script, or the installed console script."""
    return "xcbench run" if (Path(__file__).parent / "conf").is_dir() else "python run.py"


def multiplied(text: str) -> str:
    """A text with its powers of whole numbers multiplied out, such as ``2**20``."""
    return re.sub(
        r"\b(\d{1,2})\*\*(\d{1,2})\b", lambda power: str(int(power[1]) ** int(power[2])), text
    )


def check_name(what: str, value: str) -> None:
    """Check a name that becomes part of file names and tables.

    Raises
    ------
    UserError
        If it contains characters that break them.
    """
    if not re.fullmatch(r"\w[\w.+-]{0,79}", value):
        shown = value[:80] if value.isprintable() else ascii(value[:80])
        raise UserError(
            f"{what}={shown} is not possible: a name begins with a letter or digit, "
            "and has at most 80 letters, digits and . _ + -"
        )


def check(settings: Options, prefix: str = "") -> None:
    """Check every field of a configuration dataclass, nested ones too.

    Raises
    ------
    UserError
        Names the first option that is out of range, its value and the allowed ones.
    """
    for entry in fields(settings):
        check_value(entry, vars(settings)[entry.name], prefix)


def check_value(entry: Field[object], value: object, prefix: str = "") -> None:
    """Check a value of one field, as `check` does."""
    name = prefix + entry.name
    if _nested(value):
        check(value, name + ".")
    elif isinstance(value, list) and any(map(is_dataclass, value)):
        for number, item in enumerate(value):
            check(item, f"{name}.{number}.")
    elif value is not None and entry.metadata:
        problem = _problem(value, dict(entry.metadata))
        if problem:
            raise UserError(f"{name}={value} is not possible: {problem}")


def changed(settings: Options) -> Content:
    """Fields of a configuration dataclass that differ from their first defaults, nested ones too.

    Identities are made of these, so neither a new option nor a new default changes the identity of
    older cells. A default must never change its meaning: raise the version of the method or dataset
    instead. A `group` that is not chosen is left out.
    """
    content: Content = {}
    for entry in fields(settings):
        value, about = vars(settings)[entry.name], entry.metadata
        if "chooser" in about and vars(settings)[about["chooser"]] != entry.name:
            continue
        nested = _nested(value)
        value = changed(value) if nested else value
        first = {} if nested else about.get("former", default_of(entry))
        if value != first and about.get("identity", True):
            content[entry.name] = value
    return content


def default_of(entry: Field[object]) -> object:
    """Default of a field of a configuration dataclass; `MISSING` for none."""
    return entry.default if entry.default_factory is MISSING else entry.default_factory()


def declared(schema: Options, prefix: str = "") -> Iterator[tuple[str, Field[object]]]:
    """Fields of a configuration dataclass with their names, nested ones behind the outer one."""
    for entry in fields(schema):
        yield prefix + entry.name, entry
        default = default_of(entry)
        if _nested(default):
            yield from declared(type(default), f"{prefix}{entry.name}.")


def as_at_first(settings: Options) -> Options:
    """Settings of a method with the first default of every option."""
    first = {it.name: it.metadata.get("former", default_of(it)) for it in fields(settings)}
    nested = {name: as_at_first(it) for name, it in first.items() if _nested(it)}
    return replace(settings, **first | nested)


def _nested(value: object) -> bool:
    return is_dataclass(value) and not isinstance(value, type)


def _problem(value: object, limits: Content) -> str:
    """What is wrong with a value, or nothing."""
    if limits["words"] and not isinstance(value, float):
        possible = value in limits["words"]
        return "" if possible else f"it must be a number, or {', '.join(limits['words'])}"
    if limits["choices"] and value not in limits["choices"]:
        return f"it must be one of {', '.join(limits['choices'])}"
    if isinstance(value, str):
        return EMPTY if len(value.strip()) < (limits["at_least"] or 0) else ""
    if isinstance(value, float) and not math.isfinite(value):
        return "it must be a finite number"
    for limit, allows, words in BOUNDS:
        if limits[limit] is not None and not allows(value, limits[limit]):
            return f"it must be {words} {limits[limit]:g}"
    return ""
