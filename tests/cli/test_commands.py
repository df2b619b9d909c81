"""Everyday commands: looking at cells, comparing them, removing them, predicting with them."""

from __future__ import annotations

import io
import os
import pty
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from workspace import ZIPF, Outcome, Workspace
from xcbench.cli import main
from xcbench.data import inputs, synthetic
from xcbench.data.settings import SyntheticSettings
from xcbench.store import cells, results
from xcbench.store.cell import Cell
from xcbench.units import readable

QUICK = ("mlflow=false", "save_weights=true", "budget.epochs=0.5", "budget.checkpoints=2")
NewWorkspace = Callable[[str], Workspace]


@pytest.fixture(scope="module")
def made(new_workspace: NewWorkspace) -> Workspace:
    """Cells of several kinds, with weights."""
    workspace = new_workspace("commands")
    launches = [
        ("-m", *QUICK, *ZIPF, "method=ove", "method.lr=0.1,0.2"),
        (
            *QUICK,
            *ZIPF,
            *("method=umax", "method.lr=1e60", "method.step=gradient"),
            "evaluation.softmax_twice=true",
        ),
        (
            *QUICK,
            "dataset=digits",
            "method=umax",
            "method.delta=0.5",
            "dtype=float64",
            "evaluation.top_k=5",
        ),
        (*QUICK, "dataset=eurlex", "dataset.missing=skip", "method=ove"),
    ]
    for launch in launches:
        workspace.run(*launch).succeeded()
    return workspace


