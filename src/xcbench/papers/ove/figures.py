"""Figure 3 of the one-vs-each paper: bounds on real data, optima beside the stochastic one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from xcbench.papers import Measured
from xcbench.papers.frames import evaluated, values
from xcbench.papers.ove.experiments import FIGURE3, FIGURE3_ASCENT, FIGURE3D, TABLE2
from xcbench.papers.ove.figures_toy import COLOURS, NAMES
from xcbench.papers.ove.names import DATASETS, OBJECTIVE, SMALL
from xcbench.show import pictures, style
from xcbench.show.curves import draw_line, over_seeds
from xcbench.show.panels import SOFT
from xcbench.show.pictures import Picture

STOCHASTIC: dict[str, Any] = {"color": "#cc79a7", "linewidth": 1.0}
BELOW = 2.0  # where an axis ends, in distances between the highest and the lowest optimum
CAPTIONS = {
    "figure3": "Figure 3: sum of the bound over the training rows minus lambda/2 ||w||². "
    "Horizontal lines are optima; the paper draws gradient steps there. The line of OVE-SGD is the "
    "mean of its estimate over each hundredth of the iterations and over seeds (band: lowest to "
    "highest). Below, the same against passes over the data, with the steps of L-BFGS towards each "
    "optimum. A step of L-BFGS is a pass or two, a step of OVE-SGD 200 rows.",
    "figure3_ascent": "Figures 3a to 3c as the paper draws them: gradient ascent on all rows and "
    "classes at one rate a dataset, for 1,000 iterations; on BIBTEX also OVE-SGD by the mean of "
    "each 400 iterations, at another rate, so that where lines cross means nothing. Horizontal "
    "lines are optima.",
    "figure3d": "Figure 3d: OVE-SGD on AmazonCat-13K, bound per observation.",
}


def draw(measured: Measured, folder: Path) -> dict[str, Picture]:
    """Draw Figures 3a to 3c as one, and 3d where it was run, and save them in a folder."""
    results, curves = measured.results, measured.curves
    large = FIGURE3D.rows(results, status="done")
    with style.look():
        figures = {
            "figure3": figure3(results, curves),
            "figure3_ascent": ascent(results, curves),
            "figure3d": figure3d(large, curves) if len(large) else None,
        }
    return pictures.save(figures, CAPTIONS, folder)


def figure3(results: pd.DataFrame, curves: pd.DataFrame) -> Figure:
    """Draw a panel a dataset."""
    fig = Figure(figsize=(10, 6.2), layout="constrained")
    for (above, below), printed in zip(fig.subplots(2, len(SMALL)).T, SMALL, strict=True):
        dataset = DATASETS[printed]
        exact = TABLE2.rows(results, dataset=dataset)
        cells = FIGURE3.rows(results, dataset=dataset, status="done")
        optima = _optima(above, exact)
        _ways(below, exact, curves)
        if len(cells):
            _stochastic(above, cells, curves, "iteration")
            _stochastic(below, cells, curves, "epoch")
            above.set_xlim(left=0)
        for ax in (above, below):
            if len(optima) > 1:
                high, low = max(optima), min(optima)
                ax.set_ylim(low - BELOW * (high - low), high + 0.1 * (high - low))
        words = [] if optima else ["optima"]
        words += [] if len(cells) else ["OVE-SGD"]
        if words:
            where = {"transform": above.transAxes, "ha": "right", "color": SOFT}
            above.text(0.98, 0.03, f"not run: {', '.join(words)}", **where)
        above.set(title=printed, xlabel="iterations")
        above.xaxis.set_major_locator(MaxNLocator(3))
        above.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        below.set(xlabel="passes over the data", xscale="log", xlim=(1, None))
    for ax in (fig.axes[0], fig.axes[len(SMALL)]):
        ax.set_ylabel("penalised bound (nats)")
    lines = {NAMES[name]: {"color": COLOURS[name]} for name in NAMES}
    style.legend(fig, "", lines | {"one-vs-each, stochastic": STOCHASTIC})
    return fig


def ascent(results: pd.DataFrame, curves: pd.DataFrame) -> Figure | None:
    """Draw gradient ascent and the stochastic method against iterations, a panel a dataset."""
    cells = FIGURE3_ASCENT.rows(results, status="done")
    shown = [name for name in SMALL if (cells["dataset"] == DATASETS[name]).any()]
    if not shown:
        return None
    fig = Figure(figsize=(3.4 * len(shown), 3.6), layout="constrained")
    for ax, name in zip(fig.subplots(1, len(shown), squeeze=False)[0], shown, strict=True):
        rows = cells[cells["dataset"] == DATASETS[name]]
        whole = rows["method.batch_size"] == rows["shape.train"]
        for method in NAMES:
            path = _penalised(rows[whole & (rows["method"] == method)], curves)
            ax.plot(path["iteration"], path["objective"], color=COLOURS[method])
        path = _penalised(rows[~whole], curves)
        ax.plot(path["iteration"], path["objective"], **STOCHASTIC)
        optima = _optima(ax, TABLE2.rows(results, dataset=DATASETS[name]))
        if len(optima) > 1 and name == "BIBTEX":  # elsewhere the ascent ends far below
            high, low = max(optima), min(optima)
            ax.set_ylim(low - 4 * BELOW * (high - low), high + (high - low))
        ax.set(title=name, xlabel="iterations", ylabel="penalised bound (nats)", xscale="log")
    lines = {NAMES[name]: {"color": COLOURS[name]} for name in NAMES}
    style.legend(fig, "", lines | {"one-vs-each, stochastic": STOCHASTIC})
    return fig


def _optima(ax: Axes, rows: pd.DataFrame) -> list[float]:
    """Draw the optima of a dataset, and give them."""
    optima = []
    for method in NAMES:
        value = values(rows[rows["method"] == method], OBJECTIVE)
        if value.values:
            ax.axhline(value.mean, color=COLOURS[method])
            optima.append(value.mean)
    return optima


def _ways(ax: Axes, rows: pd.DataFrame, curves: pd.DataFrame) -> None:
    """Draw the way of every method to its optimum."""
    for method in NAMES:
        path = _penalised(rows[rows["method"] == method], curves)
        ax.plot(path["epoch"], path["objective"], color=COLOURS[method])


def _stochastic(ax: Axes, cells: pd.DataFrame, curves: pd.DataFrame, at: str) -> None:
    draw_line(ax, over_seeds(_penalised(cells, curves), "objective", at), STOCHASTIC)


def _penalised(cells: pd.DataFrame, curves: pd.DataFrame) -> pd.DataFrame:
    """Checkpoints of cells with the bound of the whole sum less the penalty."""
    checkpoints = curves.merge(cells[["cell", "shape.train"]], on="cell")
    return checkpoints.assign(objective=evaluated(checkpoints, OBJECTIVE))


def figure3d(cells: pd.DataFrame, curves: pd.DataFrame) -> Figure:
    """Draw the bound per observation over the iterations."""
    fig = Figure(figsize=(5.4, 3.4), layout="constrained")
    ax = fig.subplots()
    runs = curves[curves["cell"].isin(cells["cell"])]
    draw_line(ax, over_seeds(runs, "bound", "iteration"), STOCHASTIC)
    ax.set(xlabel="iterations", ylabel="bound per observation (nats)")
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    return fig
