"""Train, predict and evaluate on files of one's own: models in folders, labels of any text."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from test_predict import run, write

from calling import command
from xcbench import EarlyStopping, MarginClassifier, SampledSoftmaxClassifier, model_files
from xcbench.core.dataset import Dataset
from xcbench.data import labelled_lines, labelled_rows
from xcbench.errors import UserError
from xcbench.estimators.base import LinearClassifier
from xcbench.model_files import Trained

SPORT = "sport 1:2 3:1\nsport 1:1\nc++,art 2:2\nart 2:1 3:1\nc++ 4:1\nc++ 4:2 3:1\nsport\n\n 1:1\n"


def measures(text: str) -> dict[str, float]:
    pairs = (line.rsplit(maxsplit=1) for line in text.splitlines())
    return {name.rstrip(":"): float(value) for name, value in pairs}


METHODS = {
    "implicit": (),
    "umax": ("protocol.tfidf=true", "protocol.row_norm=l2", "protocol.constant=1"),
    "negative_sampling": ("protocol.svd=11",),
    "softmax": ("protocol.column_scale=max", "method.l2=0.1", "method.tolerance=1e-5"),
    "memoir_l2": ("protocol.constant=1",),
    "cluster_svm": (),
}
MARGINS = ("memoir_l2", "cluster_svm")


@pytest.mark.parametrize("method", METHODS)
def test_a_model_is_what_the_harness_measures(
    method: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same rows, protocol, method and seed: the cell's error and log loss, from a file."""
    test, options = write(tmp_path), METHODS[method]
    words = [f"dataset.{word}" if word.startswith("protocol") else word for word in options]
    last = run(tmp_path, f"method={method}", *words, "seed=2").curve.iloc[-1]
    model = tmp_path / "model"
    epochs = () if method == "cluster_svm" else ("epochs=3",)
    shared = (*options, *epochs, "seed=2", f"out={model}")
    command(capsys, "train", tmp_path / "train.txt", f"method={method}", *shared)
    found = measures(command(capsys, "evaluate", model, test, "k=2"))
    assert found["rows"] == 60 and found["error"] == pytest.approx(last["test_error"], abs=1e-6)
    if method not in MARGINS:
        assert found["log_loss"] == pytest.approx(last["test_log_loss"], rel=1e-5)
    lines = command(capsys, "predict", model, test).splitlines()
    labels = [line.split(" ", 1)[0] for line in test.read_text().splitlines()]
    errors = [line.split(":")[0] != label for line, label in zip(lines, labels, strict=True)]
    assert np.mean(errors) == pytest.approx(last["test_error"])