@pytest.fixture
def here(made: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the cells, in the current folder."""
    shutil.copytree(made.path / "runs" / "cells", tmp_path / "runs" / "cells")
    shutil.copytree(made.path / "runs" / "grids", tmp_path / "runs" / "grids")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "runs"


Command = Callable[..., Outcome]


@pytest.fixture
def xcbench(here: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    def call(*words: str) -> Outcome:
        with pytest.raises(SystemExit) as caught:
            main.main(words)
        out, err = capsys.readouterr()
        return Outcome(caught.value.code, out, err)  # type: ignore[arg-type]

    return call


def one(runs: Path, **filters: str) -> Cell:
    (cell,) = results.select(runs, filters)
    return cell


# ---------------------------------------------------------------- show
def test_show_tells_everything_of_a_cell(xcbench: Command, here: Path) -> None:
    cell = one(here, method="ove", lr="0.1")
    done = xcbench("show", cell.cell).succeeded()
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert lines[0] == f"{cell.cell} zipf ove lr=0.1 seed=0"
    for line in (
        "status done",
        "method.lr 0.1",
        "dataset.synthetic.classes 20",
        "method.bias true",
    ):
        assert line in lines
    assert any(line.startswith(f"folder runs/cells/{cell.cell} (") for line in lines)
    assert any(
        line.startswith("shape 300 train, 100 test, 50 features, 20 classes") for line in lines
    )
    assert any(line.startswith("clocks load ") for line in lines)
    assert "weights weights.npz" in lines
    assert any(line.startswith("numpy ") for line in lines)
    head = next(line for line in lines if line.startswith("iteration epoch"))
    assert "test_log_loss" in head
    assert f"{cell.curve['test_log_loss'].iloc[-1]:.5g}" in done.out


def test_show_of_a_cell_without_numbers_says_why(xcbench: Command, here: Path) -> None:
    skipped = one(here, status="skipped")
    done = xcbench("show", skipped.cell).succeeded()
    assert "not run: data" in done.out
    assert "dataset.missing=skip" in done.out
    diverged = one(here, status="diverged")
    done = xcbench("show", diverged.cell).succeeded()
    assert "not finite any more" in done.out
    failed = one(here, dataset="digits")
    failed.status, failed.traceback = "failed", "Traceback of the inside\n  line"
    failed.curve = failed.curve.head(0)
    cells.save(here, failed)
    assert "Traceback of the inside" in xcbench("show", failed.cell).out


def test_show_gives_the_command_that_runs_the_cell_again(made: Workspace) -> None:
    names = sorted(made.cells())
    assert len(names) == 5
    for name in names:
        shown = made.xcbench("show", name).succeeded()
        words = shlex.split(shown.out.splitlines()[-1])
        assert words[:2] == ["python", "run.py"]
        assert words[-1] == "force=true"
        assert len(words) < 18
        planned = made.run(*words[2:], "plan=true").succeeded()
        assert planned.out.split()[0] == name


def test_cell_written_before_launch_settings_were_kept_is_shown(
    xcbench: Command, here: Path
) -> None:
    cell = one(here, dataset="digits")
    cell.launch = {}
    cells.save(here, cell)
    done = xcbench("show", cell.cell).succeeded()
    assert "dataset=digits method=umax" in done.out


def test_beginning_of_an_id_is_enough(xcbench: Command, here: Path) -> None:
    cell = one(here, dataset="digits")
    for name in ("abcd000000000000", "abce000000000000"):
        cells.save(here, replace(cell, cell=name, content={}))
    for prefix in ("abcd", "ABCD"):
        xcbench("show", prefix).succeeded()
    xcbench("show", "abc").refused("2 cells begin with 'abc'.*abcd0.*abce0")
    xcbench("show", "ffffffff").refused("no cell 'ffffffff' among the 7 under runs")
    xcbench("show", "").refused("no cell ''")
    xcbench("show", "abcd", "runs_dir=elsewhere").refused("elsewhere")
    xcbench("show").refused("CELL")
    xcbench("show", "abcd", "abce").refused("abce")
    xcbench("show", "abcd", "dataset=zipf").refused("dataset")


# ---------------------------------------------------------------- compare
def test_compare_shows_what_differs(xcbench: Command, here: Path) -> None:
    a, b = (one(here, method="ove", lr=rate) for rate in ("0.1", "0.2"))
    done = xcbench("compare", a.cell, b.cell).succeeded()
    above, below = done.out.split("last checkpoint")
    rows = [line.split() for line in above.split("settings that differ")[1].splitlines()]
    assert [row for row in rows if row and not row[0].startswith("-")] == [
        ["setting", "a", "b"],
        ["method.lr", "0.1", "0.2"],
    ]
    result = {row.split()[0]: row.split()[1:] for row in below.splitlines() if row.strip()}
    last = [cell.curve["test_log_loss"].iloc[-1] for cell in (a, b)]
    expected = [*last, last[1] - last[0]]
    assert [float(text) for text in result["test_log_loss"]] == pytest.approx(expected, rel=1e-4)


def test_compare_of_unlike_cells(xcbench: Command, here: Path) -> None:
    diverged, digits = one(here, status="diverged"), one(here, dataset="digits")
    skipped = one(here, status="skipped")
    done = xcbench("compare", diverged.cell, digits.cell).succeeded()
    for name in ("dataset.name", "dtype", "method.delta", "dataset.synthetic.classes"):
        assert name in done.out
    assert "nan" not in done.out
    assert xcbench("compare", skipped.cell, digits.cell).code == 0
    digits.cell, digits.content = "abcd000000000000", {}  # written before there was the option
    del digits.config["evaluation"]["top_k"], digits.config["budget"]["seconds"]
    cells.save(here, digits)
    assert "budget.seconds" not in xcbench("compare", skipped.cell, digits.cell).out
    same = xcbench("compare", digits.cell, digits.cell)
    assert "(none)" in same.out
    xcbench("compare", digits.cell).refused("CELL CELL")
    xcbench("compare", digits.cell, "ffff").refused("ffff")


# ---------------------------------------------------------------- clean
def answered(monkeypatch: pytest.MonkeyPatch, answer: str | None) -> None:
    """Let a terminal answer; None: there is no terminal."""
    text = io.StringIO("" if answer is None else answer)
    text.isatty = lambda: answer is not None  # type: ignore[method-assign]
    monkeypatch.setattr(sys, "stdin", text)


def test_clean_removes_what_its_filters_select(
    xcbench: Command, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered(monkeypatch, None)
    (here / "mlflow.db").touch()
    going = {cell.cell for cell in results.select(here, {"dataset": "zipf", "status": "done"})}
    assert len(going) == 2
    done = xcbench("clean", "dataset=zipf", "status=done", "--yes").succeeded()
    for name in going:
        assert name in done.out
    assert re.search(r"2 cells, [0-9.]+ KiB, under runs/cells\nremoved 2 cells\n", done.out)
    assert "xcbench track" in done.out
    left = {cell.cell for cell in cells.load_all(here)}
    assert len(left) == 3
    assert not left & going
    assert {path.name for path in (here / "cells").glob("[!.]*")} == left
    again = xcbench("clean", "dataset=zipf", "status=done", "--yes").succeeded()
    assert "nothing to remove" in again.out


@pytest.mark.parametrize(
    "answer, left", [("y\n", 4), ("Yes\n", 4), ("n\n", 5), ("\n", 5), ("", 5), ("yep\n", 5)]
)
def test_clean_asks_on_a_terminal(
    xcbench: Command, here: Path, monkeypatch: pytest.MonkeyPatch, answer: str, left: int
) -> None:
    answered(monkeypatch, answer)
    done = xcbench("clean", "dataset=digits").succeeded()
    assert "remove 1 cell? [y/N] " in done.out
    assert ("nothing was removed" in done.out) == (left == 5)
    assert len(list(cells.load_all(here))) == left


def test_clean_on_a_real_terminal(here: Path) -> None:
    ours, theirs = pty.openpty()
    os.write(ours, b"y\n")
    command = [sys.executable, "-m", "xcbench", "clean", "dataset=digits"]
    source = str(Path(main.__file__).parents[1])
    done = subprocess.run(
        command,
        stdin=theirs,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        env={**os.environ, "PYTHONPATH": source},
    )
    os.close(ours)
    os.close(theirs)
    assert (done.returncode, done.stderr) == (0, "")
    assert "removed 1 cell\n" in done.stdout
    assert len(list(cells.load_all(here))) == 4


def test_clean_refuses_what_nobody_confirmed(
    xcbench: Command, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered(monkeypatch, None)
    xcbench("clean", "dataset=zipf").refused("no terminal.*--yes")
    xcbench("clean").refused("needs a filter")
    xcbench("clean", "--yes").refused("needs a filter")
    xcbench("clean", "runs_dir=runs", "--yes").refused("needs a filter")
    xcbench("clean", "nope=1", "--yes").refused("no column 'nope'")
    xcbench("clean", "grid=nope", "--yes").refused("no grid 'nope'")
    xcbench("clean", "zipf", "--yes").refused("'zipf' is not understood")
    assert len(list(cells.load_all(here))) == 5


def test_sizes_are_readable() -> None:
    shown = [readable(size) for size in (0, 1023, 2048, 3.5 * 2**20, 5000 * 2**20)]
    assert shown == ["0 bytes", "1023 bytes", "2.0 KiB", "3.5 MiB", "4.9 GiB"]


# ---------------------------------------------------------------- predict
def lines_of(X: sp.csr_array | np.ndarray, y: np.ndarray | None = None) -> list[str]:
    """Rows in repository format."""
    X = sp.csr_array(X)
    rows = []
    for i in range(X.shape[0]):
        a, b = X.indptr[i : i + 2]
        pairs = zip(X.indices[a:b].tolist(), X.data[a:b].tolist(), strict=True)
        text = " ".join(f"{feature}:{value!r}" for feature, value in pairs)
        rows.append(text if y is None else f"{y[i]} {text}")
    return rows


def predictions(done: Outcome) -> tuple[np.ndarray, np.ndarray]:
    assert done.code == 0, done.text
    assert done.err == ""
    rows = [[pair.split(":") for pair in line.split(" ")] for line in done.out.splitlines()]
    classes = np.array([[int(k) for k, _ in row] for row in rows])
    return classes, np.array([[float(value) for _, value in row] for row in rows])


@pytest.mark.parametrize("name", ["zipf", "digits"])
def test_predictions_have_the_errors_and_losses_that_training_measured(
    xcbench: Command, here: Path, tmp_path: Path, name: str
) -> None:
    if name == "zipf":  # sparse, rows normalised, divided by nothing
        cell = one(here, method="ove", lr="0.2")
        spec = cell.config["dataset"]["synthetic"]
        raw = synthetic.make(SyntheticSettings(**spec))[1]
        classes = np.unique(synthetic.make(SyntheticSettings(**spec))[0].labels)
        known = np.isin(raw.labels, classes)
        X, y = sp.csr_array(raw.X)[known], np.searchsorted(classes, raw.labels[known])
    else:  # dense, divided by 16, float64
        from sklearn.datasets import load_digits

        cell = one(here, dataset="digits")
        X, y = (part[1437:] for part in load_digits(return_X_y=True))
    head = f"{len(y)} {X.shape[1]} 1000"
    path = tmp_path / "rows.txt"
    path.write_text("\n".join([head, *lines_of(X, y)]) + "\n")
    done = xcbench("predict", cell.cell, str(path), "k=5")
    classes, values = predictions(done)
    assert classes.shape == values.shape == (len(y), 5)
    last = cell.curve.iloc[-1]
    assert (classes[:, 0] != y).mean() == pytest.approx(last["test_error"])
    if name == "digits":
        assert (classes == y[:, None]).any(axis=1).mean() == pytest.approx(last["test_hit_at_5"])
        assert last["test_hit_at_5"] > 1 - last["test_error"]
    assert (np.diff(values, axis=1) <= 0).all()
    assert len({tuple(sorted(set(row))) for row in classes.tolist() if len(set(row)) < 5}) == 0
    # Every class: probabilities sum to one, and those of the true classes make the log loss.
    n_classes = cell.shape["classes"]
    every, all_values = predictions(xcbench("predict", cell.cell, str(path), f"k={n_classes}"))
    assert np.allclose(np.exp(all_values).sum(axis=1), 1, atol=1e-4)
    assert -all_values[every == y[:, None]].mean() == pytest.approx(last["test_log_loss"], rel=1e-4)
    # Header and labels may be missing, and the file compressed.
    path.write_text("\n".join(lines_of(X)))
    assert xcbench("predict", cell.cell, str(path), "k=5").out == done.out
    subprocess.run(["gzip", str(path)], check=True)
    first = xcbench("predict", cell.cell, str(path) + ".gz")
    assert first.out.splitlines() == [line.split(" ")[0] for line in done.out.splitlines()]


def test_predict_refuses_in_one_sentence(xcbench: Command, here: Path, tmp_path: Path) -> None:
    cell = one(here, method="ove", lr="0.1")
    own = inputs.load(cells.folder(here, cell.cell))
    assert own is not None
    path = tmp_path / "nothing.txt"
    xcbench("predict", cell.cell, "absent.txt").refused("absent.txt")
    xcbench("predict", cell.cell, str(tmp_path)).refused(str(tmp_path))
    path.write_text("0:1\n")
    for k in ("0", "-1", "21", "x", "1.5", "²"):
        xcbench("predict", cell.cell, str(path), f"k={k}").refused(f"k={k}.*1 to 20")
    xcbench("predict", cell.cell, str(path), "m=1").refused("predict has no setting m")
    xcbench("predict", cell.cell).refused("CELL FILE")
    diverged = one(here, status="diverged")
    xcbench("predict", diverged.cell, str(path)).refused("no weights.*save_weights=true force=true")
    cells.save(here, cell)  # the same one, without its weights
    xcbench("predict", cell.cell, str(path)).refused("no weights.*save_weights=true force=true")
    assert "not saved" in xcbench("show", cell.cell).out
    cell.config["dataset"]["protocol"]["tf_idf"] = True
    cell.weights, cell.inputs = {"W": np.zeros((20, 50))}, own.arrays()
    cells.save(here, cell)
    xcbench("predict", cell.cell, str(path)).refused("tf_idf=True.*does not know")
    del cell.config["dataset"]["protocol"]["tf_idf"]
    cell.config["dataset"]["protocol"] |= {"split": "random", "rows": 9}  # nothing about features
    cells.save(here, cell)
    assert xcbench("predict", cell.cell, str(path)).code == 0


def test_a_warning_of_a_library_is_one_line_however_often_it_comes(workspace: Workspace) -> None:
    """LIBLINEAR ends at its limit for many of the 10 classes."""
    words = ("dataset=digits", "method=svm_ovr", "method.C=1e6", "mlflow=false")
    done = workspace.run(*words).succeeded()
    assert len(re.findall("Liblinear failed to converge", done.err)) == 1, done.err
    assert (
        re.search(r"warning, \d+ times?: Liblinear", done.err) and "warnings.warn" not in done.err
    )
