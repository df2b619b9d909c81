"""How pages are made: one file that a browser shows without a server and without a network."""

from __future__ import annotations

import base64
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from xcbench.units import printable


def environment() -> Environment:
    """Find templates by their path in the package; every text in them is escaped."""
    made = Environment(
        loader=PackageLoader("xcbench", "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=lambda value: printable(value) if type(value) is str else value,
    )
    made.filters["embedded"] = embedded
    return made


def embedded(png: Path) -> str:
    """Read an image as the address that holds the image itself."""
    return "data:image/png;base64," + base64.b64encode(png.read_bytes()).decode()
