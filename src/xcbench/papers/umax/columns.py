"""What claims of the U-max paper measure by code: sizes of files, rates that a search chooses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from omegaconf import OmegaConf

from xcbench import options
from xcbench.papers import LOSS
from xcbench.papers.claims import Number
from xcbench.papers.frames import Values, ended, values
from xcbench.papers.umax.names import DATASETS, METHODS, recorded
from xcbench.report.summary import at_best_rate

EXPECTED = {"classes": "labels", "dimension": "features", "examples": "train"}


def _expected(it: Number) -> float:
    dataset = DATASETS[it.dataset.removesuffix("-13K")]
    known = OmegaConf.load(options.folder() / "dataset" / f"{dataset}.yaml")
    name = EXPECTED[it.metric.removesuffix("_original")]
    return float(OmegaConf.select(known, f"expected.{name}", default=0))


def file_size(it: Number, variant: str, rows: pd.DataFrame) -> Values:
    """The size that files must have to be read, where they were."""
    found, expected = values(rows, "shape.classes"), _expected(it)
    return replace(found, values=(expected,) if found.values and expected else ())


def file_reason(it: Number) -> str:
    """What the size is."""
    return f"files of {_expected(it):.0f} are read"


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
    """Losses at the chosen rate and at those beside it, to see how sharp the choice is."""
    column = recorded(METHODS[it.method], variant)
    best, shown = chosen_rate(rows, column), []
    for rate in (best / 10, best, best * 10):
        own = rows[np.isclose(rows["lr"].astype(float), rate, rtol=1e-6)]
        if len(own):
            shown.append(f"{rate:g}: {values(own, column).text(3)}")
    return "losses of the search: " + ", ".join(shown)
