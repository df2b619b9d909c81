"""The grids of the SCENT paper, and the systems that it compares by our names."""

from __future__ import annotations

from xcbench.papers import Grid
from xcbench.papers import columns as c
from xcbench.papers.rows import Conditions, Rows

VARIANTS = ["method.dual"]
LOSSES = Grid("losses", also=["losses_scent"], rates_from="rates", variants=VARIANTS)
LOSSES_CODE = Grid(
    "losses_code", also=["losses_code_scent"], rates_from="rates_code", variants=VARIANTS
)
GRIDS = [
    Grid("rates", part="tuning", also=["rates_scent"], extended=True, variants=VARIANTS),
    Grid("rates_code", part="tuning", also=["rates_code_scent"], extended=True, variants=VARIANTS),
    LOSSES,
    LOSSES_CODE,
]

SYSTEMS: dict[str, Conditions] = {
    "SCENT": {c.METHOD: "scent", c.DUAL: "scent"},
    "SOX": {c.METHOD: "scent", c.DUAL: "sox"},
    "SOX, falling weights (softmax A&R)": {c.METHOD: "ar_softmax"},
    "BSGD": {c.METHOD: "css"},
    "U-max": {c.METHOD: "umax"},
    "ASGD": {c.METHOD: "scent", c.DUAL: "asgd"},
    "ASGD (softplus)": {c.METHOD: "lse_softplus"},
}


def rows(grid: Grid, system: str) -> Rows:
    """Rows of one of the paper's systems."""
    conditions = dict(SYSTEMS[system])
    return grid(method=str(conditions.pop(c.METHOD)), where=conditions)
