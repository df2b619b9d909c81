"""Arrays of files are checked before compiled code indexes by them: models, caches, archives."""

from __future__ import annotations

import io
import json
import shutil
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calling import command
from workspace import SMALL, Workspace
from xcbench import model_files
from xcbench.errors import UserError
from xcbench.system import arrays, sealed

Arrays = dict[str, np.ndarray]
ROWS = "".join(f"{i % 4} {i % 4 + 1}:1 {5 + i % 3}:0.5\n" for i in range(24))


def put(name: str, place: int, value: float) -> Callable[[Arrays], None]:
    def edit(arrays: Arrays) -> None:
        arrays[name] = arrays[name].copy()
        arrays[name].ravel()[place] = value

    return edit


def cut(name: str) -> Callable[[Arrays], None]:
    return lambda arrays: arrays.update({name: arrays[name][:-1]})


EDITS = {
    "pd_sparse": {
        "features far": put("state.features", 0, 2**30),
        "features below": put("state.features", 0, -5),
        "start far": put("state.start", 2, 2**28),
        "start below": put("state.start", 1, -3),
        "start falls": put("state.start", 1, 20),
        "values not finite": put("state.values", 0, np.nan),
        "values cut": cut("state.values"),
        "no features": lambda arrays: arrays.pop("state.features"),
    },
    "umax": {
        "W not finite": put("state.W", 0, np.nan),
        "W infinite": put("state.W", 0, np.inf),
        "W of text": lambda it: it.update({"state.W": it["state.W"].astype(str)}),
        "W double": lambda it: it.update({"state.W": it["state.W"].astype(float)}),
        "b cut": cut("state.b"),
        "classes cut": cut("classes"),
        "classes twice": put("classes", 0, 1),
        "classes not finite": lambda it: it.update(classes=np.array([0, 1, 2, np.nan])),
        "factors cut": cut("inputs.factors"),
        "factors not finite": put("inputs.factors", 0, np.inf),
        "axes": lambda it: it.update({"inputs.axes": np.ones((3, 4))}),
        "width": lambda it: it.update({"inputs.width": np.array(10**9)}),
        "counts": cut("counts"),
    },
    "negative_sampling": {
        "leaf far": put("state.leaf", 0, 2**30),
        "leaf below": put("state.leaf", 0, -5),
        "leaf twice": lambda it: it["state.leaf"].put(0, it["state.leaf"][1]),
        "nodes cut": cut("state.nodes"),
        "projection cut": cut("state.A"),
        "mean cut": cut("state.c"),
    },
}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Models of the command line, by method."""
    folder = tmp_path_factory.mktemp("models")
    (folder / "rows.svm").write_text(ROWS)
    from xcbench.cli import main

    for method in EDITS:
        with pytest.raises(SystemExit) as ended:
            words = ("train", str(folder / "rows.svm"), f"method={method}", "epochs=2")
            main.main([*words, f"out={folder / method}"])
        assert ended.value.code == 0
    return {method: folder / method for method in EDITS}


def resealed(model: Path, edit: Callable[[dict[str, Any]], None] = lambda content: None) -> None:
    """With checksums that fit what is there."""
    content = json.loads((model / "model.json").read_text())
    del content["checksum"]
    content["files"] = {"arrays.npz": sealed.file_digest(model / "arrays.npz")}
    edit(content)
    (model / "model.json").write_text(sealed.dumps(content))


def refused(capsys: pytest.CaptureFixture[str], model: Path) -> str:
    return command(capsys, "predict", model, model.parent / "rows.svm", code=2)


@pytest.mark.parametrize(
    ("method", "edit"), [(method, edit) for method, edits in EDITS.items() for edit in edits]
)
def test_a_model_of_other_arrays_is_one_sentence(models, capsys, method: str, edit: str) -> None:
    path = models[method] / "arrays.npz"
    whole = path.read_bytes()
    content = arrays.load(path)
    EDITS[method][edit](content)
    np.savez(path, **content)  # type: ignore[arg-type]
    resealed(models[method])
    try:
        assert "holds no model of this version" in refused(capsys, models[method])
    finally:
        path.write_bytes(whole)
        resealed(models[method])
    assert command(capsys, "predict", models[method], models[method].parent / "rows.svm")


DESCRIBED: dict[str, Callable[[dict[str, Any]], object]] = {
    "another svd": lambda content: content["protocol"].update(svd=7),
    "another constant": lambda content: content["protocol"].update(constant=1.0),
    "unknown norm": lambda content: content["protocol"].update(row_norm="l7"),
    "names cut": lambda content: content.update(names=["a"]),
    "unknown fit": lambda content: content["fitted"].update(predict=0),
    "classes": lambda content: content["info"].update(classes=3),
    "not a number": lambda content: content["info"].update(mean_square_norm=True),
    "another method": lambda content: content["parameters"].update(method="ove"),
}


@pytest.mark.parametrize("edit", DESCRIBED)
def test_a_model_of_another_description_is_one_sentence(models, capsys, edit: str) -> None:
    path = models["umax"] / "model.json"
    whole = path.read_bytes()
    resealed(models["umax"], DESCRIBED[edit])  # type: ignore[arg-type]
    try:
        refused(capsys, models["umax"])
    finally:
        path.write_bytes(whole)


def header(shape: tuple[int, ...]) -> bytes:
    """An array's header, and a few of its numbers."""
    content = io.BytesIO()
    described = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(content, described)
    return content.getvalue() + bytes(64)


