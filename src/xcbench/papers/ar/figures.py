"""The figures of the A&R paper: bounds against training time; one objective, three methods."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from xcbench.papers import LOSS, Measured
from xcbench.papers.ar.experiments import (
    BOUND,
    DATASETS,
    NAME,
    UNIFICATION,
    UNIFICATION_ADAPTIVE,
    cells,
    seconds,
)
from xcbench.papers.rows import ended, values
from xcbench.show import style
from xcbench.show.curves import CLOCKS, draw_line, over_seeds
from xcbench.show.panels import SOFT
from xcbench.show.pictures import Drawing
from xcbench.show.summary import at_best_rate

LOOKS: style.Styles = {
    "ar_softmax": {"color": style.OTHERS[0]},
    "ove": {"color": style.COLOURS["ove"], "linestyle": "--"},
    "softmax": {"color": style.COLOURS["softmax"], **style.REFERENCE},
    "umax": {"color": style.COLOURS["umax"], "linestyle": "--"},
    "implicit": {"color": style.COLOURS["implicit"], "linestyle": "-."},
    "adaptive": {"color": style.OTHERS[0], "linestyle": ":"},
}
FIGURE2 = {"ar_softmax": "softmax A&R", "ove": "OVE", "softmax": "exact softmax"}
ONE_OBJECTIVE = {"ar_softmax": "softmax A&R", "umax": "U-max", "implicit": "Implicit SGD"}
BELOW = 4.0  # where an axis ends, in distances between the ends of the bounds
CAPTIONS = {
    "figure2": "Figure 2: bounds of all training rows against training time, with the code's "
    "settings. A point "
    "is the mean of the estimates in a hundredth of the iterations, on the drawn rows and classes; "
    "lines are means over seeds, bands reach from the lowest to the highest. Seconds are epochs "
    "times the seconds an epoch of Table 2, measured with no other job on that core. Exact "
    "softmax: its log-likelihood at the end of its own run; on Omniglot it was not run.",
    "unification": "One objective, three methods (beyond the paper): the double sum u + e^(-u) (1 "
    "+ sum of odds) - 1 is minus the bound of softmax A&R with u = log eta. The methods differ in "
    "how u moves: a step towards the estimated optimum (A&R), a gradient step with a reset "
    "(U-max), an implicit step. Bibtex, one row and one class a step, each at the best of six "
    "rates; all by the NumPy engine, so that the clock compares methods.",
}


def drawings(measured: Measured) -> Iterator[Drawing]:
    """Both figures."""
    for name, figure in (("figure2", figure2), ("unification", unification)):
        yield Drawing(name, partial(figure, measured.results, measured.curves), CAPTIONS[name])


def figure2(results: pd.DataFrame, curves: pd.DataFrame) -> Figure | None:
    """Draw the five panels; one without its data is an empty box."""
    here = [
        printed
        for printed in DATASETS
        if len(ended(cells(results, printed, "A&R softmax")))
        and seconds(results, printed, "A&R softmax").values
    ]
    if not here:
        return None
    wide = [3.0 if printed in here else 1.8 for printed in DATASETS]
    fig, panels = style.panels(sum(wide), 3.3, 1, len(wide), width_ratios=wide)
    for ax, printed in zip(panels, DATASETS, strict=True):
        ax.set(title=printed, xlabel="training seconds")
        if printed not in here:
            style.not_run(ax)
            ax.tick_params(left=False, labelleft=False, bottom=False, labelbottom=False)
            continue
        ends = []
        for method in FIGURE2:
            runs = ended(cells(results, printed, NAME[method]))
            if runs.empty:
                continue
            if method == "softmax":
                likelihood = values(runs, BOUND).mean
                ax.axhline(likelihood, **LOOKS[method])
                ends.append(likelihood)
                continue
            merged = curves.merge(runs[["cell", "shape.train"]], on="cell")
            merged["whole"] = BOUND.of(merged)
            merged["seconds"] = merged["epoch"] * seconds(results, printed, NAME[method]).mean
            line = over_seeds(merged, "whole", "seconds")
            draw_line(ax, line, LOOKS[method])
            ends.append(line["mean"].iloc[-1])
        high, low = max(ends), min(ends)
        room = (high - low) or abs(high)
        ax.set_ylim(low - BELOW * room, high + 0.5 * room)
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.3g}"))
    fig.axes[0].set_ylabel("bound (nats)")
    style.legend(fig, "", {FIGURE2[name]: LOOKS[name] for name in FIGURE2})
    return fig


def unification(results: pd.DataFrame, curves: pd.DataFrame) -> Figure | None:
    """Draw the training loss of the three methods against epochs and against time."""
    rows = UNIFICATION.rows(results)
    chosen = {}
    for method, name in ONE_OBJECTIVE.items():
        runs = rows[rows["method"] == method]
        best = ended(at_best_rate(runs)) if len(ended(runs)) else runs[:0]
        if len(best):
            chosen[f"{name}, rate {best['lr'].iloc[0]:g}"] = (best, LOOKS[method])
    adaptive = UNIFICATION_ADAPTIVE().of(results)
    if len(adaptive):
        chosen["softmax A&R, its own minibatches and adaptive steps"] = (
            adaptive,
            LOOKS["adaptive"],
        )
    if not chosen:
        return None
    fig, panels = style.panels(9, 3.6, 1, 2, sharey=True)
    for ax, (clock, label) in zip(panels, CLOCKS.items(), strict=True):
        ends = []
        for rows, look in chosen.values():
            line = over_seeds(curves[curves["cell"].isin(rows["cell"])], LOSS, clock)
            draw_line(ax, line, look)
            ends.append(line["at"].max())
        style.fit_seconds(ax, ends) if clock == "train_seconds" else None
        ax.set_xlabel(label)
    fig.axes[0].set_ylabel(style.AXIS[LOSS])
    fig.axes[0].annotate(
        "Bibtex", (0.98, 0.97), xycoords="axes fraction", ha="right", va="top", color=SOFT
    )
    style.legend(fig, "", {name: look for name, (_, look) in chosen.items()})
    return fig
