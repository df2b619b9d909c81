"""The rates that a search chooses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from xcbench.papers import LOSS
from xcbench.papers.claims import Number
from xcbench.papers.frames import Values, ended, values
from xcbench.papers.umax.names import METHODS, recorded
from xcbench.report.summary import at_best_rate


def chosen_rate(rows: pd.DataFrame, column: str) -> float:
    """Rate with the lowest mean loss of a search; nan where it was not run."""
    rows = rows[rows["status"] != "skipped"]
    best = at_best_rate(rows, column)["lr"] if len(ended(rows)) else rows["lr"][:0]
    return float(best.iloc[0]) if best.nunique() == 1 else float("nan")


def chosen(it: Number, variant: str, rows: pd.DataFrame) -> Values:
    """The chosen rate of a method."""
    rate = chosen_rate(rows, recorded(METHODS[it.method], variant))
    return replace(values(rows, LOSS), values=(rate,) if np.isfinite(rate) else ())


def beside(it: Number, variant: str, rows: pd.DataFrame) -> str:
    """What is next to the chosen rate of a method."""
    return neighbours(rows, recorded(METHODS[it.method], variant))


def neighbours(rows: pd.DataFrame, column: str) -> str:
    """Losses at the best rate and at those beside it, to see how sharp the choice is."""
    best, shown = chosen_rate(rows, column), []
    for rate in (best / 10, best, best * 10):
        own = rows[np.isclose(rows["lr"].astype(float), rate, rtol=1e-6)]
        if len(own):
            shown.append(f"{rate:g}: {values(own, column).text(3)}")
    return "losses of the search: " + ", ".join(shown)
