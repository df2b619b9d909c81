"""The tables of the MEMOIR paper, and those that it lacks."""

from __future__ import annotations

import numpy as np
import pandas as pd

from xcbench.papers.frames import part, values
from xcbench.papers.memoir.frames import MEASURES, measure, of, oracle, printed
from xcbench.papers.memoir.names import (
    AT_HAND,
    DATASETS,
    FACTORS,
    MEMOIR,
    METHODS,
    READINGS,
    WITHOUT_PACKAGE,
)
from xcbench.papers.report import all_but
from xcbench.papers.section import Table
from xcbench.report.formats import NONE
from xcbench.report.summary import ENDED

SHOWN = {
    "train_time": "train s",
    "predict_time": "predict s",
    "total_memory": "weights MB",
    "accuracy": "accuracy %",
    "macro_f1": "macro-F1 %",
}
DIGITS = {"train_time": 1, "predict_time": 1, "total_memory": 1, "accuracy": 2, "macro_f1": 2}
QUALITY = ("accuracy", "macro_f1")
RATIOS = (  # measure, method, relative to
    ("total_memory", "MEMOIR-l2", "OVR"),
    ("total_memory", "MEMOIR-l1", "MEMOIR-l2"),
    ("total_memory", "MEMOIR-LSH", "MEMOIR-l2"),
    ("train_time", "MEMOIR-l2", "OVR"),
    ("train_time", "MEMOIR-LSH", "MEMOIR-l2"),
    ("predict_time", "MEMOIR-l2", "OVR"),
    ("predict_time", "MEMOIR-l1", "MEMOIR-l2"),
    ("accuracy", "MEMOIR-l2", "OVR"),
    ("macro_f1", "MEMOIR-l2", "OVR"),
    ("macro_f1", "MEMOIR-l1", "MEMOIR-l2"),
    ("macro_f1", "MEMOIR-LSH", "MEMOIR-l2"),
    ("accuracy", "MEMOIR-l2", "class sums by cosine"),
    ("macro_f1", "MEMOIR-l2", "class sums by cosine"),
)
PEAK = "peak MiB beyond the rows"
LEVEL = 0.01  # macro-F1 levels off where it gains less than this share of itself
WITHIN = 10  # in so many batches


def table3(results: pd.DataFrame) -> Table:
    """The five measures of every method on the data at hand, and what each row leaves open."""
    lines = []
    for dataset in AT_HAND:
        for method in METHODS:
            for reading in READINGS:
                rows = of(results, dataset, method, reading)
                if len(rows):
                    own = method in MEMOIR
                    lines.append(
                        {
                            "dataset": dataset,
                            "method": method,
                            "reading": reading.replace("_", " ") if own else NONE,
                            **_measured(rows),
                            PEAK: _number(rows, "train_mib"),
                            "non-zeros": _number(rows, "nonzeros"),
                            "remark": remark(rows),
                        }
                    )
        lines += [
            {"dataset": dataset, "method": method, "remark": "not run: no package"}
            for method in WITHOUT_PACKAGE
        ]
    columns = ["dataset", "method", "reading", *SHOWN.values(), PEAK]
    frame = pd.DataFrame(lines, columns=[*columns, "non-zeros", "remark"])
    caption = (
        "Table 3 on the data at hand, beside no printed number: times (for orientation), size of "
        "the weights, accuracy, macro-F1 as scikit-learn has it; mean ± spread over seeds. "
        "citeulike: a row per article and tag, K = 8,310; there MEMOIR-LSH without SVD"
    )
    return Table(caption, frame, all_but(frame, "dataset", "method", "reading", "remark"))


def _measured(rows: pd.DataFrame, metrics: tuple[str, ...] = MEASURES) -> dict[str, str]:
    """Measures as text; what was not run, or did not end, is a remark."""
    found = {name: measure(rows, name) for name in metrics}
    return {
        SHOWN[name]: own.text(DIGITS[name]) if own.values else NONE for name, own in found.items()
    }


def _number(rows: pd.DataFrame, column: str) -> str:
    """Mean and spread of a column, where there are values."""
    found = values(rows, column)
    return found.text(0) if found.values else NONE


def remark(rows: pd.DataFrame) -> str:
    """Why cells were not run or did not end as they should."""
    bad = rows[rows["status"] != "done"]
    said = [
        str(row["message"]) if isinstance(row.get("message"), str) else str(row["status"])
        for row in bad.to_dict("records")
    ]
    return "; ".join(dict.fromkeys(said))


