"""The figure of the paper: losses over epochs, here on stand-ins."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from matplotlib.figure import Figure

from xcbench.papers import Grid, Measured
from xcbench.papers.scent.experiments import LOSSES, LOSSES_CODE, SYSTEMS, rows
from xcbench.show import style
from xcbench.show.curves import draw_line, over_seeds
from xcbench.show.pictures import Drawing

LOOKS: style.Styles = {
    "SCENT": {"color": style.OTHERS[0]},
    "SOX": {"color": style.OTHERS[1]},
    "SOX, falling weights (softmax A&R)": {"color": style.OTHERS[1], "linestyle": ":"},
    "BSGD": {"color": style.COLOURS["is"], "linestyle": "-."},
    "U-max": {"color": style.COLOURS["umax"], "linestyle": "--"},
    "ASGD": {"color": style.COLOURS["vanilla"]},
    "ASGD (softplus)": {"color": style.COLOURS["vanilla"], "linestyle": ":"},
}
METRICS = ("train_log_loss", "test_log_loss")
CAPTIONS = {
    grid: "Training and test loss over epochs on stand-ins, "
    f"{words}; lines are means over seeds, bands reach from the lowest to the highest."
    for grid, words in {
        "losses": "classes drawn uniformly",
        "losses_code": "classes from the minibatch, uncorrected, as in the authors' code",
    }.items()
}


def drawings(measured: Measured) -> Iterator[Drawing]:
    """The figure of each variant."""
    for grid in (LOSSES, LOSSES_CODE):
        yield Drawing(grid.name, partial(losses, measured, grid), CAPTIONS[grid.name])


def losses(measured: Measured, grid: Grid) -> Figure | None:
    """Two panels a dataset: training loss above, test loss below."""
    here = grid.rows(measured.results)["dataset"].unique()
    if not len(here):
        return None
    fig, panels = style.panels(0.5 + 3 * len(here), 5, 2, len(here), sharex="col", squeeze=False)
    for column, dataset in zip(panels.T, here, strict=True):
        column[0].set_title(dataset)
        column[1].set_xlabel("epochs")
        for system in SYSTEMS:
            cells = rows(grid, system).on(str(dataset)).of(measured.results)["cell"]
            curves = measured.curves[measured.curves["cell"].isin(cells)]
            for ax, name in zip(column, METRICS, strict=True):
                line = over_seeds(curves, name, "epoch")
                if len(line):
                    draw_line(ax, line, LOOKS[system])
    for ax, name in zip(panels[:, 0], METRICS, strict=True):
        ax.set_ylabel(style.AXIS[name])
    style.legend(fig, "", LOOKS)
    return fig
