"""Bytes as edits of what is good: of JSON, of arrays, and of files with checksums."""

from __future__ import annotations

import copy
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from fuzz import planted
from xcbench.system import sealed

CUT = b"\n====\n"  # between files
FOLDER = Path(tempfile.mkdtemp(prefix="xcbench-fuzz-"))


@dataclass(frozen=True)
class Target:
    """A function that takes bytes, or refuses them with a `UserError`."""

    take: Callable[[bytes], object]
    seeds: tuple[bytes, ...]
    quotes: bool = False  # its sentence may repeat what was typed, character by character
    covered: bool = False  # by checksums: what differs from the good files has to be refused


def written(name: str, content: bytes) -> Path:
    """A file of this content."""
    path = FOLDER / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def parsed(text: bytes) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def resealed(text: bytes, said: object) -> bytes:
    """With a fitting checksum where that can be had: else nothing behind it is ever reached."""
    if isinstance(said, dict):
        said.pop(sealed.CHECKSUM, None)
        with suppress(ValueError, RecursionError):
            return sealed.dumps(said).encode()
    return text


OTHER = (
    None,
    0,
    -1,
    7,
    1e300,
    0.5,
    True,
    "",
    planted.NAME,
    "0" * 16,
    "é\n",
    [],
    {},
    [0],
    {"a": 0},
    10**30,
)


def edited(good: bytes, content: bytes) -> bytes:
    """A JSON text, or edits of a good one: three bytes each choose a place and what comes there."""
    if content.startswith(b"{"):
        return content
    said = json.loads(good)
    for first in range(0, len(content) - 2, 3):
        places = list(_places(said))
        where, key = places[int.from_bytes(content[first : first + 2]) % len(places)]
        choice = content[first + 2]
        if choice < 32:
            del where[key]
        else:
            where[key] = copy.deepcopy(OTHER[choice % len(OTHER)])
    return json.dumps(said).encode()


def _places(node: Any) -> Iterator[tuple[Any, Any]]:
    yield {"": node}, ""
    for key in list(node if isinstance(node, dict) else range(len(node))):
        yield node, key
        if isinstance(node[key], dict | list):
            yield from list(_places(node[key]))[1:]


NUMBERS = (0, 1, -1, -5, 2**30, 2**62, -(2**63), np.nan, np.inf, 1e18, 0.5, 3)
KINDS = (
    "float32",
    "float64",
    "float16",
    "int32",
    "int64",
    "uint8",
    "bool",
    "U3",
    "complex128",
    "S2",
)


def changed(content: bytes, good: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Arrays with edits: four bytes each choose an array, what to do with it, where and by what."""
    arrays = dict(good)
    for first in range(0, len(content) - 3, 4):
        which, what, where, value = content[first : first + 4]
        name = sorted(good)[which % len(good)]
        array = arrays.get(name, good[name])
        if what < 128 and array.size:  # a number in a place
            array = array.copy()
            edit = np.errstate(all="ignore")
            with suppress(OverflowError, ValueError, TypeError), edit:
                array.ravel()[where % array.size] = NUMBERS[value % len(NUMBERS)]
        elif what < 160:
            array = array.ravel()[: where % (array.size + 1)]
        elif what < 180:
            array = np.resize(array, [(0, 1, 2, 7)[value % 4]] * (where % 4))
        elif what < 220:
            with suppress(ValueError, TypeError), np.errstate(all="ignore"):
                array = array.astype(KINDS[value % len(KINDS)])
        elif what < 240:
            array = np.flip(array) if array.ndim else np.array(value)
        else:
            arrays.pop(name, None)
            continue
        arrays[name] = array
    return arrays


class SilentError(AssertionError):
    """Damaged files were taken, though checksums cover them, and gave something else."""


def covered(
    name: str, good: Callable[[], Mapping[str, bytes]], read: Callable[[Path], Any]
) -> Target:
    """A target of good files with checksums.

    Parameters
    ----------
    good : content of the files by name.
    read : gives what the product makes of a folder of them, and can be compared.
    """
    folder = FOLDER / name

    def restored(files: Mapping[str, bytes | None]) -> Any:
        for path, content in files.items():
            if content is None:
                (folder / path).unlink(missing_ok=True)
            else:
                written(f"{name}/{path}", content)
        return read(folder)

    @cache
    def expected() -> Any:
        return restored(good())

    def take(content: bytes) -> None:
        whole, changes = expected(), damaged(good(), content)
        try:
            said = restored(changes)
        finally:
            for path in changes:
                written(f"{name}/{path}", good()[path])
        if said != whole:
            raise SilentError(f"{sorted(changes)} gave something else")

    return Target(take, (b"", bytes(6), b"\1\2\3\4\xff\7"), covered=True)


def damaged(good: Mapping[str, bytes], content: bytes) -> dict[str, bytes | None]:
    """Files with edits: six bytes each choose a file, a place, what to do there, and with what."""
    names, changes = sorted(good), {}
    for first in range(0, len(content) - 5, 6):
        which, what, value = content[first], content[first + 4], content[first + 5]
        name = names[which % len(names)]
        old = changes.get(name, good[name]) or b""
        place = int.from_bytes(content[first + 1 : first + 4]) % (len(old) + 1)
        changes[name] = _bytes_edited(old, place, what, value)
    return changes


def _bytes_edited(old: bytes, place: int, what: int, value: int) -> bytes | None:
    head, tail = old[:place], old[place:]
    if what < 64:
        return head + bytes([value]) + tail[1:]
    if what < 96:
        return head + bytes([tail[0] ^ 1 << value % 8]) + tail[1:] if tail else head
    if what < 144:  # a digit, the next one from there
        at = next((i for i, byte in enumerate(tail) if chr(byte).isdigit()), len(tail))
        return head + tail[:at] + b"%d" % (value % 10) + tail[at + 1 :]
    if what < 168:
        return head + tail[value % 32 :]
    if what < 192:
        return head + head[-(value % 32) :] + tail
    lines = old.splitlines(keepends=True)
    line = old.count(b"\n", 0, place)
    if what < 224 and line < len(lines):
        return b"".join(lines[:line] + lines[line : line + 1] * (value % 3) + lines[line + 1 :])
    return head if what < 248 else None
