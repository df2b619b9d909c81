"""Figures of a paper's report: saved, with their captions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from matplotlib.figure import Figure

from xcbench.show import style
from xcbench.show.pictures import Picture


def save(
    figures: Mapping[str, Figure | None], captions: Mapping[str, str], folder: Path
) -> dict[str, Picture]:
    """Save the figures that there are as PNG and PDF.

    Parameters
    ----------
    figures, captions : by name.
    folder : where the files go; it exists.

    Returns
    -------
    dict
        Pictures by name; the first sentence of a caption stands in their place where they cannot
        be seen.
    """
    pictures = {}
    for name, figure in figures.items():
        if figure is None:
            continue
        png, caption = folder / f"{name}.png", captions[name]
        with style.look():
            svg = style.save(figure, png)
        alt = f"{caption.split('. ')[0].removesuffix('.')}. The numbers are in the tables."
        pictures[name] = Picture(png, alt, caption, svg)
    return pictures
