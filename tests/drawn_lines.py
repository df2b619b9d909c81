"""What a figure shows."""

from __future__ import annotations

from matplotlib.axes import Axes


def lines_of(ax: Axes) -> dict[str, list[float]]:
    return {
        str(line.get_label()): list(line.get_ydata())
        for line in ax.lines
        if not str(line.get_label()).startswith("_")
    }