def test_an_archive_does_not_grow(tmp_path: Path) -> None:
    """A bomb, a header that claims more than there is, and one name twice."""
    path = tmp_path / "arrays.npz"
    np.savez_compressed(path, W=np.zeros(10**7))
    assert path.stat().st_size < 10**5
    with pytest.raises(ValueError, match="larger than the file"):
        arrays.load(path)
    for shape in ((10**12,), (2**31, 2**31), (7,), (9,)):
        with zipfile.ZipFile(path, "w") as bundle:
            bundle.writestr("W.npy", header(shape))
        with pytest.raises(ValueError, match="does not hold the numbers"):
            arrays.load(path)
    with zipfile.ZipFile(path, "w") as bundle, pytest.warns(UserWarning):
        for _ in range(2):
            bundle.writestr("W.npy", header((8,)))
    with pytest.raises(ValueError, match="two arrays of one name"):
        arrays.load(path)
    np.savez(path, W=np.arange(3.0))
    assert arrays.load(path)["W"].tolist() == [0, 1, 2]
    np.savez(path, allow_pickle=True, W=np.array([{}], object))
    with pytest.raises(ValueError, match="does not hold"):
        arrays.load(path)


def test_losses_that_are_no_numbers_are_kept(tmp_path: Path, capsys) -> None:
    (tmp_path / "rows.svm").write_text(ROWS)
    words = ("method=memoir_l2", "epochs=2", f"out={tmp_path / 'model'}")
    command(capsys, "train", tmp_path / "rows.svm", *words)
    losses = model_files.load(tmp_path / "model").estimator.loss_curve_
    assert losses[0] > 0 and np.isnan(losses[-1])  # no step in the second epoch


CACHED = {
    "indices far": ("train.indices", 0, 2**30),
    "indices below": ("train.indices", 0, -5),
    "starts fall": ("train.indptr", 1, 2**28),
    "class far": ("train.y", 0, 10**6),
    "class below": ("test.y", 0, -1),
    "not finite": ("train.data", 0, np.nan),
}


@pytest.mark.parametrize("edit", CACHED)
def test_a_prepared_dataset_that_does_not_fit_is_prepared_anew(
    workspace: Workspace, edit: str
) -> None:
    """Numbers out of range ended a launch with a segmentation fault."""
    words = ("dataset=zipf", "dataset.synthetic.train=200", "dataset.synthetic.classes=20")
    words += ("dataset.synthetic.test=50", "method=umax", *SMALL)
    assert workspace.run(*words).code == 0
    before = workspace.frame()
    (where,) = [path.parent for path in (workspace.path / "runs/cache").glob("*/info.json")]
    name, place, value = CACHED[edit]
    path = where / f"{name}.npy"
    good, array = path.read_bytes(), np.load(path)
    array[place] = value
    np.save(path, array)
    content = json.loads((where / "info.json").read_text())
    del content["checksum"]
    content["checksums"][path.name] = zlib.crc32(path.read_bytes())
    (where / "info.json").write_text(sealed.dumps(content))
    again = workspace.run(*words, "force=true").succeeded()
    assert path.read_bytes() == good, again.text
    clocks = [column for column in before if column.endswith("seconds")]
    assert workspace.frame().drop(columns=clocks).equals(before.drop(columns=clocks))


@pytest.mark.parametrize("largest", [3e38, -3e38])
def test_scores_that_overflow_are_one_sentence(models, tmp_path, capsys, largest: float) -> None:
    """They predicted nan, with exit code 0."""
    model = tmp_path / "umax"
    shutil.copytree(models["umax"], model)
    arrays = dict(np.load(model / "arrays.npz"))
    arrays["state.W"] = np.full_like(arrays["state.W"], largest)
    np.savez(model / "arrays.npz", **arrays)
    resealed(model)
    (tmp_path / "rows.svm").write_text("0 1:9 2:9\n")
    assert "not finite" in refused(capsys, model)
    with pytest.raises(UserError, match="1 row cannot be predicted"):
        model_files.load(model).estimator.predict_proba(np.full((1, 7), 9.0))
