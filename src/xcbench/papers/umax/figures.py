"""The figures of the U-max paper: what its authors stored beside what was measured here."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pandas as pd
from matplotlib.figure import Figure

from xcbench.papers import Grid, Measured
from xcbench.papers.umax import experiments
from xcbench.papers.umax.experiments import (
    BIASED,
    DATASETS,
    FIGURE2,
    FIGURE3,
    FIGURE3_ONE_PAIR,
    METHODS,
    PUBLISHED_NAME,
    TABLE3_CODE,
    TWICE,
)
from xcbench.show import panels, style
from xcbench.show.panels import COLUMNS
from xcbench.show.pictures import Drawing

STORED_TUNED = "tuned run used for Table 3 (Dec 2017)"
STORED_RERUN = "tuned re-run: Implicit one pass per epoch (Feb 2018)"
STORED_SWEEP = "Eurlex learning-rate sweep (Figs 2-3)"
EURLEX_RATES = {"OVE": 0.1, "NCE": 100.0, "IS": 100.0, "U-max": 0.1, "Implicit SGD": 1.0}


def stored_tuned(authors: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Runs behind Table 3 and Figure 1, labelled by method.

    They are of December 2017, but for Eurlex, of which all methods except vanilla SGD were taken
    from the sweep over rates. The re-run of February 2018 replaces a tuned run that is missing or
    diverged. With it the three runs of vanilla SGD concerned give the ratios of Table 3.

    Parameters
    ----------
    authors : the authors' stored curves.
    dataset : as the paper prints it.
    """
    runs = authors[authors["dataset"] == dataset]
    rate = runs["method"].map(EURLEX_RATES)
    sweep = runs[(runs["run"] == STORED_SWEEP) & (runs["initial_learning_rate"] == rate)]
    sources = [sweep, runs[runs["run"] == STORED_TUNED], runs[runs["run"] == STORED_RERUN]]
    by_method: dict[str, pd.DataFrame] = {}
    for source in sources:
        for method, run in source.groupby("method"):
            if run["train_log_loss_recorded"].notna().all():
                by_method.setdefault(str(method), run)
    return (
        _stored_runs(pd.concat(by_method.values()), "method")
        if by_method
        else pd.DataFrame(columns=COLUMNS)
    )


def stored_sweep(authors: pd.DataFrame, method: str) -> pd.DataFrame:
    """Runs behind Figures 2 and 3, on Eurlex, labelled by learning rate."""
    runs = authors[(authors["run"] == STORED_SWEEP) & (authors["method"] == method)]
    return _stored_runs(runs, "initial_learning_rate")


def _stored_runs(stored: pd.DataFrame, label: str) -> pd.DataFrame:
    stored = stored.sort_values([label, "epoch_index_zero_based"])
    loss = stored["train_log_loss_recorded"]
    finite = loss.notna().groupby(stored[label]).transform("all")
    labels = stored[label].map(lambda value: value if isinstance(value, str) else f"{value:g}")
    return pd.DataFrame(
        {
            "label": labels,
            "cell": labels,
            "status": finite.map({True: "done", False: "diverged"}),
            "epoch": stored["epoch_index_zero_based"] + 1.0,
            "loss": loss,
        }
    )


DASHES = {"ove": "--", "nce": "-.", "is": ":", "vanilla": (0, (8, 2))}
FIGURE2_RATES = [1e2, 1e1, 1.0, 1e-1, 1e-2, 1e-3, 1e-4]
FIGURE3_RATES = [1e3, 1e2, 1e1, 1.0, 1e-1, 1e-2, 1e-3]
DOUBLE_SUMS = {  # our name: its heading, and what the authors call the U-max they ran on it
    "proposed": ("double sum of the paper", "U-max"),
    "raman": ("double sum of Raman et al.", ""),  # never run by them as it is meant
    "raman_code": ("Raman et al., with the code's settings", "U-max (Raman double sum)"),
}
EPOCHS = 50
RATE = "initial learning rate"
FAR = 30.0  # times the loss before training: where axes of Figures 2 and 3 end

