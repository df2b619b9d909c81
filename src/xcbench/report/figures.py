"""The figures of a dataset, as files: ``<dataset>-curves`` and ``<dataset>-rates``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from xcbench.report import style
from xcbench.report.curves import draw_curves
from xcbench.report.rates import draw_rates


class Picture(NamedTuple):
    """A figure on disk, the text that replaces it, and how to read it."""

    png: Path
    alt: str
    caption: str


CURVES = (
    "Learning curves at the best rate of each method, against epochs (left) and training seconds "
    "(right). Lines are means over seeds, bands reach from the lowest to the highest seed. A "
    "dashed horizontal line with a diamond is a method of which only the end is known."
)
RATES = (
    "Value at the last checkpoint against the learning rate. Points are means over seeds, bars "
    "reach from the lowest to the highest seed, rings are the best rates, triangles lie above the "
    "axis. Crosses above the panels: a seed diverged at this rate. Dashed horizontal lines: "
    "methods without a rate."
)
OUTSIDE = (
    "No axis goes beyond twice the value before training; what lies above is named in the panel."
)


def draw(rows: pd.DataFrame, curves: pd.DataFrame, folder: Path) -> dict[str, list[Picture]]:
    """Draw and save the figures of every dataset.

    Parameters
    ----------
    rows : labelled cells of the whole report.
    curves : their checkpoints.
    folder : where the files go.

    Returns
    -------
    dict
        Figures by label of the dataset; a dataset of which no cell ended has none.
    """
    folder.mkdir()
    styles = style.line_styles(rows)
    drawn: dict[str, list[Picture]] = {}
    for dataset, part in rows.groupby("dataset_label"):
        own = curves[curves["cell"].isin(part["cell"])]
        drawn[str(dataset)] = []
        with style.look():
            for kind, make, caption in (
                ("curves", draw_curves, CURVES),
                ("rates", draw_rates, RATES),
            ):
                figure = make(part, own, styles)
                if figure is None:
                    continue
                png = folder / f"{slug(str(dataset))}-{kind}.png"
                style.save(figure, png)
                alt = f"{caption.split('.')[0]}: {dataset}. The numbers are in the table."
                drawn[str(dataset)].append(Picture(png, alt, f"{caption} {OUTSIDE}"))
    return drawn


def slug(label: str) -> str:
    """Turn a label into part of a file name: ``bibtex (m=5)`` becomes ``bibtex-m=5``."""
    return re.sub(r"[^\w.=+-]+", "-", label).strip("-")
