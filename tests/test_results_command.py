"""The tidy frame of a sweep: its columns, formats, filters and grids."""

from __future__ import annotations

import json
import math
import os

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from workspace import FINAL_METRICS, NewWorkspace, Outcome, Workspace

COLUMNS = [
    *("cell", "status", "dataset", "method", "lr", "seed", "engine"),
    *("iteration", "epoch", "observations", "train_seconds", "bound", *FINAL_METRICS),
]
GRID = (
    *("-m", "mlflow=false", "budget.epochs=0.2", "budget.checkpoints=1", "grid=small"),
    *("dataset=digits,zipf", "method=ove,umax", "method.lr=0.01,0.1", "seed=0,1"),
)


@pytest.fixture(scope="module")
def launched(new_workspace: NewWorkspace) -> tuple[Workspace, Outcome]:
    workspace = new_workspace("grid")
    return workspace, workspace.run(*GRID)


@pytest.fixture(scope="module")
def swept(launched: tuple[Workspace, Outcome]) -> Workspace:
    workspace, done = launched
    assert done.code == 0, done.text
    return workspace


@pytest.fixture(scope="module")
def frame(swept: Workspace) -> pd.DataFrame:
    return swept.frame()


def test_sweep_says_what_it_does(launched: tuple[Workspace, Outcome]) -> None:
    workspace, done = launched
    assert done.code == 0, done.text
    assert done.err == ""
    lines = done.out.splitlines()
    for number in range(1, 17):
        assert sum(line.startswith(f"[{number}/16] ") for line in lines) == 1
    assert "16 cells: 16 done" in lines
    assert len(workspace.cells()) == 16
    assert not list(workspace.path.glob("runs/mlflow.db"))
    # Nothing is written outside runs_dir.
    assert os.listdir(workspace.path) == ["runs"]


def test_frame_has_a_row_a_cell_and_its_columns_in_order(
    swept: Workspace, frame: pd.DataFrame
) -> None:
    names = list(frame.columns)
    assert names[: len(COLUMNS)] == COLUMNS
    assert names[-3:] == ["message", "checkpoint", "stale"]
    assert all("." in name for name in names[len(COLUMNS) : -3])
    assert {"method.negatives", "method.batch_size", "budget.epochs", "run.dtype"} < set(names)
    assert set(frame["cell"]) == set(swept.cells())
    points = set(zip(frame["dataset"], frame["method"], frame["lr"], frame["seed"], strict=True))
    assert points == {
        (dataset, method, lr, seed)
        for dataset in ("digits", "zipf")
        for method in ("ove", "umax")
        for lr in (0.01, 0.1)
        for seed in (0, 1)
    }
    assert set(frame["status"]) == {"done"}
    assert frame["engine"].notna().all()
    assert frame["message"].isna().all()
    assert np.isfinite(frame[[*FINAL_METRICS, "train_seconds"]]).all(axis=None)
    for name in ("train_error", "test_error"):
        assert frame[name].between(0, 1).all()
    rows = frame["dataset"].map({"digits": 1437, "zipf": 10000})
    assert (frame["observations"] >= 0.2 * rows - 1).all()
    assert (frame["observations"] <= 0.2 * rows + 100).all()
    assert np.allclose(frame["epoch"], frame["observations"] / rows)
    one_a_step = frame["method"] == "umax"
    assert (frame["iteration"] == frame["observations"])[one_a_step].all()


def test_seeds_differ(frame: pd.DataFrame) -> None:
    pairs = frame.groupby(["dataset", "method", "lr"])["train_log_loss"]
    assert (pairs.nunique() == 2).all()


def test_other_formats_show_the_same(swept: Workspace, frame: pd.DataFrame) -> None:
    shown = swept.xcbench("results", "--format", "json")
    assert shown.code == 0, shown.text
    records = json.loads(shown.out)
    assert [list(record) for record in records] == [list(frame.columns)] * len(frame)
    for name in ("cell", "lr", "seed", *FINAL_METRICS):
        result = pd.Series([record[name] for record in records], name=name)
        assert_frame_equal(result.to_frame(), frame[[name]], rtol=1e-8)
    assert records[0]["message"] is None
    markdown = swept.xcbench("results", "--format", "md")
    assert markdown.code == 0, markdown.text
    head, rule, *body = markdown.out.splitlines()
    names = [part.strip() for part in head.strip("|").split("|")]
    assert names == [*COLUMNS, "checkpoint", "stale"]
    assert set(rule) <= set("|:-")
    assert [row.split("|")[1].strip() for row in body] == list(frame["cell"])


def test_curves_have_a_row_a_checkpoint(swept: Workspace, frame: pd.DataFrame) -> None:
    curves = swept.frame("--curves")
    assert list(curves.columns) == list(frame.columns)
    assert len(curves) == 2 * len(frame)
    start = curves[curves["iteration"] == 0]
    # Weights of zero give every class the same probability.
    assert np.allclose(start["train_log_loss"][start["dataset"] == "digits"], math.log(10))
    assert np.allclose(start["test_log_loss"][start["dataset"] == "zipf"], math.log(1000))
    end = curves[curves["iteration"] > 0].reset_index(drop=True)
    assert_frame_equal(end, frame, check_exact=True, check_dtype=False)


@pytest.mark.parametrize(
    ("words", "number"),
    [
        (["dataset=digits"], 8),
        (["dataset=digits,zipf", "method=umax", "seed=1"], 4),
        (["lr=0.1", "status=done"], 8),
        (["lr=1e-2,0.10", "method.negatives=5", "method.bias=true"], 8),
        (["grid=small", "method=ove"], 8),
        (["dataset=nowhere"], 0),
    ],
)
def test_filters(swept: Workspace, words: list[str], number: int) -> None:
    rows = swept.frame(*words)
    assert len(rows) == number
    assert list(rows.columns[: len(COLUMNS)]) == COLUMNS


def test_grid_selects_the_cells_of_a_launch(swept: Workspace) -> None:
    part = (*GRID[:4], "dataset=digits", "method=ove", "method.lr=0.1", "seed=0,1", "grid=part")
    done = swept.run(*part)
    assert done.code == 0, done.text
    assert "every cell was there already: nothing was run" in done.out
    rows = swept.frame("grid=part")
    assert len(rows) == 2
    assert set(rows["method"]) == {"ove"}
    assert len(swept.frame("grid=small")) == 16
