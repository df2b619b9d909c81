"""What claims of the U-max paper measure by code: sizes of files, rates that a search chooses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from omegaconf import OmegaConf

from xcbench import options
from xcbench.papers import LOSS
from xcbench.papers.frames import Values, ended, values
from xcbench.papers.measures import Number
from xcbench.papers.umax.names import DATASETS, METHODS, recorded
from xcbench.show.summary import at_best_rate

EXPECTED = {"classes": "labels", "dimension": "features", "examples": "train"}


def _expected(number: Number) -> float:
    dataset = DATASETS[number.dataset.removesuffix("-13K")]
    settings = OmegaConf.load(options.folder() / "dataset" / f"{dataset}.yaml")
    name = EXPECTED[number.metric.removesuffix("_original")]
    return float(OmegaConf.select(settings, f"expected.{name}", default=0))


def file_size(number: Number, variant: str, rows: pd.DataFrame) -> Values:
    """The size that files must have to be read, where they were."""
    sizes, expected = values(rows, "shape.classes"), _expected(number)
    return replace(sizes, values=(expected,) if sizes.values and expected else ())


def file_reason(number: Number) -> str:
    """What the size is."""
    return f"files of {_expected(number):.0f} are read"


def chosen_rate(rows: pd.DataFrame, column: str) -> float:
    """Rate with the lowest mean loss of a search; nan where it was not run."""
    rows = rows[rows["status"] != "skipped"]
    best = at_best_rate(rows, column)["lr"] if len(ended(rows)) else rows["lr"][:0]
    return float(best.iloc[0]) if best.nunique() == 1 else float("nan")


def chosen(number: Number, variant: str, rows: pd.DataFrame) -> Values:
    """The chosen rate of a method, and those beside it that the seeds do not tell from it."""
    column = recorded(METHODS[number.method], variant)
    rate = chosen_rate(rows, column)
    if not np.isfinite(rate):
        return Values((), skipped=values(rows, LOSS).skipped)
    return Values((rate,), tied=_tied(rows, column, rate))


def _tied(rows: pd.DataFrame, column: str, best: float) -> tuple[float, ...]:
    """Neighbours of a rate whose mean loss is within the larger of the two spreads."""
    lowest, tied = values(_at(rows, best), column), []
    for rate in (best / 10, best * 10):
        losses = values(_at(rows, rate), column)
        spread = np.nanmax([lowest.spread, losses.spread, 0.0])
        if losses.values and not losses.diverged and losses.mean - lowest.mean <= spread:
            tied.append(rate)
    return tuple(tied)


def _at(rows: pd.DataFrame, rate: float) -> pd.DataFrame:
    return rows[np.isclose(rows["lr"].astype(float), rate, rtol=1e-6)]


def beside(number: Number, variant: str, rows: pd.DataFrame) -> str:
    """Losses at the chosen rate and at those beside it, to see how sharp the choice is."""
    column = recorded(METHODS[number.method], variant)
    best, shown = chosen_rate(rows, column), []
    for rate in (best / 10, best, best * 10):
        at_rate = _at(rows, rate)
        if len(at_rate):
            shown.append(f"{rate:g}: {values(at_rate, column).text(3)}")
    return "losses of the search: " + ", ".join(shown)
