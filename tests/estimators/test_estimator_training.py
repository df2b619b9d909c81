"""What the estimators learn: the harness's weights, and the same however it is asked for."""

from __future__ import annotations

import io
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hydra import compose
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.svm import LinearSVC

import xcbench
from xcbench import (
    EarlyStopping,
    MarginClassifier,
    SampledSoftmaxClassifier,
    SoftmaxClassifier,
    data,
)
from xcbench.config import composing
from xcbench.core.dataset import Dataset, Info, Split
from xcbench.estimators import problem
from xcbench.estimators.base import LinearClassifier
from xcbench.plan import planning, sweeps
from xcbench.run.execute import run
from xcbench.store import cells

LETTERS = np.array(list("abcdefgh"))


def labelled(dataset: Dataset) -> tuple[Any, np.ndarray]:
    return dataset.train.X, dataset.train.y


def assert_same(one: LinearClassifier, other: LinearClassifier) -> None:
    assert one.state_.keys() == other.state_.keys()
    for name, array in one.state_.items():
        assert np.array_equal(array, other.state_[name]), name


CASES: list[tuple[LinearClassifier, tuple[str, ...]]] = [
    (SampledSoftmaxClassifier("implicit"), ()),
    (
        SampledSoftmaxClassifier("umax", sampler="tree", negatives=2),
        ("sampler=tree", "negatives=2"),
    ),
    (SampledSoftmaxClassifier("negative_sampling", dtype="float64"), ()),
    (SampledSoftmaxClassifier("ar_probit", local_lr=0.1), ("local_lr=0.1",)),
    (SoftmaxClassifier(l2=1.0), ("l2=1.0", "tolerance=1e-4")),
    (MarginClassifier("memoir_l1"), ()),
    (MarginClassifier("svm_ovr"), ()),
]


@pytest.mark.parametrize(
    ("estimator", "words"), CASES, ids=lambda case: getattr(case, "method", "")
)
def test_numbers_of_the_command_line(
    estimator: LinearClassifier, words: tuple[str, ...], tmp_path: Path
) -> None:
    """The same data, settings and seed give the same weights and metrics to the last digit."""
    made = ("train=300", "test=100", "features=40", "classes=8", "nonzeros=6", "signal=0.3")
    own = ("mlflow=false", "save_weights=true", "budget.epochs=3", "seed=5")
    method = (f"method={estimator.method}", *(f"method.{word}" for word in words))
    point = [
        *("dataset=zipf", *(f"dataset.synthetic.{word}" for word in made)),
        *(*own, *method, f"dtype={estimator.dtype}", f"runs_dir={tmp_path}"),
    ]
    with sweeps.hydra({}):
        settings = composing.read(compose("config", overrides=point))
    assert run([settings]) == 0
    (job,) = planning.jobs([settings])
    cell = cells.load(tmp_path, job.cell.cell)
    assert cell is not None and isinstance(job.info, Info)
    dataset = data.load(job.info, planning.cache_dir(settings))
    own_seed = {"random_state": 5, **({"epochs": 3} if hasattr(estimator, "epochs") else {})}
    fitted = clone(estimator).set_params(**own_seed).fit(*labelled(dataset))
    for name, array in cells.saved_arrays(tmp_path, cell).items():
        assert np.array_equal(array, fitted.state_[name]), name
    assert fitted.lr_ == cell.lr
    measured = fitted.evaluate(dataset.test.X, dataset.test.y)
    last = cell.curve.iloc[-1]
    assert measured == {name: last[f"test_{name}"] for name in measured}


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("is", {"sampler": "others"}),
        ("ove", {"optimizer": "adagrad"}),
        ("softmax", {"optimizer": "ar", "init": "normal"}),
        ("nce", {"sampler": "frequency"}),
    ],
)
def test_passes_of_partial_fit_are_epochs(method: str, settings: Any, small: Dataset) -> None:
    X, y = labelled(small)
    one = SampledSoftmaxClassifier(method, random_state=1, lr_decay=1.0, epochs=3, **settings)
    passes = clone(one)
    for _ in range(3):
        passes.partial_fit(X, LETTERS[y], classes=LETTERS)
    assert_same(one.fit(X, LETTERS[y]), passes)
    assert passes.n_iter_ == 3
    assert passes.loss_curve_ == one.loss_curve_


