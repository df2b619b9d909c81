"""Predictions on files, against what the evaluation of the same cell measured on them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hydra import compose

from calling import command
from good_files import catalogue
from xcbench.cli import main
from xcbench.config import composing
from xcbench.data import inputs, new_rows
from xcbench.errors import UserError
from xcbench.plan import planning, sweeps
from xcbench.run.execute import execute, planned
from xcbench.store import cells
from xcbench.store.cell import Cell

NAMES = np.array([-7, 3, 10001, 10002, 20000])  # labels of the files
FITTED = ("protocol.tfidf=true", "protocol.row_norm=l2", "protocol.constant=1")


def rows(seed: int, number: int, first: int, several: bool) -> Iterator[str]:
    """Lines ``label f:v …`` of classes with a feature each that says which it is, mostly."""
    rng = np.random.default_rng(seed)
    for _ in range(number):
        k = int(rng.integers(5))
        features = sorted({k if rng.random() < 0.8 else 5, *rng.integers(5, 12, 3).tolist()})
        pairs = " ".join(f"{j + first}:{rng.uniform(0.5, 2):.3f}" for j in features)
        label = f"{k},{(k + 1) % 5}" if several else str(NAMES[k] if first else k)
        yield f"{label} {pairs}\n"


def write(folder: Path, first: int = 1, several: bool = False, header: bool = False) -> Path:
    """Training and test file; gives the latter."""
    for name, seed, number in (("train", 0, 150), ("test", 1, 60)):
        text = f"{number} {12 + first} 5\n" if header else ""
        text += "".join(rows(seed, number, first, several))
        (folder / f"{name}.txt").write_text(text)
    return folder / "test.txt"


def run(folder: Path, *words: str, dataset: tuple[str, ...] = ()) -> Cell:
    """A cell with weights on the files of a folder."""
    own = [f"dataset.{role}={folder / role}.txt" for role in ("train", "test")]
    own = list(dataset) or ["dataset=file", *own]
    quick = ("mlflow=false", "save_weights=true", "budget.epochs=3", "budget.checkpoints=1")
    words = (*own, *quick, f"runs_dir={folder / 'runs'}", *words)
    with sweeps.hydra({}):
        settings = composing.read(compose("config", overrides=list(words)))
    assert execute(planned([settings])) == 0
    cell = cells.load(folder / "runs", planning.jobs([settings])[0].cell.cell)
    assert cell is not None
    return cell


def predicted(cell: Cell, file: Path, *words: str) -> tuple[np.ndarray, np.ndarray]:
    """Labels and log-probabilities of all classes, best first."""
    runs, out = file.parent / "runs", file.parent / "out.txt"
    with pytest.raises(SystemExit, match=r"^0$"):
        main.main(["predict", cell.cell, str(file), f"runs_dir={runs}", f"out={out}", *words])
    table = [[pair.split(":") for pair in line.split()] for line in out.read_text().splitlines()]
    numbers = np.array(table).astype(float)
    return numbers[..., 0].astype(int), numbers[..., 1]


def refused(capsys: pytest.CaptureFixture[str], cell: Cell, file: Path) -> str:
    runs = f"runs_dir={file.parent / 'runs'}"
    return command(capsys, "predict", cell.cell, file, runs, code=2)


def assert_as_evaluated(cell: Cell, labels: np.ndarray, values: np.ndarray, y: np.ndarray) -> None:
    last = cell.curve.iloc[-1]
    assert (labels[:, 0] != y).mean() == pytest.approx(last["test_error"])
    assert last["test_error"] < 0.6
    loss = -values[labels == y[:, None]].mean()
    assert loss == pytest.approx(last["test_log_loss"], rel=1e-4)
    assert np.allclose(np.exp(values).sum(axis=1), 1, atol=1e-3)


METHODS = [
    ("method=softmax", "method.solver=minibatch", "method.lr=0.1"),
    ("method=ar_probit", "method.negatives=2"),
    ("method=ar_logistic", "method.negatives=2"),
    ("method=negative_sampling", "method.sampler=uniform", "method.lr=0.1"),
]


@pytest.mark.parametrize("method", METHODS, ids=lambda words: words[0])
def test_a_file_counted_from_1_with_its_own_labels(tmp_path: Path, method: tuple[str, ...]) -> None:
    file = write(tmp_path)
    cell = run(tmp_path, *method, *(f"dataset.{word}" for word in FITTED))
    labels, values = predicted(cell, file, "k=5")
    assert set(labels.ravel()) == set(NAMES)
    y = np.array([int(line.split()[0]) for line in file.read_text().splitlines()])
    assert_as_evaluated(cell, labels, values, y)
    # Without labels, and where no row of the file shows whether features are counted from 0 or 1.
    lines = [line.split(" ", 1)[1] for line in file.read_text().splitlines()]
    unlabelled = [line for line in lines if not line.startswith("1:")]
    file.write_text("\n".join(unlabelled) + "\n")
    again = predicted(cell, file, "k=5")
    others = np.array([not line.startswith("1:") for line in lines])
    assert (again[0] == labels[others]).all() and (again[1] == values[others]).all()


@pytest.mark.parametrize(
    "words",
    [
        ("column_scale=max",),
        ("svd=11",),
        ("svd=11", "svd_centred=true"),
        ("features=7", "featureless=keep"),
        ("divide_by=2",),
    ],
    ids=lambda words: words[0],
)
def test_every_setting_of_features(tmp_path: Path, words: tuple[str, ...]) -> None:
    file = write(tmp_path, first=0, header=True)
    cell = run(tmp_path, *METHODS[0], *(f"dataset.protocol.{word}" for word in words))
    labels, values = predicted(cell, file, "k=5")
    y = np.array([int(line.split()[0]) for line in file.read_text().splitlines()[1:]])
    assert_as_evaluated(cell, labels, values, y)


def test_several_labels_below_a_header(tmp_path: Path) -> None:
    file = write(tmp_path, first=0, several=True, header=True)
    cell = run(tmp_path, *METHODS[0], "dataset.protocol.label=smallest")
    labels, values = predicted(cell, file, "k=4")  # 4 is never the smallest
    sets = [line.split()[0] for line in file.read_text().splitlines()[1:]]
    y = np.array([min(map(int, text.split(","))) for text in sets])
    assert_as_evaluated(cell, labels, values, y)


def labelled(seed: int, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of 6 bytes, the byte of the label the largest."""
    rng = np.random.default_rng(seed)
    y = rng.integers(4, size=number)
    X = rng.integers(0, 100, (number, 6))
    X[np.arange(number), y] += 100
    return X.astype(np.uint8), y.astype(np.uint8)


