"""Pareto fronts."""

from __future__ import annotations

import numpy as np
import pandas as pd

from xcbench.core.metrics import of_column


def front(entries: pd.DataFrame, cost: str, quality: str) -> pd.Index:
    """Pareto front: entries for which no other has a better quality at the same cost or less."""
    columns = {name: of_column(name).key(entries[name]) for name in (cost, quality)}
    keys = pd.DataFrame(columns).dropna().astype(float).sort_values([cost, quality], kind="stable")
    best = keys[quality].cummin().shift(fill_value=np.inf)
    return keys.index[keys[quality] < best]
