"""Cells in MLflow's store: curves, tags and tables, each cell once."""

import re
import sqlite3
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest

from tracked_cells import STARTED, a_cell, client, curve, some_cells, stored
from workspace import Workspace
from xcbench.errors import UserError
from xcbench.store import cells
from xcbench.system import durable
from xcbench.track import mlflow_ui, tracking
from xcbench.track.mlflow_api import Api


def test_curves_arrive_whole_without_values_that_are_not_finite(pristine: Path) -> None:
    content = stored(pristine)
    expected = {cell.cell: cell for cell in some_cells() if cell.status != "skipped"}
    assert content.keys() == expected.keys()
    for name, cell in expected.items():
        wanted: dict[str, list[tuple[int, int, float]]] = {}
        loss = {"train_log_loss", "test_log_loss"}  # their section of charts comes first
        for row in cell.curve.to_dict("records"):
            step, seconds = row.pop("iteration"), row["train_seconds"]
            for metric, value in row.items():
                if np.isfinite(value):
                    stamp = round((cell.started + seconds) * 1000)
                    metric = f"loss/{metric}" if metric in loss else metric
                    wanted.setdefault(metric, []).append((int(step), stamp, value))
        assert curves_of(content[name]) == wanted
    assert content[f"{1:016x}"]["curves"]["bound"] == [(10, 1_750_000_001_375, 1.0)]


def curves_of(run: dict) -> dict[str, list[tuple[int, int, float]]]:
    return {k: v for k, v in run["curves"].items() if not k.startswith("summary/")}


def summary_of(run: dict, word: str) -> dict[str, float]:
    """The only number of each metric ``summary/WORD_…``."""
    start = f"summary/{word}_"
    numbers = {k.removeprefix(start): v for k, v in run["curves"].items() if k.startswith(start)}
    assert all(len(points) == 1 and points[0][0] == 0 for points in numbers.values())
    return {name: points[0][2] for name, points in numbers.items()}


def test_a_run_has_its_best_checkpoint_and_its_last_one_as_numbers(runs_dir: Path) -> None:
    losses = [3.0, 1.0, 1.0, 2.0]
    held = a_cell(7, curve=curve(4, validation_log_loss=losses, test_error=[0.4, 0.3, 0.2, 0.1]))
    trained = a_cell(8, curve=curve(4, train_log_loss=losses))
    lost = a_cell(9, status="diverged", curve=curve(3, test_log_loss=[2.0, 1.0, np.nan]))
    tracking.track(runs_dir, [held, trained, lost])
    content = stored(runs_dir)
    for cell, by in ((held, "validation_log_loss"), (trained, "train_log_loss")):
        said = content[cell.cell]
        assert said["tags"]["best_by"] == by
        for word, place in (("best", 1), ("last", 3)):
            expected = cell.curve.iloc[place].to_dict()
            assert summary_of(said, word) == pytest.approx(expected)
    assert summary_of(content[held.cell], "best")["test_error"] == 0.3
    ended = content[lost.cell]
    assert summary_of(ended, "best") == {} and "best_by" not in ended["tags"]
    assert "test_log_loss" not in summary_of(ended, "last")
    assert summary_of(ended, "last")["epoch"] == lost.curve["epoch"].iloc[-1]


def test_the_section_of_the_losses_is_the_first(pristine: Path) -> None:
    """MLflow shows metrics with a slash first, in alphabetical order."""
    for run in stored(pristine).values():
        sections = sorted(name for name in run["curves"] if "/" in name)
        assert not run["curves"] or sections[0] == "loss/test_log_loss"


def test_mlflow_orders_runs_by_their_last_loss(tmp_path: Path) -> None:
    many = [
        a_cell(n, curve=curve(2, test_log_loss=[0.0, loss])) for n, loss in enumerate((3, 1, 2))
    ]
    tracking.track(tmp_path, many)
    order = unquote(re.search("orderByKey=([^&]+)", mlflow_ui.CHARTS)[1])
    runs = client(tmp_path).search_runs(["1"], order_by=[f"{order} ASC"])
    assert [run.data.tags["seed"] for run in runs] == ["1", "2", "0"]


def test_rows_without_a_clock_stand_at_the_time_of_the_row_before(runs_dir: Path) -> None:
    cell = a_cell(9, started=STARTED, curve=curve(4, train_seconds=[0.0, np.nan, np.nan, 0.5]))
    tracking.track(runs_dir, [cell])
    curves = stored(runs_dir)[cell.cell]["curves"]
    begin = round(STARTED * 1000)
    assert [stamp for _, stamp, _ in curves["bound"]] == [begin, begin, begin, begin + 500]
    assert [stamp for _, stamp, _ in curves["train_seconds"]] == [begin, begin + 500]


def test_a_run_without_a_commit_says_why(runs_dir: Path) -> None:
    cell = a_cell(9, environment={"git_commit": None, "git_commit_missing": "no git"})
    tracking.track(runs_dir, [cell])
    tags = stored(runs_dir)[cell.cell]["tags"]
    assert tags["git_commit_missing"] == "no git" and "git_commit" not in tags


