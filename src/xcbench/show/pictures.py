"""Figures on disk: each as PNG, as PDF for papers, and as SVG for pages if it has lines."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
from markupsafe import Markup
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.figure import Figure
from PIL import Image

from xcbench.show import interactive, style
from xcbench.system import durable


class Picture(NamedTuple):
    """A figure on disk, its alternative text and caption; and its SVG, if it has lines."""

    png: Path
    alt: str
    caption: str
    svg: Markup = Markup()

    @property
    def pdf(self) -> Path:
        """The same figure for a paper."""
        return self.png.with_suffix(".pdf")


def save(
    figures: Mapping[str, Figure | None], captions: Mapping[str, str], folder: Path
) -> dict[str, Picture]:
    """Save the figures that there are.

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
        alt = f"{caption.split('. ')[0].removesuffix('.')}. The numbers are in the tables."
        pictures[name] = Picture(png, alt, caption, write(figure, png))
    return pictures


def write(figure: Figure, png: Path) -> Markup:
    """Write a figure as PNG and PDF, the same bytes whenever it is drawn from the same numbers.

    Returns
    -------
    Markup
        The figure as SVG for a page, where it has lines of a legend (`interactive.svg`).
    """
    with style.look():
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        image = Image.fromarray(np.asarray(canvas.buffer_rgba()), "RGBA")
        image.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(
            png, optimize=True, dpi=(figure.dpi, figure.dpi)
        )  # 256 colours are plenty, at a third of the size
        figure.set_layout_engine("none")  # laid out once, for all files
        content = io.BytesIO()  # on a full disk, Matplotlib would fail in a way of its own
        FigureCanvasPdf(figure).print_pdf(content, metadata={"CreationDate": None})
        png.with_suffix(".pdf").write_bytes(content.getvalue())
        return interactive.svg(figure, png.stem)


@contextmanager
def replacing(folder: Path) -> Iterator[Path]:
    """A new folder of this name, which takes the place of the old one when all is drawn."""
    scratch, new = durable.sibling(folder), durable.sibling(folder)
    drawn = scratch / folder.name  # whose name is in the links
    drawn.mkdir(parents=True)
    try:
        yield drawn
        drawn.rename(new)
        durable.replace_folder(new, folder)
    finally:
        durable.remove(scratch)
        durable.remove(new)


def slug(label: str) -> str:
    """Turn a label into part of a file name: ``ove (bias=true)`` becomes ``ove-bias=true``."""
    return re.sub(r"[^\w.=+-]+", "-", label).strip("-")
