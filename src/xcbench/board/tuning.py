"""Random search with the same number of trials for every method, and the choice by validation.

All methods share the same points of the unit square. One axis is the rate, relative to the method's
default; the other is the weight decay. A method that lacks one of them uses the other alone, or its
own penalty.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pandas as pd

from xcbench.board.protocol import PENALTIES, Protocol
from xcbench.config.settings import Config
from xcbench.core.dataset import Info
from xcbench.methods import registry
from xcbench.methods.method import Method, default_rate
from xcbench.methods.options import MethodOptions
from xcbench.plan import planning
from xcbench.plan.planning import Job
from xcbench.store.cell import ENDED as ENDED
from xcbench.store.ordering import best_first, best_of_each

POINT = ("lr", "method.l2", *(f"method.{name}" for name in PENALTIES))


def tuned(method: Method, settings: MethodOptions) -> list[str]:
    """Names of the options of a method that are tuned, at most two."""
    return [*(["lr"] if method.has_rate(settings) else []), *filter(None, [settings.tuned])]


def with_options(settings: Config, options: Mapping[str, Any]) -> Config:
    """A cell with other options of its method, named with or without ``method.``."""
    values = {name.removeprefix("method."): value for name, value in options.items()}
    return replace(settings, method=replace(settings.method, **values))


def trials(protocol: Protocol, settings: Config, info: Info) -> list[Config]:
    """Trial points of a method on a dataset; the first is its defaults, without weight decay."""
    method = registry.method_of(settings.method)
    names = tuned(method, settings.method)
    if not names:
        return [settings]
    unit = np.random.default_rng(protocol.search_seed).random((protocol.trials - 1, 2))
    drawn = [
        {
            name: _value(protocol, method, settings, info, name, u)
            for name, u in zip(names, place, strict=False)
        }
        for place in unit
    ]
    points = [settings, *(with_options(settings, options) for options in drawn)]
    return [point for point in points if not method.impossible(point.method)]


def jobs(protocol: Protocol, settings: Config) -> list[Job]:
    """Cells of the trials; where a method cannot run on a dataset, one that says why."""
    (first,) = planning.jobs([settings], complete=False)
    if not isinstance(first.info, Info):
        return [first]
    return planning.jobs(trials(protocol, settings, first.info), complete=False)


def _value(
    protocol: Protocol, method: Method, settings: Config, info: Info, name: str, u: float
) -> float:
    """An option at a place 0 ≤ u < 1 of its scale."""
    if name == "l2":
        low, high = np.log10(protocol.decay)
        return rounded(10 ** (low + (high - low) * u))
    decades = protocol.rate_decades if name == "lr" else protocol.option_decades
    centre = default_rate(method, settings.method, info) if name == "lr" else None
    centre = float(asdict(settings.method)[name]) if centre is None else centre
    value = rounded(centre * 10 ** (decades * (2 * u - 1)))
    return min(value, 1.0) if name == "alpha" else value


def rounded(value: float) -> float:
    """Round to three digits."""
    return float(f"{value:.3g}")


def criterion(rows: pd.DataFrame, every_label: bool) -> str:
    """Column by which a method is tuned and stopped early.

    The log loss if the method has probabilities; else precision at 1 if all labels of a row count;
    else the error.
    """
    losses = rows.get("validation_log_loss")
    if losses is not None and losses.notna().any():
        return "validation_log_loss"
    return "validation_precision_at_1" if every_label else "validation_error"


def best(rows: pd.DataFrame, curves: pd.DataFrame, every_label: bool) -> dict[str, float] | None:
    """Best settings of a method on a task; None if no trial finished."""
    ended = rows[rows["status"].isin(ENDED)]
    of_these = curves[curves["cell"].isin(ended["cell"])]
    column = criterion(of_these, every_label)
    if column not in of_these or of_these[column].isna().all():
        return None
    first = best_first(best_of_each(of_these, column, "cell"), column).iloc[0]
    row = ended[ended["cell"] == first["cell"]].iloc[0]
    return {name: float(row[name]) for name in POINT if name in row and pd.notna(row[name])}
