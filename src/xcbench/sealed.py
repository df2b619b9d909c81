"""JSON that carries a checksum of its whole content."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

CHECKSUM = "checksum"


def dumps(content: dict[str, Any]) -> str:
    """Text of a content, with its checksum as the last entry."""
    plain = json.loads(json.dumps(content, allow_nan=False))  # as it will be read: lists, str keys
    return json.dumps({**plain, CHECKSUM: _checksum(plain)}, indent=1)


def loads(text: bytes) -> dict[str, Any]:
    """Content of a text, without the checksum.

    Raises
    ------
    ValueError
        If this is no such text, or the checksum is not that of the content.
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


def _checksum(content: dict[str, Any]) -> str:
    return digest(json.dumps(content, sort_keys=True).encode())


def digest(content: bytes) -> str:
    """SHA-256 of bytes."""
    return hashlib.sha256(content).hexdigest()


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
