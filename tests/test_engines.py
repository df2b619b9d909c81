"""The compiled engine gives the trajectories of the NumPy engine."""

from dataclasses import replace

import numpy as np
import pytest

from xcbench import config, linear, metrics, registry
from xcbench.linear import LinearModel
from xcbench.options import check
from xcbench.solvers import Streams

pytest.importorskip("numba", reason="Numba is not installed: engine=numba is not tested")


METHODS = {
    "softmax": config.Softmax(name="softmax", solver="minibatch", n=10, lr=0.05),
    "lbfgs": config.Softmax(name="softmax", ridge=1.0),
    "ove": config.OneVsEach(name="ove", n=10, m=3, lr=0.02),
    "ove, others": config.OneVsEach(name="ove", n=10, m=3, lr=0.02, sampling="others"),
    "ove, n=1": config.OneVsEach(name="ove", n=1, m=3, lr=0.02, sampling="others"),
    "ove, one pair": config.OneVsEach(name="ove", n=1, m=1, lr=0.02, sampling="others"),
    "ove, shared, n=1": config.OneVsEach(name="ove", n=1, m=3, lr=0.02),
    "ove, frequency": config.OneVsEach(name="ove", n=10, m=3, lr=0.02, sampling="frequency"),
    "ove, frequency, n=1": config.OneVsEach(name="ove", n=1, m=3, lr=0.02, sampling="frequency"),
    "ove, lbfgs": config.OneVsEach(name="ove", solver="lbfgs"),
    "ove_grouped": config.Grouped(name="ove_grouped", n=10, m=2, lr=0.02, group=3),
    "ove_grouped, n=1": config.Grouped(name="ove_grouped", n=1, m=2, lr=0.02, group=3),
    "ove_grouped, all": config.Grouped(name="ove_grouped", n=10, lr=0.02, group=3, sampling="all"),
    "ove_grouped, lbfgs": config.Grouped(name="ove_grouped", solver="lbfgs", group=3),
    "bouchard": config.Bouchard(name="bouchard", n=10, m=3, lr=0.02),
    "bouchard, all": config.Bouchard(name="bouchard", n=10, lr=0.02, sampling="all"),
    "bouchard, n=1": config.Bouchard(name="bouchard", n=1, m=3, lr=0.02),
    "bouchard, one pair": config.Bouchard(name="bouchard", n=1, m=1, lr=0.02),
    "bouchard, frequency": config.Bouchard(
        name="bouchard", n=1, m=2, lr=0.02, sampling="frequency"
    ),
    "bouchard, lbfgs": config.Bouchard(name="bouchard", solver="lbfgs"),
    "nce": config.NCE(name="nce", n=10, m=3, lr=0.05),
    "nce, one pair": config.NCE(name="nce", n=1, m=1, lr=0.05, sampling="others"),
    "is": config.Sampled(name="is", n=10, m=3, lr=0.05),
    "is, n=1": config.Sampled(name="is", n=1, m=2, lr=0.05, sampling="others"),
    "is, one pair": config.Sampled(name="is", n=1, m=1, lr=0.05, sampling="others"),
    "vanilla": config.DoubleSum(name="vanilla", lr=0.02),
    "vanilla, n=5": config.DoubleSum(name="vanilla", lr=0.02, n=5, m=3),
    "umax": config.Umax(name="umax", lr=0.02),
    "umax, m=5": config.Umax(name="umax", lr=0.02, m=5),
    "umax, drop_hits": config.Umax(name="umax", lr=0.02, m=3, sampling="drop_hits"),
    "umax, frequency": config.Umax(name="umax", lr=0.02, m=2, sampling="frequency"),
    "umax, any": config.Umax(name="umax", lr=0.02, sampling="any"),
    "umax, n=10": config.Umax(name="umax", lr=0.02, n=10, m=4),
    "umax, all": config.Umax(name="umax", lr=0.02, n=10, sampling="all"),
    "vanilla, raman": config.DoubleSum(name="vanilla", lr=0.02, double_sum="raman"),
    "umax, raman": config.Umax(name="umax", lr=0.02, double_sum="raman"),
    "umax, raman, any": config.Umax(name="umax", lr=0.02, double_sum="raman", sampling="any"),
    "umax, raman, drop_hits": config.Umax(
        name="umax", lr=0.02, m=3, double_sum="raman", sampling="drop_hits"
    ),
    "umax, raman, n=10": config.Umax(name="umax", lr=0.02, n=10, m=4, double_sum="raman"),
    "umax, raman, all": config.Umax(name="umax", lr=0.02, n=10, double_sum="raman", sampling="all"),
    "umax, raman as published": config.Umax(
        name="umax", lr=0.002, m=5, double_sum="raman_as_published", sampling="drop_hits"
    ),
    "umax, ridge on drawn": config.Umax(name="umax", lr=0.02, m=2, ridge_on="drawn"),
    "softmax, ar": config.Softmax(
        name="softmax", solver="minibatch", n=10, lr=0.1, step="ar", start="normal"
    ),
    "ove, ar, n=1": config.OneVsEach(name="ove", n=1, m=2, lr=0.1, step="ar", sampling="others"),
    "ar_softmax": config.SoftmaxAugmentReduce(
        name="ar_softmax", n=10, m=3, lr=0.1, accumulator="touched", start="normal"
    ),
    "ar_softmax, frequency": config.SoftmaxAugmentReduce(
        name="ar_softmax", n=10, m=2, lr=0.1, sampling="frequency"
    ),
    "ar_probit": config.LatentAugmentReduce(name="ar_probit", n=10, m=3, lr=0.1),
    "ar_logistic, all": config.LatentAugmentReduce(
        name="ar_logistic", n=10, lr=0.1, sampling="all", start="normal"
    ),
    "implicit": config.DoubleSum(name="implicit", lr=0.5),
    "implicit, n=5": config.DoubleSum(name="implicit", lr=0.5, n=5, m=3),
    "implicit, any": config.DoubleSum(name="implicit", lr=0.5, sampling="any"),
    "implicit, drop_hits": config.DoubleSum(name="implicit", lr=0.5, sampling="drop_hits"),
}


