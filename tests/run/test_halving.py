"""``halving=3``: rungs of a sweep, of which the best points by validation rows go on."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from workspace import Workspace

RATES = 0.003, 0.03, 0.3, 1, 3, 10, 30
SWEEP = (
    *("-m", "mlflow=false", "dataset=digits", "method=umax,ove", "seed=0,1"),
    *(f"method.lr={','.join(map(str, RATES))}", "evaluation.validation=0.25", "budget.epochs=9"),
)
NUMBERS = ["method", "lr", "seed", "budget.epochs", "status", "validation_log_loss"]


def numbers(workspace: Workspace) -> pd.DataFrame:
    """The last checkpoint of every cell."""
    curves = workspace.frame("grid=rungs", "--curves").groupby("cell").tail(1)
    return curves[NUMBERS].sort_values(NUMBERS[:4]).reset_index(drop=True)


def test_the_best_thirds_go_on_whatever_the_workers(workspace: Workspace) -> None:
    ended = workspace.run(*SWEEP, "halving=3", "grid=rungs").succeeded()
    assert "halving: 1 epochs of 28 points; the best 12 go on" in ended.out
    frame = numbers(workspace)
    assert frame["budget.epochs"].value_counts().to_dict() == {1: 28, 3: 12, 9: 4}
    for epochs, number in ((1, 3), (3, 1)):
        rung = frame[frame["budget.epochs"] == epochs]
        loss = rung["validation_log_loss"].where(rung["status"] != "diverged", np.inf)
        means = rung.assign(loss=loss).groupby(["method", "lr"])["loss"].mean()
        best = {name: {*some.nsmallest(number).index} for name, some in means.groupby("method")}
        later = frame[frame["budget.epochs"] == 3 * epochs]
        for name, points in best.items():
            assert points == {(name, lr) for lr in later.loc[later["method"] == name, "lr"]}
    again = workspace.run(*SWEEP, "halving=3", "workers=2").succeeded()
    assert again.out.count("every cell was there already") == 3, "the same command goes on"
    other = Workspace(workspace.path / "other")
    other.path.mkdir()
    other.run(*SWEEP, "halving=3", "workers=2", "grid=rungs").succeeded()
    assert_frame_equal(numbers(other), frame, check_exact=True)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("halving=3",), "set evaluation.validation=0.1"),
        (("halving=1", "evaluation.validation=0.1"), "halving=1 ends no point early"),
        (("halving=2,3", "evaluation.validation=0.1"), "halving cannot be swept"),
        (("halving=3", "evaluation.validation=0.1", "hydra/launcher=joblib"), "knows no rungs"),
    ],
)
def test_what_is_not_possible(words: tuple[str, ...], sentence: str, workspace: Workspace) -> None:
    ended = workspace.run("-m", "dataset=digits", "method=umax", "method.lr=0.1,1", *words)
    ended.refused(sentence)
    assert not workspace.cells()
