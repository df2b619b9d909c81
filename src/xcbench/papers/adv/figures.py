"""Figure 1 of the adversarial-softmax paper: learning curves against training time."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from xcbench.papers import Measured
from xcbench.papers.adv.experiments import FIGURE1_LARGE
from xcbench.papers.adv.frames import ACCURACY, LIKELIHOOD, compared
from xcbench.papers.adv.names import DATASETS, HERE, PROPOSED, SHOWN
from xcbench.papers.frames import ended, evaluated
from xcbench.show import pictures, style
from xcbench.show.curves import draw_line, over_seeds
from xcbench.show.pictures import Picture

LOOKS: style.Styles = {
    PROPOSED: {"color": "#117733"},
    "frequency-based neg. sampling": {"color": style.OTHERS[0], "linestyle": "--"},
    "NCE": {"color": style.KNOWN["ove"], "linestyle": "-."},
    "uniform neg. sampling": {"color": style.KNOWN["vanilla"], "linestyle": ":"},
    "A&R": {"color": style.KNOWN["umax"], "linestyle": (0, (8, 2))},
    "OVE": {"color": style.OTHERS[4], "linestyle": (0, (3, 1, 1, 1))},
}
CAPTION = (
    "Figure 1: log likelihood and accuracy of test rows against training seconds (of the wall "
    "clock, one run after the other on the same machine), every method at its own tuned rate and "
    "regulariser. Negative sampling predicts with log p_n added to its scores (Eq. 5). Lines are "
    "means over seeds, bands reach from the lowest to the highest. Methods with the tree start "
    "further to the right, by the time of its fit. A&R and OVE run for 50 epochs, the others "
    "100. Below, the paper's four panels, with its linear hours: their features are not here."
)
HOURS = 4  # of the printed axes
BELOW = 1.5  # an axis of log likelihoods ends at so many times the lowest start


def draw(measured: Measured, folder: Path) -> dict[str, Picture]:
    """Draw Figure 1, if anything of it ran, and save it in a folder, which exists."""
    with style.look():
        figures = {"figure1": figure1(measured.results, measured.curves)}
    return pictures.save(figures, {"figure1": CAPTION}, folder)


def figure1(results: pd.DataFrame, curves: pd.DataFrame) -> Figure | None:
    """Draw two panels a dataset that ran, log likelihood and accuracy, and a box a printed one."""
    chosen = {dataset: compared(results, dataset) for dataset in HERE}
    shown = [dataset for dataset in HERE if chosen[dataset]]
    if not shown:
        return None
    measures = {LIKELIHOOD: "log likelihood (nats a test row)", ACCURACY: "accuracy"}
    absent = [
        name
        for name, dataset in DATASETS.items()
        if ended(FIGURE1_LARGE.rows(results, dataset=dataset)).empty
    ]
    heights = [3.0] * len(shown) + [1.5] * len(absent)
    fig = Figure(figsize=(10, 0.5 + sum(heights)), layout="constrained")
    panels = fig.subplots(len(heights), 2, squeeze=False, height_ratios=heights)
    for name, pair in zip(absent, panels[len(shown) :], strict=True):
        _boxes(pair, name)
    for dataset, pair in zip(shown, panels, strict=False):
        for ax, (measure, label) in zip(pair, measures.items(), strict=True):
            points = curves.assign(value=evaluated(curves, measure))
            starts = []
            for name, cells in chosen[dataset].items():
                line = over_seeds(
                    points[points["cell"].isin(cells["cell"])], "value", "train_seconds"
                )
                if len(line):
                    draw_line(ax, line, LOOKS[name])
                    starts.append(line["mean"].iloc[0])
            if measure == LIKELIHOOD:
                ax.set_ylim(bottom=max(ax.get_ylim()[0], BELOW * min(starts)))
            ax.set(title=SHOWN[dataset], xlabel="training seconds", ylabel=label, xscale="log")
    style.legend(fig, "", LOOKS)
    return fig


def _boxes(pair: Iterable[Axes], name: str) -> None:
    """Draw the axes of a printed pair of panels whose data are not here."""
    for ax, label in zip(pair, ("pred. log likelihood", "pred. accuracy"), strict=True):
        style.not_run(ax)
        ax.set(title=name, xlabel="training time (hours)", xlim=(0, HOURS))
        ax.set_ylabel(label, fontsize="small")
        ax.tick_params(left=False, labelleft=False)
