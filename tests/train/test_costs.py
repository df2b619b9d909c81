"""Macro-F1, seconds, memory and non-zeros: what a cell cost and how rare classes fare."""

from __future__ import annotations

import mmap
import time

import numpy as np
import pytest
from sklearn.metrics import f1_score, precision_score, recall_score

from workspace import Workspace
from xcbench.core.metrics import costs, macro_f1s
from xcbench.core.models.linear import LinearModel
from xcbench.system.memory import MIB, PROCESS, PeakMemory

LINUX = pytest.mark.skipif(not PROCESS.exists(), reason="no /proc")


@pytest.mark.parametrize("seed", range(5))
def test_macro_f1_is_scikit_learns(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = np.minimum(rng.geometric(0.2, 300), 25)
    predicted = np.where(rng.random(300) < 0.4, y, rng.integers(0, 30, 300))
    measures = macro_f1s(y, predicted)
    assert measures["macro_f1"] == pytest.approx(f1_score(y, predicted, average="macro"))
    precision = precision_score(y, predicted, average="macro", zero_division=0)
    recall = recall_score(y, predicted, average="macro", zero_division=0)
    harmonic = 2 / (1 / precision + 1 / recall)
    assert measures["macro_f1_of_means"] == pytest.approx(harmonic)
    assert abs(harmonic - measures["macro_f1"]) > 1e-3


def test_rows_of_which_no_class_is_told_count_against_their_own_class_alone() -> None:
    y, predicted = np.array([0, 0, 1, 2, 2, 2]), np.array([0, -1, 1, -1, 2, 1])
    measures = macro_f1s(y, predicted)["macro_f1"]
    expected = f1_score(y, predicted, labels=[0, 1, 2], average="macro")
    assert measures == pytest.approx(expected)


def test_macro_f1_of_nothing_right_is_0() -> None:
    measures = macro_f1s(np.array([0, 0, 1]), np.array([2, 2, 2]))
    assert measures == {"macro_f1": 0.0, "macro_f1_of_means": 0.0}


def _touched(mib: int) -> None:
    """Take fresh pages from the system; an array may lie in what was freed before."""
    with mmap.mmap(-1, mib * MIB) as room:
        room[:: mmap.PAGESIZE] = bytes(mib * MIB // mmap.PAGESIZE)


@LINUX
def test_peak_memory_is_of_training_alone() -> None:
    meter = PeakMemory()
    meter.begin()
    _touched(64)  # freed at once: only a high-water mark shows it
    meter.end()
    _touched(256)  # evaluation
    meter.begin()
    meter.end()
    assert 60 < meter.columns()["train_mib"] < 128
    assert meter.columns()["peak_mib"] > meter.columns()["train_mib"]


@LINUX
def test_memory_that_was_freed_before_counts_as_taken_in_training() -> None:
    def arrays() -> list[np.ndarray]:  # small enough to come from the heap
        return [np.ones(8 * 1024) for _ in range(1024)]

    before = arrays()
    pin = np.ones(8 * 1024)  # above them, so that the heap does not shrink by itself
    del before
    meter = PeakMemory()
    meter.begin()
    taken = arrays()
    meter.end()
    assert pin.any() and len(taken) == 1024
    assert meter.columns()["train_mib"] > 60  # of 64


def test_what_a_model_costs() -> None:
    W = np.eye(4, 6, dtype=np.float32)
    from xcbench.core.dataset import Split

    class Slow(LinearModel):
        def predict(self, X):  # type: ignore[no-untyped-def]
            time.sleep(0.05)
            return super().predict(X)

    model = Slow.of(W, np.array([0, 1, 0, 2], np.float32))
    measures = costs(model, Split(np.eye(3, 6, dtype=np.float32), np.arange(3)))
    assert measures["nonzeros"] == 6
    assert measures["model_mib"] * MIB == 4 * (24 + 4)
    assert 0.05 <= measures["predict_seconds"] < 5


def test_columns_of_a_cell(workspace: Workspace) -> None:
    words = "dataset=digits", "method=memoir_l2", "mlflow=false", "method.iterations=3"
    more = "budget.checkpoints=1", "evaluation.costs=true", "evaluation.macro_f1=true"
    done = workspace.run(*words, *more, "save_weights=true", "engine=numpy").succeeded()
    assert "error 0." in done.out
    last = workspace.frame().iloc[0]
    assert last["iteration"] == 3
    assert last["observations"] == 900  # 100 floor(sqrt 10) a batch
    assert np.isnan(last["test_log_loss"])
    assert 0 < last["test_macro_f1"] <= 1
    assert 0 < last["nonzeros"] <= 640
    assert last["model_mib"] * MIB == 8 * last["nonzeros"] + 8 * 11
    if PROCESS.exists():
        assert 0 < last["train_mib"] < last["peak_mib"]
    refused = workspace.xcbench("predict", last["cell"], "rows.txt")
    assert refused.code == 2
    assert "are sparse rows without probabilities" in refused.err