def test_partial_fit_of_batches_without_all_classes(small: Dataset) -> None:
    X, y = labelled(small)
    model = SampledSoftmaxClassifier("implicit", random_state=0)
    with pytest.raises(ValueError, match="classes must be given"):
        model.partial_fit(X, y)
    order = np.argsort(y, kind="stable")
    for rows in 2 * np.array_split(np.random.default_rng(0).permutation(order), 10):
        model.partial_fit(X[rows], y[rows], classes=np.arange(8))
    assert model.score(X, y) > 1.5 * np.bincount(y).max() / len(y)
    with pytest.raises(ValueError, match="not among the classes"):
        model.partial_fit(X[:2], np.array([0, 99]))


def test_optimum_is_that_of_logistic_regression(digits: Dataset) -> None:
    X, y = digits.train.X[:300].astype(float), digits.train.y[:300]
    weight = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    ours = SoftmaxClassifier(l2=1.0, tolerance=1e-9, bias=False).fit(X, y, weight)
    theirs = LogisticRegression(tol=1e-9, max_iter=5000, fit_intercept=False).fit(X, y, weight)
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)
    repeated = np.repeat(np.arange(len(y)), weight.astype(int))
    again = SoftmaxClassifier(l2=1.0, tolerance=1e-9, bias=False).fit(X[repeated], y[repeated])
    assert np.allclose(ours.coef_, again.coef_, atol=1e-6)


def test_warm_start_goes_on(small: Dataset) -> None:
    X, y = labelled(small)
    model = SoftmaxClassifier(l2=1.0, warm_start=True).fit(X, y)
    steps = model.n_iter_
    assert model.fit(X, y).n_iter_ - steps <= 1  # it was at the optimum
    sampled = SampledSoftmaxClassifier(
        "umax", epochs=2, random_state=0, warm_start=True, init="zero", step="gradient", lr=0.003
    )
    losses = [sampled.fit(X, y).loss_curve_[-1] for _ in range(4)]
    assert losses == sorted(losses, reverse=True) and len(sampled.loss_curve_) == 8
    with pytest.raises(ValueError, match="same classes"):
        sampled.fit(X, y + 1)


def test_early_stopping_keeps_the_best_weights(small: Dataset) -> None:
    X, y = labelled(small)
    model = SampledSoftmaxClassifier(
        "ove", lr=0.01, lr_decay=1.0, epochs=200, random_state=0,
        early_stopping=EarlyStopping(validation_fraction=0.3, n_iter_no_change=3, tol=0.0),
    )  # fmt: skip
    model.fit(X, y)
    curve = model.validation_loss_curve_
    assert model.n_iter_ == len(curve) < 200
    assert int(np.argmin(curve)) == len(curve) - 4
    rest, _ = Split(X, y).divided(0.3, 0)
    assert model.evaluate(rest.X, rest.y)["log_loss"] == min(curve)


