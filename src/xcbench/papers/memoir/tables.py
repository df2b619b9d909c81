"""The tables of the MEMOIR paper, on the data at hand, and its claims as ratios."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import numpy as np
import pandas as pd

from xcbench.papers import Measured
from xcbench.papers.frames import Cell, once, part, pivot, remark, values
from xcbench.papers.memoir.names import (
    AT_HAND,
    BESIDE,
    BEYOND,
    DATASETS,
    FACTORS,
    MEASURES,
    MEMOIR,
    METHODS,
    VARIANTS,
    WITHOUT_PACKAGE,
    in_time,
    levelling,
    measure,
    of,
    printed,
)
from xcbench.report.formats import NONE

SHOWN = {
    "train_time": "train s",
    "predict_time": "predict s",
    "total_memory": "weights MB",
    "accuracy": "accuracy %",
    "macro_f1": "macro-F1 %",
    "macro_f1_of_means": "macro-F1 of means %",
    "precision_at_1": "precision@1 %",
}
DIGITS = {"train_time": 1, "predict_time": 1, "total_memory": 1}  # of the others: 2
QUALITY = ("accuracy", "macro_f1")
RATIOS = (  # method, relative to
    *(("MEMOIR-l2", base) for base in ("OVR", "RecallTree", *BEYOND)),
    ("MEMOIR-l1", "MEMOIR-l2"),
    ("MEMOIR-LSH", "MEMOIR-l2"),
)
LEVEL = 0.01  # macro-F1 levels off where it gains less than this share of itself
WITHIN = 10  # in so many batches
CURVES = {  # of Table 4
    "validation_macro_f1": "held-out macro-F1 %",
    "test_macro_f1": "test macro-F1 %",
    "test_error": "test accuracy %",
}


def cell(column: str, digits: int = 2) -> Cell:
    """Mean and spread; what was not run, or did not end, is a remark."""

    def text(rows: pd.DataFrame) -> str:
        found = values(rows, column)
        return found.text(digits) if found.values else NONE

    return text


def cells(metrics: Iterable[str]) -> dict[str, Cell]:
    """Measures by their headings."""
    every = {**MEASURES, **BESIDE}
    return {SHOWN[name]: cell(every[name], DIGITS.get(name, 2)) for name in metrics}


def sizes(measured: Measured) -> pd.DataFrame:
    """Sizes of the data at hand, with the accuracy that no classifier can exceed."""
    rows = measured.results[measured.results["dataset"].isin(AT_HAND)]
    rows = rows[rows["grid"].isin(["table1", "citeulike"])]
    groups = rows.groupby(["dataset", "shape.classes"]) if "shape.classes" in rows else ()
    shown = {
        "K": once("shape.classes"),
        "N": once("shape.train"),
        "test rows": once("shape.test"),
        "D": once("shape.features"),
        "test rows dropped": once("shape.test_dropped", missing=0),
        "ceiling of accuracy %": once("100 * `shape.accuracy_ceiling`", ".2f", missing=100),
    }
    return pivot(["dataset"], (((dataset,), own) for (dataset, _), own in groups), shown)


def table3(measured: Measured) -> pd.DataFrame:
    """The five measures of every method on the data at hand, and what each row leaves open."""
    shown = {
        **cells(SHOWN),
        "peak MiB beyond the rows": cell("train_mib", 0),
        "non-zeros": cell("nonzeros", 0),
        "remark": remark,
    }
    parts = []
    for dataset in AT_HAND:
        groups = (
            (
                (dataset, method, variant if method in MEMOIR else NONE),
                of(measured.results, dataset, method, variant),
            )
            for method, variant in product(METHODS, VARIANTS)
        )
        parts.append(pivot(("dataset", "method", "variant"), groups, shown, every=True))
        lacking = {"dataset": dataset, "remark": "not run: no package"}
        parts.append(pd.DataFrame([{**lacking, "method": method} for method in WITHOUT_PACKAGE]))
    return pd.concat(parts)


def ratios(measured: Measured) -> pd.DataFrame:
    """What the paper claims: each measure of a method relative to another's."""
    lines = []
    for (method, base), metric in product(RATIOS, MEASURES):
        known = [
            printed("Table 3", name, method, metric) / printed("Table 3", name, base, metric)
            for name in DATASETS
        ]
        known = [ratio for ratio in known if not np.isnan(ratio)]
        ends = f"{min(known):.3g} to {max(known):.3g}" if known else NONE
        line = {"of": method, "relative to": base, "what": SHOWN[metric]}
        line["printed, lowest to highest"] = ends
        for dataset, variant in product(AT_HAND, VARIANTS):
            own, other = (
                of(measured.results, dataset, it, variant if it in MEMOIR else "code")
                for it in (method, base)
            )
            ratio = measure(in_time(own), metric).mean / measure(in_time(other), metric).mean
            text = NONE if np.isnan(ratio) else f"{ratio:.3g}"
            line[f"{dataset}, {variant}"] = text
        lines.append(line)
    return pd.DataFrame(lines)


