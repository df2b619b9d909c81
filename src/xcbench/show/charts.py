"""Charts that compare methods over tasks: ranks, profiles, fronts and a heat map."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from xcbench.show import ranks
from xcbench.show.formats import NONE
from xcbench.show.ranks import Ranks

RATIOS = np.geomspace(1, 10, 91)
NAMED = 8  # methods of a profile
NAMES_WIDTH = 52  # characters of a line below the title of a panel
FRONT = "#0072b2"


def rank_diagram(table: Ranks, title: str) -> Figure:
    """Critical-difference diagram: average ranks, with bars below methods that do not differ."""
    names, places = list(table.average.index), table.average.to_numpy()
    half = (len(names) + 1) // 2
    fig = Figure(figsize=(8, 1.2 + 0.2 * half))
    ax = fig.add_axes((0.02, 0.02, 0.96, 0.9))
    low, high = np.floor(places.min()), np.ceil(places.max())
    margin = (high - low) / 3
    ax.set(xlim=(low - margin, high + margin), ylim=(-half - 1.2, 3.2))
    ax.axis("off")
    ax.set_title(title, fontsize=9)
    ax.plot([low, high], [1, 1], color="black", linewidth=1)
    for tick in range(int(low), int(high) + 1, max(1, int((high - low) // 10))):
        ax.plot([tick, tick], [1, 1.2], color="black", linewidth=1)
        ax.text(tick, 1.35, str(tick), ha="center", fontsize=8)
    for number, (name, place) in enumerate(zip(names, places, strict=True)):
        left = number < half
        y = -(number if left else len(names) - 1 - number) - 0.5
        edge = low - 0.1 * margin if left else high + 0.1 * margin
        ax.plot([place, place, edge], [1, y, y], color="#888888", linewidth=0.6)
        side = "right" if left else "left"
        ax.text(edge, y, f" {name} {place:.1f} ", va="center", ha=side, fontsize=8)
    ax.plot([low, low + table.difference], [2.4, 2.4], color="black", linewidth=2)
    ax.text(low, 2.6, f"critical difference {table.difference:.1f}", fontsize=8)
    for number, (first, last) in enumerate(ranks.cliques(table)[:6]):
        y = 0.8 - 0.14 * number
        ax.plot([places[first], places[last]], [y, y], color=FRONT, linewidth=2)
    return fig


def profile(values: pd.DataFrame, title: str) -> Figure:
    """Performance profile: share of tasks where each method is within a ratio of the best loss."""
    shares = ranks.profile(values, RATIOS)
    order = shares.mean().sort_values(ascending=False, kind="stable").index
    fig = Figure(figsize=(8, 3.6))
    ax = fig.subplots()
    for number, name in enumerate(order):
        look: dict[str, Any] = {"label": name, "color": f"C{number}", "zorder": 2}
        if number >= NAMED:
            look = {"color": "#cccccc", "linewidth": 0.8, "zorder": 1}
        ax.step(shares.index, shares[name], where="post", **look)
    ax.set(xscale="log", xlabel="ratio to the best of the task", ylabel="share of tasks")
    ax.set_title(title)
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    fig.subplots_adjust(left=0.08, right=0.8, bottom=0.14, top=0.9)
    return fig


def fronts(entries: pd.DataFrame, cost: str, quality: str, label: str) -> Figure:
    """Quality against a cost, one panel a task; names the methods on the Pareto front.

    Parameters
    ----------
    entries : one row a task and method.
    label : what the cost is called.
    """
    groups = dict(iter(entries.dropna(subset=[quality, cost]).groupby("task", sort=False)))
    columns = min(3, max(1, len(groups)))
    lines = max(1, -(-len(groups) // columns))
    fig = Figure(figsize=(3.4 * columns, 2.8 * lines), layout="constrained")
    panels = fig.subplots(lines, columns, squeeze=False).ravel()
    for ax, (task, rows) in zip(panels, groups.items(), strict=False):
        best = _front(ax, rows.set_index("method"), cost, quality)
        named = ", ".join(f"{number} {name}" for number, name in enumerate(best, start=1))
        ax.set_title("\n".join([str(task), *textwrap.wrap(named, NAMES_WIDTH)]), fontsize=7)
        ax.set(xlabel=label, ylabel=quality, xscale="log")
    for ax in panels[len(groups) :]:
        ax.axis("off")
    return fig


def _front(ax: Axes, rows: pd.DataFrame, cost: str, quality: str) -> list[str]:
    """Points of a task, and the line of its front with numbers; gives the methods on it."""
    ax.plot(rows[cost], rows[quality], "o", color="#aaaaaa", markersize=3)
    best = rows.loc[ranks.front(rows, cost, quality)]
    ax.plot(best[cost], best[quality], "o-", color=FRONT, markersize=4, linewidth=1)
    offset: dict[str, Any] = {"xytext": (-3, 4), "textcoords": "offset points", "ha": "right"}
    for number, point in enumerate(zip(best[cost], best[quality], strict=True), start=1):
        ax.annotate(str(number), point, fontsize=6.5, **offset)
    return [str(name) for name in best.index]


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
