"""Cells in lockstep, against the same cells run by themselves: the same numbers to the last bit."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal
from scipy.special import logsumexp
from test_descent import METHODS, model_of, solver_of, trained
from test_resume import numbers, wait_for

from made_cells import make
from workspace import Workspace
from xcbench.config.settings import Budget, Config
from xcbench.core.dataset import Dataset, Split
from xcbench.core.solvers import Streams, lockstep
from xcbench.data.settings import DatasetSettings, SyntheticSettings
from xcbench.methods.double_sum import LocalOptions
from xcbench.methods.umax import UmaxOptions
from xcbench.plan import planning
from xcbench.run import runner
from xcbench.store.cell import Cell
from xcbench.train import clock, training
from xcbench.train.evaluator import Evaluator

pytest.importorskip("numba", reason="Numba is not installed: nothing goes in lockstep")

from xcbench.core.models.compiled import CompiledModel

RATES = [0.001, 0.01, 0.1, 1.0, 1e300]  # the last one diverges
SINGLE = {
    "umax, one": UmaxOptions(name="umax", step="gradient"),
    "umax, bounded": UmaxOptions(name="umax", step="bounded"),
    "implicit": LocalOptions(name="implicit"),
    "umax, single samples, several classes": UmaxOptions(name="umax", step="gradient", negatives=3),
}


SLOW = [pytest.param(name, "float64", marks=pytest.mark.slow) for name in (*METHODS, "implicit")]


@pytest.mark.parametrize(
    ("name", "dtype"),
    [*((it, "float32") for it in (*METHODS, *SINGLE)), *SLOW],
)
def test_lanes_are_runs_by_themselves(small: Dataset, name: str, dtype: str) -> None:
    """Five epochs with a shorter minibatch at the end of each; a diverging lane harms no other."""
    settings = {**METHODS, **SINGLE}[name]
    for order, bias, l2 in (("shuffled", True, 1.0), ("iid", False, 0.0)):
        options = [replace(settings, lr=lr, order=order, bias=bias, l2=l2) for lr in RATES]
        alone = [
            trained(solver_of(it, small), model_of("numba", small, bias, dtype), small, [1, 5])
            for it in options
        ]
        solvers = [solver_of(it, small) for it in options]
        models = [model_of("numba", small, bias, dtype) for _ in options]
        assert lockstep.possible(solvers, models, small)
        stops = list(lockstep.fit(solvers, small, models, Streams.of(3), [1, 5]))
        for r, (weights, expected) in enumerate(alone):
            for part, own in models[r].weights().items():
                np.testing.assert_array_equal(own, weights[part])
            result = [(p[r].iteration, p[r].observations, p[r].objective) for p in stops[1:]]
            np.testing.assert_array_equal(result, expected)
        if dtype == "float32" and name not in ("implicit", "umax, bounded"):
            assert not np.isfinite(alone[-1][0]["W"]).all()


def test_one_pass_over_the_rows_measures_every_model() -> None:
    """Against SciPy, and as each by itself to the last bit; dense rows that are mostly 0."""
    rng = np.random.default_rng(0)
    X = rng.random((90, 30), np.float32) * (rng.random((90, 30)) < 0.2)
    split = Split(X.astype(np.float32), rng.integers(0, 37, 90))
    models = [CompiledModel(37, 30, True, "float32") for _ in RATES]
    for model in models:
        model.V[...], model.b[...] = rng.normal(size=(37, 30)), rng.normal(size=37)
        model.scale = rng.random()
    (summaries,) = models[0].summaries(models, [split])
    for model, summary in zip(models, summaries, strict=True):
        assert summary is not None
        for array, own in zip(summary, model.summarise(split), strict=True):
            np.testing.assert_array_equal(array, own)
        scores = model.scale * (split.X @ model.V.T + model.b)
        loss = logsumexp(scores, axis=1) - scores[np.arange(90), split.y]
        np.testing.assert_allclose(summary[0], loss, atol=2e-6)
        np.testing.assert_array_equal(summary[1][:, 0], scores.argmax(axis=1))


@pytest.mark.parametrize("share", [0.1, 1.0])
def test_threads_change_no_bit(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((900, 40)).astype(np.float32) * (rng.random((900, 40)) < share)
    split = Split(X, rng.integers(0, 70, 900))
    model = CompiledModel(70, 40, True, "float32")
    model.V[:], model.b[:] = rng.standard_normal((70, 40)), rng.standard_normal(70)
    monkeypatch.setattr("xcbench.core.models.model.BLOCK_SCORES", 70 * 100)
    taken = []
    for count in (1, 2, 3):
        monkeypatch.setattr("numba.config.NUMBA_NUM_THREADS", count)
        taken.append(model.summarise(split))
    scores = X.astype(float) @ model.V.T.astype(float) + model.b
    loss = logsumexp(scores, axis=1) - scores[np.arange(900), split.y]
    np.testing.assert_allclose(taken[0][0], loss, atol=1e-5)
    for losses, best in taken[1:]:
        np.testing.assert_array_equal(losses, taken[0][0])
        np.testing.assert_array_equal(best, taken[0][1])


def test_where_it_is_not_faster_there_is_none(small: Dataset) -> None:
    def possible(*options: Any, engine: str = "numba", dataset: Dataset = small) -> bool:
        solvers = [solver_of(it, small) for it in options]
        return lockstep.possible(solvers, [model_of(engine, small) for _ in options], dataset)

    umax = SINGLE["umax, one"]
    three = [replace(umax, lr=lr) for lr in (0.1, 1.0, 10.0)]
    assert possible(*three)
    assert not possible(*three[:2])  # too few
    assert not possible(*three, engine="numpy")
    assert not possible(*three[:2], replace(three[2], negatives=3))  # not the same steps
    assert possible(*(replace(umax, lr=0.1 * lane) for lane in range(1, 9)))
    assert not possible(*(replace(umax, lr=0.1 * lane) for lane in range(1, 10)))  # too many
    five = [replace(umax, lr=0.1 * lane) for lane in range(1, 6)]
    far = replace(small, info=replace(small.info, features=10_000, train=100_000))
    assert not possible(*three, dataset=far)  # weights that leave the cache
    assert possible(*five, dataset=far)
    few = replace(small, info=replace(small.info, features=10_000))
    assert not possible(*five, dataset=few)  # more weights to copy than there are visits
    wide = replace(small, info=replace(small.info, features=2_000_000, train=10**7))
    assert not possible(*five, dataset=wide)  # weights that take too much memory


SWEEP = (
    *("-m", "mlflow=false", "dataset=zipf", "dataset.synthetic.features=60", "method=umax,ove"),
    *("dataset.synthetic.classes=20", "dataset.synthetic.train=4000", "engine=numba"),
    *("method.lr=0.001,0.01,0.1,1e300", "seed=0,1", "budget.checkpoints=4"),
)


def test_rates_of_a_method_on_all_classes_train(workspace: Workspace) -> None:
    """They have no drawn classes, which compiled lanes need."""
    words = "method=bouchard method.sampler=all method.batch_size=50 method.lr=0.01,0.02,0.03"
    sizes = {"train": 60, "test": 20, "features": 20, "classes": 6, "nonzeros": 4}
    data = [f"dataset.synthetic.{name}={size}" for name, size in sizes.items()]
    done = workspace.run("-m", "dataset=zipf", *data, *words.split(), "budget.epochs=1")
    assert done.code == 0, done.text
    assert "3 done" in done.text


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """Curves of the sweep's cells, each run by itself."""
    workspace = Workspace(tmp_path_factory.mktemp("alone"))
    done = workspace.run(*SWEEP, "budget.epochs=2", "lockstep=false")
    assert done.code == 0, done.text
    return numbers(workspace.frame("--curves"))