def dense_memory(measured: Measured) -> pd.DataFrame:
    """Printed memory of LIBLINEAR's models beside that of K·D numbers; from printed numbers."""
    lines = []
    for name in DATASETS:
        K, D = (printed("Table 1", name, "", metric) for metric in ("classes", "dimension"))
        memory, size = printed("Table 3", name, "OVR", "total_memory"), 8 * K * D / 1e6
        ratio = f"{memory / size:.3f}"
        lines.append([name, f"{memory / 1000:.4g}", f"{size / 1000:.4g}", ratio])
    columns = ["dataset", "OVR and M-SVM, printed GB", "8 K D bytes, GB", "ratio"]
    return pd.DataFrame(lines, columns=columns)


def table2(measured: Measured) -> pd.DataFrame:
    """Batches of another size on the data at hand, beside the printed row of LSHTC1."""
    lines = []
    for factor in FACTORS:
        name = f"MEMOIR |b|={factor}*sqrt(C)"
        T, *known = (
            printed("Table 2", "LSHTC1", name, metric)
            for metric in ("iterations_T", "train_time", *QUALITY)
        )
        texts = (f"{value:g}" for value in known)
        lines.append(["LSHTC1, printed", f"{factor} sqrt K", f"{T:.0f}", *texts, ""])
    names = ("dataset", "batch")
    shown = {
        "batches T": cell("iteration", 0),
        **cells(("train_time", *QUALITY)),
        "remark": remark,
    }
    rows = part(measured.results, "table2")
    rows = rows[rows["dataset"].isin(AT_HAND)]
    groups = (
        ((dataset, f"{n:.0f}"), own)
        for (dataset, n), own in (
            rows.groupby(["dataset", "method.batch_size"]) if len(rows) else ()
        )
    )
    there = pd.DataFrame(lines, columns=[*names, *shown])
    return pd.concat([there, pivot(names, groups, shown, every=True)])


# ---------------------------------------------------------------- T
def levels_off(curve: pd.DataFrame) -> float:
    """Batches after which held-out macro-F1 levels off.

    The paper stops "when it does not improve significantly for 5-10 iterations": the first
    checkpoint whose value no later one within `WITHIN` batches exceeds by a share of `LEVEL`; nan
    where none that has so many batches behind it is such a one.

    Parameters
    ----------
    curve : checkpoints of a cell with ``iteration`` and ``validation_macro_f1``.
    """
    known = curve.dropna(subset=["validation_macro_f1"])
    known = known[known["iteration"] > 0].sort_values("iteration")
    t, f = known["iteration"].to_numpy(float), known["validation_macro_f1"].to_numpy(float)
    for i in np.flatnonzero(t + WITHIN <= t.max(initial=0)):
        near = (t > t[i]) & (t <= t[i] + WITHIN)
        if not (f[near] > (1 + LEVEL) * f[i]).any():
            return float(t[i])
    return float("nan")


def table4(measured: Measured) -> pd.DataFrame:
    """Where held-out macro-F1 levels off, and quality there and at T = 25."""
    lines = []
    rows = levelling(measured.results).sort_values(["dataset", "variant"], kind="stable")
    for row in rows.to_dict("records"):
        curve = measured.curves[measured.curves["cell"] == row["cell"]]
        curve = curve.reindex(columns=["iteration", *CURVES])
        own = curve.set_index("iteration")
        own["test_error"] = 1 - own["test_error"]
        T, held_out = levels_off(curve), own["validation_macro_f1"]
        line = {name: row[name] for name in ("dataset", "variant", "method", "seed")}
        line["T"] = "rises to the end" if np.isnan(T) else f"{T:.0f}"
        for at, when in ((T, "at T"), (25, "at 25")):
            for column, name in CURVES.items():
                found = 100 * own[column].get(at, np.nan)
                line[f"{name} {when}"] = NONE if np.isnan(found) else f"{found:.2f}"
        if held_out.notna().any():
            line["best held-out macro-F1 %"] = f"{100 * held_out.max():.2f}"
            line["at"] = f"{held_out.idxmax():.0f}"
        lines.append(line)
    frame = pd.DataFrame(lines, columns=None if lines else ["dataset", "variant", "method", "T"])
    return frame.fillna(NONE)
