"""Everyday commands: looking at cells, comparing them, removing them, predicting with them."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Outcome, Workspace
from xcbench import cells, cli, results
from xcbench.cells import Cell

ZIPF = (
    "dataset=zipf",
    *(
        f"dataset.synthetic.{name}"
        for name in ("train=300", "test=100", "classes=20", "features=50", "nonzeros=5")
    ),
)
QUICK = ("mlflow=false", "budget.epochs=0.5", "budget.checkpoints=2")
NewWorkspace = Callable[[str], Workspace]


@pytest.fixture(scope="module")
def made(new_workspace: NewWorkspace) -> Workspace:
    """Cells of several kinds, with weights."""
    workspace = new_workspace("commands")
    launches = [
        ("-m", *QUICK, *ZIPF, "method=ove", "method.lr=0.1,0.2"),
        (*QUICK, *ZIPF, "method=umax", "method.lr=1e60", "evaluation.softmax_twice=true"),
        (*QUICK, "dataset=digits", "method=umax", "method.delta=0.5", "dtype=float64"),
        (*QUICK, "dataset=eurlex", "dataset.missing=skip", "method=ove"),
    ]
    for launch in launches:
        done = workspace.run(*launch)
        assert done.code == 0, done.text
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
            cli.main(words)
        out, err = capsys.readouterr()
        return Outcome(caught.value.code, out, err)  # type: ignore[arg-type]

    return call


def one(runs: Path, **filters: str) -> Cell:
    (cell,) = results.select(runs, filters)
    return cell


def assert_one_error(done: Outcome, mention: str) -> None:
    assert done.code == 2, done.text
    assert done.err.startswith("error: "), done.text
    assert done.err.count("\n") == 1, done.text
    assert re.search(mention, done.err), done.text


# ---------------------------------------------------------------- show
def test_show_tells_everything_of_a_cell(xcbench: Command, here: Path) -> None:
    cell = one(here, method="ove", lr="0.1")
    done = xcbench("show", cell.cell)
    assert done.code == 0, done.text
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert lines[0] == f"{cell.cell} zipf ove lr=0.1 seed=0"
    for line in (
        "status done",
        "method.lr 0.1",
        "dataset.synthetic.classes 20",
        "method.bias true",
    ):
        assert line in lines
    assert f"folder runs/cells/{cell.cell}" in lines
    assert any(
        line.startswith("shape 300 train, 100 test, 50 features, 20 classes") for line in lines
    )
    assert any(line.startswith("clocks load ") for line in lines)
    assert any(line.startswith("numpy ") for line in lines)
    head = next(line for line in lines if line.startswith("iteration epoch"))
    assert "test_log_loss" in head
    assert f"{cell.curve['test_log_loss'].iloc[-1]:.5g}" in done.out


def test_show_of_a_cell_without_numbers_says_why(xcbench: Command, here: Path) -> None:
    skipped = one(here, status="skipped")
    done = xcbench("show", skipped.cell)
    assert done.code == 0, done.text
    assert "not run: data" in done.out
    assert "dataset.missing=skip" in done.out
    diverged = one(here, status="diverged")
    done = xcbench("show", diverged.cell)
    assert done.code == 0, done.text
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
        shown = made.xcbench("show", name)
        assert shown.code == 0, shown.text
        words = shlex.split(shown.out.splitlines()[-1])
        assert words[:2] == ["python", "run.py"]
        assert words[-1] == "force=true"
        assert len(words) < 16
        planned = made.run(*words[2:], "plan=true")
        assert planned.code == 0, planned.text
        assert planned.out.split()[0] == name


def test_cell_written_before_launch_settings_were_kept_is_shown(
    xcbench: Command, here: Path
) -> None:
    cell = one(here, dataset="digits")
    cell.launch = {}
    cells.save(here, cell)
    done = xcbench("show", cell.cell)
    assert done.code == 0, done.text
    assert "dataset=digits method=umax" in done.out


def test_beginning_of_an_id_is_enough(xcbench: Command, here: Path) -> None:
    cell = one(here, dataset="digits")
    for name in ("abcd000000000000", "abce000000000000"):
        shutil.copytree(cells.folder(here, cell.cell), cells.folder(here, name))
    assert xcbench("show", "abcd").code == 0
    assert_one_error(xcbench("show", "abc"), "2 cells begin with 'abc'.*abcd0.*abce0")
    assert_one_error(xcbench("show", "ffffffff"), "no cell 'ffffffff' among the 7 under runs")
    assert_one_error(xcbench("show", ""), "no cell ''")
    assert_one_error(xcbench("show", "abcd", "runs_dir=elsewhere"), "elsewhere")
    assert_one_error(xcbench("show"), "CELL")
    assert_one_error(xcbench("show", "abcd", "abce"), "abce")
    assert_one_error(xcbench("show", "abcd", "dataset=zipf"), "dataset")


# ---------------------------------------------------------------- compare
def test_compare_shows_what_differs(xcbench: Command, here: Path) -> None:
    a, b = (one(here, method="ove", lr=rate) for rate in ("0.1", "0.2"))
    done = xcbench("compare", a.cell, b.cell)
    assert done.code == 0, done.text
    above, below = done.out.split("last checkpoint")
    rows = [line.split() for line in above.split("settings that differ")[1].splitlines()]
    assert [row for row in rows if row and not row[0].startswith("-")] == [
        ["setting", "a", "b"],
        ["method.lr", "0.1", "0.2"],
    ]
    found = {row.split()[0]: row.split()[1:] for row in below.splitlines() if row.strip()}
    last = [cell.curve["test_log_loss"].iloc[-1] for cell in (a, b)]
    expected = [*last, last[1] - last[0]]
    assert [float(text) for text in found["test_log_loss"]] == pytest.approx(expected, rel=1e-4)


def test_compare_of_unlike_cells(xcbench: Command, here: Path) -> None:
    diverged, digits = one(here, status="diverged"), one(here, dataset="digits")
    skipped = one(here, status="skipped")
    done = xcbench("compare", diverged.cell, digits.cell)
    assert done.code == 0, done.text
    for name in ("dataset.name", "dtype", "method.delta", "dataset.synthetic.classes"):
        assert name in done.out
    assert "nan" not in done.out
    assert xcbench("compare", skipped.cell, digits.cell).code == 0
    same = xcbench("compare", digits.cell, digits.cell)
    assert "(none)" in same.out
    assert_one_error(xcbench("compare", digits.cell), "CELL CELL")
    assert_one_error(xcbench("compare", digits.cell, "ffff"), "ffff")