def ratios(results: pd.DataFrame) -> Table:
    """What the paper claims: each measure of a method relative to another's."""
    lines = []
    for metric, method, base in RATIOS:
        known = [
            printed("Table 3", name, method, metric) / printed("Table 3", name, base, metric)
            for name in DATASETS
        ]
        known = [ratio for ratio in known if not np.isnan(ratio)]
        line = {
            "what": SHOWN[metric],
            "of": method,
            "relative to": base,
            "printed, lowest to highest": f"{min(known):.3g} to {max(known):.3g}"
            if known
            else NONE,
        }
        for dataset in AT_HAND:
            here, there = (measure(of(results, dataset, name), metric) for name in (method, base))
            both = here.values and there.values
            line[dataset] = f"{here.mean / there.mean:.3g}" if both else NONE
        lines.append(line)
    frame = pd.DataFrame(lines)
    caption = (
        "The claims as ratios: MEMOIR near its rivals in quality at a fraction of their memory and "
        "time, l1's share of l2's memory, and what MEMOIR adds to class sums. As published; means "
        "over seeds; times are for orientation"
    )
    return Table(caption, frame, all_but(frame, "what", "of", "relative to"))


def dense_memory() -> Table:
    """Printed memory of LIBLINEAR's models beside that of K·D numbers; from printed numbers."""
    lines = []
    for name in DATASETS:
        K, D = (printed("Table 1", name, "", metric) for metric in ("classes", "dimension"))
        memory, size = printed("Table 3", name, "OVR", "total_memory"), 8 * K * D / 1e6
        lines.append(
            {
                "dataset": name,
                "OVR and M-SVM, printed GB": f"{memory / 1000:.4g}",
                "8 K D bytes, GB": f"{size / 1000:.4g}",
                "ratio": f"{memory / size:.3f}",
            }
        )
    frame = pd.DataFrame(lines)
    caption = "Printed memory of OVR and M-SVM beside a dense matrix of K·D numbers of eight bytes"
    return Table(caption, frame, all_but(frame, "dataset"))


def table2(results: pd.DataFrame) -> Table:
    """Batches of another size on the data at hand, beside the printed row of LSHTC1."""
    lines = []
    for factor in FACTORS:
        name = f"MEMOIR |b|={factor}*sqrt(C)"
        known = {
            SHOWN[metric]: f"{printed('Table 2', 'LSHTC1', name, metric):g}"
            for metric in ("train_time", *QUALITY)
        }
        T = f"{printed('Table 2', 'LSHTC1', name, 'iterations_T'):.0f}"
        b = f"{factor} sqrt K"
        lines.append({"dataset": "LSHTC1, printed", "batch": b, "batches T": T, **known})
    for dataset in AT_HAND:
        rows = part(results, "table2", dataset=dataset)
        for n, own in rows.groupby("method.n") if len(rows) else ():
            lines.append(
                {
                    "dataset": dataset,
                    "batch": f"{n:.0f}",
                    "batches T": _number(own, "iteration"),
                    **_measured(own, ("train_time", *QUALITY)),
                    "remark": remark(own),
                }
            )
    frame = pd.DataFrame(lines)
    frame["remark"] = frame.get("remark", pd.Series("", frame.index)).fillna("")
    caption = "Table 2: size of a batch, the number of visited rows fixed; MEMOIR-l2 as published"
    return Table(caption, frame, all_but(frame, "dataset", "batch", "remark"))


# ---------------------------------------------------------------- T
def levels_off(curve: pd.DataFrame) -> float:
    """Batches after which held-out macro-F1 levels off.

    The paper stops "when it does not improve significantly for 5-10 iterations": the first
    checkpoint whose value no later one within `WITHIN` batches exceeds by a share of `LEVEL`.

    Parameters
    ----------
    curve : checkpoints of a cell with ``iteration`` and ``validation_macro_f1``.
    """
    known = curve.dropna(subset=["validation_macro_f1"])
    known = known[known["iteration"] > 0].sort_values("iteration")
    t, f = known["iteration"].to_numpy(float), known["validation_macro_f1"].to_numpy(float)
    for i in range(len(t)):
        near = (t > t[i]) & (t <= t[i] + WITHIN)
        if not (f[near] > (1 + LEVEL) * f[i]).any():
            return float(t[i])
    return float("nan")


