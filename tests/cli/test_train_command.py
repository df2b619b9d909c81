"""``xcbench train`` and ``evaluate`` on files as users have them; scikit-learn is the truth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import MultiLabelBinarizer

from xcbench import model_files
from xcbench.cli.command import Request
from xcbench.cli.predict import predict
from xcbench.cli.train import evaluate, train
from xcbench.errors import UserError

NAMES = ("art", "café", "news/uk", "sport", "música", "jazz-rock")
UNSEEN = """\
opera 1:1 3:2
art,opera 1:9 2:9 3:9 4:9

# a remark
sport 25:9 26:9 27:9 999:3
"""


def lines(rows: int, seed: int) -> list[str]:
    """Rows of no label to three, some without features; features 8k+1 to 8k+8 tell label k."""
    rng = np.random.default_rng(seed)
    made = []
    for number in range(rows):
        labels = rng.choice(6, rng.integers(0, 4), replace=False)
        own = [8 * k + 1 + j for k in labels for j in rng.choice(8, 4, replace=False)]
        features = {*own, *rng.integers(1, 49, 2).tolist()} if number % 20 else set()
        pairs = " ".join(f"{feature}:1" for feature in sorted(features))
        made.append(f"{','.join(NAMES[k] for k in labels)} {pairs}")
    return [line for line in made if line.strip()]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    (folder / "train.svm").write_text("\n".join(lines(400, 0)) + "\n", "utf-8")
    (folder / "test.svm").write_text("\n".join(lines(150, 1)) + "\n" + UNSEEN, "utf-8")
    return folder


def request(command: str, *words: Path, **settings: Any) -> Request:
    return Request(command, [str(word) for word in words], {**settings})


def measured(text: str) -> dict[str, float]:
    """Names and numbers that `evaluate` printed."""
    words = (line.rpartition(" ") for line in text.splitlines())
    return {name.rstrip(":"): float(value) for name, _, value in words}


def one_vs_rest(files: Path) -> float:
    """Precision at 1 by scikit-learn; labels and features that training has not seen go."""
    parts = []
    for name in ("train.svm", "test.svm"):
        sets, X = [], []
        for line in (files / name).read_text("utf-8").splitlines():
            head, *pairs = line.split(" ")
            if head and not line.startswith("#"):
                X.append(np.bincount([int(p.split(":")[0]) for p in pairs if p], minlength=1000))
                sets.append({*head.split(",")})
        parts.append((np.stack(X)[:, :49], sets))
    (X, sets), (X_test, test) = parts
    Y = MultiLabelBinarizer(classes=NAMES).fit_transform(sets)
    scores = [LogisticRegression().fit(X, y).decision_function(X_test) for y in Y.T]
    best = np.array(NAMES)[np.stack(scores).argmax(axis=0)]
    return float(
        np.mean([label in labels_of_row for label, labels_of_row in zip(best, test, strict=True)])
    )


@pytest.mark.parametrize(
    "settings",
    [
        {"method": "one_vs_all"},
        {"method": "ove", "lr": "0.1", "protocol.label": "each"},
        {"method": "svm_ovr", "method.labels": "all", "protocol.label": "each"},
        {"method": "softmax", "l2": "1", "protocol.label": "each"},
    ],
    ids=lambda settings: settings["method"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_all_labels_of_a_row(
    settings: dict[str, str], files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "model"
    assert train(request("train", files / "train.svm", out=str(model), **settings)) == 0
    assert "all learnt" in capsys.readouterr().out
    assert evaluate(request("evaluate", model, files / "test.svm", k="2")) == 0
    measures = measured(capsys.readouterr().out)
    assert abs(measures["precision_at_1"] - one_vs_rest(files)) < 0.03
    assert measures["rows whose labels training has not seen, errors"] == 1
    assert measures["values of unseen features, ignored"] == 1
    assert "error" not in measures and "log_loss" not in measures
    assert (
        predict(request("predict", model, files / "test.svm", k="2", out=str(model) + ".txt")) == 0
    )
    written = Path(f"{model}.txt").read_text("utf-8").splitlines()
    assert written[-1].startswith("sport:") and {*NAMES} >= {row.split(":")[0] for row in written}


def test_one_vs_all_learns_the_label_sets(files: Path, tmp_path: Path) -> None:
    """The same weights as the estimator's of the same sets: no label of a row is its negative."""
    words = {"method": "one_vs_all", "method.negatives": "2", "seed": "3"}
    train(request("train", files / "train.svm", out=str(tmp_path / "model"), **words))
    trained = model_files.load(tmp_path / "model").estimator
    X, sets = [], []
    for line in (files / "train.svm").read_text("utf-8").splitlines():
        head, *pairs = line.split(" ")
        X.append(np.bincount([int(p.split(":")[0]) for p in pairs if p], minlength=49)[1:])
        sets.append({*head.split(",")} - {""})
    from scipy.sparse import csr_array

    from xcbench import OneVsAllClassifier

    some = [row for row, labels_of_row in enumerate(sets) if labels_of_row]
    same = OneVsAllClassifier(negatives=2, random_state=3)
    same.fit(csr_array(np.stack(X)[some].astype(np.float32)), [sets[row] for row in some])
    assert np.array_equal(trained.classes_, same.classes_)
    assert np.array_equal(trained.coef_, same.coef_)


