"""Colours and bars, if the output is a terminal that supports them."""

from __future__ import annotations

import os
from typing import TextIO

RED, YELLOW, BOLD = "31", "33", "1"
WIDTH = 20


def styled(text: str, style: str, stream: TextIO) -> str:
    """Colour a text; plain if NO_COLOR is set or the stream is not a terminal."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not stream.isatty()
    return text if plain else f"\033[{style}m{text}\033[0m"


def filled(share: float) -> str:
    """A bar of `WIDTH` characters: ``███░░░``."""
    full = min(WIDTH, int(WIDTH * share))
    return "█" * full + "░" * (WIDTH - full)
