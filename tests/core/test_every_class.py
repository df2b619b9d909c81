"""Steps on every class: sparse rows as dense ones, at the cost of their non-zeros."""

import time
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from xcbench.core.models import make
from xcbench.core.optimizers import OnVisited, Optimizer, Schedule, adagrad, augment_reduce, sgd
from xcbench.core.rows import take

STEPS = {
    "sgd": sgd(0.1, 1.0, 1e-2),
    "adagrad": adagrad(0.1, 1.0, 0.0, 1e-2),
    "ar": augment_reduce(0.1, 1.0, 1e-2, 100, touched=False),
    "visited": Optimizer(Schedule(0.1), OnVisited(1e-2, np.ones(300))),
}
ENGINES = ["numpy", "numba"]


def one_hot(n_rows, width, of=20):
    """Rows with a feature of 20 each, the same ones but for zeros, however wide."""
    features = np.random.default_rng(0).integers(0, of, n_rows) * (width // of)
    return sp.csr_array(
        (np.ones(n_rows, np.float32), (np.arange(n_rows), features)), (n_rows, width)
    )


def descend(model, step, X, grads):
    """Scores before each iteration."""
    step, scores = step.begun(model), []
    for grad in grads:
        rows = take(X, np.arange(X.shape[0]), model.dtype)
        scores.append(model.all(rows))
        step.apply(model, rows, None, grad, 0.1)
    return scores


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
@pytest.mark.parametrize("empty", [False, True], ids=["few", "none"])
def test_few_features_give_what_dense_rows_give(step, engine, empty):
    rng = np.random.default_rng(1)
    X = sp.lil_array((6, 40), dtype=np.float32)
    if not empty:
        X[0, [3, 7]], X[1, [7, 31]], X[4, 3] = [0.5, -1.0], [2.0, 0.25], 1.5
    grads = rng.normal(size=(5, 6, 8))
    models, scores = [], []
    for rows in (X.tocsr(), np.asarray(X.todense())):
        models.append(make(engine, 8, 40, True, "float64"))
        models[-1].draw(np.random.default_rng(2), "normal")
        scores.append(descend(models[-1], step, rows, grads))
    np.testing.assert_allclose(*scores, rtol=1e-10, atol=1e-12)
    for sparse, dense in zip(*(model.weights().values() for model in models), strict=True):
        np.testing.assert_allclose(sparse, dense, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_the_cost_follows_the_nonzeros(step, engine):
    """A minibatch of the same non-zeros among 16 times the features: room and seconds."""
    grad, room, seconds = np.ones((50, 300)), [], []
    for width in (2000, 32000):
        model, X = make(engine, 300, width, True, "float32"), one_hot(50, width)
        begun = step.begun(model)
        rows, laps = take(X, np.arange(50), model.dtype), []

        def iterate(model=model, begun=begun, rows=rows):
            model.all(rows)
            begun.apply(model, rows, None, grad, 0.1)

        for _ in range(6):  # the first one also compiles, and asks for pages of memory
            start = time.perf_counter()
            iterate()
            laps.append(time.perf_counter() - start)
        tracemalloc.start()
        iterate()
        room.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        seconds.append(min(laps))
    assert room[1] < 2 * room[0]
    assert seconds[1] < 8 * seconds[0]  # wide weights miss the cache; a dense step takes over 16
