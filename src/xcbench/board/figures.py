"""Figures of the board as SVG; the same numbers give the same bytes."""

from __future__ import annotations

import io
import textwrap
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from xcbench.show import interactive, ranks, style
from xcbench.show.ranks import Ranks
from xcbench.store.ordering import best_value
from xcbench.system import durable

RATIOS = np.geomspace(1, 10, 91)
SHOWN = 8  # methods of a profile that are named
NAMES_WIDTH = 52  # characters of a line below the title of a panel


def save(fig: Figure, path: Path) -> None:
    """Write a figure."""
    content = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": path.name, "svg.fonttype": "none"}):
        FigureCanvasSVG(fig).print_svg(content, metadata={"Date": None})
    durable.write(path, interactive.numbered(content.getvalue()))


def differences(table: Ranks, title: str) -> Figure:
    """Critical-difference diagram: average ranks, with bars below methods that do not differ."""
    names, places = list(table.average.index), table.average.to_numpy()
    half = (len(names) + 1) // 2
    with style.look():
        fig = Figure(figsize=(8, 1.2 + 0.2 * half))
        ax = fig.add_axes((0.02, 0.02, 0.96, 0.9))
        low, high = np.floor(places.min()), np.ceil(places.max())
        spread = (high - low) / 3
        ax.set_xlim(low - spread, high + spread)
        ax.set_ylim(-half - 1.2, 3.2)
        ax.axis("off")
        ax.set_title(title, fontsize=9)
        ax.plot([low, high], [1, 1], color="black", linewidth=1)
        for tick in range(int(low), int(high) + 1, max(1, int((high - low) // 10))):
            ax.plot([tick, tick], [1, 1.2], color="black", linewidth=1)
            ax.text(tick, 1.35, str(tick), ha="center", fontsize=8)
        for number, (name, place) in enumerate(zip(names, places, strict=True)):
            left = number < half
            y = -(number if left else len(names) - 1 - number) - 0.5
            edge = low - 0.1 * spread if left else high + 0.1 * spread
            ax.plot([place, place, edge], [1, y, y], color="#888888", linewidth=0.6)
            ax.text(edge, y, f" {name} {place:.1f} ", va="center", ha="right" if left else "left",
                    fontsize=8)  # fmt: skip
        ax.plot([low, low + table.difference], [2.4, 2.4], color="black", linewidth=2)
        ax.text(low, 2.6, f"critical difference {table.difference:.1f}", fontsize=8)
        for number, (first, last) in enumerate(ranks.cliques(table)[:6]):
            y = 0.8 - 0.14 * number
            ax.plot([places[first], places[last]], [y, y], color="#0072b2", linewidth=2)
    return fig


def profile(values: pd.DataFrame, title: str) -> Figure:
    """Performance profile: share of tasks where each method is within a ratio of the best loss."""
    shares = ranks.profile(values, RATIOS)
    order = shares.mean().sort_values(ascending=False, kind="stable").index
    with style.look():
        fig = Figure(figsize=(8, 3.6))
        ax = fig.subplots()
        for number, name in enumerate(order):
            named = number < SHOWN
            ax.step(
                shares.index,
                shares[name],
                where="post",
                label=name if named else None,
                color=f"C{number}" if named else "#cccccc",
                zorder=2 if named else 1,
                linewidth=1.6 if named else 0.8,
            )
        ax.set_xscale("log")
        ax.set_xlabel("ratio to the best of the task")
        ax.set_ylabel("share of tasks")
        ax.set_title(title)
        ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
        fig.subplots_adjust(left=0.08, right=0.8, bottom=0.14, top=0.9)
    return fig


def fronts(summary: pd.DataFrame, cost: str, label: str) -> Figure:
    """Accuracy against a cost, one panel a task; names the methods on the Pareto front."""
    some = summary.dropna(subset=["accuracy", cost])
    some = some[some["method"] != "prior"]
    tasks = list(dict.fromkeys(some["task"]))
    columns = min(3, max(1, len(tasks)))
    lines = max(1, -(-len(tasks) // columns))
    with style.look():
        fig = Figure(figsize=(3.4 * columns, 2.8 * lines), layout="constrained")
        axes = np.atleast_1d(fig.subplots(lines, columns)).ravel()
        for ax, task in zip(axes, tasks, strict=False):
            best = _front(ax, some[some["task"] == task].set_index("method"), cost)
            named = ", ".join(f"{number} {name}" for number, name in enumerate(best, start=1))
            ax.set_title("\n".join([task, *textwrap.wrap(named, NAMES_WIDTH)]), fontsize=7)
            ax.set_xlabel(label)
            ax.set_ylabel("accuracy")
        for ax in axes[len(tasks) :]:
            ax.axis("off")
    return fig


def _front(ax: Axes, entries: pd.DataFrame, cost: str) -> list[str]:
    """Points of a task, and the line of its front with numbers; gives the methods on it."""
    ax.plot(entries[cost], entries["accuracy"], "o", color="#aaaaaa", markersize=3)
    best = entries.loc[ranks.front(entries, cost, "accuracy")]
    ax.plot(best[cost], best["accuracy"], "o-", color="#0072b2", markersize=4, linewidth=1)
    for number, (_, entry) in enumerate(best.iterrows(), start=1):
        ax.annotate(str(number), (entry[cost], entry["accuracy"]), fontsize=6.5,
                    xytext=(-3, 4), textcoords="offset points", ha="right")  # fmt: skip
    ax.set_xscale("log")
    return [str(name) for name in best.index]


def overview(summary: pd.DataFrame) -> Figure:
    """Heat map of methods × tasks: accuracy divided by the best of the task."""
    table = summary.pivot(index="method", columns="task", values="accuracy")
    tasks = [task for task in dict.fromkeys(summary["task"]) if table[task].notna().any()]
    relative = table[tasks].div(table[tasks].apply(best_value, column="accuracy"))
    order = (
        relative.fillna(0).mean(axis="columns").sort_values(ascending=False, kind="stable").index
    )
    relative = relative.loc[order]
    with style.look():
        fig = Figure(figsize=(2.4 + 0.85 * len(tasks), 1.1 + 0.22 * len(order)))
        width = fig.get_figwidth()  # names of methods on the left, of the last task on the right
        ax = fig.add_axes((1.3 / width, 0.02, 1 - 2.0 / width, 0.86))
        ax.imshow(relative.to_numpy(float), cmap="viridis", vmin=0, vmax=1, aspect="auto")
        ax.grid(False)
        ax.set_xticks(range(len(tasks)), tasks, rotation=25, ha="left", fontsize=7)
        ax.xaxis.tick_top()
        ax.set_yticks(range(len(order)), list(order), fontsize=7)
        for (line, column), value in np.ndenumerate(relative.to_numpy(float)):
            text = "–" if np.isnan(value) else f"{100 * value:.0f}"
            light = np.isnan(value) or value > 0.6
            ax.text(column, line, text, ha="center", va="center", fontsize=6.5,
                    color="black" if light else "white")  # fmt: skip
    return fig
