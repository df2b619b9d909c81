"""``method.lr=auto``: what trials find, against problems whose best rate is known."""

from __future__ import annotations

import math
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal
from sklearn.datasets import load_digits
from test_resume import numbers, wait_for

from workspace import Workspace
from xcbench import SampledSoftmaxClassifier, SoftmaxClassifier
from xcbench.config.settings import Budget
from xcbench.core.dataset import Dataset, LabelSets, Split
from xcbench.core.optimizers import Linear
from xcbench.core.solvers import Streams
from xcbench.core.statistics import describe
from xcbench.methods import registry
from xcbench.methods.method import Method
from xcbench.methods.softmax import SoftmaxOptions
from xcbench.show import summary
from xcbench.train import rate, training
from xcbench.train.clock import Stopwatch

INF = math.inf
SWEEP = (
    *("-m", "mlflow=false", "dataset=zipf", "dataset.synthetic.features=60", "method=umax,ove"),
    *("dataset.synthetic.classes=20", "dataset.synthetic.train=4000", "engine=numba"),
    *("method.lr=auto", "method.l2=0,1,2,3", "seed=0,1", "budget.epochs=2", "budget.checkpoints=2"),
)


# ------------------------------------------------------------ the walk
@pytest.mark.parametrize(
    ("start", "losses", "h"),
    [
        (5.0, {0: 4.0, 1: 3.0, 2: 3.5}, 1),
        (5.0, {0: 4.0, 1: 4.0}, 0),
        (5.0, {0: 4.0, 1: 3.0, 2: 2.0, 3: 1.0, 4: 0.5}, 4),
        (5.0, {0: 5.2, 1: 5.1, 2: 14.0}, 1),
        (5.0, {0: 5.2, 1: 5.1, 2: 16.0}, 0),
        (5.0, {0: 5.2, 1: INF}, 0),
        (5.0, {0: 7.6, -1: 5.2, -2: 5.2}, -1),
        (5.0, {0: INF, -1: INF, -3: 4.0, -4: 3.9}, -4),
        (5.0, {0: INF, -1: INF, -3: INF, -7: INF}, -7),
    ],
)
def test_a_walk_by_hand(start: float, losses: dict[int, float], h: int) -> None:
    tried = []

    def trial(step: int) -> float:
        tried.append(step)
        return losses[step]

    assert rate.walked(trial, start) == h
    assert tried == list(losses), "no trial more than needed"


# ------------------------------------------------------------ known best rates
N, PER_FEATURE, BATCH, P = 8000, 5, 100, 0.2


def one_hot() -> Dataset:
    """Two classes, a share of P in the smaller one of every feature: logistic regressions apart."""
    rng = np.random.default_rng(0)
    D = BATCH // PER_FEATURE
    feature = rng.integers(0, D, N)
    y = ((rng.random(N) < P) ^ (feature % 2 == 0)).astype(np.int64)
    train = Split(np.eye(D, dtype=np.float32)[feature], y)
    info = describe("one hot", "", True, train, train, 2)
    return Dataset(info, train, train, np.bincount(y, minlength=2))


def softmax_from(centre: float) -> Method:
    return replace(registry.builtin()["softmax"], default_rate=lambda settings, info: centre)


def found(
    method: Method,
    settings: Any,
    data: Dataset,
    engine: str = "numpy",
    seed: int = 0,
    budget: Budget = Budget(),  # noqa: B008
):
    return rate.search(method, settings, data.info, data, engine, "float64", seed, budget)


@pytest.mark.parametrize("off", [0.05, 0.3, 1.0, 3.0, 30.0])
def test_a_logistic_regression_of_known_curvature(off: float) -> None:
    """Of n rows a step, the curvature along the scores' difference is 2 n p (1 - p).

    Its inverse is Newton's rate. The default rule may be off in either direction; at the rate that
    is found, 20 epochs end at the optimum, the entropy of P.
    """
    newton = 1 / (2 * PER_FEATURE * P * (1 - P))
    settings = SoftmaxOptions(name="softmax", lr="auto", solver="minibatch", bias=False)
    settings = replace(settings, batch_size=BATCH, lr_schedule="linear")
    method, data = softmax_from(off * newton), one_hot()
    of = found(method, settings, data)
    assert newton / 30 <= of.lr <= 1.01 * rate.STEP * newton  # three digits of a rate
    assert of.losses[of.lr] == min(of.losses.values())
    asked = replace(settings, lr=of.lr)
    solver, model = training.built(method, asked, data.info, data.info, "numpy", "float64")
    for _ in solver.over(20).fit(data, model, Streams.of(0), [20.0]):
        pass
    entropy = -P * math.log(P) - (1 - P) * math.log(1 - P)
    assert rate.measured(model, data.train) == pytest.approx(entropy, rel=0.01)


