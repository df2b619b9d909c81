"""The public names: what they are, and that Python and the command line write the same cells."""

from __future__ import annotations

import doctest
import inspect
import pydoc
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import xcbench
from workspace import Workspace
from xcbench.errors import UserError
from xcbench.run import harness
from xcbench.store import cells

# The contract: a change here is a change for everybody who uses the library.
API = {
    "EarlyStopping": "*, validation_fraction, n_iter_no_change, tol",
    "MarginClassifier": "method, *, epochs, reduction, random_state, verbose, **options",
    "OneVsAllClassifier": "*, epochs, random_state, verbose, **options",
    "SampledSoftmaxClassifier": "method, *, epochs, reduction, early_stopping, warm_start, "
    "random_state, verbose, **options",
    "SoftmaxClassifier": "method, *, reduction, warm_start, random_state, verbose, **options",
    "load_dataset": "name, **options",
    "plot": "curves(frame, dataset)",
    "results": "*, curves, checkpoint, runs_dir, **filters",
    "run": "*, method, dataset, lr, seed, curves, verbose, **options",
}
VERBS = {
    "fit": "X, y",
    "predict": "X",
    "predict_proba": "X",
    "predict_log_proba": "X",
    "decision_function": "X",
    "predict_top_k": "X, k",
    "evaluate": "X, y, k",
    "score": "X, y, sample_weight",
}


def parameters(function: object) -> str:
    """``a, *, b`` of a function."""
    signature = inspect.signature(function)  # type: ignore[arg-type]
    plain = [
        parameter.replace(default=parameter.empty, annotation=parameter.empty)
        for parameter in signature.parameters.values()
        if parameter.name != "self"
    ]
    return str(inspect.Signature(plain))[1:-1]


def test_public_names_are_the_contract() -> None:
    assert xcbench.__all__ == sorted(API)
    functions = {name: getattr(xcbench, name) for name in API if name not in ("plot", "run")}
    result = {name: parameters(function) for name, function in functions.items()}
    result["run"] = parameters(harness.run)
    plots = [f"{name}({parameters(vars(xcbench.plot)[name])})" for name in xcbench.plot.__all__]
    result["plot"] = ", ".join(plots)
    assert result == API
    for name in ("MarginClassifier", "SampledSoftmaxClassifier"):
        verbs = {verb: getattr(getattr(xcbench, name)("umax"), verb) for verb in VERBS}
        assert {verb: parameters(function) for verb, function in verbs.items()} == VERBS
    assert parameters(xcbench.SampledSoftmaxClassifier.partial_fit) == "X, y, classes"
    assert parameters(xcbench.SoftmaxClassifier.fit) == "X, y, sample_weight"
    assert set(API) <= set(dir(xcbench))
    with pytest.raises(AttributeError, match="no attribute 'ran'"):
        _ = xcbench.ran  # type: ignore[attr-defined]


def test_help_names_all_of_it() -> None:
    text = pydoc.plain(pydoc.render_doc(xcbench))
    assert [name for name in API if name not in text.split("PACKAGE CONTENTS")[0]] == []
    assert (Path(xcbench.__file__).parent / "py.typed").exists()


def test_importing_the_package_imports_nothing_else() -> None:
    program = (
        "import sys; before = set(sys.modules); import xcbench; "
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before})"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    foreign = set(done.stdout.split()) - set(sys.stdlib_module_names) - {"xcbench"}
    assert done.returncode == 0 and not foreign


