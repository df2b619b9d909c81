"""``budget.patience``: training ends when validation rows stop improving; the best counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from workspace import Workspace
from xcbench.config.settings import Budget, Evaluation
from xcbench.core.dataset import Dataset
from xcbench.core.solvers import Progress, Solver
from xcbench.methods import registry
from xcbench.train import training
from xcbench.train.course import Course, Trace

HELD_OUT = Evaluation(validation=0.3)
RATE = 0.02  # of one-vs-each on the digits: its validation loss rises for a while


class Nothing(Solver):
    """A solver that is never run."""

    def fit(self, *arguments: Any) -> Any:
        raise AssertionError


@pytest.mark.parametrize(
    ("losses", "patience", "best", "end"),
    [
        ([5, 4, 3, 3.5, 3.2, 1], 2, 2, 4),  # two that are not better; the last one is never seen
        ([5, 4, 4, 3, 3, 3], 2, 3, 5),  # an equal one is not better
        ([5, 6, 4, 6, 2, 6], 2, 4, None),  # one alone does not end it
        ([1, 2, 2], 1, 1, 2),  # the loss before training, though the best, does not count
    ],
)
def test_a_curve_by_hand(
    losses: list[float], patience: int, best: int, end: int | None, digits: Dataset
) -> None:
    course = _course(Budget(patience=patience), digits)
    for epoch, loss in enumerate(losses):
        _evaluated(course, epoch, loss)
        if course.ended:
            break
    course.restore()
    trace = course.trace
    assert course.ended == (end is not None)
    assert (epoch == end) if course.ended else (trace.message is None)
    assert (course.model.b == best).all(), "the weights of the best evaluation"
    if course.ended:
        assert trace.status == "done"
        assert trace.message == (
            f"stopped at epoch {end}: budget.patience={patience} evaluations without a better "
            f"validation_log_loss than at epoch {best}"
        )


@pytest.mark.parametrize(("min_epochs", "end"), [(0.0, 0.75), (1.0, 2.0), (np.inf, None)])
def test_a_part_of_a_pass_does_not_end_it(
    min_epochs: float, end: float | None, digits: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trees may end before all are grown, rows wait for their first visit, classes for all."""
    monkeypatch.setattr(Nothing, "min_epochs", min_epochs)
    course = _course(Budget(patience=2), digits)
    for epoch in (0.25, 0.5, 0.75, 1.0, 2.0, 3.0):
        _evaluated(course, epoch, 1.0)
        if course.ended:
            break
    assert course.ended == (end is not None) and epoch == (end or 3.0)
    expected = {"svm_ovr": np.inf, "fastxml": 0.0, "cluster_svm": 0.0, "pd_sparse": 1.0}
    for name, number in expected.items():
        method = registry.builtin()[name]
        settings = method.schema(name=name)  # type: ignore[call-arg]
        assert method.build(settings, digits.info).min_epochs == number


def test_a_small_gain_is_kept_but_does_not_go_on(digits: Dataset) -> None:
    """Each evaluation is better by 1 %, less than a gain of 2 %, until two of them are one."""
    course = _course(Budget(patience=3, gain=0.02), digits)
    for epoch, loss in enumerate([1.0, 0.99, 0.981, 0.97, 0.96, 0.955, 0.952]):
        _evaluated(course, epoch, loss)
        if course.ended:
            break
    assert epoch == 6, "0.97 gains 2 % over 0.99; the three after it gain 1.9 % at most"
    row = course.restore()
    assert row is not None and row["validation_log_loss"] == 0.952
    assert (course.model.b == 6).all()


def test_times_of_evaluations_are_seconds(digits: Dataset) -> None:
    times = [0.3, 0.6, 0.9]
    budget = Budget(epochs=1e6, times=times, seconds=1.2, checkpoints=7, clock="processor")
    (trace,) = training.run([_lane(digits, RATE, "numpy")], digits, 0, budget, HELD_OUT)
    seconds = trace.curve["train_seconds"].tolist()
    assert len(seconds) == 5 and seconds[0] < 0.01
    late = [at - due for at, due in zip(seconds[1:], [*times, 1.2], strict=True)]
    assert all(0 <= it < 0.25 for it in late), "a look at the clock comes about every 0.1 s"


