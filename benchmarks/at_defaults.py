"""Classifiers without a choice of settings: ours beside libraries, one label a row.

``python -m benchmarks at_defaults`` writes ``reports/at-defaults.csv`` and a table of
``docs/library.md`` (`benchmarks.comparison`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

import xcbench
from benchmarks import multi_label
from benchmarks.comparison import Comparison, System, kept
from benchmarks.equal_loss import UNIT, Probabilities, losses
from benchmarks.multi_label import Trained
from benchmarks.table import markdown
from xcbench.core.dataset import Dataset

DATASETS: dict[str, dict[str, Any]] = {
    "digits": {},
    "mnist": {"protocol__divide_by": 255},
    "20news": UNIT,
    "bibtex": {"protocol__row_norm": "l2", "protocol__classes": "train"},
    "delicious": {"protocol__row_norm": "l2"},
}
OURS = ("SampledSoftmaxClassifier", "SoftmaxClassifier")


def classifier(data: Dataset, name: str, **settings: Any) -> Iterator[Probabilities | None]:
    """Ours, or one of scikit-learn's; kernels are compiled before."""
    from sklearn import linear_model

    make = getattr(xcbench if name in OURS else linear_model, name)
    X, y = data.train.X, data.train.y
    if name in OURS:
        make(**settings).fit(X[:500], y[:500])
    yield None
    model = make(**settings).fit(X, y)
    assert np.array_equal(model.classes_, np.arange(data.info.classes))
    yield model.predict_proba


def parabel(data: Dataset) -> Iterator[Trained | None]:
    """Trees of omikuji, three, of the one label that the others have."""
    one_label = replace(data, train=replace(data.train, sets=None))
    return multi_label.parabel(one_label, trees=3, seed=0)


def measured(trained: Probabilities | Trained, data: Dataset) -> tuple[float, float]:
    """Log loss and error on the test rows; a label tree has no probabilities of one label."""
    if not isinstance(trained, Trained):
        return losses(trained, data)
    best = np.array([labels[0] for labels in trained.ready(data.test)()])
    return np.nan, float((best != data.test.y).mean())


SYSTEMS: dict[str, System] = {
    **{
        name: (classifier, {data: [{"name": name} | settings] for data in DATASETS})
        for name, settings in {
            **{ours: {} for ours in OURS},
            "LogisticRegression": {},
            "SGDClassifier": {"loss": "log_loss", "random_state": 0},
        }.items()
    },
    "omikuji": (parabel, {data: [{}] for data in DATASETS}),
}


def page(table: pd.DataFrame) -> str:
    """Log loss, error and seconds of every system on every dataset."""
    table = pd.concat(table[table["dataset"] == name] for name in DATASETS)
    shown = pd.DataFrame(
        {
            "data": table["dataset"],
            "K": table["classes"].map("{:,.0f}".format),
            "system": table["system"],
            "log loss": table["test_log_loss"].map("{:.3f}".format),
            "error": table["test_error"].map("{:.3f}".format),
            "s": table["seconds"].map("{:.1f}".format).where(table["status"] == "ended"),
            "status": table["status"],
        }
    )
    return markdown(shown.replace("nan", ""))


COMPARISON = Comparison(
    kept("at-defaults.csv", "at their defaults", page),
    ["test_log_loss", "test_error"],
    measured,
    DATASETS,
    SYSTEMS,
    limit=300.0,
)
run = COMPARISON.run
