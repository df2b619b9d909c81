"""The figures of the one-vs-each paper: toy experiments (1 and 2), bounds on real data (3).

Axes and colours are those of the paper: exact softmax blue, one-vs-each red, Bouchard green. It
does not say how the rows of Figure 1 were made; ours are of our own making, so shapes compare,
numbers do not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from xcbench.data import blobs, categories
from xcbench.data.settings import BlobsSettings, CategoriesSettings
from xcbench.papers import Measured
from xcbench.papers.ove.experiments import (
    DATASETS,
    FIGURE1A,
    FIGURE1B,
    FIGURE1C,
    FIGURE2,
    FIGURE3,
    FIGURE3_ASCENT,
    FIGURE3D,
    OBJECTIVE,
    SMALL,
    TABLE2,
    TOY_WEIGHTS,
    read_weights,
    weight_matrix,
)
from xcbench.papers.rows import values
from xcbench.show import style
from xcbench.show.curves import draw_line, over_seeds
from xcbench.show.panels import SOFT
from xcbench.show.pictures import Drawing

NAMES = {"softmax": "exact softmax", "ove": "one-vs-each", "bouchard": "Bouchard"}
COLOURS = {"softmax": "#0072b2", "ove": "#d55e00", "bouchard": "#009e73"}
WIDTHS = {"softmax": 3.6, "ove": 2.0, "bouchard": 1.0}  # boundaries that coincide are all seen
MARKERS = ["o", "s", "^", "D", "v", "P", "X", "*"]
PIXELS = 500  # along either axis, to find boundaries
THOUSANDS = "{x:,.0f}"  # numbers of iterations on an axis
BOUNDS = (-300.0, -50.0)  # printed axis of Figure 1c

CAPTIONS = {
    "figure1a": "Figure 1a: probabilities of ten values estimated from 200 observations, each "
    "method at its optimum. Exact softmax and one-vs-each give the frequencies; Bouchard's bound "
    "overestimates the large ones and underestimates the small ones.",
    "figure1b": "Figure 1b: 200 rows of five classes in the plane, and where the class of the "
    "highest score changes. Each method is at its optimum; scores have no biases.",
    "figure1c": "Figure 1c: log-likelihood and its lower bounds on the rows of Figure 1b. "
    "Horizontal lines are optima; the dashed line is the estimate of stochastic one-vs-each "
    "(seed {seed}), ten rows and one remaining class each an iteration, mean over {window} "
    "iterations. Where it begins lies below the printed axis.",
    "figure2": "Figure 2: a million observations of 10,000 values. Frequencies, sorted (a); what "
    "stochastic one-vs-each estimates after its last iteration, in the same order (b, seed "
    "{seed}); the sum of absolute differences between the two (c: mean over {seeds} seeds, band "
    "from the lowest to the highest; {last:.3g} at the end).",
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


def toy_drawings(measured: Measured) -> Iterator[Drawing]:
    """The figures of the toy experiments that ran."""
    results, curves = measured.results, measured.curves
    weights = read_weights(measured.folder / TOY_WEIGHTS)
    for grid, make in (
        (FIGURE1A, partial(figure1a, results, weights)),
        (FIGURE1B, partial(figure1b, results, weights)),
        (FIGURE1C, partial(figure1c, results, curves)),
        (FIGURE2, partial(figure2, results, curves, weights)),
    ):
        cells = grid.rows(results, status="done")
        if len(cells):
            yield Drawing(grid.name, make, CAPTIONS[grid.name].format(**_facts(cells, curves)))


def drawings(measured: Measured) -> Iterator[Drawing]:
    """All figures: those of the toy experiments, then those of real data."""
    yield from toy_drawings(measured)
    for name, figure in {
        "figure3": figure3,
        "figure3_ascent": ascent,
        "figure3d": figure3d,
    }.items():
        yield Drawing(name, partial(figure, measured.results, measured.curves), CAPTIONS[name])


def figure1a(results: pd.DataFrame, weights: pd.DataFrame) -> Figure:
    """Draw Figure 1a: a group of bars a value, one bar a method."""
    fig, ax = style.panels(6, 3.4)
    matrices = _by_method(FIGURE1A.rows(results, status="done"), weights)
    for place, (method, W) in enumerate(matrices.items()):
        at = 1 + np.arange(len(W)) + 0.27 * (place - 1)
        ax.bar(at, probabilities(W), width=0.25, color=COLOURS[method], label=NAMES[method])
        ax.set_xticks(1 + np.arange(len(W)))
    ax.grid(axis="x", visible=False)
    ax.set(axisbelow=True, xlabel="value", ylabel="estimated probability")
    _legend(fig, {method: {"linewidth": 6} for method in matrices})
    _say_missing(ax, matrices)
    return fig


def figure1b(results: pd.DataFrame, weights: pd.DataFrame) -> Figure:
    """Draw Figure 1b: the rows, and the boundaries of every method."""
    cells = FIGURE1B.rows(results, status="done")
    rows, _ = blobs.make(_settings(cells.iloc[0], "blobs", BlobsSettings))
    X, y = np.asarray(rows.X), rows.labels
    fig, ax = style.panels(5.4, 5)
    for k in np.unique(y):
        points = X[y == k]
        marker = MARKERS[k % len(MARKERS)]
        ax.scatter(points[:, 0], points[:, 1], s=16, marker=marker, color="#8a8a8a", linewidths=0)
    low, high = X.min(axis=0) - 0.2, X.max(axis=0) + 0.2
    matrices = _by_method(cells, weights)
    for method, W in matrices.items():
        _boundaries(ax, W, low, high, COLOURS[method], WIDTHS[method])
    ax.set(
        xlabel="feature 1",
        ylabel="feature 2",
        xlim=(low[0], high[0]),
        ylim=(low[1], high[1]),
        aspect="equal",
    )
    _legend(fig, {method: {"linewidth": WIDTHS[method]} for method in matrices})
    _say_missing(ax, matrices)
    return fig


def figure1c(results: pd.DataFrame, curves: pd.DataFrame) -> Figure:
    """Draw Figure 1c: bounds at their optima, and the stochastic estimate on its way."""
    fig, ax = style.panels(6, 3.8)
    optima = FIGURE1B.rows(results, status="done").set_index("method")
    likelihood = optima["bound"] * optima["dataset.blobs.train"]
    looks: style.Styles = {name: {"linewidth": 2} for name in NAMES if name in optima.index}
    for method, look in looks.items():
        ax.axhline(float(likelihood[method]), color=COLOURS[method], **look)
    cell = _first_seed(FIGURE1C.rows(results, status="done"))
    curve = curves[curves["cell"] == cell["cell"]]
    estimate = cell["dataset.blobs.train"] * curve["bound"]
    dashes: dict[str, Any] = {"linestyle": (0, (3, 1.5)), "linewidth": 0.9}
    ax.plot(curve["iteration"], estimate, color=COLOURS["ove"], zorder=1, **dashes)
    ax.set(
        xlabel="iterations",
        ylabel="log-likelihood or lower bound (nats)",
        xlim=(0, curve["iteration"].max()),
        ylim=BOUNDS,
    )
    _legend(fig, looks, {"one-vs-each, stochastic": {"color": COLOURS["ove"], **dashes}})
    _say_missing(ax, looks)
    return fig


def figure2(results: pd.DataFrame, curves: pd.DataFrame, weights: pd.DataFrame) -> Figure:
    """Draw Figure 2: sorted frequencies, their estimates in the same order, the error."""
    cells = FIGURE2.rows(results, status="done")
    first = _first_seed(cells)
    rows, _ = categories.make(_settings(first, "categories", CategoriesSettings))
    frequency = np.bincount(rows.labels, minlength=rows.n_labels) / len(rows)
    order = np.argsort(-frequency, kind="stable")
    fig, (analytic, stochastic, error) = style.panels(10, 3.2, 1, 3)
    analytic.plot(
        1e4 * frequency[order], ".", markersize=2, color=COLOURS["softmax"], rasterized=True
    )
    W = weight_matrix(weights, first["cell"])
    if W is not None:
        estimate = 1e4 * probabilities(W)[order]
        stochastic.plot(estimate, ".", markersize=2, color=COLOURS["ove"], rasterized=True)
    else:
        _say(stochastic, "weights not kept")
    for ax, title in ((analytic, "(a) analytic"), (stochastic, "(b) stochastic one-vs-each")):
        ax.set(
            title=title,
            xlabel="values, sorted",
            ylabel="estimated probability (1e-4)",
            ylim=(0, 1e4 * 1.15 * frequency.max()),
        )
    line = over_seeds(curves[curves["cell"].isin(cells["cell"])], "train_l1_error", "iteration")
    draw_line(error, line, {"color": COLOURS["ove"]})
    error.set(
        title="(c) error",
        xlabel="iterations",
        ylabel="sum of absolute differences",
        xlim=(0, line["at"].max()),
        ylim=(0, None),
    )
    error.xaxis.set_major_formatter(THOUSANDS)
    return fig


def probabilities(W: np.ndarray) -> np.ndarray:
    """Softmax (K,) of the biases of data without features, the last column of weights (K, 1)."""
    b = W[:, -1]
    return np.asarray(np.exp(b - np.logaddexp.reduce(b)))


def _boundaries(
    ax: Axes, W: np.ndarray, low: np.ndarray, high: np.ndarray, colour: str, width: float
) -> None:
    """Where the highest of the scores W (K, 2) changes: each class against the best other one."""
    grid = [np.linspace(low[j], high[j], PIXELS) for j in (0, 1)]
    x1, x2 = np.meshgrid(*grid)
    scores = np.stack([x1, x2], axis=-1) @ W.T
    for k in range(len(W)):
        others = np.delete(scores, k, axis=-1).max(axis=-1)
        ax.contour(x1, x2, scores[..., k] - others, [0.0], colors=[colour], linewidths=width)


def _first_seed(cells: pd.DataFrame) -> pd.Series:
    return cells[cells["seed"] == cells["seed"].min()].iloc[0]


def _by_method(cells: pd.DataFrame, weights: pd.DataFrame) -> dict[str, np.ndarray]:
    """Weights by method, in the order of the paper, of the methods that kept them."""
    names = dict(zip(cells["method"], cells["cell"], strict=True))
    return {
        method: W
        for method in NAMES
        if method in names and (W := weight_matrix(weights, names[method])) is not None
    }


def _settings(cell: pd.Series, kind: str, schema: Any) -> Any:
    """Settings with which the rows of a cell were made, from its dotted columns."""
    default = asdict(schema())
    return schema(
        **{name: type(value)(cell[f"dataset.{kind}.{name}"]) for name, value in default.items()}
    )


def _facts(cells: pd.DataFrame, curves: pd.DataFrame) -> dict[str, object]:
    """What the captions say of a grid."""
    first = _first_seed(cells)
    iterations = curves.loc[curves["cell"] == first["cell"], "iteration"]
    error = cells["train_l1_error"].mean() if "train_l1_error" in cells else float("nan")
    return {
        "seed": first["seed"],
        "seeds": cells["seed"].nunique(),
        "window": int(iterations.diff().max()),
        "last": error,
    }


def _legend(
    fig: Figure, looks: dict[str, dict[str, object]], more: style.Styles | None = None
) -> None:
    entries = {NAMES[method]: {"color": COLOURS[method], **look} for method, look in looks.items()}
    style.legend(fig, "", entries | (more or {}))


def _say_missing(ax: Axes, weights: Mapping[str, object]) -> None:
    lacking = [name for method, name in NAMES.items() if method not in weights]
    if lacking:
        _say(ax, f"not run, or weights not kept: {', '.join(lacking)}")


def _say(ax: Axes, words: str) -> None:
    ax.text(0.99, 0.98, words, transform=ax.transAxes, ha="right", va="top", color=SOFT)


STOCHASTIC: dict[str, object] = {"color": "#cc79a7", "linewidth": 1.0}
BELOW = 2.0  # where an axis ends, in distances between the highest and the lowest optimum


def figure3(results: pd.DataFrame, curves: pd.DataFrame) -> Figure:
    """Draw a panel a dataset."""
    fig, grid = style.panels(10, 6.2, 2, len(SMALL))
    for (above, below), printed in zip(grid.T, SMALL, strict=True):
        dataset = DATASETS[printed]
        exact = TABLE2.rows(results, dataset=dataset)
        cells = FIGURE3.rows(results, dataset=dataset, status="done")
        optima = _optima(above, exact)
        _ways(below, exact, curves, "epoch")
        if len(cells):
            _stochastic(above, cells, curves, "iteration")
            _stochastic(below, cells, curves, "epoch")
            above.set_xlim(left=0)
        for ax in (above, below):
            if len(optima) > 1:
                high, low = max(optima), min(optima)
                ax.set_ylim(low - BELOW * (high - low), high + 0.1 * (high - low))
        here = {"optima": len(optima), "OVE-SGD": len(cells)}
        lacking = [name for name, number in here.items() if not number]
        if lacking:
            where = {"transform": above.transAxes, "ha": "right", "color": SOFT}
            above.text(0.98, 0.03, f"not run: {', '.join(lacking)}", **where)
        above.set(title=printed, xlabel="iterations")
        above.xaxis.set_major_locator(MaxNLocator(3))
        above.xaxis.set_major_formatter(THOUSANDS)
        below.set(xlabel="passes over the data", xscale="log", xlim=(1, None))
    for ax in (fig.axes[0], fig.axes[len(SMALL)]):
        ax.set_ylabel("penalised bound (nats)")
    _legend(fig, {name: {} for name in NAMES}, {"one-vs-each, stochastic": STOCHASTIC})
    return fig


def ascent(results: pd.DataFrame, curves: pd.DataFrame) -> Figure | None:
    """Draw gradient ascent and the stochastic method against iterations, a panel a dataset."""
    cells = FIGURE3_ASCENT.rows(results, status="done")
    shown = [name for name in SMALL if (cells["dataset"] == DATASETS[name]).any()]
    if not shown:
        return None
    fig, (panels,) = style.panels(3.4 * len(shown), 3.6, 1, len(shown), squeeze=False)
    for ax, name in zip(panels, shown, strict=True):
        rows = cells[cells["dataset"] == DATASETS[name]]
        all_rows = rows["method.batch_size"] == rows["shape.train"]
        _ways(ax, rows[all_rows], curves, "iteration")
        path = _penalised(rows[~all_rows], curves)
        ax.plot(path["iteration"], path["objective"], **STOCHASTIC)
        optima = _optima(ax, TABLE2.rows(results, dataset=DATASETS[name]))
        if len(optima) > 1 and name == "BIBTEX":  # elsewhere the ascent ends far below
            high, low = max(optima), min(optima)
            ax.set_ylim(low - 4 * BELOW * (high - low), high + (high - low))
        ax.set(title=name, xlabel="iterations", ylabel="penalised bound (nats)", xscale="log")
    _legend(fig, {name: {} for name in NAMES}, {"one-vs-each, stochastic": STOCHASTIC})
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


def _ways(ax: Axes, rows: pd.DataFrame, curves: pd.DataFrame, at: str) -> None:
    """Draw the way of every method to its optimum."""
    for method in NAMES:
        path = _penalised(rows[rows["method"] == method], curves)
        ax.plot(path[at], path["objective"], color=COLOURS[method])


def _stochastic(ax: Axes, cells: pd.DataFrame, curves: pd.DataFrame, at: str) -> None:
    draw_line(ax, over_seeds(_penalised(cells, curves), "objective", at), STOCHASTIC)


def _penalised(cells: pd.DataFrame, curves: pd.DataFrame) -> pd.DataFrame:
    """Checkpoints of cells with the bound of the whole sum less the penalty."""
    checkpoints = curves.merge(cells[["cell", "shape.train"]], on="cell")
    return checkpoints.assign(objective=OBJECTIVE.of(checkpoints))


def figure3d(results: pd.DataFrame, curves: pd.DataFrame) -> Figure | None:
    """Draw the bound per observation over the iterations."""
    cells = FIGURE3D.rows(results, status="done")
    if cells.empty:
        return None
    fig, ax = style.panels(5.4, 3.4)
    runs = curves[curves["cell"].isin(cells["cell"])]
    draw_line(ax, over_seeds(runs, "bound", "iteration"), STOCHASTIC)
    ax.set(xlabel="iterations", ylabel="bound per observation (nats)")
    ax.xaxis.set_major_formatter(THOUSANDS)
    return fig
