"""A budget is what is trained: observations of every method, looks at the clock, suspended time."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from xcbench.config.settings import Budget, Evaluation
from xcbench.core.dataset import Dataset, Split
from xcbench.core.statistics import describe
from xcbench.methods import memoir, registry
from xcbench.methods.memoir import MemoirOptions
from xcbench.methods.method import Method
from xcbench.methods.options import FullBatchOptions, StochasticOptions
from xcbench.train import evaluator, training
from xcbench.train.clock import Stopwatch

N, D, K = 60, 9, 7
BUDGETS = (
    Budget(epochs=1, checkpoints=80),
    Budget(epochs=1, checkpoints=1, seconds=1000.0),
    Budget(epochs=3, checkpoints=12, ratio=2.0, seconds=1000.0),
    Budget(epochs=0.05, checkpoints=3),
)


def problem() -> Dataset:
    rng = np.random.default_rng(0)
    X = sp.csr_array((rng.random((N, D)) * (rng.random((N, D)) < 0.6)).astype(np.float32))
    y = np.concatenate([np.arange(K), rng.integers(0, K, N - K)])
    rows = Split(X, y)
    return Dataset(
        describe("made", "", False, rows, rows, K), rows, rows, np.bincount(y, minlength=K)
    )


def variants() -> dict[str, tuple[Method, Any]]:
    """Every method that visits rows, with its default minibatch and others."""
    result = {}
    for name, method in registry.builtin().items():
        settings = method.schema(name=name)
        if isinstance(settings, FullBatchOptions):
            settings = replace(settings, solver="minibatch")
        if not (isinstance(settings, StochasticOptions | MemoirOptions)):
            continue
        for n in (1, 25):
            result[f"{name}-{n}"] = method, replace(settings, batch_size=n, lr=1e-3)
    return result


VARIANTS = variants()


def trained(variant: str, engine: str, budget: Budget) -> tuple[training.Trace, Any]:
    method, settings = VARIANTS[variant]
    dataset = problem()
    registry.check(registry.method_of(settings), settings, dataset.info)
    solver = method.build(settings, dataset.info)
    model = solver.make_model(engine, K, D, settings.bias, "float64")
    model.link = method.link
    training.warm_up(solver, model, dataset)
    few = Evaluation(rows=5)
    (trace,) = training.run([training.Lane(solver, model)], dataset, 0, budget, few)
    return trace, model


def batch(variant: str) -> int:
    settings = VARIANTS[variant][1]
    info = problem().info
    return (
        memoir.batch(settings, info) if isinstance(settings, MemoirOptions) else settings.batch_size
    )


@pytest.mark.parametrize("engine", ["numpy", "numba"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_what_is_visited_is_what_the_budget_says(
    variant: str, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = {"log_loss": 1.0, "error": 0.5}
    monkeypatch.setattr(evaluator, "evaluate", lambda *arguments, **asked: measured)
    for budget in BUDGETS:
        trace, _ = trained(variant, engine, budget)
        places = trace.curve["observations"]
        assert trace.status == "done" and places.is_unique and places.iloc[0] == 0
        asked = round(budget.epochs * N)
        assert asked <= places.iloc[-1] < asked + batch(variant)
        assert trace.curve["test_error"].notna().all()


@pytest.mark.parametrize("variant", ["umax-1", "ove-25", "softmax-25", "ar_softmax-25"])
def test_looks_at_the_clock_change_nothing(variant: str) -> None:
    free, timed = (
        trained(variant, "numba", Budget(epochs=5, checkpoints=4, seconds=seconds))
        for seconds in (None, 1000.0)
    )
    for name, weights in free[1].weights().items():
        assert (weights == timed[1].weights()[name]).all()
    columns = ["iteration", "observations", "train_log_loss", "test_error"]
    assert free[0].curve[columns].equals(timed[0].curve[columns])
    np.testing.assert_allclose(free[0].curve["bound"], timed[0].curve["bound"], rtol=1e-12)


def test_seconds_end_a_cell_of_many_epochs_and_one_checkpoint() -> None:
    started = time.perf_counter()
    trace, _ = trained("ove-1", "numba", Budget(epochs=1e6, checkpoints=1, seconds=0.5))
    assert trace.status == "timeout" and 0.5 <= trace.train_seconds < 5
    assert time.perf_counter() - started < 20  # it took hours
    assert len(trace.curve) == 2 and trace.curve["observations"].iloc[-1] > 0


def suspended(results: Any) -> None:
    with Stopwatch() as clock:
        with clock.running():
            results.put("ready")
            until = time.process_time() + 0.5
            while time.process_time() < until:
                pass
        suspended, before = clock.seconds, clock.seconds
        with clock.running():
            time.sleep(0.2)
        results.put((suspended, clock.seconds - before))


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="no process can be suspended")
def test_suspended_time_is_no_training() -> None:
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    process = context.Process(target=suspended, args=(results,))
    process.start()
    assert process.pid and results.get(timeout=60) == "ready"
    os.kill(process.pid, signal.SIGSTOP)
    time.sleep(2.5)
    os.kill(process.pid, signal.SIGCONT)
    stopped, slept = results.get(timeout=60)
    process.join()
    assert 0.45 < stopped < 2.0  # about half a second of work, and 2.5 s of standing still
    assert slept >= 0.2  # what waits by itself is on the clock


def test_the_clock_runs_in_other_threads_too() -> None:
    seconds = []

    def work() -> None:
        with Stopwatch() as clock:
            with clock.running():
                time.sleep(0.01)
            seconds.append(clock.seconds)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seconds[0] >= 0.01


def test_the_clock_of_the_processor_stands_still_while_nothing_is_computed() -> None:
    with Stopwatch(processor=True) as clock, clock.running():
        time.sleep(0.1)
    assert clock.seconds < 0.05