def test_divergence_is_an_answer(digits: Dataset) -> None:
    method = replace(registry.builtin()["vanilla"], default_rate=lambda settings, info: 1.0)
    of = found(method, method.schema(name="vanilla", lr="auto", step="gradient"), digits)
    assert of.losses[1.0] == INF and of.shown["1"] is None
    assert of.lr < 1.0 and of.losses[of.lr] < math.log(10)


def test_without_probabilities_errors_judge(digits: Dataset) -> None:
    method = registry.builtin()["memoir_l2"]
    of = found(method, method.schema(name="memoir_l2", lr="auto", bias=False), digits)
    assert of.losses[of.lr] == min(of.losses.values()) < 0.9


@pytest.mark.parametrize("name", ["ove", "umax", "ar_softmax", "nce", "implicit"])
def test_a_seed_has_one_rate_under_both_engines(name: str, digits: Dataset) -> None:
    pytest.importorskip("numba")
    method = registry.builtin()[name]
    settings = method.schema(name=name, lr="auto", init="prior")  # type: ignore[call-arg]
    by_engine = [found(method, settings, digits, engine, seed=3) for engine in ("numpy", "numba")]
    assert by_engine[0].lr == by_engine[1].lr
    np.testing.assert_allclose(*(list(of.losses.values()) for of in by_engine), rtol=1e-6)


# ------------------------------------------------------------ rows
def test_no_trial_sees_the_rows_that_judge_it(digits: Dataset) -> None:
    few, judges = rate.parts(digits, 0, 0.2, 64)
    rows = {row.tobytes() for row in few.train.X}
    assert not rows & {row.tobytes() for row in judges.X}
    assert len(judges) == 64
    assert len(few.train) == max(rate.FEWEST, math.ceil(len(digits.train) / 5))
    np.testing.assert_array_equal(few.class_counts, digits.class_counts)


def test_a_row_of_several_labels_is_on_one_side() -> None:
    original = np.repeat(np.arange(40), 3)
    labels = np.tile([0, 1, 2], 40)
    start = np.arange(121) * 3
    sets = LabelSets(start, np.tile([0, 1, 2], 120), np.full(120, 1 / 3))
    train = Split(original[:, None].astype(np.float32), labels, sets)
    info = describe("each", "", True, train, train, 3)
    few, judges = rate.parts(Dataset(info, train, train, np.bincount(labels)), 0, 0.2, 30)
    assert not {*few.train.X[:, 0]} & {*judges.X[:, 0]}


# ------------------------------------------------------------ launches
@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """Curves of the sweep's cells, each run by itself."""
    pytest.importorskip("numba")
    workspace = Workspace(tmp_path_factory.mktemp("alone"))
    workspace.run(*SWEEP, "lockstep=false").succeeded()
    return numbers(workspace.frame("--curves"))


@pytest.mark.parametrize("workers", [1, 2])
def test_workers_and_lockstep_find_the_same(
    workspace: Workspace, alone: pd.DataFrame, workers: int
) -> None:
    workspace.run(*SWEEP, f"workers={workers}").succeeded()
    assert_frame_equal(numbers(workspace.frame("--curves")), alone, check_exact=True)
    frame = workspace.frame()
    assert frame["lr"].gt(0).all() and frame["lr_by"].eq("auto").all()
    text = [path.read_text("utf-8") for path in (workspace.path / "runs/cells").glob("*/cell.json")]
    assert all('"lr": "auto"' in cell and '"trials": ' in cell for cell in text)
    together = sum('"lockstep": 4' in cell for cell in text)
    assert together == len(text) - 4 * (workers - 1), "by seed; both workers train of the last four"


def test_a_killed_launch_goes_on(workspace: Workspace, alone: pd.DataFrame) -> None:
    with workspace.start(*SWEEP) as process:
        wait_for(lambda: len(workspace.cells()) >= 1, process)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert 1 <= len(workspace.cells()) < 16
    workspace.run(*SWEEP).succeeded()
    assert_frame_equal(numbers(workspace.frame("--curves")), alone, check_exact=True)


def test_trials_are_on_the_clock(workspace: Workspace) -> None:
    words = ("mlflow=false", "dataset=digits", "method=umax", "method.lr=auto", "budget.epochs=5")
    assert workspace.run(*words).code == 0
    curve = workspace.frame("--curves")
    assert curve["train_seconds"].iloc[0] > 0 and curve["train_seconds"].is_monotonic_increasing
    shown = workspace.xcbench("show", curve["cell"].iloc[0]).out
    assert "trials" in shown and f"{curve['lr'].iloc[0]:g}, of trials with the losses" in shown


