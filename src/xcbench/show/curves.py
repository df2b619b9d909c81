"""Learning curves at the best rate of every method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from xcbench.show import style
from xcbench.show.summary import best
from xcbench.show.variants import natural
from xcbench.store.cell import ENDED

CLOCKS = {"epoch": "epochs", "train_seconds": "training seconds"}


def draw_curves(rows: pd.DataFrame, curves: pd.DataFrame, styles: style.Styles) -> Figure | None:
    """Draw losses, errors and bound against epochs and against training seconds.

    Parameters
    ----------
    rows : labelled cells of one dataset.
    curves : their checkpoints.
    styles : colour and dashes by label, from `style.line_styles`.

    Returns
    -------
    Figure or None
        None where no cell ended.
    """
    chosen = _chosen(rows, curves)
    valued = {name for part in chosen.values() for name in part.columns[part.notna().any()]}
    metrics = [name for name in style.AXIS if name in valued]
    if not metrics:
        return None
    shared = {"sharex": "col", "sharey": "row", "squeeze": False}
    fig, panels = style.panels(10, 0.5 + 2.3 * len(metrics), len(metrics), 2, **shared)
    for name, pair in zip(metrics, panels, strict=True):
        _draw_pair(pair, chosen, name, styles, style.start(curves, name))
    panels[-1, 0].xaxis.set_major_locator(MaxNLocator(steps=[1, 2, 5, 10]))
    style.fit_seconds(panels[-1, 1], [part["train_seconds"].max() for part in chosen.values()])
    for text, ax in zip(CLOCKS.values(), panels[-1], strict=True):
        ax.set_xlabel(text)
    looks = {
        f"{label} (end only)" if _only_end(part) else label: styles[label]
        | ({"marker": "D", **style.REFERENCE} if _only_end(part) else {})
        for label, part in chosen.items()
    }
    style.legend(fig, rows["dataset_label"].iloc[0], looks)
    return fig


def _draw_pair(
    pair: Sequence[Axes],
    chosen: dict[str, pd.DataFrame],
    name: str,
    styles: style.Styles,
    start: float,
) -> None:
    """Draw a metric against each clock, on one y axis."""
    lines: dict[str, dict[str, pd.Series]] = {clock: {} for clock in CLOCKS}
    for clock, ax in zip(CLOCKS, pair, strict=True):
        for label, part in chosen.items():
            line = over_seeds(part, name, clock)
            if len(line):
                _draw(ax, line, styles[label], only_end=_only_end(part))
                shown = line.tail(1) if _only_end(part) else line
                lines[clock][label] = shown.set_index("at")["mean"]
    style.fit_y(pair[0], lines["epoch"], name, start)
    for clock, ax in zip(CLOCKS, pair, strict=True):
        for label, values in lines[clock].items():
            style.mark_outside(ax, values, name, styles[label])
    pair[0].set_ylabel(style.AXIS[name])


def over_seeds(part: pd.DataFrame, name: str, clock: str) -> pd.DataFrame:
    """Mean and range over seeds at every checkpoint that all seeds reached."""
    part = part.dropna(subset=[name])
    checkpoint = part.groupby(part.groupby("cell").cumcount())
    line = pd.DataFrame(
        {
            "at": checkpoint[clock].mean(),
            "mean": checkpoint[name].mean(),
            "low": checkpoint[name].min(),
            "high": checkpoint[name].max(),
        }
    )
    return line[checkpoint.size() == part["cell"].nunique()]


def _chosen(rows: pd.DataFrame, curves: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Checkpoints of the cells that ended at the best rate, by label."""
    chosen = {}
    for label in sorted(rows["method_label"].unique(), key=natural):
        cells = best(rows[rows["method_label"] == label])
        part = curves[curves["cell"].isin(cells.loc[cells["status"].isin(ENDED), "cell"])]
        if len(part):
            chosen[label] = part
    return chosen


def _only_end(part: pd.DataFrame) -> bool:
    """Whether the curves have nothing between start and end, as of a library's L-BFGS."""
    evaluated = part[part["train_log_loss"].notna()]
    return bool(evaluated.groupby("cell").size().max() <= 2)


def _draw(ax: Axes, line: pd.DataFrame, look: dict[str, Any], only_end: bool) -> None:
    if only_end:
        at, value = line["at"].iloc[-1], line["mean"].iloc[-1]
        ax.axhline(value, **look | style.REFERENCE)
        ax.plot([at], [value], marker="D", markersize=5, color=look["color"])
    else:
        draw_line(ax, line, look)


def draw_line(ax: Axes, line: pd.DataFrame, look: dict[str, Any]) -> None:
    """Draw the mean over seeds, and a band from the lowest to the highest seed."""
    ax.plot(line["at"], line["mean"], **look)
    band = {"color": look["color"], "alpha": 0.18, "linewidth": 0}
    ax.fill_between(line["at"], line["low"], line["high"], **band)
