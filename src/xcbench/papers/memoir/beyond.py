"""Tables that the MEMOIR paper lacks: a setting varied, and thousands of classes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pandas as pd

from xcbench.papers import Measured
from xcbench.papers.frames import Cell, once, part, pivot, remark
from xcbench.papers.memoir.names import MEMOIR, METHODS, VARIANTS, measure, of
from xcbench.papers.memoir.tables import QUALITY, cell, cells
from xcbench.report.formats import NONE

COSTS = ("train_time", "total_memory", *QUALITY)


def strengths(measured: Measured) -> pd.DataFrame:
    """Figure 1 in numbers."""
    return _variants(part(measured.results, "figure1"), "method.strength", "strength")


def constants(measured: Measured) -> pd.DataFrame:
    """With and without the constant feature."""

    def ends(rows: pd.DataFrame) -> str:
        found = measure(rows, "accuracy").values
        return f"{min(found):.2f} to {max(found):.2f}" if found else NONE

    rows = part(measured.results, "constant")
    more = {"accuracy %, lowest to highest": ends}
    return _variants(rows, "dataset.protocol.constant", "constant", **more)


def margin_oracles(measured: Measured) -> pd.DataFrame:
    """Other margin oracles."""
    rows = part(measured.results, "oracles")
    if len(rows):
        constant = rows["dataset.protocol.constant"].map("{:g}".format)
        rows = rows.assign(oracle=rows["method.oracle"].str.cat(constant, sep=", constant "))
    return _variants(rows, "oracle", "oracle")


def _variants(rows: pd.DataFrame, column: str, heading: str, **more: Cell) -> pd.DataFrame:
    """Quality and costs by dataset, method and the values of a setting."""
    keys = ["dataset", "method", column]
    groups = (
        ((dataset, method, f"{value:g}" if isinstance(value, float | int) else str(value)), own)
        for (dataset, method, value), own in (rows.groupby(keys) if len(rows) else ())
    )
    shown = {**cells(COSTS), "non-zeros": cell("nonzeros", 0), **more, "remark": remark}
    return pivot(("dataset", "method", heading), groups, shown, every=True)


def large(measured: Measured) -> pd.DataFrame:
    """Citeulike by number of classes, with the accuracy that no classifier can exceed."""
    groups = sorted(_by_classes(measured.results), key=lambda it: it[0])  # keeps the methods' order
    shown = {
        **cells((*COSTS, "precision_at_1")),
        "ceiling of accuracy %": once("100 * `shape.accuracy_ceiling`", ".2f"),
        "remark": remark,
    }
    named = (((f"{K:,.0f}", *labels), own) for K, labels, own in groups)
    return pivot(("K", "method", "variant"), named, shown, every=True)


def _by_classes(results: pd.DataFrame) -> Iterator[tuple[Any, tuple[str, str], pd.DataFrame]]:
    for method, variant in product(METHODS, VARIANTS):
        rows = of(results, "citeulike", method, variant)
        if variant == "code" and method != "MEMOIR-LSH":
            further = "citeulike" if method in MEMOIR else "citeulike_baselines"
            rows = pd.concat([rows, part(results, further, method=METHODS[method])])
        shown = variant if method in MEMOIR else NONE
        for K, own in rows.groupby("shape.classes") if "shape.classes" in rows else ():
            yield K, (method, shown), own
