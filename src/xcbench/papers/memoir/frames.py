"""What the tables of the MEMOIR report take from the measured rows."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from xcbench.papers import published
from xcbench.papers.frames import Values, part, values
from xcbench.papers.memoir.names import METHODS, grid
from xcbench.report.summary import ENDED

MB = 1.048576  # in a MiB
UNITS = {"GB": MB / 1000, "MB": MB}
MEASURES = ("train_time", "predict_time", "total_memory", "accuracy", "macro_f1")


def measure(rows: pd.DataFrame, metric: str, unit: str = "MB") -> Values:
    """A measure of Table 3 in the units that it is printed in, or one beyond it.

    Seconds; MB or GB of the weights; accuracy and macro-F1 (scikit-learn's) in per cent. And
    ``macro_f1_of_means``, as the paper's words have it, and ``precision_at_1``, in per cent.
    """
    empty = pd.Series(float("nan"), rows.index)
    own = {
        "train_time": lambda: rows.get("train_seconds", empty),
        "predict_time": lambda: rows.get("predict_seconds", empty),
        "total_memory": lambda: UNITS.get(unit, MB) * rows.get("model_mib", empty),
        "accuracy": lambda: 100 * (1 - rows.get("test_error", empty)),
        "macro_f1": lambda: 100 * rows.get("test_macro_f1", empty),
        "macro_f1_of_means": lambda: 100 * rows.get("test_macro_f1_of_means", empty),
        "precision_at_1": lambda: 100 * rows.get("test_precision_at_1", empty),
    }
    return values(rows.assign(measured=own[metric]()), "measured")


def of(
    results: pd.DataFrame, dataset: str, method: str, reading: str = "as_published"
) -> pd.DataFrame:
    """Rows of a method of Table 3, as printed, on a dataset of ours."""
    return part(results, grid(method, reading), dataset=dataset, method=METHODS[method])


def levelling(results: pd.DataFrame) -> pd.DataFrame:
    """Rows of Table 4 that ended, with their ``reading``, which the order of rows tells."""
    rows = part(results, "table4")
    rows = rows[rows["status"].isin(ENDED)]
    order = rows.reindex(columns=["method.order"])["method.order"]
    return rows.assign(reading=np.where(order == "iid", "as text", "as published"))


def in_time(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows without the cells that were over their time: many have some of their classes alone."""
    return rows[rows["status"] != "timeout"]


def remark(rows: pd.DataFrame) -> str:
    """Why cells were not run or did not end as they should."""
    bad = rows[rows["status"] != "done"]
    said = [
        str(row["message"]) if isinstance(row.get("message"), str) else str(row["status"])
        for row in bad.to_dict("records")
    ]
    return "; ".join(dict.fromkeys(said))


# by table, dataset, method, metric; of memory in MB
printed = partial(published.number, "memoir", units="MB")
