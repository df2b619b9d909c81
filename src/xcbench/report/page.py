"""The sections of a report: of every dataset, of cells that are not done, settings, conventions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import pandas as pd

from xcbench.report.figures import DATASETS
from xcbench.show import final_table
from xcbench.show.pictures import Picture
from xcbench.show.section import Section
from xcbench.show.summary import counted
from xcbench.show.table import Table
from xcbench.show.variants import pairs, split, text
from xcbench.store import checkpoints, commits
from xcbench.store.cell import Cell

CONVENTIONS = [
    "Log losses and bounds are means per observation in nats, without any l2 penalty term.",
    "Errors are fractions of observations whose highest score is not their label.",
    "Precision at 1, where rows have several labels: the share of rows whose highest score is that "
    "of any of their labels; rows made of one row count as one.",
    "Train seconds exclude loading and evaluation; compare them only between cells run on the "
    "same machine in the same hour.",
    "The rate of a method is the one with the lowest mean training log loss, or validation log "
    "loss where validation rows were set aside (evaluation.validation), among the rates at which "
    "most seeds ended.",
    "Class prior: test log loss of the frequencies of the classes among the training rows, and "
    "test error of the most frequent class; a method that is worse has learned nothing.",
    "A ± b is the mean and the standard deviation over seeds (n - 1 in the denominator); cells "
    "that diverged, failed or were skipped have no part in it.",
]
CHECKPOINT = {
    checkpoints.LAST: "Numbers are those of the last checkpoint of a cell.",
    checkpoints.BEST: "Numbers are those of the last checkpoint of a cell. Where validation rows "
    "were set aside, they are those of the checkpoint with the lowest validation log loss (of "
    "methods without probabilities: validation error).",
}
EDGE = (
    "A rate marked as lower or upper edge is the lowest or highest that was run: a better one may "
    "lie outside the grid."
)
TWIN = (
    "Synthetic stand-in: this dataset imitates the shape of the real one and nothing else. Never "
    "compare its numbers with a published number."
)
FACTS = {  # of a dataset's shape, where it has them
    "train": "N = {:,} train",
    "test": "{:,} test",
    "test_dropped": "{:,} more test rows dropped: their label is no class",
    "accuracy_ceiling": "accuracy at most {:.4f}: rows differ only in label",
    "features": "D = {:,} features",
    "classes": "K = {:,} classes",
    "nonzeros_per_row": "{:.4g} non-zeros per row",
}
BOLD = "Bold: the best mean of a dataset."
UNDRAWN = f"No figure: figures are drawn for the first {DATASETS} datasets."


def intro(rows: pd.DataFrame, cells: Iterable[Cell]) -> list[str]:
    """How many cells there are, and which code ran them."""
    statuses = counted(rows["status"])
    return [
        f"{len(rows)} cells: {statuses}. A cell is one dataset, method, learning rate and seed.",
        f"Commits of the code: {commits.counted(commits.with_commits(rows, cells))}.",
    ]


def sections(
    cells: Mapping[str, list[Cell]],
    rows: pd.DataFrame,
    table: pd.DataFrame,
    figures: Mapping[str, list[Picture]],
    checkpoint: str,
) -> Iterator[Section]:
    """All sections.

    Parameters
    ----------
    cells : the cells, by label of the dataset.
    rows : their labelled frame.
    table : the final table.
    figures : by label of the dataset.
    checkpoint : rule for the checkpoint that stands for a cell.
    """
    for label, results in table.groupby("dataset", sort=False):
        part = rows[rows["dataset_label"] == label]
        yield _of_dataset(str(label), cells[str(label)], part, results, figures[str(label)])
    not_done = _not_done(rows)
    if len(not_done):
        rights = ("rate", "seed")
        its = Table("Cells not done", not_done, rights, verbatim=True)
        yield Section("Cells not done", tables=[its])
    yield Section("Settings", tables=[Table("Settings", _of_methods(rows), verbatim=True)])
    yield Section("Conventions", items=[*CONVENTIONS, CHECKPOINT[checkpoint]])


def summary(
    cells: Mapping[str, list[Cell]], table: pd.DataFrame, checkpoint: str
) -> Iterator[Section]:
    """The final table of all datasets, with the conventions."""
    notes = [f"**{label}**: {TWIN}" for label in table["dataset"].unique() if is_twin(cells[label])]
    notes += [*CONVENTIONS, CHECKPOINT[checkpoint], *([EDGE] if table["edge"].any() else [])]
    yield Section("Results", tables=[final_table.of(table, BOLD)])
    yield Section("Conventions", items=notes)


def _of_dataset(
    label: str,
    cells: list[Cell],
    rows: pd.DataFrame,
    results: pd.DataFrame,
    figures: list[Picture],
) -> Section:
    edge = [EDGE] if results["edge"].any() else []
    none = "No figure: no cell ended." if results["train_log_loss"].isna().all() else UNDRAWN
    return Section(
        label,
        text=[" · ".join(_shape(cells)), " ".join([BOLD, *edge]), *([] if figures else [none])],
        tables=[
            final_table.of(results.drop(columns="dataset"), f"Results: {label}"),
            Table("Protocol, budget and other settings", _of_data(rows), folded=True),
        ],
        figures=figures,
        notices=[TWIN] if is_twin(cells) else [],
    )


def is_twin(cells: Iterable[Cell]) -> bool:
    """Whether cells of a dataset ran on a synthetic stand-in."""
    return any(cell.dataset.endswith("-twin") or cell.shape.get("twin") for cell in cells)


def _shape(cells: list[Cell]) -> list[str]:
    """Facts of the dataset, and what its protocol costs in test rows and in reachable accuracy."""
    shape = next((cell.shape for cell in cells if cell.shape), None)
    if shape is None:
        return ["shape unknown: the data was never loaded"]
    shown = {name: value for name, value in shape.items() if value or name != "test_dropped"}
    return [words.format(shown[name]) for name, words in FACTS.items() if name in shown]


def _of_data(rows: pd.DataFrame) -> pd.DataFrame:
    """Protocol, budget and the like of a dataset, several values side by side."""
    of_data, _, of_run = split(rows)
    names = [*(name for name in of_data if name.startswith("dataset.protocol.")), *of_run]
    values = {name.removeprefix("dataset."): rows[name].map(text).unique() for name in names}
    recorded = {
        name: [it for it in several if it not in ("", "none")] for name, several in values.items()
    }
    lines = [(name, " or ".join(several)) for name, several in recorded.items() if several]
    return pd.DataFrame(lines, columns=["setting", "value"])


def _of_methods(rows: pd.DataFrame) -> pd.DataFrame:
    """The settings of every method variant, in one line each."""
    _, of_method, _ = split(rows)
    lines = [
        (
            row["method_label"],
            ", ".join(pairs(row, (it for it in of_method if text(row[it]) != "none"))),
        )
        for _, row in rows.drop_duplicates("method_label").iterrows()
    ]
    return pd.DataFrame(lines, columns=["method", "settings"])


def _not_done(rows: pd.DataFrame) -> pd.DataFrame:
    """Cells that did not end, with their reasons."""
    some = rows[rows["status"] != "done"]
    names = {"dataset_label": "dataset", "method_label": "method", "lr": "rate"}
    shown = ["dataset_label", "method_label", "lr", "seed", "status", "message", "cell"]
    return some[shown].rename(columns=names).assign(message=some["message"].fillna(""))