READING = (
    "Lines are means over seeds, bands reach from the lowest to the highest seed; a line that ends "
    "in a cross diverged there. The note above a panel names what is not all there and what goes "
    "far beyond the loss before training, where the axis ends."
)
CAPTIONS = {
    "figure1": "Figure 1: training log loss of six methods at their tuned rates. Left: the curves "
    "that the authors stored (vanilla SGD on AmazonCat, Wiki10 and Wiki-small: their re-run of "
    "February 2018, which gives the ratios of Table 3). Middle: measured here as they did it, with "
    "their evaluation, which applies softmax twice for OVE, NCE and IS. Right: the same runs with "
    "the correct log loss.",
    "figure2": "Figure 2: U-max on the double sum of the paper and on that of Raman et al., one "
    "line a learning rate, logarithmic axis. Top: the curves that the authors stored, on Eurlex; "
    "their code for the second sum has two errors, which 'code' repeats.",
    "figure3": "Figure 3: sensitivity to the learning rate, one line a rate. Left: the curves that "
    "the authors stored, on Eurlex. Middle: measured here on {dataset} with the settings of the "
    "text, with two softmaxes in the evaluation of OVE, NCE and IS, and with the errors of the "
    "authors' code for the double sum of Raman et al. (five classes a step). Right: correct log "
    "losses and gradients.",
}


def drawings(measured: Measured) -> Iterator[Drawing]:
    """``figure1``, ``figure2`` and a ``figure3-DATASET`` of every dataset."""
    results, curves, authors = measured.results, measured.curves, experiments.author_runs()
    for name, figure in {"figure1": figure1, "figure2": figure2}.items():
        make = partial(figure, results, curves, authors)
        yield Drawing(name, make, f"{CAPTIONS[name]} {READING}")
    yield from figure3(results, curves, authors)


def figure1(results: pd.DataFrame, curves: pd.DataFrame, authors: pd.DataFrame) -> Figure:
    """Draw Figure 1, a row of panels a dataset: stored, code's settings, correct."""
    cells = in_grids(results, TABLE3_CODE)
    cells["label"] = cells["method"].map(PUBLISHED_NAME)
    looks = {
        name: {"color": style.COLOURS[ours], "linestyle": DASHES.get(ours, "-")}
        for name, ours in METHODS.items()
    }
    rows = {
        name: [stored_tuned(authors, name), runs(group, curves, twice=True), runs(group, curves)]
        for name, ours in DATASETS.items()
        for group in [cells[cells["dataset"] == ours]]
    }
    headings = ["stored by the authors", "measured, their evaluation", "measured, log loss"]
    return _draw(rows, headings, looks, "", shared=True, times=2, log=False)


def figure2(results: pd.DataFrame, curves: pd.DataFrame, authors: pd.DataFrame) -> Figure:
    """Draw Figure 2, a column a double sum: the stored curves on top, below a row a dataset."""
    cells = _by_rate(in_grids(results, FIGURE2))
    cells = cells[cells["method"] == "umax"]
    looks = panels.by_rate([*FIGURE2_RATES, *cells["lr"].dropna()])
    rows = {"Eurlex, stored": [stored_sweep(authors, name) for _, name in DOUBLE_SUMS.values()]}
    for dataset, group in cells.groupby("dataset"):
        rows[f"{printed(str(dataset))}, measured"] = [
            runs(group[double_sum(group) == which], curves) for which in DOUBLE_SUMS
        ]
    headings = [heading for heading, _ in DOUBLE_SUMS.values()]
    return _draw(rows, headings, looks, RATE, shared=True, times=FAR, log=True)


def figure3(
    results: pd.DataFrame, curves: pd.DataFrame, authors: pd.DataFrame
) -> Iterator[Drawing]:
    """Figure 3 of every dataset."""
    raman = in_grids(results, FIGURE2)
    raman = raman[double_sum(raman) != "proposed"]
    cells = _by_rate(pd.concat([in_grids(results, FIGURE3, FIGURE3_ONE_PAIR), raman]))
    looks = panels.by_rate([*FIGURE3_RATES, *cells["lr"].dropna()])
    for dataset, group in cells.groupby("dataset"):
        title = printed(str(dataset))
        make = partial(_figure3, title, group, curves, authors, looks)
        caption = f"{CAPTIONS['figure3'].format(dataset=title)} {READING}"
        yield Drawing(f"figure3-{dataset}", make, caption)


def _figure3(
    title: str,
    cells: pd.DataFrame,
    curves: pd.DataFrame,
    authors: pd.DataFrame,
    looks: style.Styles,
) -> Figure:
    """Draw Figure 3 of a dataset, a row of panels a method: stored, code's settings, correct."""
    rows = {
        name: [stored_sweep(authors, name), runs(code, curves, twice=True), runs(correct, curves)]
        for name, (code, correct) in _methods_of_figure3(cells).items()
    }
    headings = [
        "Eurlex, stored by the authors",
        f"{title}, with the code's settings",
        f"{title}, correct",
    ]
    return _draw(rows, headings, looks, RATE, shared=False, times=FAR, log=True)


