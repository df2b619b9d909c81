"""Interactive figures: SVG inside a page, with tooltips and switchable lines (`plot.html`).

Matplotlib draws them, and a record of the axes maps pixels to data. Without scripts, and in print,
they are plain pictures.
"""

from __future__ import annotations

import io
import json
import re
from typing import Any, cast

from markupsafe import Markup
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

INCH = 72.0  # points, the unit of the SVG
HASHED = re.compile(r"\b[a-z][0-9a-f]{10}\b")  # ids that Matplotlib makes
LARGEST = 300_000  # bytes; a larger figure stays an image
SETTINGS: Any = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "xcbench",
    "path.simplify": False,  # every point can be read
}


def svg(fig: Figure, name: str) -> Markup:
    """SVG of a finished figure; empty if its legend has no lines.

    Parameters
    ----------
    name : prefix of all ids, unique in the page.
    """
    looks = _legend(fig)
    drawn = [_mark(ax, i, looks) for i, ax in enumerate(fig.axes)]
    if not any(drawn):
        return Markup()
    content = io.StringIO()
    with rc_context(SETTINGS):
        FigureCanvasSVG(fig).print_svg(content, metadata={"Date": None, "Creator": None})
    text = content.getvalue()
    text = text[text.index("<svg") :]
    for pattern, replacement in (
        (r"(?s)<metadata>.*?</metadata>\s*", ""),
        (r' xmlns(?::xlink)?="[^"]*"', ""),  # inside a page it is known
        (r' (?:d|x|y|transform|points)="[^"]*"', _rounded),
        (r'\bid="', f'id="{name}-'),
        (r'(url\(#|href="#)', rf"\g<1>{name}-"),
    ):
        text = re.sub(pattern, replacement, text)
    record = {
        "labels": [label for _, label in looks],
        "colours": [colour for (colour, _), _ in looks],
        "axes": [_scales(ax) for ax in fig.axes],
    }
    hidden = json.dumps(record).replace("<", "\\u003c")
    figure = f'{numbered(text)}<script type="application/json">{hidden}</script>'
    return Markup(figure) if len(figure) <= LARGEST else Markup()


def numbered(svg: str) -> str:
    """SVG with numbers for Matplotlib's ids, which are hashes of the last digits of a layout."""
    for place, name in enumerate(dict.fromkeys(HASHED.findall(svg))):
        svg = svg.replace(name, f"p{place}")
    return svg


def _rounded(attribute: re.Match[str]) -> str:
    """Places to a hundredth of a point."""
    return re.sub(r"(\d\.\d\d)\d+", r"\1", attribute[0])


Look = tuple[str, str]  # colour and dashes


def _look(line: Line2D) -> Look:
    """How a line is told from others."""
    dashes = line._unscaled_dash_pattern  # type: ignore[attr-defined]  # no public name
    return to_hex(cast("Any", line.get_color())), str(dashes)


def _legend(fig: Figure) -> list[tuple[Look, str]]:
    """Lines of all legends: how they look, and what they are."""
    of_panels = (ax.get_legend() for ax in fig.axes)
    legends = [*fig.legends, *(legend for legend in of_panels if legend)]
    handles = {
        _look(line): text.get_text()
        for legend in legends
        for line, text in zip(legend.legend_handles, legend.get_texts(), strict=True)
        if isinstance(line, Line2D)
    }
    return [*handles.items()]


def _mark(ax: Axes, number: int, looks: list[tuple[Look, str]]) -> int:
    """Give lines and bands of the legend ids that tell their axes and place; how many there are."""
    places = {look: place for place, (look, _) in enumerate(looks)}
    of_colour = {look[0]: place for look, place in reversed(places.items())}
    lines = [line for line in ax.lines if _look(line) in places]
    for copy, line in enumerate(lines):
        line.set_gid(f"line-{number}-{places[_look(line)]}-{copy}")
        of_colour[_look(line)[0]] = places[_look(line)]
    for copy, band in enumerate(ax.collections):
        if isinstance(band, PolyCollection) and len(band.get_facecolor()):
            place = of_colour.get(to_hex(cast("Any", band.get_facecolor())[0]))
            if place is not None:
                band.set_gid(f"band-{number}-{place}-{copy}")
    return len(lines)


def _scales(ax: Axes) -> dict[str, object]:
    """Where the axes are on the paper, from its top left, and what their ends mean."""
    fig = ax.get_figure(root=True)
    assert fig is not None
    width, height = (INCH * inches for inches in fig.get_size_inches())
    box = ax.get_position()
    return {
        "box": [
            round(number, 3)
            for number in (
                box.x0 * width,
                (1 - box.y1) * height,
                box.width * width,
                box.height * height,
            )
        ],
        "x": [*map(float, ax.get_xlim()), ax.get_xscale()],
        "y": [*map(float, ax.get_ylim()), ax.get_yscale()],
    }