def test_the_best_evaluation_is_measured_on_all_rows(digits: Dataset) -> None:
    budget = Budget(epochs=25, checkpoints=25, patience=3)
    sampled = replace(HELD_OUT, curve_rows=20)
    (whole,), kept = _run(digits, "numpy", budget)
    lane = _lane(digits, RATE, "numpy")
    (short,) = training.run([lane], digits, 0, budget, sampled)
    best = whole.curve["validation_log_loss"].idxmin()
    same = (whole.curve["test_log_loss"] == short.curve["test_log_loss"]).tolist()
    assert [place for place, it in enumerate(same) if it] == [best]
    errors = short.curve["test_log_loss_standard_error"]
    assert errors.isna().tolist() == [place == best for place in range(len(errors))]
    np.testing.assert_array_equal(lane.model.weights()["W"], kept["W"])


def test_later_trees_of_a_forest_are_left_out_again(digits: Dataset) -> None:
    """The errors of its best evaluation are those of the trees that it had, on all rows."""
    method = registry.builtin()["fastxml"]
    settings = method.schema(name="fastxml", trees=20)  # type: ignore[call-arg]
    budget = Budget(epochs=1, checkpoints=20, patience=2)
    sampled = replace(HELD_OUT, curve_rows=20)
    stopped = 0
    for seed in range(3):
        built = training.built(method, settings, digits.info, digits.info, "numpy", "float64")
        (trace,) = training.run([training.Lane(*built)], digits, seed, budget, sampled)
        best = int(trace.curve["validation_error"].idxmin())
        forest, curve = built[1], trace.curve
        stopped += best < len(curve) - 1
        assert len(forest.trees) == curve["iteration"][best]
        _, test = digits.test.divided(HELD_OUT.validation)
        assert curve["test_error"][best] == np.mean(forest.predict(test.X) != test.y)
    assert stopped


def test_what_a_library_holds_stays_as_it_is(digits: Dataset) -> None:
    course = _course(Budget(patience=9), digits)
    course.model.state = course.model.copies = dict
    for epoch, loss in enumerate([1.0, 0.5]):
        _evaluated(course, epoch, loss)
    row = course.restore()
    assert row is not None and row["epoch"] == 1 and (course.model.b == 1).all()
    _evaluated(course, 2, 0.7)
    assert course.restore() is None and (course.model.b == 2).all()


def _course(budget: Budget, data: Dataset) -> Any:
    model = registry.builtin()["ove"].build(_settings(0.1), data.info)
    model = model.make_model("numpy", 10, 64, True, "float64")
    return Course(Nothing(), model, budget, HELD_OUT, 0.0)


def _evaluated(course: Any, epoch: float, loss: float) -> None:
    """An evaluation of weights that tell its epoch."""
    course.model.b[...] = epoch
    course.progress = Progress(int(100 * epoch), int(100 * epoch), float(epoch), 1.0)
    course._add_row()
    course.record({"validation_log_loss": loss, "test_log_loss": 0.0})


def test_a_schedule_goes_on_to_its_end(digits: Dataset) -> None:
    """The rates of the last epochs are the low ones."""
    budget = Budget(epochs=25, checkpoints=25, patience=1)
    lane = _lane(digits, 0.05, "numpy", lr_schedule="linear")
    (trace,) = training.run([lane], digits, 0, budget, HELD_OUT)
    losses = trace.curve["validation_log_loss"]
    assert trace.status == "done" and not trace.message
    assert len(losses) == 26 and _by_hand(losses.tolist(), 1) is not None


def test_classes_that_wait_for_their_turn_are_trained(digits: Dataset) -> None:
    """Each of ten classes takes a tenth off the error, far less than the gain that is asked for."""
    method = registry.builtin()["svm_ovr"]
    settings = method.schema(name="svm_ovr", C=0.01)  # type: ignore[call-arg]
    built = training.built(method, settings, digits.info, digits.info, "numpy", "float64")
    budget = Budget(epochs=1, checkpoints=10, patience=1, gain=0.5)
    (trace,) = training.run([training.Lane(*built)], digits, 0, budget, HELD_OUT)
    assert built[1].trained.all() and trace.curve["epoch"].iloc[-1] == 1
    assert trace.status == "done" and not trace.message


def _settings(lr: float, **more: Any) -> Any:
    return registry.builtin()["ove"].schema(name="ove", lr=lr, **more)  # type: ignore[call-arg]


def _lane(data: Dataset, lr: float, engine: str, **more: Any) -> training.Lane:
    method, settings = registry.builtin()["ove"], _settings(lr, **more)
    return training.Lane(*training.built(method, settings, data.info, data.info, engine, "float64"))


