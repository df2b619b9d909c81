"""The search of the board: trials, rungs, and what is final."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import pytest

from xcbench.board import protocol, tuning
from xcbench.committed.results_cache import ResultsCache
from xcbench.config.settings import Config
from xcbench.core.dataset import Info
from xcbench.methods import registry
from xcbench.methods.method import default_rate
from xcbench.plan import sweeps
from xcbench.store.ordering import best_of_each

PROTOCOL = protocol.read()


def small_info() -> Info:
    return Info("small", "0", False, 100, 10, 20, 8, True, 5.0, 1.0, 1.0, 0.5, 0.3, 2.0, 0.7)


def drawn(name: str, study: int = 0) -> list[Config]:
    method = registry.find(name).thing
    settings = Config(method=method.schema(name=name))
    points = tuning.drawn(PROTOCOL, settings, small_info(), study)
    return [tuning.with_options(settings, point) for point in points]


@pytest.mark.parametrize("name", ["umax", "ove", "softmax", "svm_ovr", "fastxml", "memoir_l1"])
def test_methods_have_the_same_number_of_trials_and_the_first_is_the_default(name: str) -> None:
    points = [point.method for point in drawn(name)]
    assert len(points) == PROTOCOL.trials
    assert points[0] == registry.find(name).thing.schema(name=name)
    assert len({repr(point) for point in points}) == len(points)


def test_rates_lie_around_the_default_one_and_decay_within_its_range() -> None:
    umax = registry.find("umax").thing
    centre = default_rate(umax, umax.schema(name="umax"), small_info())
    for point in drawn("umax")[1:]:
        assert abs(np.log10(point.method.lr / centre)) <= PROTOCOL.rate_decades + 0.01
        assert PROTOCOL.decay[0] <= point.method.l2 <= PROTOCOL.decay[1]


def test_all_methods_share_places_and_each_search_has_its_own() -> None:
    one, other = (tuning.drawn(PROTOCOL, drawn("umax")[0], small_info(), study) for study in (0, 1))
    ove = tuning.drawn(PROTOCOL, drawn("ove")[0], small_info(), 0)
    assert [point.get("l2") for point in one] == [point.get("l2") for point in ove]
    assert not {point["l2"] for point in one[1:]} & {point["l2"] for point in other[1:]}


def measured(
    method: str,
    losses: Callable[[Config], float],
    status: str = "done",
    speed: float = 1000.0,
    begins: float = 0.0,
) -> list[tuple[str, list[Config]]]:
    """Parts and configurations that a method on digits runs, where they have these losses."""
    launched = []

    def run(part: str, settings: Sequence[Config]) -> ResultsCache:
        launched.append((part, list(settings)))
        points = [
            {"cell": str(i), "status": status, "lr": it.method.lr, "method.l2": it.method.l2}
            for i, it in enumerate(settings)
        ]
        curves = [
            {
                "cell": str(i),
                "validation_log_loss": loss,
                "epoch": at * speed,
                "train_seconds": begins + at,
            }
            for i, it in enumerate(settings)
            for at, loss in enumerate((9.0, losses(it)))
        ]
        return ResultsCache(pd.DataFrame(points), pd.DataFrame(curves))

    with sweeps.hydra({}):
        conditions = protocol.Conditions(PROTOCOL, {})
        tuning.Measurement(conditions, PROTOCOL.tasks["digits"], method, run).measure()
    return launched


def test_the_best_third_of_a_search_goes_on_and_its_best_point_is_final() -> None:
    launched = measured("umax", lambda it: abs(it.method.l2 - 0.1) + it.budget.seconds)
    assert [(part, len(cells)) for part, cells in launched] == [
        ("tuning", 1), ("tuning", 12), ("tuning", 4), ("tuning", 12), ("tuning", 4), ("runs", 6)
    ]  # fmt: skip
    final = launched.pop()[1]
    del launched[0]
    for study in (0, 1):
        (_, first), (_, second) = launched[2 * study : 2 * study + 2]
        nearest = sorted((it.method.l2 for it in first), key=lambda l2: abs(l2 - 0.1))
        assert [it.method.l2 for it in second] == nearest[:4]
        assert {it.budget.seconds for it in first} == {1} and {it.seed for it in first} == {study}
        assert {it.budget.seconds for it in second} == {4}
        taken = [it.method.l2 for it in final if it.seed % 2 == study]
        assert set(taken) == {nearest[0]}
    assert [(it.seed, it.budget.seconds) for it in final] == [
        (seed, seconds) for seed in (0, 1, 2) for seconds in (60, 4)
    ]
    assert all(it.budget.patience == 2 for it in final)


@pytest.mark.parametrize("method", ["umax", "memoir_l2"])
def test_cells_make_the_passes_that_fit_their_seconds(method: str) -> None:
    (_, (trial,)), *others = measured(method, lambda it: 1.0, speed=2.0)
    assert trial.budget.seconds == 0.5 and trial.budget.epochs == 1000
    passes = {(it.budget.seconds, it.budget.epochs) for _, cells in others for it in cells}
    assert passes == {(1, 1.6), (4, 6.4), (60, 96)}  # 0.8 of what the speed of 2 allows
    fast = [it for _, cells in measured(method, lambda it: 1.0, speed=1e4)[1:] for it in cells]
    assert {it.budget.epochs for it in fast} == {1000}


def test_a_training_that_begins_late_has_a_longer_trial_of_its_pace() -> None:
    first, second, *others = measured("negative_sampling", lambda it: 1.0, speed=0.0)
    assert [it.budget.seconds for _, (it,) in (first, second)] == [0.5, 5.5]
    assert {it.budget.epochs for _, cells in others for it in cells} == {1000}


def seconds_of(launched: list[tuple[str, list[Config]]]) -> list[tuple[float, float]]:
    """Seconds and passes of the cells of each launch after that of the pace."""
    cells = [some[0].budget for _, some in launched[1:]]
    return [(it.seconds, it.epochs) for it in cells if it.seconds]


def test_trials_last_longer_by_what_is_set_up_first() -> None:
    """Passes fill 0.8 of what is left; a tree of 1.3 s takes two whole seconds."""
    launched = measured("negative_sampling", lambda it: 1.0, speed=2.0, begins=1.3)
    search = [(3, 1.6), (6, 6.4)]
    assert seconds_of(launched) == [*search, *search, (60, 92.8)]
    soon = measured("negative_sampling", lambda it: 1.0, speed=2.0, begins=0.15)
    assert seconds_of(soon)[0] == (1, 1.6)
    for begins in (11.5, 14.5, 70.0):  # more than a quarter of the final seconds, or than all
        late = measured("negative_sampling", lambda it: 1.0, speed=2.0, begins=begins)
        assert [seconds for seconds, _ in seconds_of(late)] == [1, 4, 1, 4, 60]
        assert all(passes > 0 for _, passes in seconds_of(late))


@pytest.mark.parametrize(("speed", "seconds"), [(10.0, (1, 4)), (0.3, (7,)), (0.1, (1, 4))])
def test_a_library_makes_all_of_its_passes_in_a_trial_if_they_fit(
    speed: float, seconds: tuple[float, ...]
) -> None:
    """All classes take 0.1 s, 3.3 s and 10 s; twice that fits a quarter of 60 s, or does not."""
    launched = measured("svm_ovr", lambda it: 1.0, speed=speed)
    trials = [12, 4][: len(seconds)]  # equal rungs are one
    assert [len(cells) for _, cells in launched] == [1, *trials, *trials, 3]
    assert seconds_of(launched) == [(it, 1000) for it in (*seconds, *seconds, 60)]


def test_a_trial_too_short_to_train_has_no_number() -> None:
    rows = pd.DataFrame({"cell": ["a", "b"], "status": "timeout", "lr": [0.1, 0.2]})
    curves = pd.DataFrame(
        {"cell": list("aab"), "epoch": [0, 1, 0], "validation_log_loss": [1.0, 3.0, 1.0]}
    )
    assert tuning.best_points(rows, curves, False) == [{"lr": 0.1}]


def test_rates_of_plain_steps_alone_fall_in_a_line() -> None:
    for method, schedule in (("umax", "linear"), ("ar_softmax", "geometric")):
        cells = [it for _, some in measured(method, lambda it: 1.0) for it in some]
        assert {it.method.lr_schedule for it in cells} == {schedule}


def test_a_method_whose_trials_are_ended_runs_at_its_defaults() -> None:
    part, cells = measured("umax", lambda it: 1.0, status="failed").pop()
    defaults = registry.find("umax").thing.schema(name="umax", lr_schedule="linear")
    assert part == "runs" and [it.method for it in cells] == 6 * [defaults]


def test_exact_softmax_takes_ever_less_decay_while_that_helps() -> None:
    launched = measured("softmax", lambda it: abs(np.log10(it.method.l2) + 1))
    assert [[it.method.l2 for it in cells] for _, cells in launched] == [
        [10], [3], [1], [0.3], [0.1], [0.03], [0.1], [0.1]
    ]  # fmt: skip
    assert [it.seed for _, cells in launched for it in cells] == [0, 0, 0, 0, 0, 0, 1, 2]
    assert all(it.budget.seconds is None for _, cells in launched for it in cells)


def test_a_training_that_cannot_be_stopped_runs_once_at_its_defaults() -> None:
    ((part, cells),) = measured("class_sums", lambda it: 1.0)
    assert (part, len(cells)) == ("runs", 1) and cells[0].budget.patience is None


def test_early_stopping_takes_the_first_best_checkpoint_of_every_cell() -> None:
    curves = pd.DataFrame(
        {"cell": list("aaabb"), "validation_error": [0.5, 0.2, 0.2, 0.1, 0.3], "n": range(5)}
    )
    assert best_of_each(curves, "validation_error", "cell")["n"].tolist() == [1, 3]


def test_what_a_model_was_before_training_is_no_result() -> None:
    curves = pd.DataFrame(
        {"cell": list("aaab"), "epoch": [0, 1, 2, 0], "validation_log_loss": [1.0, 3.0, 2.0, 5.0]}
    )
    chosen = tuning.stopped(curves, "validation_log_loss").set_index("cell")["epoch"]
    assert chosen.to_dict() == {"a": 2, "b": 0}  # b is not trained at all
