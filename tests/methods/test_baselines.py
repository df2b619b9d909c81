"""Adapters to libraries: what they train is what the library's problem asks for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hydra import compose
from sklearn.svm import LinearSVC

from workspace import Workspace
from xcbench.config import composing
from xcbench.config.settings import Budget, Evaluation
from xcbench.core.dataset import Dataset, Split
from xcbench.core.metrics import costs, evaluate
from xcbench.core.solvers import Streams
from xcbench.core.statistics import describe
from xcbench.methods import baselines, registry
from xcbench.methods.baselines import svm_ovr
from xcbench.methods.baselines.options import (
    LiblinearOptions,
    OneVsRestOptions,
    RecallTreeOptions,
    UnbiasedOptions,
)
from xcbench.methods.options import MethodOptions
from xcbench.plan import sweeps
from xcbench.run.execute import run
from xcbench.store import results
from xcbench.train import training

K, D, N = 4, 12, 80
NAPKIN = ("plt", "hsm", "pruned_ovr")
EXTRAS = {"omikuji": "omikuji", "recall_tree": "vowpalwabbit"} | dict.fromkeys(NAPKIN, "napkinxc")
EXTRAS |= dict.fromkeys(("lml_ovr", "lml_tree"), "libmultilabel")


def problem(classes: int = K, seed: int = 0) -> Dataset:
    """Class k has more of feature k."""
    rng = np.random.default_rng(seed)
    y = np.minimum(rng.geometric(0.4, N) - 1, classes - 1)
    X = rng.random((N, D)) * (rng.random((N, D)) < 0.5)
    X[np.arange(N), y] += 1.0
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    rows = Split(sp.csr_array(X.astype(np.float32)), y)
    info = describe("made", "", False, rows, rows, classes)
    return Dataset(info, rows, rows, np.bincount(y, minlength=classes))


def trained(settings: MethodOptions, dataset: Dataset, until: int = 99) -> Any:
    registry.check(registry.method_of(settings), settings, dataset.info)
    solver = registry.builtin()[settings.name].build(settings, dataset.info)
    shape = dataset.info.classes, D
    model = solver.make_model("numpy", *shape, settings.bias, "float64")
    stops = [solver.epochs * share for share in (0.25, 0.5, 0.75, 1.0)]  # type: ignore[attr-defined]
    fit = solver.fit(dataset, model, Streams.of(0), stops)
    for number, _ in enumerate(fit):
        if number == until:
            break
    return model


def test_class_sums_are_compared_by_cosine() -> None:
    dataset = problem()
    X, y = dataset.train.X.toarray().astype(float), dataset.train.y  # type: ignore[union-attr]
    sums = np.array([X[y == k].sum(axis=0) for k in range(K)])
    cosine = X @ sums.T / np.linalg.norm(sums, axis=1)
    model = trained(UnbiasedOptions("class_sums", bias=False), dataset)
    np.testing.assert_array_equal(model.predict(dataset.train.X), cosine.argmax(axis=1))
    assert model.nonzeros == np.count_nonzero(sums)


@pytest.mark.parametrize("bias", [False, True])
def test_one_vs_rest_is_at_the_optimum_of_every_class(bias: bool) -> None:
    """The gradient of ||w||²/2 + C sum (1 - t f)_+² is 0, t = 1 for the class, else -1."""
    dataset, C = problem(), 3.0
    model = trained(OneVsRestOptions("svm_ovr", C=C, tolerance=1e-8, bias=bias), dataset)
    X = dataset.train.X.toarray().astype(float)  # type: ignore[union-attr]
    X = np.column_stack([X, np.ones(N)]) if bias else X
    for k in range(K):
        w = np.append(model.V[k], model.b[k]) if bias else model.V[k]
        t = np.where(dataset.train.y == k, 1.0, -1.0)
        lack = np.maximum(0, 1 - t * (X @ w))
        np.testing.assert_allclose(w, 2 * C * X.T @ (t * lack), atol=1e-4)


def test_one_vs_rest_can_be_interrupted_between_classes() -> None:
    model = trained(OneVsRestOptions("svm_ovr", bias=False), problem(), until=2)
    counts = problem().class_counts
    assert set(np.flatnonzero(model.V.any(axis=1))) == set(np.argsort(-counts)[:2])


@pytest.mark.parametrize("sparse", [True, False])
def test_equal_rows_count_by_their_number(sparse: bool) -> None:
    """Each row with one to three classes: the optimum is that of all rows (scikit-learn's)."""
    single, rng = problem(), np.random.default_rng(1)
    index = np.repeat(np.arange(N), rng.integers(1, 4, N))
    rng.shuffle(index)
    X: Any = single.train.X[index]
    X, y = X if sparse else X.toarray(), rng.integers(0, K, len(index))
    rows = Split(X, y)
    pairs = replace(single, train=rows, test=rows, class_counts=np.bincount(y, minlength=K))
    settings = OneVsRestOptions("svm_ovr", tolerance=1e-8, iterations=100_000, bias=False)
    model = trained(settings, pairs)
    for k in range(K):
        whole = LinearSVC(C=10, tol=1e-8, max_iter=100_000, fit_intercept=False).fit(X, y == k)
        np.testing.assert_allclose(model.V[k], whole.coef_[0], atol=1e-4)


def ticking(monkeypatch: pytest.MonkeyPatch, tick: float = 1.0) -> None:
    """A clock that stands a tick further each time it is looked at."""
    ticks = iter(range(10**6))
    monkeypatch.setattr(training.time, "perf_counter", lambda: tick * next(ticks))


def traced(settings: MethodOptions, dataset: Dataset, seconds: float) -> tuple[training.Trace, Any]:
    solver = registry.builtin()[settings.name].build(settings, dataset.info)
    model = solver.make_model("numpy", dataset.info.classes, D, settings.bias, "float64")
    budget = Budget(checkpoints=1, seconds=seconds)
    (found,) = training.run([training.Lane(solver, model)], dataset, 0, budget, Evaluation())
    return found, model


def test_one_vs_rest_looks_at_the_clock_after_every_class(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = [0.0]

    def svm(*arguments: Any) -> Any:
        seconds[0] += 1.0
        return liblinear_svm(*arguments)

    liblinear_svm = svm_ovr.svm
    monkeypatch.setattr(svm_ovr, "svm", svm)
    monkeypatch.setattr(training.time, "perf_counter", lambda: seconds[0])
    made, model = traced(OneVsRestOptions("svm_ovr", bias=False), problem(), seconds=2)
    assert made.status == "timeout" and model.trained.sum() == 2
    assert made.message == f"stopped at 2.0 training seconds after 2 of {K} classes"
    whole, _ = traced(OneVsRestOptions("svm_ovr", bias=False), problem(), seconds=99)
    assert (whole.status, whole.message) == ("done", None)


def test_classes_that_are_not_trained_are_never_predicted() -> None:
    """Also where all trained scores are negative."""
    dataset = problem()
    model = trained(OneVsRestOptions("svm_ovr", bias=False), dataset, until=1)
    only = int(dataset.class_counts.argmax())
    far = -model.V[[only]]
    assert np.argmax(model.V @ far.T) != only  # its score is negative, those of the others are 0
    assert model.predict(far.astype(np.float32)).tolist() == [only]


def test_what_cannot_be_stopped_says_that_it_was_late(monkeypatch: pytest.MonkeyPatch) -> None:
    ticking(monkeypatch)
    made, model = traced(LiblinearOptions("svm_cs", bias=False), problem(), seconds=2)
    assert made.status == "timeout" and model.trained.all()
    assert made.message is not None and made.message.startswith("took 2 s, over budget.seconds=2")
    assert made.curve["test_error"].notna().all()


@pytest.mark.parametrize("classes", [2, K])
def test_crammer_and_singers_objective_is_lowest(classes: int) -> None:
    """||W||²/2 + C sum (1 + max_{r != y} f_r - f_y)_+ rises in every direction."""
    dataset, C = problem(classes), 2.0
    X, y = dataset.train.X.toarray().astype(float), dataset.train.y  # type: ignore[union-attr]
    row = np.arange(N)

    def value(W: np.ndarray) -> float:
        scores = X @ W.T
        true = scores[row, y].copy()
        scores[row, y] = -np.inf
        lack = np.maximum(0, 1 + scores.max(axis=1) - true)
        return float(np.sum(W**2) / 2 + C * lack.sum())

    W = trained(LiblinearOptions("svm_cs", C=C, tolerance=1e-8, bias=False), dataset).V
    lowest, rng = value(W), np.random.default_rng(0)
    assert lowest < 0.8 * value(np.zeros_like(W))
    for size in (1e-3, 1e-2, 0.1):
        for _ in range(50):
            assert value(W + size * rng.normal(size=W.shape)) > lowest
    assert value(1.01 * W) > lowest < value(0.99 * W)


@pytest.mark.parametrize("name", EXTRAS)
def test_a_library_learns(name: str) -> None:
    pytest.importorskip(EXTRAS[name])
    schema = registry.builtin()[name].schema
    settings = schema(name)
    if isinstance(settings, RecallTreeOptions):
        settings = replace(settings, bits=12)
    dataset = problem()
    model = trained(settings, dataset)
    chance = 1 - dataset.class_counts.max() / N
    assert evaluate(model, dataset.test)["error"] < 0.3 * chance
    found = costs(model, dataset.test)
    assert found["model_mib"] > 0 and "nonzeros" not in found
    again = trained(settings, dataset)
    np.testing.assert_array_equal(model.predict(dataset.test.X), again.predict(dataset.test.X))
    if name in NAPKIN:  # whose LIBLINEAR draws from a generator of the whole process
        (_, scores), (_, repeated) = (next(m.passes(dataset.test.X)) for m in (model, again))
        np.testing.assert_array_equal(scores, repeated)


@pytest.mark.parametrize("name", EXTRAS)
def test_a_library_takes_a_row_without_features(name: str) -> None:
    pytest.importorskip(EXTRAS[name])
    dataset = problem()
    X = sp.csr_array(dataset.train.X).tolil()
    X[0] = 0.0
    emptied = replace(dataset, train=replace(dataset.train, X=sp.csr_array(X)))
    model = trained(registry.builtin()[name].schema(name), emptied)
    assert evaluate(model, dataset.test)["error"] < 0.5


def test_recall_tree_stops_between_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("vowpalwabbit")
    ticking(monkeypatch, 0.05)
    settings = RecallTreeOptions("recall_tree", bits=12, passes=5)
    made, _ = traced(settings, problem(), seconds=1.5)
    assert made.status == "timeout"
    assert 0.9 < made.curve["epoch"].iloc[-1] < 1.2  # looks of 0.05 s, twice as far apart each
    assert made.curve["test_error"].iloc[-1] < made.curve["test_error"].iloc[0]


@pytest.mark.parametrize("name", EXTRAS)
def test_a_library_that_is_not_there_is_one_sentence(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(baselines, "find_spec", lambda package: None)
    method = registry.builtin()[name]
    said = method.lacks(method.schema(name))
    assert said.startswith(f"method {name} needs {EXTRAS[name]}, which is not installed; pip")
    registry.check(method, method.schema(name), problem().info)  # no reason to refuse the launch


def test_cells_of_a_library_that_is_not_there_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(baselines, "find_spec", lambda package: None)
    words = "dataset=digits", "mlflow=false", "budget.checkpoints=1", "engine=numpy"
    with sweeps.hydra({}):
        points = [
            composing.read(compose("config", [*words, f"runs_dir={tmp_path}", f"method={name}"]))
            for name in ("plt", "class_sums")
        ]
    code, out = run(points), capsys.readouterr().out
    assert code == 0, out
    assert "1 cell skipped: not run: no package (method plt needs napkinxc" in out
    status = results.frame(results.select(tmp_path, {})).set_index("method")["status"]
    assert status.to_dict() == {"plt": "skipped", "class_sums": "done"}


def test_cells_of_baselines(workspace: Workspace) -> None:
    words = "dataset=digits", "mlflow=false", "budget.checkpoints=2", "evaluation.costs=true"
    workspace.run("-m", "method=svm_ovr,svm_cs,class_sums", *words, "engine=numpy").succeeded()
    frame = workspace.frame().set_index("method")
    assert frame["epoch"].tolist() == [1, 1, 1] and frame["lr"].isna().all()
    assert (frame.loc[["svm_ovr", "svm_cs"], "test_error"] < 0.12).all()
    assert frame["test_error"].lt(0.25).all() and frame["test_log_loss"].isna().all()
    refused = workspace.run("method=svm_cs", *words, "budget.memory=1e-6")
    row = workspace.frame("status=skipped").iloc[0]
    assert row["method"] == "svm_cs" and refused.code == 0
    assert "GiB, over budget.memory=1e-06" in refused.out


def test_the_prior_has_the_log_loss_of_class_frequencies() -> None:
    dataset = problem(classes=5)
    y = dataset.train.y[: N // 2]
    train, test = dataset.train.first(N // 2), dataset.test.first(N)
    y = np.where(y == 3, 0, y)  # class 3 has no training row
    train = replace(train, y=y)
    info = describe("made", "", False, train, test, 5)
    short = replace(
        dataset, info=info, train=train, test=test, class_counts=np.bincount(y, minlength=5)
    )
    model = trained(MethodOptions("prior"), short)
    found = evaluate(model, test)
    share = {k: ((y == k).sum() + 1 / 5) / (len(y) + 1) for k in range(5)}
    assert sum(share.values()) == pytest.approx(1.0)
    assert found["log_loss"] == pytest.approx(
        -np.mean([np.log(share[k]) for k in test.y]), rel=1e-6
    )
    common = max(share, key=lambda k: share[k])
    assert found["error"] == np.mean(test.y != common)
    shape = info.shape()
    assert shape["prior_log_loss"] == pytest.approx(found["log_loss"], rel=1e-5)
    assert shape["majority_error"] == pytest.approx(found["error"], abs=1e-6)