def noise(rows: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Features that tell nothing of the class, enough of them to learn rows by heart."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(rows, 60)), rng.permutation(np.arange(rows) % classes)


def test_rows_learnt_by_heart_are_not_kept_where_a_class_has_few() -> None:
    X, y = noise(1200, 100)
    rate = {"lr_decay": 1.0, "epochs": 30, "random_state": 0}
    kept = SampledSoftmaxClassifier("implicit", **rate).fit(X[:1000], y[:1000])
    last = clone(kept).set_params(early_stopping=None).fit(X[:1000], y[:1000])
    losses = [model.evaluate(X[1000:], y[1000:])["log_loss"] for model in (kept, last)]
    assert losses[0] < np.log(100) + 0.1, "classes are equally likely, whatever the features"
    assert losses[1] > np.log(100) + 0.5
    assert kept.n_iter_ == last.n_iter_ == 30, "it trains to the end"
    assert len(kept.validation_loss_curve_) == 30


def test_none_are_held_out_where_a_rate_is_set_or_rows_are_many() -> None:
    few, many = noise(1100, 100), noise(1100, 40)
    for (X, y), options in ((few, {"lr": 0.1}), (many, {})):
        one, other = (
            SampledSoftmaxClassifier(epochs=2, random_state=0, early_stopping=how, **options)
            for how in ("auto", None)
        )
        assert_same(one.fit(X, y), other.fit(X, y))
    with pytest.raises(ValueError, match="early_stopping='often' must be"):
        SampledSoftmaxClassifier(early_stopping="often").fit(*few)


def test_weights_before_training_are_kept_if_no_epoch_is_better() -> None:
    X, y = noise(1000, 100)
    stopping = EarlyStopping(validation_fraction=0.2, n_iter_no_change=2)
    model = SampledSoftmaxClassifier("ove", lr=30.0, random_state=0, early_stopping=stopping)
    assert np.allclose(model.fit(X, y).predict_proba(X), 0.01, atol=0.005)
    assert model.n_iter_ < 20 and min(model.validation_loss_curve_) > np.log(100) + 0.1


def test_labels_of_a_row_are_held_out_together() -> None:
    X, sets = np.arange(40.0).reshape(20, 2), [{n % 3, n % 4} for n in range(20)]
    named = problem.label_sets(sets)
    assert named
    split = problem.reduced(X, named[1], "pick_all")
    rest, train = split.divided(0.3)
    assert not {*train.X[:, 0]} & {*rest.X[:, 0]}
    assert len({*rest.X[:, 0]}) == 6 and len(train) + len(rest) == len(split)


@pytest.mark.parametrize("share", [1e-6, 0.5, 1 - 1e-6])
def test_both_parts_have_a_row_whatever_the_share(share: float) -> None:
    X, y = noise(3, 3)
    parts = Split(X, y).divided(share)
    assert all(len(part) for part in parts) and sum(map(len, parts)) == 3


@pytest.mark.parametrize("estimator", [case for case, _ in CASES], ids=lambda e: e.method)
def test_copies_predict_the_same(estimator: LinearClassifier, small: Dataset) -> None:
    import skops.io

    X, y = labelled(small)
    fitted = clone(estimator).set_params(random_state=0).fit(X, LETTERS[y])
    stored = skops.io.dumps(fitted)
    trusted = skops.io.get_untrusted_types(data=stored)
    assert [name for name in trusted if not name.startswith("xcbench.estimators.")] == []
    for copy in (pickle.loads(pickle.dumps(fitted)), skops.io.loads(stored, trusted=trusted)):
        labels, values = fitted.predict_top_k(X, 3)
        again, same = copy.predict_top_k(X, 3)
        assert np.array_equal(labels, again) and np.array_equal(values, same)
        assert copy.get_params() == fitted.get_params()


def test_best_labels_in_bounded_memory(small: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = labelled(small)
    model = SampledSoftmaxClassifier("implicit", random_state=0).fit(X, LETTERS[y])
    log_p = model.predict_log_proba(X)
    labels, values = model.predict_top_k(X, 3)
    order = np.argsort(-log_p, axis=1, kind="stable")[:, :3]
    assert np.array_equal(labels, LETTERS[order])
    assert np.allclose(values, np.take_along_axis(log_p, order, axis=1))
    held = []
    monkeypatch.setattr("xcbench.core.models.model.BLOCK_SCORES", 80)
    from xcbench.core.models.linear import LinearModel

    whole = LinearModel.passes

    def passes(self: LinearModel, X: Any) -> Any:
        for block, scores in whole(self, X):
            held.append(scores.size)
            yield block, scores

    monkeypatch.setattr(LinearModel, "passes", passes)
    again, _ = model.predict_top_k(X, 3)
    assert np.array_equal(again, labels) and max(held) == 80
    assert model.predict_top_k(X[:2], 99)[0].shape == (2, 8)


def test_a_label_that_training_has_not_seen_is_an_error(small: Dataset) -> None:
    X, y = labelled(small)
    model = SampledSoftmaxClassifier("implicit", random_state=0).fit(X, y)
    known = model.evaluate(X[:10], y[:10])
    both = model.evaluate(X[:12], np.append(y[:10], [50, -3]))
    assert both["error"] == pytest.approx((10 * known["error"] + 2) / 12)
    assert both["log_loss"] == pytest.approx(known["log_loss"])


def test_scikit_learn_around_them(small: Dataset) -> None:
    X, y = labelled(small)
    pipeline = make_pipeline(MaxAbsScaler(), SampledSoftmaxClassifier("umax", random_state=0))
    rates = [1e-4, 0.1]
    search = GridSearchCV(pipeline, {"sampledsoftmaxclassifier__lr": rates}, cv=2)
    assert search.fit(X, y).best_params_ == {"sampledsoftmaxclassifier__lr": 0.1}
    stopping = {"lr": 0.003, "early_stopping": EarlyStopping()}
    patient = SampledSoftmaxClassifier("umax", random_state=0, **stopping)
    nested = {"early_stopping__tol": [10.0, 1e-4], "sampler": ["tree"], "tree__dimensions": [2]}
    assert GridSearchCV(patient, nested, cv=2).fit(X, y).best_params_["early_stopping__tol"] == 1e-4
    margins = CalibratedClassifierCV(MarginClassifier("memoir_l2", random_state=0), cv=2)
    assert np.allclose(margins.fit(X, y).predict_proba(X).sum(axis=1), 1)
    scaled = make_pipeline(StandardScaler(), SoftmaxClassifier()).set_output(transform="pandas")
    scaled.fit(X.toarray(), y)
    assert scaled[-1].feature_names_in_[0] == "x0"


def test_without_settings_as_good_as_the_library() -> None:
    """Of rows that can be separated, new ones get probabilities; 1.67 without a penalty."""
    X, y = load_digits(return_X_y=True)
    train, test = slice(0, 1437), slice(1437, None)
    losses = [
        log_loss(y[test], model.fit(X[train] / 16, y[train]).predict_proba(X[test] / 16))
        for model in (SoftmaxClassifier(), LogisticRegression(max_iter=2000))
    ]
    assert losses[0] == pytest.approx(losses[1], abs=0.01)


@pytest.mark.parametrize("form", [sp.coo_array, sp.csc_matrix, np.asfortranarray, np.float64])
def test_rows_in_any_form(form: Any, small: Dataset) -> None:
    X, y = small.train.X.toarray(), small.train.y
    model = SampledSoftmaxClassifier("umax", epochs=2, random_state=0)
    assert np.allclose(clone(model).fit(form(X), y).coef_, model.fit(X, y).coef_, atol=1e-5)


def test_entries_given_twice_add_up() -> None:
    rows, columns = np.array([0, 0, 1, 2]), np.array([1, 1, 0, 1])
    twice = sp.csr_array((np.ones(4), columns, [0, 2, 3, 4]), (3, 2))
    once = sp.csr_array(([2.0, 1, 1], [1, 0, 1], [0, 1, 2, 3]), (3, 2))
    assert not twice.has_canonical_format and len(rows) == 4
    model = SoftmaxClassifier(l2=1.0)
    expected = clone(model).fit(once, [0, 1, 0])
    assert_same(model.fit(twice, [0, 1, 0]), expected)
    assert twice.nnz == 4  # as it was given


def test_mistakes_are_value_errors(small: Dataset) -> None:
    X, y = labelled(small)
    for settings, message in (
        ({"method": "umx"}, "umx"),
        ({"negatives": 50}, "cannot be drawn"),
        ({"optimizer": "adagrad"}, "choose one of sgd"),
        ({"lr": -1.0}, "greater than 0"),
        ({"delt": 1}, "its options: .*delta"),
        ({"method": "ove", "lr": 1e38}, "not finite any more"),
    ):
        with pytest.raises(ValueError, match=message):
            SampledSoftmaxClassifier("umax").set_params(**settings).fit(X, y)
    assert not hasattr(MarginClassifier(), "predict_proba")
    with pytest.raises(ValueError, match="at least two"):
        SoftmaxClassifier().fit(X, np.zeros(len(y)))


def test_the_bar(small: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr("sys.stderr", shown)
    SampledSoftmaxClassifier("umax", epochs=2, verbose=1).fit(*labelled(small))
    lines = shown.getvalue().split("\r")
    assert lines[1].startswith("epoch 1/2 ██████████░░░░░░░░░░ loss ")
    assert lines[2].endswith("\n") and "left" not in lines[2]
    assert xcbench.__doc__ and "SampledSoftmaxClassifier" in xcbench.__doc__


@pytest.mark.parametrize("estimator", [SampledSoftmaxClassifier, MarginClassifier])
@pytest.mark.parametrize("epochs", [0, -1, 1.5, "many"])
def test_epochs_are_an_integer_above_zero(estimator: Any, epochs: Any, small: Dataset) -> None:
    with pytest.raises(ValueError, match=f"epochs={epochs!r} is not possible"):
        estimator(epochs=epochs).fit(*labelled(small))


def test_a_limit_of_iterations_is_one_warning_that_helps() -> None:
    X, y = load_digits(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="LIBLINEAR.*raise iterations") as warned:
        MarginClassifier("svm_ovr", random_state=0).fit(X, y)
    assert len(warned) == 1 and warned[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = MarginClassifier("svm_ovr", C=1e-3, iterations=1_000_000, random_state=0).fit(X, y)
    best = LinearSVC(C=1e-3, dual=False).fit(X, y)  # the same optimum, by another solver
    np.testing.assert_allclose(model.coef_, best.coef_, atol=1e-3)