def table4(results: pd.DataFrame, curves: pd.DataFrame) -> Table:
    """Where held-out macro-F1 levels off, and what it is there, at T = 25 and at its best."""
    lines = []
    rows = part(results, "table4")
    for row in rows[rows["status"].isin(ENDED)].to_dict("records"):
        curve = curves[curves["cell"] == row["cell"]]
        f1 = 100 * curve.set_index("iteration")["validation_macro_f1"]
        T = levels_off(curve)
        lines.append(
            {
                "dataset": row["dataset"],
                "method": row["method"],
                "T": f"{T:.0f}",
                "macro-F1 % there": f"{f1.get(T, np.nan):.2f}",
                "at T = 25": f"{f1.get(25, np.nan):.2f}",
                "best": f"{f1.max():.2f}",
                "at": f"{f1.idxmax():.0f}",
            }
        )
    columns = ["dataset", "method", "T", "macro-F1 % there", "at T = 25", "best", "at"]
    frame = pd.DataFrame(lines, columns=columns)
    caption = (
        "Table 4's T: the first checkpoint after which held-out macro-F1 gains no more than 1 % of "
        "itself in ten batches. Table 3 takes T = 25, as for LSHTC1 and in the code"
    )
    return Table(caption, frame, all_but(frame, "dataset", "method"))


# ---------------------------------------------------------------- what the paper lacks
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
        line |= _measured(own, ("train_time", "total_memory", *QUALITY))
        line["non-zeros"] = _number(own, "nonzeros")
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
    caption = "20news with the feature that is always 1, and without; five seeds, as published"
    column = "dataset.protocol.constant"
    return variants(part(results, "constant"), column, "constant", caption, seeds=True)


def margins(results: pd.DataFrame) -> Table:
    """Other margin oracles."""
    caption = (
        "MEMOIR-l2 as published with other margin oracles; a random class is Eq. 2, SimpleLSH has "
        "64 bits and no SVD, the graph is nmslib's"
    )
    return variants(part(results, "oracles"), "method.oracle", "oracle", caption)


def large(results: pd.DataFrame) -> Table:
    """Citeulike by number of classes, with the accuracy that no classifier can exceed."""
    lines = []
    grids = ("table3_as_published", "table3_baselines", "citeulike", "citeulike_baselines")
    known = pd.concat([part(results, name, dataset="citeulike") for name in grids])
    known = pd.concat([known, oracle(results, "citeulike", "simple_lsh")])
    name = {ours: printed for printed, ours in METHODS.items() if printed != "MEMOIR-LSH"}
    order = {ours: place for place, ours in enumerate(name)}
    lsh = known.get("method.oracle", pd.Series("", known.index)) == "simple_lsh"
    known = known.assign(lsh=lsh, place=known["method"].map(order))
    keys = ["shape.classes", "lsh", "place", "method"]
    for (K, is_lsh, _, method), own in known.groupby(keys) if "shape.classes" in known else ():
        ceiling = values(own.assign(status="done").head(1), "shape.accuracy_ceiling").mean
        share = measure(own, "accuracy")
        lines.append(
            {
                "K": f"{K:,.0f}",
                "training rows": f"{own['shape.train'].iloc[0]:,.0f}",
                "method": "MEMOIR-LSH" if is_lsh else name[str(method)],
                **_measured(own, ("train_time", "total_memory", *QUALITY)),
                "ceiling %": f"{100 * ceiling:.2f}",
                "accuracy / ceiling": f"{share.mean / (100 * ceiling):.3f}"
                if share.values
                else NONE,
                "precision@1": values(own, "test_precision_at_1").text() if share.values else NONE,
                "remark": remark(own),
            }
        )
    columns = ["K", "training rows", "method"]
    columns += [SHOWN[it] for it in ("train_time", "total_memory", *QUALITY)]
    columns += ["ceiling %", "accuracy / ceiling", "precision@1", "remark"]
    frame = pd.DataFrame(lines, columns=columns)
    caption = (
        "citeulike, a row per article and tag: rows of an article differ in their tag alone, so "
        "that no classifier exceeds the ceiling; accuracy / ceiling is the precision at 1 of the "
        "articles, up to their weights. Labels of at least 5, 3, 2 and 1 rows; as published"
    )
    return Table(caption, frame, all_but(frame, "method", "remark"))
