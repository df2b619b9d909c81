"""The tables of the MEMOIR paper, on the data at hand, and its claims as ratios."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd

from xcbench.core.metrics import of_column
from xcbench.papers import Lines, Measured
from xcbench.papers.memoir.experiments import (
    AT_HAND,
    BEYOND,
    DATASETS,
    FACTORS,
    MEASURES,
    MEMOIR,
    VARIANTS,
    in_time,
    levelling,
    measure,
    of,
    printed,
)
from xcbench.show.formats import NONE

SHOWN = {
    "train_time": "train s",
    "predict_time": "predict s",
    "total_memory": "weights MB",
    "accuracy": "accuracy %",
    "macro_f1": "macro-F1 %",
}
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


def ends(rows: pd.DataFrame) -> str:
    """Lowest and highest accuracy over seeds."""
    shares = measure(rows, "accuracy").values
    return f"{min(shares):.2f} to {max(shares):.2f}" if shares else NONE


def ratios(measured: Measured) -> Lines:
    """What the paper claims: each measure of a method relative to another's."""
    for (method, base), metric in product(RATIOS, MEASURES):
        of_method, of_base = (
            np.array([printed("Table 3", name, it, metric) for name in DATASETS])
            for it in (method, base)
        )
        quotients = (of_method / of_base)[~np.isnan(of_method / of_base)]
        ends = f"{min(quotients):.3g} to {max(quotients):.3g}" if len(quotients) else NONE
        line = {
            "of": method,
            "relative to": base,
            "what": SHOWN[metric],
            "printed, lowest to highest": ends,
        }
        for dataset, variant in product(AT_HAND, VARIANTS):
            first, second = (
                of(measured.results, dataset, it, variant if it in MEMOIR else "code")
                for it in (method, base)
            )
            ratio = measure(in_time(first), metric).mean / measure(in_time(second), metric).mean
            line[f"{dataset}, {variant}"] = NONE if np.isnan(ratio) else f"{ratio:.3g}"
        yield line


def dense_memory(measured: Measured) -> Lines:
    """Printed memory of LIBLINEAR's models beside that of K·D numbers; from printed numbers."""
    for name in DATASETS:
        K, D = (printed("Table 1", name, "", metric) for metric in ("classes", "dimension"))
        memory, size = printed("Table 3", name, "OVR", "total_memory"), 8 * K * D / 1e6
        yield {
            "dataset": name,
            "OVR and M-SVM, printed GB": f"{memory / 1000:.4g}",
            "8 K D bytes, GB": f"{size / 1000:.4g}",
            "ratio": f"{memory / size:.3f}",
        }


def printed_batches(measured: Measured) -> pd.DataFrame:
    """Batches of another size, as printed of LSHTC1."""
    names = ("iterations_T", "train_time", *QUALITY)
    lines = [
        ["LSHTC1, printed", f"{factor} sqrt K"]
        + [f"{printed('Table 2', 'LSHTC1', f'MEMOIR |b|={factor}*sqrt(C)', it):g}" for it in names]
        for factor in FACTORS
    ]
    shown = ("batches T", *(SHOWN[name] for name in names[1:]))
    return pd.DataFrame(lines, columns=["dataset", "batch", *shown]).assign(remark="")


# ---------------------------------------------------------------- T
def levels_off(curve: pd.DataFrame) -> float:
    """Batches after which held-out macro-F1 levels off.

    The paper stops "when it does not improve significantly for 5-10 iterations". Here that is the
    first checkpoint that no later one within `WITHIN` batches exceeds by a share of `LEVEL`. It
    needs that many batches behind it; nan where there is none.

    Parameters
    ----------
    curve : checkpoints of a cell with ``iteration`` and ``validation_macro_f1``.
    """
    points = curve.dropna(subset=["validation_macro_f1"])
    points = points[points["iteration"] > 0].sort_values("iteration")
    t, f = points["iteration"].to_numpy(float), points["validation_macro_f1"].to_numpy(float)
    for i in np.flatnonzero(t + WITHIN <= t.max(initial=0)):
        near = (t > t[i]) & (t <= t[i] + WITHIN)
        if not (f[near] > (1 + LEVEL) * f[i]).any():
            return float(t[i])
    return float("nan")


def table4(measured: Measured) -> Lines:
    """Where held-out macro-F1 levels off, and quality there and at T = 25."""
    rows = levelling(measured.results).sort_values(["dataset", "variant"], kind="stable")
    for row in rows.to_dict("records"):
        curve = measured.curves[measured.curves["cell"] == row["cell"]]
        curve = curve.reindex(columns=["iteration", *CURVES])
        points = curve.set_index("iteration")
        points["test_error"] = 1 - points["test_error"]
        T, held_out = levels_off(curve), points["validation_macro_f1"]
        line = {name: row[name] for name in ("dataset", "variant", "method", "seed")}
        line["T"] = "rises to the end" if np.isnan(T) else f"{T:.0f}"
        for at, when in ((T, "at T"), (25, "at 25")):
            for column, name in CURVES.items():
                share = 100 * points[column].get(at, np.nan)
                line[f"{name} {when}"] = NONE if np.isnan(share) else f"{share:.2f}"
        if held_out.notna().any():
            best = of_column("validation_macro_f1").key(held_out).idxmin()
            line |= {"best held-out macro-F1 %": f"{100 * held_out[best]:.2f}", "at": f"{best:.0f}"}
        yield line
