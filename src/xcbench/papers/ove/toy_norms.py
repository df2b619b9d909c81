"""Distances (Eq. 17) from the parameters of exact softmax, of the classes in the plane."""

from __future__ import annotations

import numpy as np

from xcbench.papers import Measured
from xcbench.papers.frames import ended
from xcbench.papers.ove.experiments import FIGURE1B
from xcbench.papers.ove.weights import FILE, matrix, read


def distance(measured: Measured, method: str) -> float:
    """Sum of the absolute differences over that of softmax; nan where none are kept."""
    cells = ended(FIGURE1B.rows(measured.results))
    table = read(measured.folder / FILE)
    one, exact = (
        [matrix(table, cell) for cell in cells.loc[cells["method"] == name, "cell"]]
        for name in (method, "softmax")
    )
    if not one or not exact or one[0] is None or exact[0] is None:
        return float("nan")
    return float(np.abs(one[0] - exact[0]).sum() / np.abs(exact[0]).sum())


def ove(measured: Measured) -> list[float]:
    """One-vs-each."""
    return [it for it in [distance(measured, "ove")] if np.isfinite(it)]


def bouchard(measured: Measured) -> list[float]:
    """Bouchard's bound."""
    return [it for it in [distance(measured, "bouchard")] if np.isfinite(it)]


def shown(measured: Measured, method: str) -> str:
    """A distance in words."""
    return f"{distance(measured, method):.3f}"
