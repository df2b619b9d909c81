"""Cells of changed code run again, or are measured again."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from catalogue import TOY, composed
from plugin_examples import GCE
from workspace import SMALL, Workspace
from xcbench.data import cache, prepare
from xcbench.system import sealed


def recorded(workspace: Workspace) -> tuple[Path, dict]:
    (path,) = (workspace.path / "runs" / "cells").glob("[!.]*/cell.json")
    return path, json.loads(path.read_text("utf-8"))


def alter(workspace: Workspace, column: str) -> None:
    """Pretend that the code gave other numbers when the only cell ran."""
    path, content = recorded(workspace)
    content.pop("checksum")
    content["code"]["digest"] = "0"
    numbers = content["code"]["numbers"]
    numbers[column] = [it + 1.0 for it in numbers[column]]
    path.write_text(sealed.dumps(content), "utf-8")


RUN = ("dataset=digits", "method=ove", *SMALL)


def test_a_cell_of_changed_training_runs_again(workspace: Workspace) -> None:
    assert workspace.run(*RUN).code == 0
    assert "there already" in workspace.run(*RUN).out
    alter(workspace, "weights")
    plan = workspace.run(*RUN, "plan=true").out
    assert re.search(r"stale .*\(changed: training\)", plan) and "1 to run" in plan
    assert list(workspace.frame()["stale"]) == ["changed: training"]
    workspace.xcbench("report", "grid=last", "name=stale").succeeded()
    text = (workspace.path / "reports" / "stale" / "index.html").read_text("utf-8")
    assert "1 cell stale: changed: training" in text
    again = workspace.run(*RUN)
    assert "1 cell stale: changed: training" in again.out and "1 done" in again.out
    assert "there already" in workspace.run(*RUN).out
    assert workspace.frame()["stale"].isna().all()


def test_a_moved_formula_renews_the_record_alone(workspace: Workspace) -> None:
    assert workspace.run(*RUN).code == 0
    path, content = recorded(workspace)
    content.pop("checksum")
    digest, content["code"]["digest"] = content["code"]["digest"], "0"
    path.write_text(sealed.dumps(content), "utf-8")
    assert "0 to run" in workspace.run(*RUN, "plan=true").out
    assert recorded(workspace)[1]["code"]["digest"] == "0"  # a plan writes nothing
    assert "there already" in workspace.run(*RUN).out
    assert recorded(workspace)[1]["code"]["digest"] == digest


def test_a_changed_metric_measures_kept_weights_again(workspace: Workspace) -> None:
    words = (
        *RUN[:2],
        "mlflow=false",
        "budget.epochs=2",
        "budget.checkpoints=2",
        "save_weights=true",
    )
    assert workspace.run(*words).code == 0
    before, (_, old) = workspace.frame("--curves"), recorded(workspace)
    alter(workspace, "test_error")
    assert "changed: test_error" in workspace.run(*words).out
    after, (_, new) = workspace.frame("--curves"), recorded(workspace)
    assert new["seconds"]["train"] == old["seconds"]["train"]  # nothing was trained
    assert new["code"] == old["code"] and "weights.npz" in new["files"]
    assert after["test_error"].iloc[-1] == before["test_error"].iloc[-1]
    assert after["test_error"].iloc[:-1].isna().all()  # those weights are gone
    others = ["train_error", "test_log_loss", "bound"]
    pd.testing.assert_frame_equal(after[others], before[others])


def test_without_kept_weights_a_changed_metric_trains(workspace: Workspace) -> None:
    assert workspace.run(*RUN).code == 0
    alter(workspace, "test_error")
    assert workspace.run(*RUN).code == 0
    assert workspace.frame("--curves")["test_error"].notna().all()


def test_the_code_of_a_plugin_is_part_of_its_cells(workspace: Workspace) -> None:
    """An edit of a method of one's own, in the folder of the launch."""
    path = workspace.path / "gce.py"
    path.write_text(GCE, "utf-8")
    words = ("dataset=digits", "method=gce.method", *SMALL)
    assert workspace.run_fresh(*words).code == 0
    path.write_text(f"# a remark\n{GCE}", "utf-8")
    assert "there already" in workspace.run_fresh(*words).out
    path.write_text(GCE.replace("q: float = option(0.7", "q: float = option(0.6"), "utf-8")
    assert path.read_text("utf-8") != GCE
    done = workspace.run_fresh(*words)
    assert "there already" not in done.out and "1 done" in done.out


def test_a_formula_is_compiled_again_when_another_file_changes(workspace: Workspace) -> None:
    """Numba looks at the file of a formula alone."""
    strength = workspace.path / "strength.py"
    text = GCE.replace("import numpy as np", "import numpy as np\n\nfrom strength import STRENGTH")
    text = text.replace("(1 - power) / q, power", "STRENGTH * (1 - power) / q, STRENGTH * power")
    (workspace.path / "gce.py").write_text(text, "utf-8")
    words = ("dataset=digits", "method=gce.method", "engine=numba", "force=true", *SMALL)
    losses = []
    for number in (1.0, 1.0, 3.0):
        strength.write_text(f"STRENGTH = {number}\n", "utf-8")
        done = workspace.run_fresh(*words)
        assert done.code == 0, done.text
        losses.append(workspace.frame()["train_log_loss"].iloc[0])
    assert losses[0] == losses[1] != losses[2]


def test_a_changed_protocol_prepares_rows_again(
    data_dir: Path, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = prepare(composed(*TOY), data_dir, cache_dir)
    where = cache_dir / info.digest
    written = (where / "train.data.npy").stat().st_mtime_ns
    stamp = cache.code(where)
    cache.renew(where, {**stamp, "digest": "0"})
    assert prepare(composed(*TOY), data_dir, cache_dir) == info
    assert (where / "train.data.npy").stat().st_mtime_ns == written  # the same numbers
    assert cache.code(where) == stamp
    cache.renew(where, {"digest": "0", "numbers": [2 * it for it in stamp["numbers"]]})
    assert prepare(composed(*TOY), data_dir, cache_dir) == info
    assert (where / "train.data.npy").stat().st_mtime_ns > written
    assert cache.code(where) == stamp
