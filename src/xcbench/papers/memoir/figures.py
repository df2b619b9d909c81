"""The figures of the MEMOIR paper, and held-out macro-F1 against batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from xcbench.papers import Measured
from xcbench.papers.memoir.experiments import (
    AT_HAND,
    DATASETS,
    FIGURE1,
    OURS,
    SYSTEMS,
    in_time,
    levelling,
    measure,
    of,
    printed,
)
from xcbench.papers.rows import ended, values
from xcbench.show import style
from xcbench.show.pictures import Drawing

LOOKS: style.Styles = {
    name: {
        "color": style.OTHERS[i % len(style.OTHERS)],
        "linestyle": style.DASHES[i % len(style.DASHES)],
    }
    for i, name in enumerate(sorted(OURS, key=SYSTEMS.__contains__))
}
PANELS = {  # of Figure 2
    "train_time": "training seconds",
    "total_memory": "MB of the weights",
    "macro_f1": "macro-F1 (%)",
    "accuracy": "accuracy (%)",
}
Means = Mapping[tuple[str, str, str], float]  # by dataset, method and measure
COSTS = ("train_time", "total_memory")  # on log axes
CAPTIONS = {
    "figure1": "Figure 1: strength of the l1 penalty against macro-F1, accuracy and non-zeros of "
    "the weights of MEMOIR-l1, with the code's settings; means and ranges over seeds. Where no "
    "weight is left there is no point.",
    "figure2": "Figure 2 on the data at hand: training time (for orientation), size of the "
    "weights, macro-F1 and accuracy of the methods of Table 3 that ended in time, with the "
    "code's settings; means over seeds. citeulike: K = 8,310, MEMOIR-LSH without SVD, M-SVM not "
    "run. RecallTree's size is that of its table, a setting.",
    "figure2_printed": "Figure 2 as the paper has it, redrawn from the numbers of Table 3: none of "
    "its datasets is here.",
    "batches": "Table 4's T: macro-F1 of held-out rows against batches; one line per seed.",
}


def drawings(measured: Measured) -> Iterator[Drawing]:
    """All figures."""
    results, curves = measured.results, measured.curves
    for name, make in {
        "figure1": partial(figure1, results),
        "figure2": partial(figure2, results),
        "figure2_printed": partial(figure2_printed),
        "batches": partial(batches, results, curves),
    }.items():
        yield Drawing(name, make, CAPTIONS[name])


def figure1(results: pd.DataFrame) -> Figure | None:
    """Draw quality and non-zeros against the strength of the penalty, a column a dataset."""
    every = FIGURE1.rows(results)
    rows = ended(every)
    if rows.empty:
        return None
    names = sorted(every["dataset"].unique())
    fig, grid = style.panels(3.4 * len(names), 4.6, 2, len(names), squeeze=False, sharex="col")
    looks = {"macro-F1": LOOKS["MEMOIR-l1"], "accuracy": LOOKS["MEMOIR-l2"]}
    for (quality, size), dataset in zip(grid.T, names, strict=True):
        quality.set(title=dataset)
        if dataset not in set(rows["dataset"]):
            for ax in (quality, size):
                style.not_run(ax)
                ax.set_axis_off()
            continue
        by = rows[rows["dataset"] == dataset].groupby("method.strength")
        lines = (
            (quality, "macro_f1", looks["macro-F1"]),
            (quality, "accuracy", looks["accuracy"]),
            (size, "nonzeros", {"color": "black"}),
        )
        for ax, metric, look in lines:
            measurements = {
                at: values(group, metric) if metric == "nonzeros" else measure(group, metric)
                for at, group in by
            }
            measurements = {at: value for at, value in measurements.items() if value.values}
            at = list(measurements)
            means = [value.mean or np.nan for value in measurements.values()]  # no 0 on a log axis
            ax.plot(at, means, marker="o", markersize=3, **look)
            low, high = (
                [end(value.values) for value in measurements.values()] for end in (min, max)
            )
            ax.fill_between(at, low, high, color=look["color"], alpha=0.2)
        quality.set(xscale="log", ylabel="per cent")
        size.set(xlabel="strength", yscale="log", ylabel="non-zeros")
    style.legend(fig, "", looks)
    return fig


def figure2(results: pd.DataFrame) -> Figure | None:
    """Draw a row of panels a dataset, a panel a measure, a bar a method."""
    return _bars(
        {
            (dataset, method, metric): measure(in_time(of(results, dataset, method)), metric).mean
            for dataset in AT_HAND
            for method in OURS
            for metric in PANELS
        },
        AT_HAND,
    )


def figure2_printed() -> Figure | None:
    """Draw the same of the numbers that Table 3 prints."""
    return _bars(
        {
            (dataset, method, metric): printed("Table 3", dataset, method, metric)
            for dataset in DATASETS
            for method in OURS
            for metric in PANELS
        },
        [*DATASETS],
    )


def _bars(means: Means, datasets: Sequence[str]) -> Figure | None:
    methods = [name for name in OURS if any(_measured(means, other, name) for other in datasets)]
    names = [name for name in datasets if any(_measured(means, name, other) for other in OURS)]
    if not methods:
        return None
    fig, grid = style.panels(10, 2.2 * len(names) + 1, len(names), 4, squeeze=False)
    colours = [LOOKS[method]["color"] for method in methods]
    for axes, dataset in zip(grid, names, strict=True):
        for ax, (metric, label) in zip(axes, PANELS.items(), strict=True):
            heights = [means[dataset, method, metric] for method in methods]
            ax.bar(range(len(methods)), heights, color=colours)
            ax.set(
                title=label,
                yscale="log" if metric in COSTS else "linear",
                xticks=[],
                axisbelow=True,
            )
        axes[0].set_ylabel(dataset)
    looks = {name: {"color": LOOKS[name]["color"], "linewidth": 6} for name in methods}
    style.legend(fig, "", looks)
    return fig


def _measured(means: Means, dataset: str, method: str) -> bool:
    return not np.isnan(means[dataset, method, "accuracy"])


def batches(results: pd.DataFrame, curves: pd.DataFrame) -> Figure | None:
    """Draw held-out macro-F1 against batches, a panel a dataset and variant."""
    panels = list(levelling(results).groupby(["dataset", "variant"]))
    if not panels:
        return None
    fig, (axes,) = style.panels(3.6 * len(panels), 3.2, 1, len(panels), squeeze=False)
    looks = {"memoir_l2": LOOKS["MEMOIR-l2"], "memoir_l1": LOOKS["MEMOIR-l1"]}
    for ax, ((dataset, variant), rows) in zip(axes, panels, strict=True):
        for row in rows.to_dict("records"):
            curve = curves[curves["cell"] == row["cell"]]
            curve = curve.reindex(columns=["iteration", "validation_macro_f1"]).dropna()
            ax.plot(curve["iteration"], 100 * curve["validation_macro_f1"], **looks[row["method"]])
        ax.set(title=f"{dataset}, {variant}", xlabel="batches")
    fig.axes[0].set_ylabel("held-out macro-F1 (%)")
    style.legend(fig, "", looks)
    return fig