@pytest.mark.parametrize("engine", ["numpy", "numba"])
def test_the_best_weights_are_those_of_a_training_that_ends_there(
    engine: str, digits: Dataset
) -> None:
    if engine == "numba":
        pytest.importorskip("numba")
    budget, lanes = Budget(epochs=25, checkpoints=25), [_lane(digits, RATE, engine)]
    (whole,) = training.run(lanes, digits, 0, budget, HELD_OUT)
    losses = whole.curve["validation_log_loss"].tolist()
    end = _by_hand(losses, 3)
    assert end is not None, "the loss rises for three evaluations"
    best = int(np.argmin(losses[: end + 1]))
    (short,), kept = _run(digits, engine, replace(budget, patience=3))
    assert len(short.rows) == end + 1
    columns = ["validation_log_loss", "test_error"]
    assert short.curve[columns].equals(whole.curve[columns][: end + 1])
    _, exact = _run(digits, engine, Budget(epochs=best, checkpoints=best))
    np.testing.assert_array_equal(kept["W"], exact["W"])
    np.testing.assert_array_equal(kept["b"], exact["b"])


@pytest.mark.parametrize("engine", ["numpy", "numba"])
@pytest.mark.parametrize("method", ["ove", "mach"])
def test_keeping_the_best_weights_leaves_training_as_it_is(
    method: str, engine: str, digits: Dataset
) -> None:
    """It may come at times of the clock: the scale of the weights is not folded there."""
    pytest.importorskip(engine)
    kind = registry.builtin()[method]
    settings = kind.schema(name=method, lr=0.01, l2=3.0)  # type: ignore[call-arg]

    def losses(patience: int | None) -> pd.DataFrame:
        built = training.built(kind, settings, digits.info, digits.info, engine, "float32")
        budget = Budget(epochs=8, checkpoints=8, patience=patience)
        (trace,) = training.run([training.Lane(*built)], digits, 0, budget, HELD_OUT)
        return trace.curve[["validation_error", "train_error", "train_log_loss"]]

    pd.testing.assert_frame_equal(losses(None), losses(9), check_exact=True)


def _by_hand(losses: list[float], patience: int) -> int | None:
    for end in range(patience, len(losses)):
        if min(losses[end - patience + 1 : end + 1]) >= min(losses[: end - patience + 1]):
            return end
    return None


def _run(data: Dataset, engine: str, budget: Budget) -> tuple[list[Trace], dict[str, np.ndarray]]:
    lane = _lane(data, RATE, engine)
    return training.run([lane], data, 0, budget, HELD_OUT), lane.model.weights()


def test_a_cell_is_shown_at_its_best_evaluation(workspace: Workspace) -> None:
    words = ("mlflow=false", "dataset=digits", "method=ove", "save_weights=true")
    words += (f"method.lr={RATE}", "evaluation.validation=0.3")
    budget = ("budget.epochs=25", "budget.checkpoints=25")
    assert workspace.run(*words, *budget, "budget.patience=3").code == 0
    frame, curve = workspace.frame(), workspace.frame("--curves")
    best = curve["validation_log_loss"].idxmin()
    assert frame["epoch"][0] == curve["epoch"][best] < curve["epoch"].iloc[-1] < 25
    assert frame["message"][0].startswith(f"stopped at epoch {curve['epoch'].iloc[-1]:g}: ")
    again = workspace.run(*words, *budget, "budget.patience=3")
    assert "there already" in again.out


def test_lanes_in_lockstep_end_by_themselves(workspace: Workspace, tmp_path: Any) -> None:
    pytest.importorskip("numba")
    sweep = (
        *("-m", "mlflow=false", "dataset=zipf", "dataset.synthetic.features=60", "method=umax"),
        *("dataset.synthetic.classes=20", "dataset.synthetic.train=4000", "engine=numba"),
        *("method.lr=0.01,0.03,0.1,0.3", "budget.checkpoints=10", "budget.epochs=10"),
        *("evaluation.validation=0.3", "budget.patience=1", "method.init=zero"),
        "method.step=gradient",
    )
    frames = []
    for folder, lockstep in (("together", "true"), ("apart", "false")):
        runs = f"runs_dir={folder}"
        assert workspace.run(*sweep, f"lockstep={lockstep}", runs).code == 0
        frames.append(workspace.frame("--curves", runs))
    together, alone = (frame.drop(columns="train_seconds") for frame in frames)
    assert together.equals(alone)
    assert alone.groupby("lr")["epoch"].max().nunique() > 1
