"""JSON with a checksum of its content, and records of it whose fields have their types."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Hashable, Mapping
from dataclasses import is_dataclass
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

CHECKSUM = "checksum"
Record = TypeVar("Record")


def dumps(content: Mapping[str, object]) -> str:
    """Serialise content, with its checksum as the last entry."""
    plain = json.loads(json.dumps(content, allow_nan=False))  # as it will be read: lists, str keys
    return json.dumps({**plain, CHECKSUM: _checksum(plain)}, indent=1)


def loads(text: bytes) -> dict[str, Any]:
    """Parse text, check the checksum, and return the content without it.

    Raises
    ------
    ValueError
        If the text is malformed, or the checksum does not match.
    """
    try:
        content = json.loads(text)
    except RecursionError:
        raise ValueError("its JSON is nested too deep") from None
    if not isinstance(content, dict):
        raise ValueError("it is not a JSON object")
    if content.pop(CHECKSUM, None) != _checksum(content):
        raise ValueError("its content does not match its checksum")
    return content


def _checksum(content: dict[str, object]) -> str:
    return digest(json.dumps(content, sort_keys=True).encode())


def digest(content: bytes) -> str:
    """SHA-256 of bytes."""
    return hashlib.sha256(content).hexdigest()


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def record(kind: type[Record], content: object) -> Record:
    """Make a dataclass of JSON content, and those in its fields; a field may have one already.

    Raises
    ------
    TypeError, ValueError
        If a field is missing, unknown, or not of its type; of numbers, if they are not finite.
    """
    if not isinstance(content, Mapping):
        raise TypeError(f"{kind.__name__} is {type(content).__name__}")
    values = dict(content)
    for name, hint in _hints(cast(Hashable, kind)).items():
        if name in content:
            values[name] = value = _with_records(content[name], hint)
            if not _is(value, hint):
                raise TypeError(f"{name} of {kind.__name__} is not of its type")
    return kind(**values)


def _with_records(value: object, hint: object) -> Any:
    """A value, with the records that its type has in the place of their JSON content."""
    kinds = [part for part in (hint, *get_args(hint)) if is_dataclass(part)]
    if not kinds:
        return value
    if isinstance(value, list):
        return [_with_records(item, kinds[0]) for item in value]
    return record(cast(type, kinds[0]), value) if isinstance(value, dict) else value


@cache
def _hints(kind: object) -> dict[str, object]:
    return get_type_hints(kind)


def _is(value: object, hint: object) -> bool:
    """Whether JSON content is of a type."""
    kind, parts = get_origin(hint) or hint, get_args(hint)
    if kind is UnionType:
        return any(_is(value, part) for part in parts)
    if kind is float:
        return type(value) is int or (type(value) is float and math.isfinite(value))
    if kind is list:
        return type(value) is list and all(_is(item, parts[0]) for item in value)
    if kind is dict:
        return type(value) is dict and all(_is(item, parts[1]) for item in value.values())
    if is_dataclass(kind):
        return isinstance(value, cast(type, kind))
    return hint is Any or type(value) is (type(None) if hint is None else kind)