def as_idx(X: np.ndarray, y: np.ndarray) -> dict[str, bytes]:
    def array(values: np.ndarray) -> bytes:
        return struct.pack(f">4B{values.ndim}I", 0, 0, 8, values.ndim, *values.shape) + bytes(
            values
        )

    return {"": array(X.reshape(-1, 2, 3)), "_labels": array(y)}


def as_arff(X: np.ndarray, y: np.ndarray) -> dict[str, bytes]:
    names = [f"@attribute a{j} numeric" for j in range(6)] + [
        f"@attribute l{k} {{0,1}}" for k in range(4)
    ]
    rows = [
        "{" + ",".join([*(f"{j} {v}" for j, v in enumerate(row)), f"{6 + k} 1"]) + "}"
        for row, k in zip(X.tolist(), y.tolist(), strict=True)
    ]
    return {"": "\n".join([*names, "@data", *rows, ""]).encode()}


def as_dense_text(X: np.ndarray, y: np.ndarray) -> dict[str, bytes]:
    lines = [f"{len(X)} 6", *(" ".join(map(str, row)) for row in X.tolist()), ""]
    labels = [f"{len(X)} 4", *(f"{k}:1" for k in y.tolist()), ""]
    return {"": "\n".join(lines).encode(), "_labels": "\n".join(labels).encode()}


NARROW = {
    "mnist": struct.pack(">4B3I", 0, 0, 8, 3, 1, 1, 2) + b"12",
    "bibtex": b"@attribute a numeric\n@data\n{0 1}\n",
    "wikipedia500k": b"1 2\n1 2\n",
}


@pytest.mark.parametrize(
    ("name", "form"), [("mnist", as_idx), ("bibtex", as_arff), ("wikipedia500k", as_dense_text)]
)
def test_rows_in_the_format_of_training(
    tmp_path: Path,
    name: str,
    form: Callable[..., dict[str, bytes]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    roles = {}
    for role, seed, number in (("train", 0, 200), ("test", 1, 50)):
        for kind, content in form(*labelled(seed, number)).items():
            roles[role + kind] = f"{role}{kind}.bin"
            (tmp_path / roles[role + kind]).write_bytes(content)
    dataset = (*catalogue(name, roles, features=6), f"data_dir={tmp_path}")
    words = (*METHODS[0][:2], "method.lr=2", "dataset.protocol.divide_by=255")
    cell = run(tmp_path, *words, dataset=dataset)
    labels, values = predicted(cell, tmp_path / "test.bin", "k=4")
    assert_as_evaluated(cell, labels, values, labelled(1, 50)[1])
    (tmp_path / "narrow.bin").write_bytes(NARROW[name])
    assert "features a row, the cell was trained on 6" in refused(
        capsys, cell, tmp_path / "narrow.bin"
    )


def test_what_cannot_be_predicted_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path)
    assert "svm_ovr has none" in refused(capsys, run(tmp_path, "method=svm_ovr"), file)
    cell = run(tmp_path, *METHODS[0])
    file.write_text("3 0:1 2:1\n")
    assert "feature 0; the cell was trained on" in refused(capsys, cell, file)
    file.write_text("3 13:1\n")
    assert "feature 13; " in refused(capsys, cell, file)
    (cells.folder(tmp_path / "runs", cell.cell) / cells.INPUTS).unlink()
    assert "save_weights=true force=true" in refused(capsys, cell, file)


def test_data_prepared_before_their_inputs_were_kept(tmp_path: Path) -> None:
    file = write(tmp_path)
    cell = run(tmp_path, *METHODS[0], "save_weights=false")
    (tmp_path / "runs" / "cache" / cell.dataset_digest / "inputs.npz").unlink()
    again = run(tmp_path, *METHODS[0], "force=true")
    assert again.cell == cell.cell
    predicted(again, file)


def test_predict_needs_no_features_in_a_row(tmp_path: Path) -> None:
    path = tmp_path / "rows.txt"
    own = inputs.Inputs(-1, 2, np.ones(2), np.zeros((2, 0)), np.arange(4))
    path.write_text("3\n\n0:1\n")
    assert new_rows.read(path, own).toarray().tolist() == [[0, 0], [0, 0], [1, 0]]
    path.write_text("\ufeff1 2 3\n3\n", "utf-8")
    assert new_rows.read(path, own).shape == (1, 2)
    path.write_text("1 3 3\n3\n")
    with pytest.raises(UserError, match="3 features"):
        new_rows.read(path, own)
