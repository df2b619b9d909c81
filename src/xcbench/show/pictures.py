"""The figures of a dataset, as files: ``<dataset>-curves`` and ``<dataset>-rates``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from markupsafe import Markup

from xcbench.show import style
from xcbench.show.curves import draw_curves
from xcbench.show.rates import draw_rates
from xcbench.show.summary import TRAINING
from xcbench.store.ordering import best_first


class Picture(NamedTuple):
    """A figure on disk, its alternative text and caption; and its SVG, if it has lines."""

    png: Path
    alt: str
    caption: str
    svg: Markup = Markup()

    @property
    def pdf(self) -> Path:
        """The same figure for a paper, see `style.save`."""
        return self.png.with_suffix(".pdf")


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
    drawn: dict[str, list[Picture]] = {str(label): [] for label in table["dataset"]}
    several = len(drawn) > DATASETS
    for dataset in list(drawn)[:DATASETS]:
        part = rows[rows["dataset_label"] == dataset]
        methods = table[table["dataset"] == dataset].reset_index()
        shown = best_first(methods, TRAINING).head(LINES)["method"]
        part = part[part["method_label"].isin(shown)]
        part_curves = curves[curves["cell"].isin(part["cell"])]
        styles = style.line_styles(rows if len(table) <= LINES else part)
        notes = [OUTSIDE]
        if len(methods) > LINES:
            notes.append(
                f"Shown are {LINES} of {len(methods)} methods and variants, those with the lowest "
                "training log loss."
            )
        if several:
            notes.append(f"Figures are drawn for the first {DATASETS} of {len(drawn)} datasets.")
        with style.look():
            for kind, make, caption in (
                ("curves", draw_curves, CURVES),
                ("rates", draw_rates, RATES),
            ):
                figure = make(part, part_curves, styles)
                if figure is None:
                    continue
                png = folder / f"{slug(dataset)}-{kind}.png"
                svg = style.save(figure, png)
                alt = f"{caption.split('.')[0]}: {dataset}. The numbers are in the table."
                drawn[dataset].append(Picture(png, alt, " ".join([caption, *notes]), svg))
    return drawn


def slug(label: str) -> str:
    """Turn a label into part of a file name: ``ove (bias=true)`` becomes ``ove-bias=true``."""
    return re.sub(r"[^\w.=+-]+", "-", label).strip("-")
