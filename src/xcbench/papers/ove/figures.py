"""Figure 3 of the one-vs-each paper: bounds on real data, optima beside the stochastic one."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from xcbench.papers.frames import part
from xcbench.papers.ove.figures_toy import COLOURS, NAMES
from xcbench.papers.ove.names import DATASETS, SMALL
from xcbench.papers.ove.tables import objective
from xcbench.papers.panels import SOFT
from xcbench.report import style
from xcbench.report.curves import draw_line, over_seeds
from xcbench.report.figures import Picture

STOCHASTIC = {"color": "#cc79a7", "linewidth": 1.0}
BELOW = 2.0  # where an axis ends, in distances between the highest and the lowest optimum
CAPTIONS = {
    "figure3": "Figure 3: sum of the bound over the training rows less lambda/2 ||w||². Horizontal "
    "lines are optima, where the paper draws the way of gradient steps; of OVE-SGD the mean of its "
    "estimate over each hundredth of the iterations, over the seeds that ran (band: lowest to "
    "highest).",
    "figure3d": "Figure 3d: OVE-SGD on AmazonCat-13K, bound per observation.",
}


def draw(results: pd.DataFrame, curves: pd.DataFrame, folder: Path) -> dict[str, Picture]:
    """Draw and save Figures 3a to 3c as one, and 3d where it was run.

    Parameters
    ----------
    results : one row for each cell of each grid (column ``grid``).
    curves : one row a checkpoint.
    folder : where the files go; it exists.
    """
    pictures = {}
    with style.look():
        made = {"figure3": figure3(results, curves)}
        large = part(results, "figure3d", status="done")
        if len(large):
            made["figure3d"] = figure3d(large, curves)
        for name, figure in made.items():
            png = folder / f"{name}.png"
            style.save(figure, png)
            caption = CAPTIONS[name]
            alt = f"{caption.split('. ')[0]}. The numbers are in the tables."
            pictures[name] = Picture(png, alt, caption)
    return pictures


def figure3(results: pd.DataFrame, curves: pd.DataFrame) -> Figure:
    """Draw a panel a dataset.

    Parameters
    ----------
    results, curves : see `draw`.
    """
    fig = Figure(figsize=(10, 3.3), layout="constrained")
    for ax, printed in zip(fig.subplots(1, len(SMALL)), SMALL, strict=True):
        dataset = DATASETS[printed]
        optima = _optima(ax, part(results, "table2", dataset=dataset))
        cells = part(results, "figure3", dataset=dataset, status="done")
        if len(cells):
            _stochastic(ax, cells, curves)
        else:
            ax.set_xticks([])
        if len(optima) > 1:
            high, low = max(optima), min(optima)
            ax.set_ylim(low - BELOW * (high - low), high + 0.1 * (high - low))
        words = [] if optima else ["optima"]
        words += [] if len(cells) else ["OVE-SGD"]
        if words:
            where = {"transform": ax.transAxes, "ha": "right", "color": SOFT}
            ax.text(0.98, 0.03, f"not run: {', '.join(words)}", **where)
        ax.set(title=printed, xlabel="iterations")
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    fig.axes[0].set_ylabel("penalised bound (nats)")
    lines = {NAMES[name]: {"color": COLOURS[name]} for name in NAMES}
    style.legend(fig, "", lines | {"one-vs-each, stochastic": STOCHASTIC})
    return fig


def _optima(ax: Axes, rows: pd.DataFrame) -> list[float]:
    """Draw the optima of a dataset, and give them."""
    found = []
    for method in NAMES:
        value = objective(rows[rows["method"] == method])
        if value.values:
            ax.axhline(value.mean, color=COLOURS[method])
            found.append(value.mean)
    return found


def _stochastic(ax: Axes, cells: pd.DataFrame, curves: pd.DataFrame) -> None:
    own = curves.merge(cells[["cell", "shape.train"]], on="cell")
    own["objective"] = own["shape.train"] * (own["bound"] - own["ridge_term"])
    line = over_seeds(own, "objective", "iteration")
    draw_line(ax, line, STOCHASTIC)
    ax.set_xlim(0, line["at"].max())


def figure3d(cells: pd.DataFrame, curves: pd.DataFrame) -> Figure:
    """Draw the bound per observation over the iterations.

    Parameters
    ----------
    cells, curves : see `draw`.
    """
    fig = Figure(figsize=(5.4, 3.4), layout="constrained")
    ax = fig.subplots()
    own = curves[curves["cell"].isin(cells["cell"])]
    draw_line(ax, over_seeds(own, "bound", "iteration"), STOCHASTIC)
    ax.set(xlabel="iterations", ylabel="bound per observation (nats)")
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    return fig
