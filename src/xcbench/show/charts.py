"""Charts that compare methods over tasks: ranks, fronts and a heat map."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from xcbench.core.metrics import of_column
from xcbench.show import style
from xcbench.show.formats import NONE

NAMES_WIDTH = 52  # characters of a line below the title of a panel
FRONT = "#0072b2"
BESIDE: dict[str, Any] = {"fontsize": 5.5, "ha": "right", "va": "bottom", "color": "#666666"}


def rank_intervals(table: pd.DataFrame, title: str) -> Figure:
    """Average ranks with their intervals, the best on top; dark where ``apart`` is false.

    Parameters
    ----------
    table : by method, ``average rank``, ``low``, ``high`` and ``apart`` from the leader.
    """
    fig, ax = style.panels(6, 1 + 0.17 * len(table))
    places = np.arange(len(table))
    for behind, colour in ((True, "#aaaaaa"), (False, FRONT)):
        some = table["apart"] == behind
        rows, at = table[some], places[some]
        ax.hlines(at, rows["low"], rows["high"], color=colour, linewidth=1.2)
        ax.plot(rows["average rank"], at, "o", color=colour, markersize=4)
    ax.set_yticks(places, [*map(str, table.index)], fontsize=7)
    ax.set(ylim=(len(table) - 0.5, -0.5), xlabel="average rank", title=title)
    return fig


def fronts(
    entries: pd.DataFrame, cost: str, quality: str, label: str, dashed: pd.DataFrame | None = None
) -> Figure:
    """Quality against a cost, one panel a task; names the methods on the Pareto front.

    Parameters
    ----------
    entries : rows of tasks and methods.
    label : what the cost is called.
    dashed : tasks × names; qualities that are drawn as dashed lines.
    """
    groups = dict(iter(entries.dropna(subset=[quality, cost]).groupby("task", sort=False)))
    columns = min(3, max(1, len(groups)))
    lines = max(1, -(-len(groups) // columns))
    fig, grid = style.panels(3.4 * columns, 2.8 * lines, lines, columns, squeeze=False)
    panels = grid.ravel()
    for ax, (task, rows) in zip(panels, groups.items(), strict=False):
        best = _front(ax, rows.reset_index(drop=True), cost, quality)
        for name, at in ({} if dashed is None else dashed.loc[task].dropna()).items():
            ax.axhline(at, color="#888888", linewidth=0.7, linestyle="--", zorder=0)
            ax.annotate(str(name), (1, at), xycoords=("axes fraction", "data"), **BESIDE)
        named = ", ".join(f"{number} {name}" for number, name in enumerate(best, start=1))
        ax.set_title("\n".join([str(task), *textwrap.wrap(named, NAMES_WIDTH)]), fontsize=7)
        ax.set(xlabel=label, ylabel=quality, xscale="log")
    for ax in panels[len(groups) :]:
        ax.axis("off")
    return fig


def _front(ax: Axes, rows: pd.DataFrame, cost: str, quality: str) -> list[str]:
    """Points of a task, and the line of its front with numbers; gives the methods on it."""
    ax.plot(rows[cost], rows[quality], "o", color="#aaaaaa", markersize=3)
    best = rows.loc[pareto_front(rows, cost, quality)]
    ax.plot(best[cost], best[quality], "o-", color=FRONT, markersize=4, linewidth=1)
    offset: dict[str, Any] = {"xytext": (-3, 4), "textcoords": "offset points", "ha": "right"}
    for number, point in enumerate(zip(best[cost], best[quality], strict=True), start=1):
        ax.annotate(str(number), point, fontsize=6.5, **offset)
    return [*map(str, best["method"])]


def pareto_front(entries: pd.DataFrame, cost: str, quality: str) -> pd.Index:
    """Entries for which no other has a better quality at the same cost or less."""
    columns = {name: of_column(name).key(entries[name]) for name in (cost, quality)}
    keys = pd.DataFrame(columns).dropna().astype(float).sort_values([cost, quality], kind="stable")
    best = keys[quality].cummin().shift(fill_value=np.inf)
    return keys.index[keys[quality] < best]


def heat_map(shares: pd.DataFrame) -> Figure:
    """Shares from 0 to 1 in per cent, rows by their mean; a dash where there is none."""
    means = shares.fillna(0).mean(axis="columns")
    shares = shares.loc[means.sort_values(ascending=False, kind="stable").index]
    values = shares.to_numpy(float)
    fig = Figure(figsize=(2.4 + 0.85 * shares.shape[1], 1.1 + 0.22 * len(shares)))
    width = fig.get_figwidth()  # names of rows on the left, of the last column on the right
    ax = fig.add_axes((1.3 / width, 0.02, 1 - 2.0 / width, 0.86))
    ax.imshow(values, cmap="viridis", vmin=0, vmax=1, aspect="auto")
    ax.grid(False)
    ax.set_xticks(range(shares.shape[1]), [*map(str, shares)], rotation=25, ha="left", fontsize=7)
    ax.xaxis.tick_top()
    ax.set_yticks(range(len(shares)), list(shares.index), fontsize=7)
    for (line, column), value in np.ndenumerate(values):
        text = NONE if np.isnan(value) else f"{100 * value:.0f}"
        colour = "white" if value <= 0.6 else "black"
        ax.text(column, line, text, ha="center", va="center", fontsize=6.5, color=colour)
    return fig