def _draw(
    rows: dict[str, list[pd.DataFrame]],
    headings: list[str],
    looks: style.Styles,
    title: str,
    *,
    shared: bool,
    times: float,
    log: bool,
) -> Figure:
    """Draw rows of three panels over the epochs of the paper.

    Parameters
    ----------
    rows : runs of the panels, by the label of the row.
    headings : of the columns.
    looks : what every panel is expected to show.
    title : of the legend.
    shared : the panels of a row share their axis.
    times, log : where the axes end, and whether they are logarithmic (see `panels`).
    """
    options = {"sharex": True, "sharey": "row" if shared else False, "squeeze": False}
    fig, grid = style.panels(10, 0.8 + 2.1 * len(rows), len(rows), 3, **options)
    above = {}
    for (label, panel_runs), axes in zip(rows.items(), grid, strict=True):
        parts = [part[part["label"].isin(looks)] for part in panel_runs]
        for ax, part in zip(axes, parts, strict=True):
            compared = parts if shared else [part]
            end = panels.top(pd.concat(compared), times)
            panels.fit([ax], compared, end, log)
            above[ax] = panels.draw(ax, part, looks, end)
        axes[0].set_ylabel(label.replace(" (", "\n(") + "\ntrain log loss (nats)")
    panels.head(grid[0], headings, max(above[ax] for ax in grid[0]))
    grid[0, 0].set_xlim(0, EPOCHS)
    for ax in grid[-1]:
        ax.set_xlabel("epochs")
    style.legend(fig, title, looks)
    return fig


def _methods_of_figure3(cells: pd.DataFrame) -> dict[str, tuple[pd.DataFrame, pd.DataFrame]]:
    """Cells of each row of Figure 3, by the name in the authors' file: code's settings, correct."""
    one_pair = (setting(cells, "method.batch_size", 0) == 1) & (
        setting(cells, "method.negatives", 0) == 1
    )
    method, sum_ = cells["method"], double_sum(cells)
    umax = method == "umax"
    code = {
        "Implicit SGD": method == "implicit",
        "NCE": (method == "nce") & ~one_pair,
        "NCE (n=1,m=1)": (method == "nce") & one_pair,
        "IS": method == "is",
        "U-max": umax & (sum_ == "proposed"),
        "U-max (Raman double sum)": umax & (sum_ == "raman_code"),
        "OVE": method == "ove",
    }
    correct = code | {"U-max (Raman double sum)": umax & (sum_ == "raman")}
    return {name: (cells[code[name]], cells[correct[name]]) for name in code}


def in_grids(results: pd.DataFrame, *grids: Grid) -> pd.DataFrame:
    """Cells of some grids, each once."""
    names = [grid.name for grid in grids]
    return results[results["grid"].isin(names)].drop_duplicates("cell").copy()


def runs(cells: pd.DataFrame, curves: pd.DataFrame, twice: bool = False) -> pd.DataFrame:
    """Make the runs of a panel from labelled cells.

    Parameters
    ----------
    cells : rows of the results, with a column ``label``.
    curves : one row a checkpoint.
    twice : take the authors' evaluation of OVE, NCE and IS, which applies softmax twice.
    """
    losses = curves.filter(["cell", "epoch", "train_log_loss", TWICE])
    merged = cells[["label", "cell", "status", "method"]].merge(losses, "left", on="cell")
    correct = merged["train_log_loss"]
    recorded = setting(merged, TWICE, float("nan"))
    loss = correct.where(~merged["method"].isin(BIASED), recorded) if twice else correct
    return merged.assign(loss=loss)[panels.COLUMNS]


def setting(rows: pd.DataFrame, name: str, missing: str | float) -> pd.Series:
    """Read a column that only some methods have."""
    return rows[name].fillna(missing) if name in rows else pd.Series(missing, rows.index)


def double_sum(cells: pd.DataFrame) -> pd.Series:
    """Read which double sum a cell minimised; cells from before there was a choice: the paper's."""
    return setting(cells, "method.double_sum", "proposed")


def printed(dataset: str) -> str:
    """Name a dataset as the paper prints it, or as we do where it has no such dataset."""
    return {ours: name for name, ours in DATASETS.items()}.get(dataset, dataset)


def _by_rate(cells: pd.DataFrame) -> pd.DataFrame:
    return cells.assign(label=cells["lr"].map(lambda rate: f"{rate:g}"))
