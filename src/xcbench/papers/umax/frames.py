"""What the tables of the U-max report take from the measured rows."""

from __future__ import annotations

import numpy as np
import pandas as pd

from xcbench.papers import LOSS
from xcbench.papers.frames import Values, part, values
from xcbench.papers.umax.names import METHODS
from xcbench.report.summary import ENDED

TWICE = "train_log_loss_softmax_twice"
ERROR = "train_error"
BIASED = ("ove", "nce", "is")
RECORDED = dict.fromkeys(BIASED, TWICE)  # what the published evaluation recorded, else the log loss
PUBLISHED_NAME = {ours: name for name, ours in METHODS.items()}


def recorded(method: str) -> str:
    """Column with the number that the published evaluation recorded for a method."""
    return RECORDED.get(method, LOSS)


def ratios(results: pd.DataFrame, grid: str, dataset: str, method: str, column: str) -> Values:
    """Loss of a method over that of Implicit SGD, seed by seed."""
    own = part(results, grid, dataset=dataset, method=method)
    base = part(results, grid, dataset=dataset, method="implicit").set_index("seed")
    below = own["seed"].map(base[LOSS].where(base["status"].isin(ENDED)))
    return values(own.assign(ratio=own.get(column, np.nan) / below), "ratio")