# ------------------------------------------------------------ estimators and tables
class Ticking(Stopwatch):
    """A clock by which every stretch of work takes a hundredth of a second."""

    @contextmanager
    def running(self) -> Iterator[None]:
        yield
        self.seconds += 0.01


def test_trials_take_a_fifth_of_a_budget_in_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    method, data = softmax_from(0.01), one_hot()
    settings = method.schema(name="softmax", solver="minibatch", lr="auto")
    free = found(method, settings, data)
    monkeypatch.setattr(rate, "Stopwatch", Ticking)
    ample = found(method, settings, data, budget=Budget(seconds=1e6))
    assert (ample.lr, ample.losses) == (free.lr, free.losses), "looks at the clock change nothing"
    assert len(free.losses) > 2
    ended = []
    for share in np.linspace(0.01, 1, 12):
        budget = Budget(seconds=5 * share * ample.seconds)
        some = found(method, settings, data, budget=budget)
        assert some.seconds <= share * ample.seconds + 0.03, "a look, a judgement"
        assert some.losses.items() <= free.losses.items()
        if some.losses != free.losses:
            assert some.lr == min(some.losses or [0.01], key=lambda lr: some.losses.get(lr, 0))
        ended.append(len(some.losses))
    assert ended[0] == 0 and sorted(ended) == ended and ended[-1] == len(free.losses)


def test_estimators_find_the_rate_of_the_command_line(digits: Dataset) -> None:
    X, y = load_digits(return_X_y=True)
    X = X.astype(np.float32) / 16
    train = slice(0, len(digits.train))
    model = SampledSoftmaxClassifier("umax", lr="auto", random_state=0).fit(X[train], y[train])
    method = registry.builtin()["umax"]
    settings = method.schema(name="umax", lr="auto")
    data = replace(digits, train=Split(X[train], y[train]))
    lr = rate.search(method, settings, data.info, data, "numba", "float32", 0, Budget()).lr
    assert model.lr_ == lr
    before = model.lr_
    model.partial_fit(X[:50], y[:50])
    assert model.lr_ == before, "a training that goes on keeps its rate"
    with pytest.raises(ValueError, match="no learning rate; leave lr=auto out"):
        SoftmaxClassifier(lr="auto").fit(X, y)


def test_rates_that_trials_found_are_one_point() -> None:
    rows = pd.DataFrame(
        {
            "lr": [0.1, 0.3, 0.1, 0.1],
            "lr_by": ["auto", "auto", None, None],
            "seed": [0, 1, 0, 1],
            "status": "done",
            "message": None,
            "train_log_loss": [1.0, 2.0, 1.6, 1.8],
        }
    )
    assert summary.at_best_rate(rows)["lr"].tolist() == [0.1, 0.3]
    assert summary.message(rows[:2]) == "rates found: 0.1, 0.3"


# ------------------------------------------------------------ the linear schedule
@pytest.mark.parametrize("epochs", [2, 50])
def test_a_linear_schedule_ends_with_the_budget(epochs: int, digits: Dataset) -> None:
    schedule = Linear(0.5).over(epochs)
    assert schedule.rate(0) == 0.5 and schedule.rate(epochs) == 0.0
    assert schedule.rate(epochs / 2) == 0.25
    method = registry.builtin()["ove"]
    settings = method.schema(name="ove", lr=0.5, lr_schedule="linear")  # type: ignore[call-arg]
    solver: Any = method.build(settings, digits.info).over(epochs)
    assert solver.optimizer.rate(epochs / 4) == pytest.approx(0.375)


PLAIN = [
    name
    for name, method in registry.builtin().items()
    if getattr(method.schema(name=name), "optimizer", "") == "sgd"  # type: ignore[call-arg]
]


@pytest.mark.parametrize("name", PLAIN)
def test_a_linear_schedule_is_that_of_every_solver(name: str, digits: Dataset) -> None:
    """Also of those that hold several descents; without it, a solver stays itself."""
    method = registry.builtin()[name]
    for schedule in ("linear", "geometric"):
        settings: Any = method.schema(name=name, lr=0.1, lr_schedule=schedule)  # type: ignore[call-arg]
        if hasattr(settings, "solver"):
            settings = replace(settings, solver="minibatch")
        solver: Any = method.build(settings, digits.info)
        assert (solver.over(10) is solver) == (schedule == "geometric")