def trained(dataset, settings, engine, dtype, epochs, bias=True, ridge=1.0):
    check(settings)
    registry.check(settings, dataset.info)
    settings = replace(settings, ridge=ridge, bias=bias)
    solver = registry.entry(settings).build(settings, dataset.info)
    model = linear.make(
        engine, dataset.info.classes, dataset.info.features, bias, solver.precision or dtype
    )
    with np.errstate(all="ignore"):
        found = list(solver.fit(dataset, model, Streams.of(3), [epochs / 2, epochs]))
    return model.weights(), found


@pytest.mark.parametrize("data", ["small", "digits"])
@pytest.mark.parametrize("name", METHODS)
def test_both_engines_take_the_same_first_steps(request, name, data):
    dataset = request.getfixturevalue(data)
    for dtype, tolerance in (("float64", 1e-6), ("float32", 1e-5)):
        weights, progress = zip(
            *(trained(dataset, METHODS[name], e, dtype, 0.3) for e in ("numpy", "numba")),
            strict=True,
        )
        for part in ("W", "b"):
            size = np.abs(weights[0][part]).max()
            np.testing.assert_allclose(
                weights[1][part], weights[0][part], rtol=tolerance, atol=tolerance * size
            )
        for numpy, numba in zip(*progress, strict=True):
            assert (numpy.iteration, numpy.observations) == (numba.iteration, numba.observations)
            assert numba.objective == pytest.approx(numpy.objective, rel=tolerance, nan_ok=True)


@pytest.mark.parametrize("name", METHODS)
def test_both_engines_end_at_the_same_place(small, name):
    losses = []
    for engine in ("numpy", "numba"):
        weights, _ = trained(small, METHODS[name], engine, "float32", 5, ridge=0.1)
        model = LinearModel.of(weights["W"].astype(float), weights["b"].astype(float))
        losses.append(metrics.evaluate(model, small.test)["log_loss"])
    assert losses[1] == pytest.approx(losses[0], rel=1e-3)
