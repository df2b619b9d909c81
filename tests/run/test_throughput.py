"""What a launch costs besides the cells themselves grows no faster than their number."""

from __future__ import annotations

import gc

import pandas as pd
import pytest

import made_cells
from xcbench.config.settings import Budget, Evaluation
from xcbench.core.dataset import Dataset
from xcbench.core.models.linear import LinearModel
from xcbench.core.solvers import Progress as Stop
from xcbench.core.solvers import Solver
from xcbench.run.progress import Progress
from xcbench.store import results
from xcbench.train import training


class Alone:
    """A job that does not want to be compared with others."""

    info = None

    def __init__(self, number: int) -> None:
        self.cell = made_cells.make(f"m{number % 2}", seed=number)
        self.label = self.cell.label

    def __eq__(self, other: object) -> bool:
        raise AssertionError("a job was looked for among the others")

    __hash__ = None  # type: ignore[assignment]


def test_the_estimate_is_the_mean_of_like_cells(capsys: pytest.CaptureFixture[str]) -> None:
    jobs = [Alone(number) for number in range(7)]
    progress = Progress(len(jobs), jobs)  # type: ignore[arg-type]
    for job, seconds, left in (
        (jobs[1], 2.0, 6 * 2.0),  # nothing of the other kind yet: the mean of all
        (jobs[3], 4.0, 1 * 3.0 + 4 * 3.0),
        (jobs[0], 10.0, 1 * 3.0 + 3 * 10.0),
        (jobs[2], 20.0, 1 * 3.0 + 2 * 15.0),
    ):
        progress.end(job, job.cell, seconds)  # type: ignore[arg-type]
        assert progress.estimate() == pytest.approx(left)
    assert ", about 33 s left\n" in capsys.readouterr().out


def test_compiling_is_not_expected_of_the_other_cells(capsys: pytest.CaptureFixture[str]) -> None:
    jobs = [Alone(number) for number in range(3)]
    progress = Progress(len(jobs), jobs)  # type: ignore[arg-type]
    jobs[0].cell.seconds = {"compile": 40.0}
    progress.end(jobs[0], jobs[0].cell, 42.0)  # type: ignore[arg-type]
    assert progress.estimate() == pytest.approx(2 * 2.0)
    assert "42 s (compiling once), about 4.0 s left" in capsys.readouterr().out


def test_a_frame_is_made_of_all_cells_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = made_cells.grid()
    calls = []
    concat = pd.concat
    monkeypatch.setattr(pd, "concat", lambda *a, **k: calls.append(a) or concat(*a, **k))
    frame = results.frame(cells, curves=True)
    assert not calls
    assert len(frame) == sum(max(1, len(cell.curve)) for cell in cells)
    by_cell = dict(iter(frame.groupby("cell")))
    for cell in cells:
        own = by_cell[cell.cell]
        assert own["train_log_loss"].tolist() == pytest.approx(
            cell.curve["train_log_loss"].tolist() or [float("nan")], nan_ok=True
        )
        assert set(own["message"]) == {cell.message}
    assert len(results.frame(cells)) == len(cells)


class Still(Solver):
    """A solver that does nothing."""

    is_bound = True

    def fit(self, dataset, model, streams, stops):
        yield Stop(0, 0, 0.0)
        for stop in stops:
            yield Stop(1, 1, stop, objective=0.0)


@pytest.mark.parametrize("costs", [False, True])
def test_garbage_is_collected_only_where_memory_is_measured(
    costs: bool, digits: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []
    monkeypatch.setattr(gc, "collect", lambda: calls.append(1))
    model = LinearModel(digits.info.classes, digits.info.features, True, "float32")
    budget = Budget(epochs=1, checkpoints=2)
    evaluation = Evaluation(costs=costs)
    training.run([training.Lane(Still(), model)], digits, 0, budget, evaluation)
    assert len(calls) == costs
