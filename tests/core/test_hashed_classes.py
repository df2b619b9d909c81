"""MACH: softmax over hashed classes, and what it says of the classes."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import softmax

from xcbench import MarginClassifier, model_files
from xcbench.config.settings import Budget, Evaluation
from xcbench.core.dataset import Split
from xcbench.core.models.hashed import HashedModel
from xcbench.core.models.linear import LinearModel
from xcbench.core.solvers import Streams
from xcbench.estimators import problem as of_arrays
from xcbench.methods import registry
from xcbench.train.training import Lane, built, run

K, B, D = 12, 5, 4
RNG = np.random.default_rng(0)
X = RNG.normal(size=(7, D)).astype(np.float32)


def test_probabilities_are_estimated_without_bias_over_the_hashes() -> None:
    """Buckets that have exactly the sums of p: the estimate is p on average over hashes."""
    p = softmax(RNG.normal(size=K) * 2)
    estimates = []
    for seed in range(3000):
        bucket = np.random.default_rng(seed).permutation(K) % B
        log_p = np.log(np.bincount(bucket, p, B)).astype(np.float64)
        part = LinearModel.of(np.zeros((B, D)), log_p)
        model = HashedModel("numpy", K, [part])
        model.bucket = bucket[None]
        ((_, scores),) = model.passes(X[:1].astype(np.float64))
        estimates.append(scores[0])
    error = np.std(estimates, axis=0) / np.sqrt(len(estimates))
    np.testing.assert_array_less(abs(np.mean(estimates, axis=0) - p), 4 * error)


def test_with_a_bucket_a_class_it_is_the_softmax() -> None:
    W, b = RNG.normal(size=(K, D)), RNG.normal(size=K)
    bucket = RNG.permutation(K)
    model = HashedModel("numpy", K, [LinearModel.of(W[np.argsort(bucket)], b[np.argsort(bucket)])])
    model.bucket = bucket[None]
    ((_, scores),) = model.passes(X.astype(np.float64))
    np.testing.assert_allclose(scores, softmax(X.astype(np.float64) @ W.T + b, axis=1), rtol=1e-10)


@pytest.fixture(scope="module")
def problem() -> tuple[np.ndarray, np.ndarray]:
    """Rows about the centres of 60 classes."""
    rng = np.random.default_rng(1)
    y = np.arange(60).repeat(20)
    return (rng.normal(size=(60, 16))[y] * 2 + rng.normal(size=(len(y), 16))).astype(np.float32), y


def test_repetitions_tell_classes_of_a_bucket_apart(
    problem: tuple[np.ndarray, np.ndarray], tmp_path: Path
) -> None:
    rows, y = problem

    def trained(**options: object) -> MarginClassifier:
        return MarginClassifier("mach", random_state=0, epochs=10, buckets=15, **options).fit(
            rows, y
        )

    one, several = (trained(repetitions=count) for count in (1, 8))
    assert one.score(rows, y) < 0.4  # four classes a bucket
    assert several.score(rows, y) > 0.9
    assert several.state_["hashed_W"].shape == (8 * 15, 16)
    other = trained(repetitions=8, engine="numpy")
    np.testing.assert_allclose(
        other.decision_function(rows), several.decision_function(rows), atol=1e-3
    )
    model_files.save(tmp_path / "model", model_files.Trained(several))
    for copy in (
        pickle.loads(pickle.dumps(several)),
        model_files.load(tmp_path / "model").estimator,
    ):
        assert np.array_equal(copy.predict(rows), several.predict(rows))


def test_a_bucket_a_class_trains_as_softmax_does_on_a_linear_schedule(
    problem: tuple[np.ndarray, np.ndarray],
) -> None:
    dataset = of_arrays.dataset(Split(*problem), 60)
    shared = {"lr": 0.1, "lr_schedule": "linear", "order": "file", "init": "zero"}
    models: dict[str, Any] = {}
    for name, more in (("mach", {"repetitions": 1, "buckets": 60}), ("softmax", {})):
        method = registry.builtin()[name]
        settings: Any = method.schema(name=name, **shared, **more)  # type: ignore[call-arg]
        if name == "softmax":
            settings = replace(settings, solver="minibatch")
        lane = Lane(*built(method, settings, dataset.info, dataset.info, "numpy", "float64"))
        run([lane], dataset, 0, Budget(epochs=4, checkpoints=4), Evaluation())
        models[name] = lane.model
    (hashed,) = models["mach"].buckets
    W = hashed.weights()["W"][models["mach"].bucket[0]]
    np.testing.assert_allclose(W, models["softmax"].weights()["W"], atol=1e-12)


def test_stops_change_nothing(problem: tuple[np.ndarray, np.ndarray]) -> None:
    dataset = of_arrays.dataset(Split(*problem), 60)
    method = registry.builtin()["mach"]
    settings = method.schema(name="mach", lr=0.1)
    weights = []
    for stops in ([3.0], [0.5, 1.0, 1.7, 3.0]):
        solver, model = built(method, settings, dataset.info, dataset.info, "numpy", "float64")
        steps = list(solver.fit(dataset, model, Streams.of(0), stops))
        assert len(steps) == 1 + len(stops) and steps[-1].observations == 3 * len(dataset.train)
        weights.append(model.weights())
    assert all(np.array_equal(weights[0][name], weights[1][name]) for name in weights[0])
