"""Models and prepared datasets."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from fuzz import watch
from fuzz.edits import FOLDER, Target, changed, covered, edited, parsed, resealed, written
from xcbench import model_files
from xcbench.core import statistics
from xcbench.core.dataset import Dataset, Info, LabelSets, Split
from xcbench.core.models.compiled import CompiledModel
from xcbench.data import cache as cached
from xcbench.data import inputs as transformed
from xcbench.data.inputs import Inputs
from xcbench.data.settings import Protocol
from xcbench.errors import UserError
from xcbench.estimators import MarginClassifier, SampledSoftmaxClassifier
from xcbench.system import sealed


def model(content: bytes) -> None:
    """``model.json`` with a checksum of its own, beside arrays of a good model."""
    text = edited(good_model(), content)
    folder = FOLDER / "model"
    written("model/model.json", resealed(text, parsed(text)))
    model_files.load(folder).estimator.predict(np.zeros((1, 3), np.float32))


LARGE = 1000  # classes or features of a forged dataset, for which nothing is trained


@cache
def good_model() -> bytes:
    X = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1]], np.float32)
    estimator = SampledSoftmaxClassifier(random_state=0)
    model_files.save(FOLDER / "model", model_files.Trained(estimator.fit(X, [0, 1, 2])))
    sealed.record(Protocol, asdict(Protocol()))  # evaluates the hints of its types, once
    return (FOLDER / "model" / "model.json").read_bytes()


@cache
def good_arrays() -> dict[str, tuple[Path, dict[str, np.ndarray], dict[str, Any]]]:
    """Models of every kind of weights: their folder, arrays, and description."""
    X = np.eye(12, 5, dtype=np.float32) + np.eye(12, 5, -5, np.float32)
    raw, y = sp.csr_array(X), np.arange(12) % 4
    kinds = {
        "linear": SampledSoftmaxClassifier("umax", random_state=0, epochs=2),
        "tree": SampledSoftmaxClassifier("negative_sampling", random_state=0, epochs=2),
        "memoir": MarginClassifier("memoir_l2", random_state=0, epochs=2),
        "pd_sparse": MarginClassifier("pd_sparse", random_state=0),
        "margins": MarginClassifier("svm_ovr", random_state=0),
        "clusters": MarginClassifier("cluster_svm", random_state=0),
    }
    good = {}
    for name, estimator in kinds.items():
        inputs = Inputs(1, 5, np.ones(5), np.ones((5, 0)), np.arange(4))
        trained = model_files.Trained(estimator.fit(raw, y), inputs, Protocol(), np.full(4, 3))
        where = FOLDER / f"model-{name}"
        model_files.save(where, trained)
        described = json.loads((where / "model.json").read_bytes())
        good[name] = (where, dict(np.load(where / "arrays.npz")), described)
    return good


def model_arrays(content: bytes) -> None:
    """A first byte that says which model, then edits of its arrays; checksums fit."""
    where, good, described = [*good_arrays().values()][content[0] % 5 if content else 0]
    np.savez(where / "arrays.npz", **changed(content[1:], good))  # type: ignore[arg-type]
    digest = sealed.file_digest(where / "arrays.npz")
    written(
        f"{where.name}/model.json", resealed(b"", {**described, "files": {"arrays.npz": digest}})
    )
    trained = model_files.load(where)
    best, values = trained.estimator.predict_top_k(trained.features(sp.csr_array(np.eye(5))), 2)
    assert len(best) == 5 and not np.isnan(values).any()


@cache
def good_dataset() -> tuple[Path, dict[str, np.ndarray], dict[str, Any]]:
    """A prepared dataset, sparse and of several labels: its folder, arrays, and description."""
    X = sp.csr_array(np.eye(9, 4, dtype=np.float32) + np.eye(9, 4, -4, np.float32))
    sets = LabelSets(np.arange(0, 19, 2), np.tile([0, 1, 2], 6), np.ones(9))
    split = Split(X, np.arange(9) % 3, sets)
    info = statistics.describe("data", "0" * 16, False, split, split, 3)
    where = FOLDER / "cache" / info.digest
    cached.save(where, info, split, split, {"digest": "", "numbers": None})
    transformed.save(where, Inputs(1, 4, np.ones(4), np.ones((4, 0)), np.arange(3)))
    arrays = {path.stem: np.load(path) for path in where.glob("*.npy")}
    return where, arrays, json.loads((where / "info.json").read_bytes())


def dataset(content: bytes) -> None:
    """Edits of the arrays of a prepared dataset, whose checksums fit: taken, or prepared anew."""
    where, good, described = good_dataset()
    for path in where.glob("*.npy"):
        path.unlink()
    for name, array in changed(content, good).items():
        np.save(where / f"{name}.npy", array)
    checksums = {path.name: zlib.crc32(path.read_bytes()) for path in where.glob("*.npy")}
    written(f"cache/{where.name}/info.json", resealed(b"", {**described, "checksums": checksums}))
    problem_of(where)


def dataset_info(content: bytes) -> None:
    """``info.json`` of a prepared dataset with a checksum of its own, beside good arrays."""
    where, good, described = good_dataset()
    for name, array in good.items():
        np.save(where / f"{name}.npy", array)
    text = edited(json.dumps(described).encode(), content)
    written(f"cache/{where.name}/info.json", resealed(text, parsed(text)))
    problem_of(where)
    cached.code(where)


def problem_of(where: Path) -> None:
    """Take a prepared dataset, and let compiled loops index by it."""
    info = taken(where)
    problem = cached.load(where, info)
    with watch.compiling():
        use(problem)


def use(problem: Dataset) -> None:
    info = problem.info
    for split in (problem.train, problem.test):
        assert isinstance(split.X, sp.csr_array)
        split.X.check_format(full_check=True)
        assert (
            np.isfinite(split.X.data).all() and 0 <= split.y.min() <= split.y.max() < info.classes
        )
        if split.sets is not None:
            split.labels(info.classes).check_format(full_check=True)
        if max(info.classes, info.features) > LARGE:
            continue
        model = CompiledModel(info.classes, info.features, True, "float32")
        rows = np.arange(len(split.y))
        model.add(model.take(split.X, rows), split.y[:, None], np.ones((len(rows), 1)))
        model.summarise(split)


def taken(where: Path) -> Info:
    try:
        return cached.read(where)
    except cached.ERRORS as error:
        raise UserError("it is prepared anew") from error


def files_of(where: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(where.iterdir())}


@cache
def whole_dataset() -> Mapping[str, bytes]:
    where, _, _ = good_dataset()
    return {f"{where.name}/{name}": content for name, content in files_of(where).items()}


def dataset_said(folder: Path) -> Any:
    """All that a launch takes from a prepared dataset."""
    where = folder / good_dataset()[0].name
    info = taken(where)
    problem = cached.load(where, info)
    inputs = transformed.load(where)
    if inputs is None:
        raise UserError("it is prepared anew")
    parts = [array for split in (problem.train, problem.test) for array in of_split(split)]
    return info, cached.code(where), plain([*parts, *inputs.arrays().values()])


def of_split(split: Split) -> list[np.ndarray]:
    assert isinstance(split.X, sp.csr_array) and split.sets is not None
    return [split.y, split.X.data, split.X.indices, split.X.indptr, *vars(split.sets).values()]


def plain(arrays: list[np.ndarray]) -> list[Any]:
    """Arrays that compare."""
    return [(array.dtype.str, array.tolist()) for array in arrays]


@cache
def whole_models() -> Mapping[str, bytes]:
    return {
        f"{name}/{file}": content
        for name, (where, _, _) in good_arrays().items()
        for file, content in files_of(where).items()
        if name in ("tree", "pd_sparse")
    }


def models_said(folder: Path) -> Any:
    """What two models have learnt, and what they predict."""
    said = []
    for where in sorted(folder.iterdir()):
        trained = model_files.load(where)
        fitted, inputs = trained.estimator, trained.inputs
        best, values = fitted.predict_top_k(trained.features(sp.csr_array(np.eye(5))), 2)
        assert inputs and trained.counts is not None
        arrays = [best, values, trained.counts, fitted.classes_, *inputs.arrays().values()]
        told = (fitted.get_params(), fitted.loss_curve_, fitted.n_iter_, fitted.lr_)
        said.append((repr(told), plain([*arrays, *fitted.state_.values()]), trained.protocol))
    return said


def targets() -> dict[str, Target]:
    """Models and prepared datasets: damaged, and forged with checksums that fit."""
    return {
        "model": Target(model, (b"\0\0\0", good_model())),
        "model_arrays": Target(model_arrays, tuple(bytes([k]) for k in range(5))),
        "dataset": Target(dataset, (b"", b"\0\0\0\4")),
        "dataset_info": Target(dataset_info, (b"", b"\0\0\0")),
        "damaged_model": covered("damaged-model", whole_models, models_said),
        "damaged_dataset": covered("damaged-dataset", whole_dataset, dataset_said),
    }