def in_lockstep(workspace: Workspace) -> int:
    cells = (workspace.path / "runs" / "cells").glob("[!.]*/cell.json")
    return sum('"lockstep": 4' in path.read_text("utf-8") for path in cells)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_launch_gives_the_same_frame(
    workspace: Workspace, alone: pd.DataFrame, workers: int
) -> None:
    done = workspace.run(*SWEEP, "budget.epochs=2", f"workers={workers}")
    assert done.code == 0, done.text
    assert len(workspace.cells()) == 16
    assert in_lockstep(workspace) == 16 - 4 * (workers - 1)  # both workers train of the last four
    statuses = workspace.frame().groupby(["method", "lr"])["status"].agg(set)
    assert statuses["ove", 0.001] == {"done"} and statuses["ove", 1e300] == {"diverged"}
    assert statuses["umax", 1e300] == {"done"}  # its steps are bounded
    assert_frame_equal(numbers(workspace.frame("--curves")), alone, check_exact=True)


def test_a_killed_launch_goes_on(workspace: Workspace, alone: pd.DataFrame) -> None:
    with workspace.start(*SWEEP, "budget.epochs=2") as process:
        wait_for(lambda: len(workspace.cells()) >= 1, process)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    before = workspace.cells()
    assert 1 <= len(before) < 16
    done = workspace.run(*SWEEP, "budget.epochs=2")
    assert done.code == 0, done.text
    after = workspace.cells()
    assert {name: after[name] for name in before} == before
    assert_frame_equal(numbers(workspace.frame("--curves")), alone, check_exact=True)


