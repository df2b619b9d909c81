"""Files of the user beside ours, and links in their place, stay as they are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from calling import command
from catalogue import TOY, composed
from made_cells import make
from workspace import SMALL, Workspace
from xcbench.data import prepare
from xcbench.errors import UserError
from xcbench.run.leases import Leases
from xcbench.store import cells
from xcbench.system import durable
from xcbench.track import tracking

OLD = (0, 0)  # times of a file of 1970
HOME = (".git/config", ".ssh/id", ".bashrc", ".gitignore", ".profile-old", ".my-conf-old", "notes")
LEFT = ".0123456789abcdef.xcbench-00112233aabb"


def made(folder: Path, *names: str) -> dict[str, str]:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"of the user: {name}")
        os.utime(path, OLD)
        os.utime(path.parent, OLD)
    return content(folder)


def content(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_text(errors="replace") for path in files}


@pytest.mark.parametrize("place", ["cells", "grids"])
def test_a_sweep_deletes_its_own_leftovers_alone(tmp_path: Path, place: str) -> None:
    cells.save(tmp_path, make())
    before = made(tmp_path / place, *HOME)
    (tmp_path / place / LEFT).mkdir()
    os.utime(tmp_path / place / LEFT, OLD)
    cells.sweep_leftovers(tmp_path)
    cells.names(tmp_path)
    assert not (tmp_path / place / LEFT).exists()
    assert before.items() <= content(tmp_path / place).items()


def test_a_folder_of_something_else_is_refused(workspace: Workspace, tmp_path: Path) -> None:
    home = tmp_path / "home"
    before = made(home, *HOME)
    (workspace.path / "runs").mkdir()
    (workspace.path / "runs" / "cells").symlink_to(home)
    for words in (("method=umax", *SMALL), ("-m", "method=umax,ove", *SMALL)):
        done = workspace.run("dataset=digits", *words)
        done.refused("holds files that xcbench did not write")
        assert content(home) == before


def test_a_folder_of_ours_is_marked_and_may_be_a_link(workspace: Workspace, tmp_path: Path) -> None:
    """An earlier version left no mark: cells in it are ours."""
    (tmp_path / "scratch").mkdir()
    (workspace.path / "runs").mkdir()
    (workspace.path / "runs" / "cells").symlink_to(tmp_path / "scratch")
    words = ("dataset=digits", "method=umax", *SMALL)
    assert workspace.run(*words).code == 0
    (tmp_path / "scratch" / cells.MARKER).unlink()
    (tmp_path / "scratch" / "notes").write_text("mine")
    again = workspace.run(*words).succeeded()
    assert "every cell was there already" in again.out, again.text
    assert (tmp_path / "scratch" / cells.MARKER).is_file()


@pytest.mark.parametrize("kind", ["link", "dangling", "second name"])
def test_a_claim_is_no_other_file(tmp_path: Path, kind: str) -> None:
    victim, claims = tmp_path / "victim", Leases(tmp_path / "runs")
    claims.folder.mkdir(parents=True)
    if kind == "dangling":
        (claims.folder / "a").symlink_to(victim)
    else:
        victim.write_text("of the user")
        place = claims.folder / "a"
        place.symlink_to(victim) if kind == "link" else place.hardlink_to(victim)
    with pytest.raises(UserError, match=r"claims/a cannot be written .*link"):
        claims.take("a")
    assert victim.read_text() == "of the user" if kind != "dangling" else not victim.exists()


def test_a_launch_writes_through_no_link(workspace: Workspace, tmp_path: Path) -> None:
    """Of files that every launch writes: Hydra's, the lock of a grid, of the store, of the data."""
    victims = tmp_path / "victims"
    before = made(victims, *"abcdef")
    runs = workspace.path / "runs"
    for name, victim in {
        "hydra/multirun.yaml": "a",
        "grids/g.lock": "b",
        "grids/g.json": "c",
        "mlflow.lock": "d",
        "cache/files.lock": "e",
        "cache/files.json": "f",
    }.items():
        (runs / name).parent.mkdir(parents=True, exist_ok=True)
        (runs / name).symlink_to(victims / victim)
    workspace.run("-m", "dataset=digits", "method=umax", "grid=g", *SMALL[1:])
    assert content(victims) == before


def test_links_beside_a_store_and_a_dataset_are_not_followed(data_dir, cache_dir) -> None:
    info = prepare(composed(*TOY), data_dir, cache_dir)
    outside = data_dir.parent / "outside"
    before = made(outside, "a", "b/c")
    where = cache_dir / info.digest
    for path in where.iterdir():
        path.unlink()
    where.rmdir()
    where.symlink_to(outside)
    (cache_dir / f".{info.digest}-mine").symlink_to(outside)
    assert prepare(composed(*TOY), data_dir, cache_dir) == info
    assert content(outside) == before
    assert not where.is_symlink() and (cache_dir / f".{info.digest}-mine").is_symlink()


@pytest.mark.parametrize("name", ["mlflow.db", "mlflow.db-journal", "mlflow.db-wal"])
@pytest.mark.parametrize("kind", ["link", "name", "dangling"])
def test_a_store_is_no_link(tmp_path: Path, name: str, kind: str) -> None:
    """SQLite follows links: it wrote its tables into an empty file of the user."""
    runs, victim = tmp_path / "runs", tmp_path / "victim"
    assert tracking.track(runs, []) == 0
    if kind != "dangling":
        victim.write_text("")
    (runs / name).unlink(missing_ok=True)
    (runs / name).hardlink_to(victim) if kind == "name" else (runs / name).symlink_to(victim)
    if (kind, name) == ("dangling", "mlflow.db"):
        tracking.track(runs, [])  # nothing is there: a store of our own takes the place of the link
    else:
        with pytest.raises(UserError, match=rf"{name} is a link"):
            tracking.track(runs, [])
    assert victim.read_text() == "" if kind != "dangling" else not victim.exists()


def test_quarantine_is_no_link(tmp_path: Path, capsys) -> None:
    cells.save(tmp_path / "runs", make())
    (cells.folder(tmp_path / "runs", make().cell) / "curve.csv").write_text("")
    (tmp_path / "home").mkdir()
    (tmp_path / "runs" / "quarantine").symlink_to(tmp_path / "home")
    said = command(capsys, "verify", "--yes", f"runs_dir={tmp_path / 'runs'}", code=2)
    assert "quarantine is a link" in said and not list((tmp_path / "home").iterdir())


def test_a_name_of_ours_is_not_that_of_a_hidden_file(tmp_path: Path) -> None:
    path = durable.sibling(tmp_path / "some.json")
    assert path.parent == tmp_path and path.name.startswith(".some.json.xcbench-")
    before = made(tmp_path, ".some.json-0123456789ab", ".some.json.xcbench-x", *HOME)
    path.write_text("left")
    durable.tidy([tmp_path / "some.json"])
    assert content(tmp_path) == before
