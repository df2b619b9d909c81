"""Plots of the tidy frame, for notebooks."""

from __future__ import annotations

import io
from functools import partial

import pandas as pd
from matplotlib.figure import Figure

from xcbench.errors import UserError
from xcbench.show import curves as drawing
from xcbench.show import style, variants
from xcbench.store import checkpoints

__all__ = ["curves"]


def curves(frame: pd.DataFrame, dataset: str | None = None) -> Figure:
    """Draw losses, errors and bound of every method at its best rate, as in a report.

    Lines are means over seeds; bands span the lowest to the highest seed.

    Parameters
    ----------
    frame : DataFrame
        One row a checkpoint, from ``xcbench.run(..., curves=True)`` or
        ``xcbench.results(curves=True)``.
    dataset : str, optional
        Dataset to draw, if the frame has several.

    Returns
    -------
    Figure
        Shown by a notebook; ``savefig`` writes it to a file.

    Raises
    ------
    UserError
        If the frame has several datasets and none is chosen, or if no cell ended.
    """
    names = sorted(frame["dataset"].unique())
    chosen = dataset or (names[0] if len(names) == 1 else "")
    if chosen not in names:
        raise UserError(f"choose one dataset of the frame: {', '.join(names) or 'it is empty'}")
    part = frame[frame["dataset"] == chosen]
    rows = variants.label(_one_a_cell(part), [])
    with style.look():
        figure = drawing.draw_curves(rows, part, style.line_styles(rows))
    if figure is None:
        raise UserError(
            f"no cell of {chosen} ended; its statuses: {', '.join(sorted(set(rows['status'])))}"
        )
    figure._repr_png_ = partial(_png, figure)  # type: ignore[attr-defined]
    return figure


def _one_a_cell(part: pd.DataFrame) -> pd.DataFrame:
    """The checkpoint that stands for each cell, by which its rate is chosen."""
    if checkpoints.COLUMN in part:
        return part[part[checkpoints.COLUMN].fillna("") != ""]
    return part.groupby("cell", sort=False).tail(1)


def _png(figure: Figure) -> bytes:
    """What a notebook shows."""
    content = io.BytesIO()
    with style.look():
        figure.savefig(content, format="png", dpi=80)
    return content.getvalue()
