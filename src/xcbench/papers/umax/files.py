"""Sizes of the files of the U-max paper's datasets, which they must have to be read."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
from omegaconf import OmegaConf

from xcbench import options
from xcbench.papers.claims import Number
from xcbench.papers.frames import Values, values
from xcbench.papers.umax.names import DATASETS

EXPECTED = {"classes": "labels", "dimension": "features", "examples": "train"}


def _expected(it: Number) -> float:
    dataset = DATASETS[it.dataset.removesuffix("-13K")]
    known = OmegaConf.load(options.folder() / "dataset" / f"{dataset}.yaml")
    name = EXPECTED[it.metric.removesuffix("_original")]
    return float(OmegaConf.select(known, f"expected.{name}", default=0))


def size(it: Number, variant: str, rows: pd.DataFrame) -> Values:
    """The size that files must have to be read, where they were."""
    found, expected = values(rows, "shape.classes"), _expected(it)
    return replace(found, values=(expected,) if found.values and expected else ())


def reason(it: Number) -> str:
    """What the size is."""
    return f"files of {_expected(it):.0f} are read"
