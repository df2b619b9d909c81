"""Sensitivity to the learning rate."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from xcbench.show import style
from xcbench.show.summary import best
from xcbench.show.variants import natural
from xcbench.store.cell import ENDED

PANELS = [["train_log_loss", "test_log_loss"], ["train_error", "test_error"]]


def draw_rates(rows: pd.DataFrame, curves: pd.DataFrame, styles: style.Styles) -> Figure | None:
    """Draw final losses and errors against the learning rate, and the rates that diverged.

    Parameters
    ----------
    rows : labelled cells of one dataset.
    curves : their checkpoints.
    styles : colour and dashes by label, from `style.line_styles`.

    Returns
    -------
    Figure or None
        None if fewer than two rates were run or no cell ended.
    """
    run = rows[rows["status"].isin([*ENDED, "diverged"])]
    if run["lr"].nunique() < 2 or not run["status"].isin(ENDED).any():
        return None
    labels = sorted(run["method_label"].unique(), key=natural)
    diverged = run[(run["status"] == "diverged") & run["lr"].notna()]
    crossed = [label for label in labels if label in set(diverged["method_label"])]
    strip_height = 0.14 * len(crossed) + 0.05
    heights = [strip_height, 2.6, 2.6]
    fig, (top, *panels) = style.panels(
        10, 5.8 + strip_height, 3, 2, sharex=True, height_ratios=heights
    )
    for ax in top:
        _draw_strip(ax, diverged, crossed, styles)
    top[1].tick_params(labelleft=False)
    for names, pair in zip(PANELS, panels, strict=True):
        for name, ax in zip(names, pair, strict=True):
            _draw_panel(ax, run, name, labels, styles, style.start(curves, name))
            ax.set_ylabel(style.AXIS[name])
    for ax in panels[-1]:
        ax.set(xscale="log", xlabel="learning rate")
    without_rate = set(run.loc[run["lr"].isna(), "method_label"])
    looks = {
        label: styles[label] | (style.REFERENCE if label in without_rate else {"marker": "o"})
        for label in labels
    }
    style.legend(fig, rows["dataset_label"].iloc[0], looks)
    return fig


def over_seeds(run: pd.DataFrame, name: str) -> pd.DataFrame:
    """Mean and range over seeds of a final value, for rates at which no seed diverged."""
    diverged = run.loc[run["status"] == "diverged", "lr"]
    sound = run[~run["lr"].isin(diverged)]
    return sound.groupby("lr", dropna=False)[name].agg(["mean", "min", "max"]).dropna()


def _draw_strip(ax: Axes, diverged: pd.DataFrame, labels: list[str], styles: style.Styles) -> None:
    """Mark the rates that diverged, one line a method; without any the strip is next to nothing."""
    for height, label in enumerate(reversed(labels)):
        rates = diverged.loc[diverged["method_label"] == label, "lr"].unique()
        ax.plot(rates, [height] * len(rates), "x", color=styles[label]["color"], mew=1.6)
    ax.set_ylim(-0.7, len(labels) - 0.3)
    names = [f"{label} diverged" for label in reversed(labels)]
    ax.set_yticks(range(len(labels)), labels=names, fontsize=7.5)
    ax.grid(False)
    ax.set_facecolor("#f4f4f4" if labels else "none")
    ax.spines[:].set_visible(False)
    ax.tick_params(which="both", left=False, bottom=False, labelbottom=False)


def _draw_panel(
    ax: Axes,
    run: pd.DataFrame,
    name: str,
    labels: list[str],
    styles: style.Styles,
    start: float,
) -> None:
    lines = {label: over_seeds(run[run["method_label"] == label], name) for label in labels}
    style.fit_y(ax, {label: line["mean"] for label, line in lines.items()}, name, start)
    for label, line in lines.items():
        look = styles[label]
        if line.index.isna().all():
            for end in line["mean"]:
                ax.axhline(end, **look | style.REFERENCE)
            continue
        ax.plot(line["mean"], marker="o", markersize=3.5, **look)
        ax.vlines(line.index, line["min"], line["max"], color=look["color"], linewidth=1)
        style.mark_outside(ax, line["mean"], name, look)
        best_rate = line["mean"][line.index.isin(best(run[run["method_label"] == label])["lr"])]
        ring = {"markersize": 9, "fillstyle": "none", "color": look["color"]}
        ax.plot(best_rate, linestyle="none", marker="o", **ring)
