"""Tables that the MEMOIR paper lacks: a setting varied, and thousands of classes."""

from __future__ import annotations

from itertools import product

import pandas as pd

from xcbench.papers.frames import part
from xcbench.papers.memoir.frames import measure, of, remark
from xcbench.papers.memoir.names import MEMOIR, METHODS, READINGS
from xcbench.papers.memoir.tables import QUALITY, measured, number
from xcbench.papers.report import all_but
from xcbench.papers.section import Table
from xcbench.report.formats import NONE


def variants(
    rows: pd.DataFrame, column: str, heading: str, caption: str, seeds: bool = False
) -> Table:
    """Quality and costs by dataset, method and the values of a setting.

    Parameters
    ----------
    seeds : whether the lowest and highest accuracy over the seeds are told.
    """
    lines = []
    keys = ["dataset", "method", column]
    for (dataset, method, value), own in rows.groupby(keys) if len(rows) else ():
        line = {"dataset": dataset, "method": method, heading: _setting(value)}
        line |= measured(own, ("train_time", "total_memory", *QUALITY))
        line["non-zeros"] = number(own, "nonzeros")
        found = measure(own, "accuracy").values
        if seeds and found:
            line["accuracy %, lowest to highest"] = f"{min(found):.2f} to {max(found):.2f}"
        lines.append({**line, "remark": remark(own)})
    columns = list(lines[0]) if lines else ["dataset", "method", heading, "remark"]
    frame = pd.DataFrame(lines, columns=columns)
    return Table(caption, frame, all_but(frame, "dataset", "method", heading, "remark"))


def _setting(value: object) -> str:
    return f"{value:g}" if isinstance(value, float | int) else str(value)


def strengths(results: pd.DataFrame) -> Table:
    """Figure 1 in numbers."""
    caption = "Figure 1: strength of the l1 penalty against quality and memory, as published"
    return variants(part(results, "figure1"), "method.strength", "strength", caption)


def constants(results: pd.DataFrame) -> Table:
    """With and without the constant feature."""
    caption = "With the feature that is always 1, and without; five seeds, as published, T = 25"
    column = "dataset.protocol.constant"
    return variants(part(results, "constant"), column, "constant", caption, seeds=True)


def margin_oracles(results: pd.DataFrame) -> Table:
    """Other margin oracles."""
    caption = (
        "MEMOIR-l2 as published with other margin oracles; a random class is Eq. 2, SimpleLSH has "
        "64 bits and no SVD, of weights as they are or (scaled) over the longest; the graph is "
        "nmslib's, on citeulike of one seed. 0: without the feature that is always 1"
    )
    rows = part(results, "oracles")
    if len(rows):
        constant = rows["dataset.protocol.constant"].map("{:g}".format)
        rows = rows.assign(oracle=rows["method.oracle"].str.cat(constant, sep=", constant "))
    return variants(rows, "oracle", "oracle", caption)


def large(results: pd.DataFrame) -> Table:
    """Citeulike by number of classes, with the accuracy that no classifier can exceed."""
    found = []
    for place, (method, reading) in enumerate(product(METHODS, READINGS)):
        rows = of(results, "citeulike", method, reading)
        if reading == "as_published" and method != "MEMOIR-LSH":
            further = "citeulike" if method in MEMOIR else "citeulike_baselines"
            rows = pd.concat([rows, part(results, further, method=METHODS[method])])
        groups = rows.groupby("shape.classes") if "shape.classes" in rows else ()
        found += [(K, place, method, reading, own) for K, own in groups]
    lines = []
    for K, _, method, reading, own in sorted(found, key=lambda it: it[:2]):
        ceiling = own["shape.accuracy_ceiling"].iloc[0]
        lines.append(
            {
                "K": f"{K:,.0f}",
                "method": method,
                "reading": reading.replace("_", " ") if method in MEMOIR else NONE,
                **measured(own, ("train_time", "total_memory", *QUALITY, "precision_at_1")),
                "ceiling of accuracy %": f"{100 * ceiling:.2f}",
                "remark": remark(own),
            }
        )
    frame = pd.DataFrame(lines, columns=None if lines else ["K", "method", "reading", "remark"])
    caption = (
        "citeulike, a row per article and tag, by number of classes; precision@1 is accuracy over "
        "its ceiling. With K = 8,310 all that ran, with more classes MEMOIR-l2 and -l1 as "
        "published, and the baselines. No ±: one seed"
    )
    return Table(caption, frame, all_but(frame, "method", "reading", "remark"))
