"""The tidy frame of a sweep: its columns, formats, filters and grids."""

from __future__ import annotations

import io
import json
import math
import os
import pty
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from pandas.testing import assert_frame_equal

from made_cells import make
from workspace import FINAL_METRICS, NewWorkspace, Outcome, Workspace
from xcbench.store import cells

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
    shown = swept.xcbench("results", "--format", "json").succeeded()
    records = json.loads(shown.out)
    assert [list(record) for record in records] == [list(frame.columns)] * len(frame)
    for name in ("cell", "lr", "seed", *FINAL_METRICS):
        result = pd.Series([record[name] for record in records], name=name)
        assert_frame_equal(result.to_frame(), frame[[name]], rtol=1e-8)
    assert records[0]["message"] is None
    markdown = swept.xcbench("results", "--format", "md").succeeded()
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
    # The class prior: the entropy of nearly equal classes, and of a power law.
    of_digits = start["train_log_loss"][start["dataset"] == "digits"]
    assert np.allclose(of_digits, math.log(10), atol=1e-3) and (of_digits < math.log(10)).all()
    assert (start["test_log_loss"][start["dataset"] == "zipf"] < 0.9 * math.log(1000)).all()
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
    done = swept.run(*part).succeeded()
    assert "every cell was there already: nothing was run" in done.out
    rows = swept.frame("grid=part")
    assert len(rows) == 2
    assert set(rows["method"]) == {"ove"}
    assert len(swept.frame("grid=small")) == 16


def test_parquet_has_the_frame_with_types(swept: Workspace, frame: pd.DataFrame) -> None:
    done = swept.xcbench("results", "--format", "parquet", "out=results.parquet").succeeded()
    assert not done.out, done.text
    table = pq.read_table(swept.path / "results.parquet")
    assert table.column_names == list(frame.columns)
    for name, kind in (("seed", "int64"), ("lr", "double"), ("method.bias", "bool")):
        assert str(table.schema.field(name).type) == kind, name
    for name in ("cell", "method", "lr", "seed", *FINAL_METRICS, "method.negatives"):
        assert_frame_equal(table.to_pandas()[[name]], frame[[name]], check_dtype=False)
    assert table.column("message").null_count == len(frame)


def test_parquet_of_settings_of_several_types_and_of_nothing(workspace: Workspace) -> None:
    for value in (True, "some", 3, None):
        cells.save(workspace.path / "runs", make(own=value))
    for words, number in (((), 4), (("dataset=nowhere",), 0)):
        workspace.xcbench("results", "--format", "parquet", "out=t/all.parquet", *words).succeeded()
        rows = pq.read_table(workspace.path / "t" / "all.parquet").to_pylist()
        assert len(rows) == number
        if rows:
            assert {row["method.own"] for row in rows} == {"True", "some", "3", None}


def test_binary_output_is_for_files_and_pipes(swept: Workspace) -> None:
    command = [sys.executable, "-m", "xcbench", "results", "--format", "parquet"]
    ours, theirs = pty.openpty()
    there = {"cwd": swept.path, "env": swept.environment(), "timeout": 60}
    done = subprocess.run(command, stdout=theirs, stderr=subprocess.PIPE, text=True, **there)
    os.close(theirs)
    os.close(ours)
    assert done.returncode == 2 and "this is a terminal: give out=FILE" in done.stderr
    piped = subprocess.run(command, capture_output=True, **there)
    assert piped.returncode == 0 and piped.stdout[:4] == piped.stdout[-4:] == b"PAR1"
    assert pq.read_table(io.BytesIO(piped.stdout)).num_rows == 16


def test_latex_is_a_tabular_with_escaped_names(swept: Workspace, frame: pd.DataFrame) -> None:
    done = swept.xcbench("results", "--format", "latex", "out=table.tex").succeeded()
    assert not done.out, done.text
    text = (swept.path / "table.tex").read_text()
    assert text.startswith("\\begin{tabular}{") and text.endswith("\\end{tabular}\n")
    head, *rows = [line for line in text.splitlines() if line.endswith("\\\\")]
    names = [part.strip() for part in head.removesuffix("\\\\").split("&")]
    assert names == [name.replace("_", "\\_") for name in (*COLUMNS, "checkpoint", "stale")]
    place = COLUMNS.index("test_log_loss")
    values = [float(row.split("&")[place]) for row in rows]
    assert values == pytest.approx(list(frame["test_log_loss"]), rel=1e-4)
    assert "NaN" not in text and "None" not in text


def test_every_format_goes_to_a_file_or_is_refused(swept: Workspace) -> None:
    for form in ("csv", "json", "md", "latex"):
        printed = swept.xcbench("results", "--format", form)
        assert swept.xcbench("results", "--format", form, "out=file").out == ""
        assert (swept.path / "file").read_text() == printed.out
    (swept.path / "folder").mkdir()
    for words, mention in (
        (("results", "out="), "out= is not possible"),
        (("results", "out=folder"), "folder cannot be written"),
        (("results", "--format", "excel"), "invalid choice: 'excel'"),
        (("launches", "--format", "parquet", "out=folder"), "folder cannot be written"),
    ):
        swept.xcbench(*words).refused(mention)
