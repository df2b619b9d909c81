"""Format bytes, seconds and foreign text for people."""

from __future__ import annotations

MIB, GIB = 1 << 20, 1 << 30


def readable(size: float) -> str:
    """Format a number of bytes."""
    for unit in ("bytes", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} GiB"


def duration(seconds: float) -> str:
    """Format a duration."""
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:.1f} h"


def count(number: int, noun: str, plural: str = "s") -> str:
    """A number with its noun, in the plural, with that ending, unless the number is 1."""
    return f"{number} {noun}{'' if number == 1 else plural}"


def printable(text: str) -> str:
    """Text without control characters of terminals or browsers."""
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text
    )
