"""Style of figures: one colour for each method everywhere, and legible axes."""

from __future__ import annotations

import textwrap
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.style import context
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from xcbench.core.metrics import Metric, axes, of_column
from xcbench.show.variants import natural

COLOURS = {  # the colours of Okabe and Ito
    "softmax": "#000000",
    "ove": "#e69f00",
    "nce": "#56b4e9",
    "is": "#009e73",
    "vanilla": "#cc79a7",
    "umax": "#0072b2",
    "implicit": "#d55e00",
}
OTHERS = ["#332288", "#999933", "#882255", "#44aa99", "#7f7f7f", "#cc6677", "#661100", "#aa4499"]
Styles = dict[str, dict[str, Any]]
DASHES: list[Any] = ["-", "--", "-.", ":", (0, (8, 2)), (0, (3, 1, 1, 1, 1, 1))]
LOOK: list[Any] = [
    "default",
    {
        "figure.dpi": 150,
        "font.size": 9,
        "axes.titlesize": 10,
        "axes.grid": True,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "grid.color": "#dddddd",
        "grid.linewidth": 0.6,
        "lines.linewidth": 1.6,
        "legend.frameon": False,
        "pdf.fonttype": 42,
    },
]
FOLD = 72  # characters of a note that fit above one of two panels side by side
MARK: dict[str, Any] = {"markersize": 7, "clip_on": False, "in_layout": False}
REFERENCE = {"linestyle": (0, (5, 4)), "linewidth": 1.1}
AXIS = axes()
WIDE = 30.0  # a range with a larger ratio of its ends gets a logarithmic axis


def look() -> AbstractContextManager[None]:
    """Context that sets Matplotlib's style, whatever the user's settings."""
    return context(LOOK)


def panels(
    width: float, height: float, rows: int = 1, columns: int = 1, **options: Any
) -> tuple[Figure, Any]:
    """A figure of a size in inches, and its panels, as `Figure.subplots` gives them."""
    fig = Figure(figsize=(width, height), layout="constrained")
    return fig, fig.subplots(rows, columns, **options)


def line_styles(rows: pd.DataFrame) -> Styles:
    """Colour of the method and dashes of the variant, by label of the variant."""
    others = sorted(set(rows["method"]) - set(COLOURS))
    colours = COLOURS | {name: OTHERS[i % len(OTHERS)] for i, name in enumerate(others)}
    styles: Styles = {}
    for method, group in rows.groupby("method"):
        for i, label in enumerate(sorted(group["method_label"].unique(), key=natural)):
            styles[label] = {
                "color": colours[str(method)],
                "linestyle": DASHES[i % len(DASHES)],
            }
    return styles


def start(curves: pd.DataFrame, name: str) -> float:
    """Typical value of a metric before training; minus the log loss stands for the bound."""
    if name == "bound":
        return -start(curves, "train_log_loss")
    return float(curves.dropna(subset=[name]).groupby("cell")[name].first().median())


def fit_y(ax: Axes, drawn: dict[str, pd.Series], name: str, start: float) -> None:
    """Scale the y axis to the comparable values, and name above it the lines that leave it.

    The axis ends at twice the distance of the value before training from the ideal value, or at
    twice that of the best value if every method is worse, so one diverging method does not flatten
    the others. Without a finite ideal, all values are shown.

    Parameters
    ----------
    ax : the panel.
    drawn : values of each line, by its label.
    name : column of the values.
    start : the value before training, from `start`.
    """
    values, metric = pd.concat(drawn.values()).dropna(), of_column(name)
    if values.empty:
        return
    worst = _worst(metric, values, start)
    inside = values[metric.key(values) <= metric.key(worst)]
    scale_y(ax, inside, log=0 < WIDE * inside.min() < inside.max())
    names = outside(drawn, metric, worst)
    if names:
        note = textwrap.fill("off the axis: " + ", ".join(names), FOLD)
        ax.set_title(note, loc="right", fontsize=8)


def mark_outside(ax: Axes, values: pd.Series, name: str, look: dict[str, Any]) -> None:
    """Draw an arrow at the edge of a panel where a line is beyond it.

    Parameters
    ----------
    ax : the panel, scaled by `fit_y`.
    values : of one line, by their place on the x axis.
    name : column of the values.
    look : of the line.
    """
    metric, (low, high) = of_column(name), ax.get_ylim()
    edge, arrow = (high, "^") if metric.direction > 0 else (low, "v")
    beyond = values.index[metric.key(values) > metric.key(edge)]
    ax.plot(beyond, [edge] * len(beyond), arrow, color=look["color"], **MARK)


def _worst(metric: Metric, values: pd.Series, start: float) -> float:
    """The worst value that an axis shows."""
    if np.isinf(metric.ideal):
        return metric.key(np.inf)
    best = metric.key(metric.key(values).min())
    distance = np.nanmax([metric.key(value - metric.ideal) for value in (start, best)])
    return float(metric.ideal + metric.key(2 * distance))


def scale_y(ax: Axes, values: pd.Series, log: bool) -> None:
    """Let the y axis show all values, with a margin; ``log`` for a logarithmic axis."""
    low, high = values.min(), values.max()
    if log:
        ax.set_yscale("log")
        few = high < 4 * low
        ax.yaxis.set_major_locator(MaxNLocator(5) if few else LogLocator(subs=(1, 2, 5)))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.yaxis.set_minor_formatter(NullFormatter())
        margin = max((high / low) ** 0.05, 1.01)
        ax.set_ylim(low / margin, high * margin)
    else:
        margin = 0.05 * (high - low) or 0.05 * abs(high) or 0.05
        ax.set_ylim(low - margin, high + margin)


def outside(drawn: dict[str, pd.Series], metric: Metric, end: float) -> list[str]:
    """Name the lines that are worse than the end of an axis, with their extreme values."""
    worst = {label: metric.key(metric.key(line).max()) for label, line in drawn.items()}
    return [
        f"{label} (to {value:.3g})"
        for label, value in worst.items()
        if metric.key(value) > metric.key(end)
    ]


def fit_seconds(ax: Axes, ends: list[float]) -> None:
    """Show seconds on a logarithmic axis if one method takes far longer than another."""
    if 0 < 10 * min(ends) < max(ends):
        ax.set_xscale("log", nonpositive="mask")
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def not_run(ax: Axes) -> None:
    """Say in an empty panel that its data are not here."""
    ax.text(0.5, 0.5, "not run: data", transform=ax.transAxes, ha="center", va="center")


def legend(fig: Figure, title: str, looks: Styles) -> None:
    """Put one legend above all panels, under a title, as the name of the dataset."""
    handles = [Line2D([], [], **look) for look in looks.values()]
    widths = [0.65 + 0.075 * len(label) for label in looks]  # inches, about
    room = fig.get_figwidth() - 0.2
    columns = len(looks) if sum(widths) < room else max(1, int(room / max(widths)))
    fig.legend(
        handles,
        list(looks),
        title=title,
        title_fontproperties={"weight": "bold"},
        loc="outside upper center",
        ncols=columns,
        handlelength=2.8,
    )
