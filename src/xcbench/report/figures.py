"""The figures of every dataset of a report: ``<dataset>-curves`` and ``<dataset>-rates``."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pandas as pd

from xcbench.show import pictures, style
from xcbench.show.curves import draw_curves
from xcbench.show.pictures import Drawing, Picture, slug
from xcbench.show.rates import draw_rates
from xcbench.show.summary import TRAINING
from xcbench.store.ordering import best_first

CURVES = (
    "Learning curves at the best rate of each method, against epochs (left) and training seconds "
    "(right). Lines are means over seeds, bands reach from the lowest to the highest seed. A "
    "dashed horizontal line with a diamond is a method of which only the end is known."
)
RATES = (
    "Values of the table against the learning rate. Points are means over seeds, bars "
    "reach from the lowest to the highest seed, rings are the best rates, triangles lie above the "
    "axis. Crosses above the panels: a seed diverged at this rate. Dashed horizontal lines: "
    "methods without a rate."
)
LINES, DATASETS = 24, 20  # that are drawn at most
OUTSIDE = (
    "No axis goes beyond twice the value before training; what lies above is named in the panel."
)


def draw(
    rows: pd.DataFrame, curves: pd.DataFrame, table: pd.DataFrame, folder: Path
) -> dict[str, list[Picture]]:
    """Draw and save the figures of every dataset, of the first `DATASETS` where there are more.

    Parameters
    ----------
    rows : labelled cells of the whole report.
    curves : their checkpoints.
    table : the final table: where a dataset has more than `LINES` methods and variants, those with
        the lowest training log loss are drawn.
    folder : where the files go.

    Returns
    -------
    dict
        Figures by label of the dataset; none if no cell of a dataset ended.
    """
    folder.mkdir()
    datasets = list(table["dataset"].unique())
    cut = f"Figures are drawn for the first {DATASETS} of {len(datasets)} datasets."
    drawn: dict[str, list[Picture]] = {label: [] for label in datasets}
    for dataset in datasets[:DATASETS]:
        part = rows[rows["dataset_label"] == dataset]
        methods = table[table["dataset"] == dataset].reset_index()
        shown = best_first(methods, TRAINING).head(LINES)["method"]
        part = part[part["method_label"].isin(shown)]
        styles = style.line_styles(rows if len(table) <= LINES else part)
        some = (
            f"Shown are {LINES} of {len(methods)} methods and variants, those with the lowest "
            "training log loss."
        )
        notes = [OUTSIDE, *([some] if len(methods) > LINES else [])]
        notes += [cut] if len(datasets) > DATASETS else []
        name, inputs = slug(dataset), (part, curves[curves["cell"].isin(part["cell"])], styles)
        drawings = [
            Drawing(f"{name}-{kind}", partial(make, *inputs), " ".join([caption, *notes]))
            for kind, make, caption in (
                ("curves", draw_curves, CURVES),
                ("rates", draw_rates, RATES),
            )
        ]
        drawn[dataset] = [*pictures.save(drawings, folder, "curves.csv").values()]
    return drawn