def test_tags_params_names_and_times(pristine: Path) -> None:
    content = stored(pristine)
    first = content[f"{0:016x}"]
    assert first["name"] == "toy ove lr=0.1 seed=0"
    assert first["tags"] == {
        "cell": f"{0:016x}",
        "status": "done",
        "dataset": "toy",
        "dataset_digest": "d1",
        "method": "ove",
        "method_version": "1",
        "seed": "0",
        "engine": "numpy",
        "git_commit": "c0ffee",
        "mlflow.source.git.commit": "c0ffee",
        "mlflow.source.name": "xcbench 0.1.0",
        "mlflow.source.type": "LOCAL",
        "started": repr(STARTED),
        "best_by": "train_log_loss",
    }
    assert first["params"] == {
        "method.name": "ove",
        "method.lr": "0.1",
        "method.negatives": "[1, 2]",
        "text": "x" * 5999 + "…",
        "seed": "0",
        "shape.train": "30",
        "shape.test": "10",
        "shape.features": "5",
        "shape.classes": "3",
    }
    begin = 1_750_000_000_250
    assert first["times"] == ("FINISHED", begin, begin + 500)
    assert content[f"{1:016x}"]["times"][0] == "FAILED"
    assert content[f"{1:016x}"]["tags"]["message"] == "not finite"
    assert content[f"{2:016x}"]["times"][0] == "FINISHED"
    assert len(content[f"{2:016x}"]["params"]) == 154
    assert content[f"{3:016x}"]["times"] == ("FAILED", begin + 3000, begin + 3000)
    assert content[f"{3:016x}"]["name"] == "toy ove seed=3"


def test_a_launch_knows_what_the_store_lacks(
    runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = {cell.cell: cell.started for cell in some_cells()}
    skipped = f"{4:016x}"
    assert tracking.behind(runs_dir, started) == [skipped]
    started[f"{0:016x}"] += 1
    assert tracking.behind(runs_dir, started) == [f"{0:016x}", skipped]
    assert tracking.behind(runs_dir / "none", started) == list(started)
    again = a_cell(0, started=started[f"{0:016x}"])
    with monkeypatch.context() as cut_off:
        cut_off.setattr(Api, "delete", lambda *_: 1 / 0)
        with pytest.raises(UserError):
            tracking.track(runs_dir, [again])
    assert tracking.behind(runs_dir, started) == [f"{0:016x}", skipped]
    tracking.track(runs_dir, [again])
    assert tracking.behind(runs_dir, started) == [skipped]
    (runs_dir / "recorded" / "own.json").write_bytes(b"{")
    assert tracking.behind(runs_dir, started) == list(started)
    assert tracking.track(runs_dir, [again, *some_cells()[1:]]) == 0  # which asks the store
    assert tracking.behind(runs_dir, started) == [skipped]
    (runs_dir / "mlflow.db").unlink()
    assert tracking.behind(runs_dir, started) == list(started)


@pytest.mark.slow
def test_more_runs_than_a_page_are_each_logged_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracking, "BATCH", 7)
    many = [a_cell(number, curve=curve(1)) for number in range(1200)]  # MLflow's page is 1000
    assert tracking.track(tmp_path, many) == 1200
    assert tracking.track(tmp_path, many) == 0


def test_a_second_time_logs_nothing_and_a_new_run_replaces_the_old(runs_dir: Path) -> None:
    assert tracking.track(runs_dir, cells.load_all(runs_dir)) == 0
    assert tracking.track(runs_dir, [a_cell(0)]) == 0
    again = a_cell(0, started=STARTED + 60, curve=curve(3))
    assert tracking.track(runs_dir, [again]) == 1
    content = stored(runs_dir)
    assert len(content) == 4
    assert content[again.cell]["tags"]["started"] == repr(again.started)
    assert len(content[again.cell]["curves"]["bound"]) == 3


def test_a_run_that_was_cut_off_is_logged_again(runs_dir: Path) -> None:
    with sqlite3.connect(runs_dir / "mlflow.db") as store:
        store.execute("UPDATE runs SET status = 'RUNNING' WHERE name LIKE '%seed=0%'")
    assert tracking.track(runs_dir, cells.load_all(runs_dir)) == 1
    assert len(stored(runs_dir)) == 4


def test_rebuild_gives_the_same_store_and_holds_these_cells_alone(runs_dir: Path) -> None:
    before = stored(runs_dir)
    tracking.track(runs_dir, [a_cell(9)])
    durable.sibling(runs_dir / "mlflow.db").mkdir()
    (runs_dir / "mlflow.db-journal").write_bytes(b"of the old store")
    assert tracking.track(runs_dir, cells.load_all(runs_dir), rebuild=True) == 4
    assert stored(runs_dir) == before
    assert tracking.track(runs_dir, cells.load_all(runs_dir)) == 0
    names = {path.name for path in runs_dir.iterdir()}
    assert names == {"cells", "mlflow.db", "mlflow.lock", "recorded"}


def test_a_launch_of_which_all_is_recorded_imports_nothing_of_mlflow(workspace: Workspace) -> None:
    words = ("dataset=digits", "method=ove", "budget.epochs=1", "budget.checkpoints=1")
    assert workspace.run(*words).code == 0
    done = workspace.run_fresh(*words, PYTHONPROFILEIMPORTTIME="1").succeeded()
    assert "numpy" in done.err
    imported = {line.rpartition("|")[2].strip() for line in done.err.splitlines()}
    assert not {"mlflow", "sqlalchemy"} & imported
