"""Colours and bars, if the output is a terminal that supports them; and nothing else of its codes.

Labels, names and messages may come from files of others. `guard` puts a stream before the terminal
that prints text without control characters. Codes of our own pass through it: `control` marks them
with a token that nobody else knows.
"""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Iterable
from typing import TextIO

from xcbench.units import printable

RED, YELLOW, BOLD = "31", "33", "1"
WIDTH = 20
TOKEN = secrets.token_hex(8)


class Guarded:
    """A terminal to which text is printed without control characters."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Print a text, and the codes of our own in it."""
        parts = text.split(TOKEN)
        parts[::2] = map(printable, parts[::2])
        parts[1::2] = (bytes.fromhex(part).decode() for part in parts[1::2])
        self._stream.write("".join(parts))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Print texts, one after the other."""
        for line in lines:
            self.write(line)


def guard() -> None:
    """Put the guard before every stream of this process that is a terminal."""
    for name in ("stdout", "stderr"):
        stream = vars(sys)[name]
        if stream is not None and not isinstance(stream, Guarded) and stream.isatty():
            setattr(sys, name, Guarded(stream))


def control(code: str, stream: TextIO) -> str:
    """A code of a terminal, as it passes the stream."""
    if not isinstance(stream, Guarded):
        return code
    return f"{TOKEN}{code.encode().hex()}{TOKEN}"


def afresh(stream: TextIO) -> str:
    """Back to the start of a terminal's line, which is cleared."""
    return control("\r\033[K", stream)


def styled(text: str, style: str, stream: TextIO) -> str:
    """Colour a text; plain if NO_COLOR is set or the stream is not a terminal."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not stream.isatty():
        return text
    return control(f"\033[{style}m", stream) + text + control("\033[0m", stream)


def filled(share: float) -> str:
    """A bar of `WIDTH` characters: ``███░░░``."""
    full = min(WIDTH, int(WIDTH * share))
    return "█" * full + "░" * (WIDTH - full)
