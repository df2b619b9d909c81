"""Figures on disk: each as PNG, as PDF for papers, and as SVG for pages if it has lines."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import numpy as np
from markupsafe import Markup
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.figure import Figure
from PIL import Image

from xcbench.show import interactive, style
from xcbench.system import forks


class Picture(NamedTuple):
    """A figure on disk, its alternative text and caption; and its SVG, if it has lines.

    Attributes
    ----------
    place : the folder that the page finds it in.
    data : the table that it is drawn from, if the page has one too.
    """

    png: Path
    alt: str
    caption: str
    svg: Markup = Markup()
    place: str = "figures"
    data: str = ""

    @property
    def address(self) -> str:
        """Where the page finds it."""
        return f"{self.place}/{quote(self.png.name)}"

    @property
    def pdf(self) -> str:
        """The same figure for a paper."""
        return f"{self.place}/{quote(self.png.with_suffix('.pdf').name)}"


class Drawing(NamedTuple):
    """A figure to draw: a function that makes it, or gives None where nothing ran.

    The first sentence of the caption, or ``alt``, stands in its place where it cannot be seen.
    """

    name: str
    make: Callable[[], Figure | None]
    caption: str
    alt: str = ""


def save(drawings: Iterable[Drawing], folder: Path, data: str = "") -> dict[str, Picture]:
    """Draw figures of a table and save them in a folder, which exists; gives pictures by name."""
    drawn = forks.each(partial(_save, folder, data), drawings)
    return {picture.png.stem: picture for picture in drawn if picture}


def _save(folder: Path, data: str, drawing: Drawing) -> Picture | None:
    """Draw a figure and save it, if there is one."""
    name, make, caption, alt = drawing
    with style.look():
        figure = make()
        if figure is None:
            return None
        png, first = folder / f"{name}.png", caption.split(". ")[0].removesuffix(".")
        alt = alt or f"{first}. The numbers are in the tables."
        return Picture(png, alt, caption, write(figure, png), data=data)


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


def slug(label: str) -> str:
    """Turn a label into part of a file name: ``ove (bias=true)`` becomes ``ove-bias=true``."""
    return re.sub(r"[^\w.=+-]+", "-", label).strip("-")