def test_the_cells_of_the_command_line(workspace: Workspace) -> None:
    """The same identity, settings and curve to the last digit, clocks apart."""
    words = ("dataset=digits", "method=ove,implicit", "method.lr=0.1,0.01", "seed=0,1")
    more = ("only.ove.negatives=2", "budget.epochs=2", "budget.checkpoints=2", "mlflow=false")
    assert workspace.run("-m", *words, *more).code == 0
    runs = workspace.path / "mine"
    frame = xcbench.run(
        dataset="digits", method=["ove", "implicit"], lr=np.array([0.1, 0.01]), seed=range(2),
        only__ove__negatives=2, budget__epochs=2, budget__checkpoints=2, runs_dir=runs, verbose=0,
    )  # fmt: skip
    theirs = {cell.cell: cell for cell in cells.load_all(workspace.path / "runs")}
    ours = {cell.cell: cell for cell in cells.load_all(runs)}
    assert ours.keys() == theirs.keys() == set(frame["cell"]) and len(frame) == 8
    for name, cell in ours.items():
        assert (cell.config, cell.content) == (theirs[name].config, theirs[name].content)
        pd.testing.assert_frame_equal(
            cell.curve.drop(columns="train_seconds"),
            theirs[name].curve.drop(columns="train_seconds"),
            check_exact=True,
        )
    selected = xcbench.results(runs_dir=runs, method="ove", lr=[0.01, 0.5], method__negatives=2)
    assert list(selected["seed"]) == [0, 1] and set(selected["lr"]) == {0.01}
    everything = xcbench.results(runs_dir=runs, curves=True)
    picture = xcbench.plot.curves(everything)
    assert picture._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]
    assert [text.get_text() for text in picture.legends[0].get_texts()] == ["implicit", "ove"]
    with pytest.raises(UserError, match="choose one dataset of the frame: digits"):
        xcbench.plot.curves(everything, "mnist")
    lost = everything.assign(status=["skipped", "failed"] * (len(everything) // 2))
    with pytest.raises(UserError, match="statuses: failed, skipped"):
        xcbench.plot.curves(lost)


def test_a_dataset_by_its_name(tmp_path: Path) -> None:
    plain = xcbench.load_dataset("digits", runs_dir=tmp_path)
    unit = xcbench.load_dataset("digits", protocol__row_norm="l2", runs_dir=tmp_path)
    assert np.allclose(np.linalg.norm(unit.train.X, axis=1), 1)
    assert np.array_equal(plain.train.y, unit.train.y) and plain.info.digest != unit.info.digest
    with pytest.raises(UserError, match="not found in"):
        xcbench.load_dataset("bibtex", data_dir=tmp_path, runs_dir=tmp_path)
    twin = xcbench.load_dataset(
        "bibtex", data_dir=tmp_path, runs_dir=tmp_path, missing="twin", synthetic__train=500
    )
    assert twin.info.twin
    with pytest.raises(UserError, match="digit"):
        xcbench.load_dataset("digit", runs_dir=tmp_path)


def test_a_bar_for_all_cells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        xcbench.run(seed=[0, 1], budget__epochs=1, runs_dir=tmp_path)
    out, err = capsys.readouterr()
    assert "cell 2/2 ████████████████████ digits umax" in err
    assert "2 cells: 2 done" in out and "every cell was there already" in out
    xcbench.run(seed=2, budget__epochs=1, runs_dir=tmp_path, verbose=0)
    xcbench.run(seed=3, budget__epochs=1, runs_dir=tmp_path, verbose=2)
    out, err = capsys.readouterr()
    assert out.startswith("[1/1] digits umax") and not err


def test_a_list_is_several_values_and_a_list_in_it_one() -> None:
    words = harness._words({"seed": [0, 1], "evaluation__metrics": [["macro_f1", "auc"]]})
    assert words == ["seed=0,1", "evaluation.metrics=[macro_f1,auc]"]


def test_mistakes_are_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="negativs"):
        xcbench.run(method__negativs=3, runs_dir=tmp_path, verbose=0)
    with pytest.raises(UserError, match="greater than 0"):
        xcbench.run(lr=-1, runs_dir=tmp_path, verbose=0)


def test_examples(tmp_path: Path) -> None:
    assert doctest.testmod(harness, extraglobs={"folder": tmp_path}).failed == 0
