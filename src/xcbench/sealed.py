"""JSON with a checksum of its content."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

CHECKSUM = "checksum"


def dumps(content: dict[str, Any]) -> str:
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


def _checksum(content: dict[str, Any]) -> str:
    return digest(json.dumps(content, sort_keys=True).encode())


def digest(content: bytes) -> str:
    """SHA-256 of bytes."""
    return hashlib.sha256(content).hexdigest()


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