def test_the_seconds_of_the_cells_add_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a clock that moves by hand: loading, compiling, training and evaluation, once for all."""
    sizes = SyntheticSettings(train=60, test=20, features=30, classes=5, nonzeros=4.0)
    settings = Config(
        dataset=DatasetSettings(name="tiny", reader="synthetic", synthetic=sizes),
        budget=Budget(epochs=1, checkpoints=1),
        engine="numba",
        runs_dir=str(tmp_path),
    )
    rates = [replace(SINGLE["umax, one"], lr=lr) for lr in (0.001, 0.01, 0.1, 1.0)]
    jobs = planning.jobs([replace(settings, method=method) for method in rates])
    now = [0.0]

    def takes(seconds: float, function: Callable[..., Any]) -> Callable[..., Any]:
        def slow(*arguments: Any) -> Any:
            now[0] += seconds
            return function(*arguments)

        return slow

    def slow_fit(*arguments: Any) -> Iterator[Any]:
        for progress in fit(*arguments):
            now[0] += 40.0
            yield progress

    fit, by_hand = lockstep.fit, SimpleNamespace(time=time.time, perf_counter=lambda: now[0])
    by_hand.process_time = by_hand.perf_counter
    for module in (runner, training, clock):
        monkeypatch.setattr(module, "time", by_hand)
    monkeypatch.setattr(runner, "_dataset", takes(8.0, runner._dataset))
    monkeypatch.setattr(training, "warm_up_together", takes(4.0, lambda *_: None))
    monkeypatch.setattr(lockstep, "fit", slow_fit)
    monkeypatch.setattr(Evaluator, "measured", takes(16.0, Evaluator.measured))
    cells = runner.run(jobs)
    assert [cell.environment["lockstep"] for cell in cells] == [4] * 4
    for cell in cells:  # at the start and at the end it is trained and evaluated
        assert cell.seconds == {"load": 2.0, "compile": 1.0, "train": 20.0, "evaluate": 8.0}
        assert cell.curve["train_seconds"].iloc[-1] == 20.0


@pytest.mark.parametrize("error", [MemoryError("8 models"), ZeroDivisionError("a bug")])
def test_what_goes_wrong_in_lockstep_is_said(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two cells may fit one by one where they do not together; a bug of ours hides behind none."""

    def fails(jobs: list[Any], cells: list[Cell], watch: object) -> list[Cell]:
        if len(jobs) > 1:
            raise error
        return cells

    jobs: list[Any] = [
        SimpleNamespace(cell=make(seed=seed), origins={}, info=None) for seed in (0, 1)
    ]
    monkeypatch.setattr(runner, "_too_large", lambda job, models=1: "")
    monkeypatch.setattr(runner.reevaluation, "due", lambda job: None)
    monkeypatch.setattr(runner, "_train", fails)
    cells = runner.run(jobs)
    if isinstance(error, MemoryError):
        assert [cell.cell for cell in cells] == [job.cell.cell for job in jobs]
        assert {cell.status for cell in cells} == {"done"}
        said = capsys.readouterr().err
        assert said == "2 cells run one by one, not in lockstep: MemoryError: 8 models\n"
    else:
        assert {cell.status for cell in cells} == {"failed"}
        assert (
            cells[0].message
            == "ZeroDivisionError: a bug; lockstep=false trains each cell by itself"
        )
        assert "in fails" in cells[0].traceback
