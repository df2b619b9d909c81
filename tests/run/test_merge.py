"""Cells of two machines in one folder of runs."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from pathlib import Path

import pandas as pd
import pytest

from made_cells import make
from workspace import FINAL_METRICS, SMALL, NewWorkspace, Outcome, Workspace
from xcbench.run import merging
from xcbench.run.leases import Leases
from xcbench.store import cells, grids
from xcbench.store.cell import Cell

RUN = ("-m", *SMALL, "dataset=digits", "save_weights=true")


def snapshot(folder: Path) -> dict[str, str]:
    """Every file and link below a folder."""
    content = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            content[str(path)] = os.readlink(path)
        elif stat.S_ISREG(path.lstat().st_mode):
            content[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return content


def merged(workspace: Workspace, *words: str, code: int = 0) -> Outcome:
    done = workspace.xcbench("merge", *(words or ("other",)))
    assert done.code == code, done.text
    return done


def put(workspace: Workspace, folder: str, *its: Cell) -> None:
    (workspace.path / folder / "cells").mkdir(parents=True, exist_ok=True)
    for cell in its:
        cells.save(workspace.path / folder, cell)


def status(workspace: Workspace, cell: Cell) -> str:
    stored = cells.load(workspace.path / "runs", cell.cell)
    return "none" if stored is None else stored.status


@pytest.fixture(scope="module")
def machines(new_workspace: NewWorkspace) -> Workspace:
    """Runs of this machine and of another; both have one cell."""
    workspace = new_workspace("merge")
    for words in (
        ("method=ove,umax", "seed=0", "grid=both"),
        ("method=umax,implicit", "seed=0", "grid=both", "runs_dir=other"),
        ("method=ove", "seed=1", "grid=theirs", "runs_dir=other"),
    ):
        workspace.run(*RUN, *words).succeeded()
    return workspace


@pytest.fixture
def both(machines: Workspace, tmp_path: Path) -> Workspace:
    for name in ("runs", "other"):
        shutil.copytree(machines.path / name, tmp_path / name)
    return Workspace(tmp_path)


def test_cells_grids_and_launches_come_along(both: Workspace) -> None:
    here, there = both.frame(), both.frame("runs_dir=other")
    before = snapshot(both.path / "other")
    plan = merged(both, "other", "plan=true")
    assert "nothing was written to runs" in plan.out
    assert snapshot(both.path / "other") == before and len(both.frame()) == len(here)
    done = merged(both)
    assert plan.out.splitlines()[:3] == done.out.splitlines()[-3:]
    assert "3 cells: 2 new here; 1 here already, with the same numbers" in done.out
    assert "2 launches: 2 new here" in done.out
    assert snapshot(both.path / "other") == before
    frame = both.frame().set_index("cell").sort_index()
    union = pd.concat([here, there]).drop_duplicates("cell").set_index("cell").sort_index()
    pd.testing.assert_frame_equal(frame[FINAL_METRICS], union[FINAL_METRICS])
    assert len(both.frame("grid=both")) == 3 and len(both.frame("grid=theirs")) == 1
    again = both.run(*RUN, "method=ove,umax,implicit", "seed=0", "grid=both")
    assert "every cell was there already" in again.out
    assert both.xcbench("verify").code == 0
    for name in frame.index:
        cells.weights(both.path / "runs", cells.find(both.path / "runs", str(name)))
    third = merged(both)
    assert "3 cells: 3 here already" in third.out and "2 launches: 2 here already" in third.out


def test_a_folder_that_is_new_here_is_filled(both: Workspace) -> None:
    merged(both, "other", "runs_dir=new")
    files = {path.name for path in (both.path / "new" / "cells").iterdir()}
    assert files == {path.name for path in (both.path / "other" / "cells").iterdir()}
    for name in files - {cells.MARKER}:
        pair = [snapshot_of(both.path / place / "cells" / name) for place in ("new", "other")]
        assert pair[0] == pair[1]


def snapshot_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def damage(folder: Path, kind: str) -> None:
    first = folder / cells.CURVE
    if kind == "cut":
        first.write_bytes(first.read_bytes()[:-20])
    elif kind == "weights":
        (folder / cells.WEIGHTS).write_bytes(b"PK")
    elif kind == "no weights":
        (folder / cells.WEIGHTS).unlink()
    elif kind == "renamed":
        folder.rename(folder.with_name("0" * 16))
    elif kind == "link to a file":
        secret = folder.parent.parent / "secret"
        first.rename(secret)
        first.symlink_to(secret)
    elif kind == "link to a folder":
        target = folder.parent.parent / "elsewhere"
        folder.rename(target)
        folder.symlink_to(target)
    elif kind == "pipe":
        os.mkfifo(folder / "inputs.npz2")
    elif kind == "further file":
        (folder / "run.py").write_text("print()")
    elif kind == "empty":
        (folder / cells.CELL).write_bytes(b"")


KINDS = {
    "cut": "curve.csv is cut off or changed",
    "weights": "weights.npz is cut off or changed",
    "no weights": "weights.npz",
    "renamed": "these are the files of cell",
    "link to a file": "curve.csv is a link",
    "link to a folder": "it is a link",
    "pipe": "inputs.npz2 is a link, or no file",
    "further file": "run.py is no file of a cell",
    "empty": "Expecting value",
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_damaged_is_refused_and_the_rest_comes(both: Workspace, kind: str) -> None:
    before = set(both.cells())
    chosen = next(n for n in sorted(both.cells("other")) if n not in before)
    damage(both.path / "other" / "cells" / chosen, kind)
    done = merged(both, code=1)
    (line,) = [it for it in done.out.splitlines() if it.startswith("refused: ")]
    assert KINDS[kind] in line and "other/cells/" in line
    assert "1 refused" in done.out
    after = set(both.cells())
    assert chosen not in after and before < after and "0" * 16 not in after
    hidden = [path.name for path in (both.path / "runs" / "cells").glob(".*")]
    assert hidden == [cells.MARKER]


def test_grids_and_launches_are_checked_too(both: Workspace) -> None:
    other = both.path / "other"
    (other / "grids" / "both.json").write_text('{"cells": ["../../x"]}')
    (other / "grids" / "theirs.json").rename(other / "theirs.json")
    (other / "grids" / "theirs.json").symlink_to(other / "theirs.json")
    launch = next((other / "launches").glob("*.json"))
    launch.write_text("{}")
    done = merged(both, code=1)
    assert done.out.count("refused: ") == 3 and "2 cells" not in done.out
    assert len(both.frame()) == 4 and not (both.path / "runs" / "grids" / "theirs.json").exists()
    assert len(list((both.path / "runs" / "launches").iterdir())) == 2


@pytest.mark.parametrize("part", ["cells", "grids", "launches"])
def test_a_linked_folder_is_refused(both: Workspace, part: str) -> None:
    other = both.path / "other"
    (other / part).rename(both.path / "moved")
    (other / part).symlink_to(both.path / "moved")
    both.xcbench("merge", "other").refused(f"other/{part} is a link")


def test_of_a_cell_that_differs_ours_stays_unless_theirs_is_asked_for(workspace: Workspace) -> None:
    ours, theirs = make(end=1.0), make(end=1.5)
    slower = make("ove", end=1.0)
    slower.curve["train_seconds"] *= 3
    put(workspace, "runs", ours, make("ove", end=1.0))
    put(workspace, "other", theirs, slower)
    done = merged(workspace)
    assert f"differs: {ours.cell}  tiny umax lr=0.1 seed=0: train_log_loss 1 here, 1.5 there" in (
        done.out
    )
    assert "keep=ours takes these" in done.out
    assert "1 here already, with the same numbers; 1 with other numbers than here" in done.out
    rows = workspace.frame("method=umax")
    assert list(rows["train_log_loss"]) == [1.0]
    merged(workspace, "other", "keep=theirs", "plan=true")
    assert list(workspace.frame("method=umax")["train_log_loss"]) == [1.0]
    merged(workspace, "other", "keep=theirs")
    assert list(workspace.frame("method=umax")["train_log_loss"]) == [1.5]
    assert list(workspace.frame("method=ove")["train_seconds"]) == [2.0]  # equal: ours


def test_a_result_replaces_what_is_none(workspace: Workspace) -> None:
    outcomes = [
        ("skipped", "done", "done"),
        ("failed", "timeout", "timeout"),
        ("done", "failed", "done"),
        ("failed", "skipped", "failed"),
        ("diverged", "done", "diverged"),
    ]
    pairs = [
        (make(seed=n, status=here), make(seed=n, status=there), kept)
        for n, (here, there, kept) in enumerate(outcomes)
    ]
    put(workspace, "runs", *(here for here, _, _ in pairs))
    put(workspace, "other", *(there for _, there, _ in pairs))
    done = merged(workspace)
    assert [status(workspace, here) for here, _, _ in pairs] == [kept for *_, kept in pairs]
    assert "2 with a result that is missing here" in done.out
    assert "diverged here, done there" in done.out


def test_our_damaged_cell_is_replaced(workspace: Workspace) -> None:
    put(workspace, "runs", make())
    put(workspace, "other", make())
    damage(workspace.path / "runs" / "cells" / make().cell, "cut")
    merged(workspace)
    assert status(workspace, make()) == "done"


def test_a_cell_that_runs_here_is_left_alone(workspace: Workspace) -> None:
    put(workspace, "runs")
    put(workspace, "other", make())
    claims = Leases(workspace.path / "runs")
    claims.take(make().cell)
    done = merged(workspace)
    assert "being run here now: " in done.out and status(workspace, make()) == "none"
    claims.release_all()
    merged(workspace)
    assert status(workspace, make()) == "done"
    assert list((workspace.path / "runs" / "claims").iterdir()) == []


def test_a_cell_that_ends_here_before_it_is_claimed_stays(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, take = workspace.path / "runs", Leases.take

    def late(self: Leases, cell: str) -> object:
        put(workspace, "runs", make(end=1.0))
        return take(self, cell)

    put(workspace, "other", make(end=1.5))
    monkeypatch.setattr(Leases, "take", late)
    (outcome,) = merging.bring_cells(workspace.path / "other", runs, merging.OURS, False)
    assert (outcome.kind, outcome.brought) == (merging.DIFFERS, False)
    assert list(workspace.frame()["train_log_loss"]) == [1.0]


def test_a_cell_that_changes_while_it_is_copied_is_refused(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(workspace, "other", make())
    whole = merging._copy

    def cut(source: Path, target: Path) -> None:
        whole(source, target)
        if target.name == cells.CURVE:
            target.write_bytes(target.read_bytes()[:-5])

    monkeypatch.setattr(merging, "_copy", cut)
    runs = workspace.path / "runs"
    (outcome,) = merging.bring_cells(workspace.path / "other", runs, merging.OURS, False)
    assert (outcome.kind, outcome.brought) == (merging.REFUSED, False)
    assert [path.name for path in (runs / "cells").iterdir()] == [cells.MARKER]


def test_a_grid_here_keeps_its_cells(workspace: Workspace) -> None:
    for folder, name in (("runs", "ove"), ("other", "umax")):
        put(workspace, folder, make(name))
        grids.add(workspace.path / folder, "mine", [make(name).cell])
        grids.add(workspace.path / folder, grids.LAST, [make(name).cell])
    merged(workspace)
    assert set(workspace.frame("grid=mine")["method"]) == {"ove", "umax"}
    assert set(workspace.frame("grid=last")["method"]) == {"ove"}


def test_mistakes_are_one_sentence(both: Workspace) -> None:
    (both.path / "link").symlink_to(both.path / "runs")
    for words, mention in (
        ((), "merge needs 1 arguments: FOLDER"),
        (("nowhere",), "nowhere has no folder cells"),
        (("runs",), "is runs_dir itself"),
        (("link",), "is runs_dir itself"),
        (("other", "keep=both"), "it must be ours or theirs"),
        (("other", "plan=perhaps"), "it must be true or false"),
        (("other", "method=ove"), "merge has no setting method"),
    ):
        both.xcbench("merge", *words).refused(mention)
