"""Nothing that is read imports what it names, unless the command line trusts it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calling import command
from made_cells import make
from plugin_examples import GCE
from workspace import Workspace
from xcbench import SampledSoftmaxClassifier, model_files
from xcbench.cli import main
from xcbench.model_files import Trained
from xcbench.store import cells
from xcbench.system import sealed

EVIL = "from pathlib import Path\nPath('executed').touch()\n"
PLACES = {  # of a name in a model
    "method": {"method": "evil_code.method"},
    "parameter": {"parameters": {"method": "evil_code.method"}},
    "sampler": {"settings": {"sampler": "evil_code.Sampler"}},
    "a program": {"method": "os.system"},
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with somebody's code in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "evil_code.py").write_text(EVIL)
    (tmp_path / "rows.svm").write_text("a 1:1\nb 2:1\nc 3:1\n")
    return tmp_path


def merged(old: Any, new: dict[str, Any]) -> dict[str, Any]:
    nested = {key: merged(old[key], it) for key, it in new.items() if isinstance(it, dict)}
    return {**old, **new, **nested}


def model(folder: Path, changes: dict[str, Any]) -> Path:
    """A model with something else in its description, and a fitting checksum."""
    X = np.eye(3, dtype=np.float32)
    where = folder / "model"
    estimator = SampledSoftmaxClassifier(random_state=0, method="umax").fit(X, [0, 1, 2])
    model_files.save(where, Trained(estimator))
    content = json.loads((where / "model.json").read_text())
    del content["checksum"]
    (where / "model.json").write_text(sealed.dumps(merged(content, changes)))
    return where


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("verb", ["predict", "evaluate"])
def test_a_model_imports_nothing_that_it_names(folder, capsys, place: str, verb: str) -> None:
    said = command(capsys, verb, model(folder, PLACES[place]), "rows.svm", code=2)
    assert not (folder / "executed").exists() and "evil_code" not in sys.modules
    assert PLACES[place].get("method", "evil_code") in said


def test_a_cell_imports_nothing_that_it_names(folder, capsys) -> None:
    weights = {"W": np.zeros((3, 2), np.float32)}
    inputs = {"first": np.array(1), "width": np.array(2), "factors": np.ones(2)}
    inputs |= {"axes": np.ones((2, 0)), "labels": np.arange(3)}
    cell = make(lr=0.1)
    cell.weights, cell.inputs = weights, inputs
    cell.shape = {"classes": 3, "features": 2, "twin": False}
    cell.launch = {"method_target": "evil_code.method"}
    cells.save(folder / "runs", cell)
    assert "trust=evil_code" in command(capsys, "predict", cell.cell, "rows.svm", code=2)
    for words in (["show", cell.cell], ["results"], ["verify"]):
        with pytest.raises(SystemExit):
            main.main(words)
    assert not (folder / "executed").exists() and "evil_code" not in sys.modules


def test_what_is_trusted_by_name_is_loaded(workspace: Workspace) -> None:
    (workspace.path / "gce.py").write_text(GCE)
    (workspace.path / "rows.svm").write_text("a 1:1\nb 2:1\nc 3:1\n")
    workspace.xcbench("train", "rows.svm", "method=gce.method", "out=own").succeeded()
    for words in ([], ["trust=gc"], ["trust=gce.method"]):
        workspace.xcbench("predict", "own", "rows.svm", *words).refused("add trust=gce$")
    done = workspace.xcbench("predict", "own", "rows.svm", "trust=gce").succeeded()
    assert done.out.count("\n") == 3, done.text


def test_what_this_process_has_loaded_is_known(folder: Path) -> None:
    (folder / "own_method.py").write_text(GCE.replace('"gce"', '"own_method"'))
    X = np.eye(3, dtype=np.float32)
    estimator = SampledSoftmaxClassifier(random_state=0, method="own_method.method")
    model_files.save(folder / "own", Trained(estimator.fit(X, [0, 1, 2])))
    assert model_files.load(folder / "own").estimator.method == "own_method.method"
