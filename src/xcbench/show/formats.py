"""Formats of numbers and texts."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd

from xcbench.units import printable

NONE = "–"


def mean_spread(mean: float, spread: float, decimals: int) -> str:
    """``1.234 ± 0.005``; powers of ten for very small and very large means."""
    if pd.isna(mean):
        return NONE
    plain = mean == 0 or 10.0**-decimals <= abs(mean) < 1e5
    form = f".{decimals}f" if plain else ".1e"
    return f"{mean:{form}}" if pd.isna(spread) else f"{mean:{form}} ± {spread:{form}}"


def count(value: float) -> str:
    """Format a number of epochs: at most three decimals, no trailing zeros."""
    return NONE if pd.isna(value) else f"{round(value, 3):.10g}"


def seconds(value: float) -> str:
    """Format a time: three significant digits, whole seconds from a hundred on."""
    if pd.isna(value):
        return NONE
    return f"{value:.0f}" if value >= 100 else f"{value:#.3g}".rstrip(".")


def rate(value: float, edge: str = "") -> str:
    """Format a learning rate, with the edge of the grid it lies on."""
    if pd.isna(value):
        return NONE
    return f"{value:.6g} ({edge} edge)" if edge else f"{value:.6g}"


def cell(value: Any, digits: int = 6) -> str:
    """Format a cell of a table: numbers with some digits, texts as they are."""
    if pd.isna(value):
        return NONE
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def plain(text: str, code: bool = False) -> str:
    """Escape a text for a cell of a Markdown table.

    Parameters
    ----------
    code : whether to keep backticks and emphasis.
    """
    text = " ".join(printable(text).split())
    text = re.sub(r"&(?=#?\w+;)", "&amp;", text)
    text = re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text)  # what CommonMark takes for HTML
    return re.sub(r"[\\|]" if code else r"[\\|*\[\]`]", r"\\\g<0>", text)