def test_labels_rows_and_features_that_training_has_not_seen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As somebody new tries it: words as labels, several or none, nothing in a row."""
    (tmp_path / "train.svm").write_text(SPORT)
    model = tmp_path / "deep" / "model"
    told = command(
        capsys, "train", tmp_path / "train.svm", "--method", "umax", "--out", model, "--epochs=50"
    )
    assert "rows without a label, left out: 1" in told
    assert "rows with several labels, one (label=smallest) learnt: 1" in told
    assert "umax on 7 rows, 4 features, 3 labels: 50 epochs" in told
    rows = tmp_path / "rows.svm"
    rows.write_text("sport 1:1\nart,c++ 2:1\nchess 4:1\nc++ # nothing\n4:1 99:1\nart 2:1 0:3\n")
    lines = command(capsys, "predict", model, rows, "-k", "3").splitlines()
    best = [[pair.rsplit(":", 1)[0] for pair in line.split(" ")] for line in lines]
    assert [labels[0] for labels in best[:3]] == ["sport", "art", "c++"] and best[4][0] == "c++"
    assert all(sorted(labels) == ["art", "c++", "sport"] for labels in best)
    monkeypatch.setattr(labelled_lines, "BLOCK", 2)
    out = tmp_path / "out.txt"
    command(capsys, "predict", model, rows, "k=3", f"out={out}")
    assert out.read_text().splitlines() == lines
    found = measures(command(capsys, "evaluate", model, rows))
    right = sum(labels[0] in line.split()[0].split(",") for labels, line in zip(
        best, rows.read_text().splitlines(), strict=True))  # fmt: skip
    assert found["rows"] == 5 and found["precision_at_1"] == pytest.approx(right / 5)
    assert found["rows without a label, left out"] == 1
    assert found["rows whose labels training has not seen, errors without log loss"] == 1
    assert found["values of unseen features, ignored"] == 2


def test_a_model_of_arrays(small: Dataset, tmp_path: Path) -> None:
    X, y = small.train.X, np.array(list("abcdefgh"))[small.train.y]
    cases: list[LinearClassifier] = [
        SampledSoftmaxClassifier(
            "umax",
            sampler="others",
            random_state=0,
            epochs=3,
            early_stopping=EarlyStopping(tol=0.1),
        ),
        SampledSoftmaxClassifier("negative_sampling", random_state=0, epochs=3),
        SampledSoftmaxClassifier("softmax", random_state=0, epochs=3),
        MarginClassifier("svm_ovr", random_state=0),
        MarginClassifier("memoir_l1", random_state=0),
        MarginClassifier("cluster_svm", random_state=0, clusterings=2),
    ]
    for number, estimator in enumerate(cases):
        model_files.save(tmp_path / str(number), Trained(estimator.fit(X, y)))  # type: ignore[attr-defined]
        again = model_files.load(tmp_path / str(number)).estimator
        assert repr(again) == repr(estimator)
        for rows in (X, sp.csr_array(X[:1])):
            labels, values = estimator.predict_top_k(rows, 3)
            same, close = again.predict_top_k(rows, 3)
            assert np.array_equal(labels, same) and np.array_equal(values, close)
    again = model_files.load(tmp_path / "0").estimator
    before = again.evaluate(X, y)["log_loss"]
    assert again.partial_fit(X, y).n_iter_ == 4  # type: ignore[attr-defined]
    assert again.evaluate(X, y)["log_loss"] < before
    cases[0].set_params(early_stopping__n_iter_no_change=np.int64(5))  # as a search does
    model_files.save(tmp_path / "0", Trained(cases[0]))  # in the place of the one before
    model_files.load(tmp_path / "0")
    days = np.array("2026-01-01", "datetime64[D]") + small.train.y
    dated = SampledSoftmaxClassifier("umax", epochs=1, random_state=0).fit(X, days)
    with pytest.raises(UserError, match="neither numbers nor text"):
        model_files.save(tmp_path / "dated", Trained(dated))
    with pytest.raises(UserError, match="something other than a model"):
        model_files.save(tmp_path, Trained(cases[0]))


def test_what_is_damaged_or_newer_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.svm").write_text(SPORT)
    model, rows = tmp_path / "model", tmp_path / "train.svm"
    command(capsys, "train", rows, f"out={model}", "epochs=1")
    arrays, described = (model / "arrays.npz").read_bytes(), (model / "model.json").read_text()
    (model / "arrays.npz").write_bytes(arrays[:-1])
    assert "changed since it was written" in command(capsys, "predict", model, rows, code=2)
    (model / "arrays.npz").write_bytes(arrays)
    (model / "model.json").write_text(described.replace('"implicit"', '"umax"'))
    assert "checksum" in command(capsys, "predict", model, rows, code=2)
    content = json.loads(described)
    content.pop("checksum")
    (model / "model.json").write_text(model_files.sealed.dumps({**content, "format": 99}))
    assert "does not know" in command(capsys, "evaluate", model, rows, code=2)
    assert "holds no model" in command(capsys, "evaluate", tmp_path / "none", rows, code=2)
    for name in ("predict", "evaluate"):
        (tmp_path / "empty.svm").write_text("")
        (model / "model.json").write_text(described)
        assert "has no rows" in command(capsys, name, model, tmp_path / "empty.svm", code=2)


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        ("", (), "has no rows"),
        (" 1:1\n 2:1\n", (), "no row with a label"),
        ("1:1\n2:1\n", (), "line 1: '1:1' does not begin with a label"),
        ("a 1:1\n", (), "at least two are needed"),
        ("a 1:1\nb 1;1\n", (), "line 2: '1;1' is not a pair"),
        (
            SPORT,
            ("methd=umax",),
            "implicit has no option methd; did you mean method; its options: lr",
        ),
        (SPORT, ("method=umx",), "umx"),
        (SPORT, ("epochs=few",), "epochs must be a whole number"),
        (SPORT, ("protocol.svd=many",), "protocol.svd is not possible"),
        (SPORT, ("protocol.split=random",), "uses all rows of its file"),
        (SPORT, ("negatives=7",), "7 classes cannot be drawn"),
    ],
)
def test_mistakes_are_one_sentence(
    text: str, words: tuple[str, ...], message: str, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    (tmp_path / "train.svm").write_text(text)
    error = command(
        capsys, "train", tmp_path / "train.svm", f"out={tmp_path / 'm'}", *words, code=2
    )
    assert message in error
    assert not (tmp_path / "m").exists()


def test_rows_of_the_repository_format(tmp_path: Path) -> None:
    path = tmp_path / "rows.txt"
    path.write_text("4 3 9\n7,2 0:1 2:5\n\n0:2\n8\n")
    (raw,) = labelled_rows.read([path])
    assert raw.X.toarray().tolist() == [[1, 0, 5], [0, 0, 0], [2, 0, 0], [0, 0, 0]]  # type: ignore[union-attr]
    assert (raw.labels.tolist(), raw.n_labels) == ([7, 2, 8], 9)
    path.write_text("c# 1:1 # a remark\n10\t1:2\n-3 2:1\n")
    (raw,) = labelled_rows.read([path])
    assert raw.label_names is not None and raw.label_names.tolist() == ["-3", "10", "c#"]
    assert raw.X.toarray().tolist() == [[1, 0], [2, 0], [0, 1]]  # type: ignore[union-attr]
