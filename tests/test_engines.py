"""The compiled engine gives the trajectories of the NumPy engine."""

from dataclasses import replace

import numpy as np
import pytest

from xcbench.core import metrics, models
from xcbench.core.models.linear import LinearModel
from xcbench.core.solvers import Streams
from xcbench.methods import registry
from xcbench.methods.augment_reduce import LatentAugmentReduceOptions, SoftmaxAugmentReduceOptions
from xcbench.methods.bouchard import BouchardOptions
from xcbench.methods.double_sum import DoubleSumOptions, UmaxOptions
from xcbench.methods.grouped import GroupedOptions
from xcbench.methods.nce import NCEOptions
from xcbench.methods.one_vs_each import OneVsEachOptions
from xcbench.methods.options import SampledOptions
from xcbench.methods.softmax import SoftmaxOptions
from xcbench.options import check

pytest.importorskip("numba", reason="Numba is not installed: engine=numba is not tested")


METHODS = {
    "softmax": SoftmaxOptions(name="softmax", solver="minibatch", n=10, lr=0.05),
    "lbfgs": SoftmaxOptions(name="softmax", ridge=1.0),
    "ove": OneVsEachOptions(name="ove", n=10, m=3, lr=0.02),
    "ove, others": OneVsEachOptions(name="ove", n=10, m=3, lr=0.02, sampling="others"),
    "ove, n=1": OneVsEachOptions(name="ove", n=1, m=3, lr=0.02, sampling="others"),
    "ove, one pair": OneVsEachOptions(name="ove", n=1, m=1, lr=0.02, sampling="others"),
    "ove, shared, n=1": OneVsEachOptions(name="ove", n=1, m=3, lr=0.02),
    "ove, frequency": OneVsEachOptions(name="ove", n=10, m=3, lr=0.02, sampling="frequency"),
    "ove, frequency, n=1": OneVsEachOptions(name="ove", n=1, m=3, lr=0.02, sampling="frequency"),
    "ove, lbfgs": OneVsEachOptions(name="ove", solver="lbfgs"),
    "ove_grouped": GroupedOptions(name="ove_grouped", n=10, m=2, lr=0.02, group=3),
    "ove_grouped, n=1": GroupedOptions(name="ove_grouped", n=1, m=2, lr=0.02, group=3),
    "ove_grouped, all": GroupedOptions(name="ove_grouped", n=10, lr=0.02, group=3, sampling="all"),
    "ove_grouped, lbfgs": GroupedOptions(name="ove_grouped", solver="lbfgs", group=3),
    "bouchard": BouchardOptions(name="bouchard", n=10, m=3, lr=0.02),
    "bouchard, all": BouchardOptions(name="bouchard", n=10, lr=0.02, sampling="all"),
    "bouchard, n=1": BouchardOptions(name="bouchard", n=1, m=3, lr=0.02),
    "bouchard, one pair": BouchardOptions(name="bouchard", n=1, m=1, lr=0.02),
    "bouchard, frequency": BouchardOptions(
        name="bouchard", n=1, m=2, lr=0.02, sampling="frequency"
    ),
    "bouchard, lbfgs": BouchardOptions(name="bouchard", solver="lbfgs"),
    "nce": NCEOptions(name="nce", n=10, m=3, lr=0.05),
    "nce, one pair": NCEOptions(name="nce", n=1, m=1, lr=0.05, sampling="others"),
    "is": SampledOptions(name="is", n=10, m=3, lr=0.05),
    "is, n=1": SampledOptions(name="is", n=1, m=2, lr=0.05, sampling="others"),
    "is, one pair": SampledOptions(name="is", n=1, m=1, lr=0.05, sampling="others"),
    "vanilla": DoubleSumOptions(name="vanilla", lr=0.02),
    "vanilla, n=5": DoubleSumOptions(name="vanilla", lr=0.02, n=5, m=3),
    "umax": UmaxOptions(name="umax", lr=0.02),
    "umax, m=5": UmaxOptions(name="umax", lr=0.02, m=5),
    "umax, drop_hits": UmaxOptions(name="umax", lr=0.02, m=3, sampling="drop_hits"),
    "umax, frequency": UmaxOptions(name="umax", lr=0.02, m=2, sampling="frequency"),
    "umax, any": UmaxOptions(name="umax", lr=0.02, sampling="any"),
    "umax, n=10": UmaxOptions(name="umax", lr=0.02, n=10, m=4),
    "umax, all": UmaxOptions(name="umax", lr=0.02, n=10, sampling="all"),
    "vanilla, raman": DoubleSumOptions(name="vanilla", lr=0.02, double_sum="raman"),
    "umax, raman": UmaxOptions(name="umax", lr=0.02, double_sum="raman"),
    "umax, raman, any": UmaxOptions(name="umax", lr=0.02, double_sum="raman", sampling="any"),
    "umax, raman, drop_hits": UmaxOptions(
        name="umax", lr=0.02, m=3, double_sum="raman", sampling="drop_hits"
    ),
    "umax, raman, n=10": UmaxOptions(name="umax", lr=0.02, n=10, m=4, double_sum="raman"),
    "umax, raman, all": UmaxOptions(name="umax", lr=0.02, n=10, double_sum="raman", sampling="all"),
    "umax, raman as published": UmaxOptions(
        name="umax", lr=0.002, m=5, double_sum="raman_as_published", sampling="drop_hits"
    ),
    "umax, ridge on drawn": UmaxOptions(name="umax", lr=0.02, m=2, ridge_on="drawn"),
    "softmax, ar": SoftmaxOptions(
        name="softmax", solver="minibatch", n=10, lr=0.1, step="ar", start="normal"
    ),
    "ove, ar, n=1": OneVsEachOptions(name="ove", n=1, m=2, lr=0.1, step="ar", sampling="others"),
    "ar_softmax": SoftmaxAugmentReduceOptions(
        name="ar_softmax", n=10, m=3, lr=0.1, accumulator="touched", start="normal"
    ),
    "ar_softmax, frequency": SoftmaxAugmentReduceOptions(
        name="ar_softmax", n=10, m=2, lr=0.1, sampling="frequency"
    ),
    "ar_probit": LatentAugmentReduceOptions(name="ar_probit", n=10, m=3, lr=0.1),
    "ar_logistic, all": LatentAugmentReduceOptions(
        name="ar_logistic", n=10, lr=0.1, sampling="all", start="normal"
    ),
    "implicit": DoubleSumOptions(name="implicit", lr=0.5),
    "implicit, n=5": DoubleSumOptions(name="implicit", lr=0.5, n=5, m=3),
    "implicit, any": DoubleSumOptions(name="implicit", lr=0.5, sampling="any"),
    "implicit, drop_hits": DoubleSumOptions(name="implicit", lr=0.5, sampling="drop_hits"),
}


def trained(dataset, settings, engine, dtype, epochs, bias=True, ridge=1.0):
    check(settings)
    registry.check(settings, dataset.info)
    settings = replace(settings, ridge=ridge, bias=bias)
    solver = registry.entry(settings).build(settings, dataset.info)
    model = models.make(
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