def test_one_label_learnt(files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train(request("train", files / "train.svm", out=str(tmp_path / "model"), method="ove"))
    assert "one (label=smallest) learnt" in capsys.readouterr().out
    evaluate(request("evaluate", tmp_path / "model", files / "test.svm"))
    measures = measured(capsys.readouterr().out)
    assert {"error", "log_loss", "precision_at_1"} <= measures.keys()


def test_labels_given_twice_and_methods_without_weights(tmp_path: Path) -> None:
    rows = tmp_path / "rows.svm"
    rows.write_text("a,a,b 1:1 2:1\nb 1:1\na 2:1\n")
    train(request("train", rows, out=str(tmp_path / "model"), method="one_vs_all"))
    with pytest.raises(UserError, match="xcbench run method=fastxml"):
        train(request("train", rows, out=str(tmp_path / "other"), method="fastxml"))


@pytest.mark.parametrize(
    ("name", "method", "said"),
    [
        ("train.svm", "umx", "unknown method 'umx'; did you mean umax"),
        ("absent.svm", "umax", "there is no file .*absent.svm; check the path"),
    ],
)
def test_slips_of_a_new_user(
    name: str, method: str, said: str, files: Path, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=said):
        train(request("train", files / name, out=str(tmp_path / "model"), method=method))


def test_all_rows_train_on_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = tmp_path / "rows.svm"
    rows.write_text(
        "".join(f"{n % 100} {n % 7 + 1}:1 {n % 5 + 8}:1\n" for n in range(1200)), "utf-8"
    )
    for how, number in (("auto", "1,140"), ("none", "1,200")):
        out = tmp_path / how
        train(request("train", rows, out=str(out), epochs="2", early_stopping=how))
        assert f" on {number} rows, " in capsys.readouterr().out
        assert model_files.load(out).estimator.get_params()["early_stopping"] in ("auto", None)
    with pytest.raises(UserError, match="early_stopping=often must be auto or none"):
        train(request("train", rows, out=str(tmp_path / "often"), early_stopping="often"))


@pytest.mark.parametrize("method", ["memoir_l2", "softmax", "one_vs_all"])
def test_what_a_method_lacks_is_refused_but_for_a_seed(
    method: str, files: Path, tmp_path: Path
) -> None:
    words = {"method": method, "out": str(tmp_path / "model"), "seed": "3"}
    with pytest.raises(UserError, match=f"early_stopping does not apply to method={method}"):
        train(request("train", files / "train.svm", **words, early_stopping="auto"))
    train(request("train", files / "train.svm", **words))


@pytest.mark.parametrize("others", ["keep", "drop"])
def test_the_rarest_label_is_that_of_the_training_rows(
    others: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """B is rarer than A, which rows of both have too: training learns B, and so does evaluate."""
    rows = tmp_path / "rows.svm"
    rows.write_text("A,B 1:1 2:1\n" * 12 + "A 2:1\n" * 4 + "C 3:1\n" * 20)
    out = str(tmp_path / "model")
    words = {"protocol.label": "rarest", "protocol.other_labels": others, "epochs": "200"}
    train(request("train", rows, out=out, method="softmax", l2="0.01",
                  **{key: word for key, word in words.items() if key != "epochs"}))  # fmt: skip
    capsys.readouterr()
    evaluate(request("evaluate", Path(out), rows))
    assert measured(capsys.readouterr().out)["error"] == 0.0


def test_rows_without_a_label_beside_the_label_that_they_would_get(tmp_path: Path) -> None:
    rows = tmp_path / "rows.svm"
    rows.write_text("1 1:1\n-1 2:1\n 3:1\n" * 10)
    words = {"protocol.unlabelled": "class", "out": str(tmp_path / "model")}
    with pytest.raises(UserError, match="calls rows without a label -1, which is a label"):
        train(request("train", rows, **words))


def test_rows_without_a_label_that_are_learnt_are_not_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = tmp_path / "rows.svm"
    rows.write_text("1 1:1\n2 2:1\n 3:1\n" * 10)
    for rule, said in (("class", False), ("drop", True)):
        words = {"protocol.unlabelled": rule, "out": str(tmp_path / rule)}
        train(request("train", rows, **words))
        assert ("left out: 10" in capsys.readouterr().out) == said


@pytest.mark.parametrize("words", [{"dtype": "bogus"}, {"dtype": "int32"}, {"engine": "foo"}])
def test_a_precision_or_an_engine_that_does_not_exist(
    words: dict[str, str], files: Path, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match="must be one of"):
        train(request("train", files / "train.svm", out=str(tmp_path / "model"), **words))
    assert not (tmp_path / "model").exists()


def test_predictions_go_into_a_file(files: Path, tmp_path: Path) -> None:
    train(request("train", files / "train.svm", out=str(tmp_path / "model")))
    with pytest.raises(UserError, match="is a folder; name a file"):
        predict(request("predict", tmp_path / "model", files / "test.svm", out=str(tmp_path)))
