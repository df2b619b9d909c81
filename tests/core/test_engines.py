"""The compiled engine gives the trajectories of the NumPy engine."""

import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from xcbench.core import metrics, models
from xcbench.core.dataset import Split
from xcbench.core.models.linear import LinearModel
from xcbench.core.solvers import Streams
from xcbench.methods import registry
from xcbench.methods.ar_softmax import SoftmaxAugmentReduceOptions
from xcbench.methods.augment_reduce import LatentAugmentReduceOptions
from xcbench.methods.bouchard import BouchardOptions
from xcbench.methods.double_sum import DoubleSumOptions, LocalOptions
from xcbench.methods.gbce import GeneralisedOptions
from xcbench.methods.lse_softplus import SoftplusOptions
from xcbench.methods.nce import NCEOptions
from xcbench.methods.options import InBatchOptions, SampledOptions
from xcbench.methods.ove import OneVsEachOptions
from xcbench.methods.ove_grouped import GroupedOptions
from xcbench.methods.scent import ScentOptions
from xcbench.methods.snm import MiningOptions
from xcbench.methods.softmax import SoftmaxOptions
from xcbench.methods.umax import UmaxOptions
from xcbench.options import check

pytest.importorskip("numba", reason="Numba is not installed: engine=numba is not tested")


ImportanceOptions: Any = registry.builtin()["is"].schema  # no import names a module `is`
METHODS = {
    "softmax": SoftmaxOptions(name="softmax", solver="minibatch", batch_size=10, lr=0.05),
    "lbfgs": SoftmaxOptions(name="softmax", l2=1.0),
    "ove": OneVsEachOptions(name="ove", batch_size=10, negatives=3, lr=0.02, sampler="shared"),
    "ove, others": OneVsEachOptions(
        name="ove", batch_size=10, negatives=3, lr=0.02, sampler="others"
    ),
    "ove, n=1": OneVsEachOptions(name="ove", batch_size=1, negatives=3, lr=0.02, sampler="others"),
    "ove, one pair": OneVsEachOptions(
        name="ove", batch_size=1, negatives=1, lr=0.02, sampler="others"
    ),
    "ove, shared, n=1": OneVsEachOptions(
        name="ove", batch_size=1, negatives=3, lr=0.02, sampler="shared"
    ),
    "ove, frequency": OneVsEachOptions(
        name="ove", batch_size=10, negatives=3, lr=0.02, sampler="frequency"
    ),
    "ove, frequency, n=1": OneVsEachOptions(
        name="ove", batch_size=1, negatives=3, lr=0.02, sampler="frequency"
    ),
    "ove, lbfgs": OneVsEachOptions(name="ove", solver="lbfgs"),
    "ove_grouped": GroupedOptions(name="ove_grouped", batch_size=10, negatives=2, lr=0.02, group=3),
    "ove_grouped, n=1": GroupedOptions(
        name="ove_grouped", batch_size=1, negatives=2, lr=0.02, group=3
    ),
    "ove_grouped, all": GroupedOptions(
        name="ove_grouped", batch_size=10, lr=0.02, group=3, sampler="all"
    ),
    "ove_grouped, lbfgs": GroupedOptions(name="ove_grouped", solver="lbfgs", group=3),
    "bouchard": BouchardOptions(name="bouchard", batch_size=10, negatives=3, lr=0.02),
    "bouchard, all": BouchardOptions(name="bouchard", batch_size=10, lr=0.02, sampler="all"),
    "bouchard, n=1": BouchardOptions(name="bouchard", batch_size=1, negatives=3, lr=0.02),
    "bouchard, one pair": BouchardOptions(name="bouchard", batch_size=1, negatives=1, lr=0.02),
    "bouchard, frequency": BouchardOptions(
        name="bouchard", batch_size=1, negatives=2, lr=0.02, sampler="frequency"
    ),
    "bouchard, lbfgs": BouchardOptions(name="bouchard", solver="lbfgs"),
    "nce": NCEOptions(name="nce", batch_size=10, negatives=3, lr=0.05, sampler="shared"),
    "nce, one pair": NCEOptions(name="nce", batch_size=1, negatives=1, lr=0.05, sampler="others"),
    "css": SampledOptions(name="css", batch_size=10, negatives=3, lr=0.05),
    "is": ImportanceOptions(name="is", batch_size=10, negatives=3, lr=0.05, sampler="shared"),
    "is, n=1": ImportanceOptions(name="is", batch_size=1, negatives=2, lr=0.05, sampler="others"),
    "is, one pair": ImportanceOptions(
        name="is", batch_size=1, negatives=1, lr=0.05, sampler="others"
    ),
    "vanilla": DoubleSumOptions(name="vanilla", step="gradient", lr=0.02),
    "vanilla, bounded": DoubleSumOptions(name="vanilla", lr=0.5, step="bounded"),
    "umax, bounded, n=10": UmaxOptions(
        name="umax", lr=0.5, batch_size=10, negatives=4, step="bounded"
    ),
    "vanilla, n=5": DoubleSumOptions(
        name="vanilla", step="gradient", lr=0.02, batch_size=5, negatives=3
    ),
    "umax": UmaxOptions(name="umax", step="gradient", lr=0.02),
    "umax, m=5": UmaxOptions(name="umax", step="gradient", lr=0.02, negatives=5),
    "umax, drop_hits": UmaxOptions(
        name="umax", step="gradient", lr=0.02, negatives=3, sampler="drop_hits"
    ),
    "umax, frequency": UmaxOptions(
        name="umax", step="gradient", lr=0.02, negatives=2, sampler="frequency"
    ),
    "umax, any": UmaxOptions(name="umax", step="gradient", lr=0.02, sampler="any"),
    "umax, n=10": UmaxOptions(name="umax", step="gradient", lr=0.02, batch_size=10, negatives=4),
    "umax, all": UmaxOptions(name="umax", step="gradient", lr=0.02, batch_size=10, sampler="all"),
    "vanilla, raman": DoubleSumOptions(
        name="vanilla", lr=0.02, step="gradient", double_sum="raman"
    ),
    "umax, raman": UmaxOptions(name="umax", lr=0.02, step="gradient", double_sum="raman"),
    "umax, raman, any": UmaxOptions(
        name="umax", lr=0.02, step="gradient", double_sum="raman", sampler="any"
    ),
    "umax, raman, drop_hits": UmaxOptions(
        name="umax", lr=0.02, negatives=3, step="gradient", double_sum="raman", sampler="drop_hits"
    ),
    "umax, raman, n=10": UmaxOptions(
        name="umax", lr=0.02, batch_size=10, negatives=4, step="gradient", double_sum="raman"
    ),
    "umax, raman, all": UmaxOptions(
        name="umax", lr=0.02, batch_size=10, step="gradient", double_sum="raman", sampler="all"
    ),
    "umax, raman as published": UmaxOptions(
        name="umax",
        lr=0.002,
        negatives=5,
        step="gradient",
        double_sum="raman_code",
        sampler="drop_hits",
    ),
    "umax, l2 on drawn": UmaxOptions(
        name="umax", step="gradient", lr=0.02, negatives=2, l2_on="drawn"
    ),
    "softmax, ar": SoftmaxOptions(
        name="softmax", solver="minibatch", batch_size=10, lr=0.1, optimizer="ar", init="normal"
    ),
    "ove, ar, n=1": OneVsEachOptions(
        name="ove", batch_size=1, negatives=2, lr=0.1, optimizer="ar", sampler="others"
    ),
    "ar_softmax": SoftmaxAugmentReduceOptions(
        name="ar_softmax", batch_size=10, negatives=3, lr=0.1, accumulator="touched", init="normal"
    ),
    "ar_softmax, frequency": SoftmaxAugmentReduceOptions(
        name="ar_softmax", batch_size=10, negatives=2, lr=0.1, sampler="frequency"
    ),
    "ar_probit": LatentAugmentReduceOptions(name="ar_probit", batch_size=10, negatives=3, lr=0.1),
    "ar_probit, bounded": LatentAugmentReduceOptions(
        name="ar_probit", batch_size=10, negatives=3, lr=0.1, local_step="bounded"
    ),
    "ar_logistic, all": LatentAugmentReduceOptions(
        name="ar_logistic", batch_size=10, lr=0.1, sampler="all", init="normal"
    ),
    "scent": ScentOptions(name="scent", batch_size=10, negatives=3, lr=0.05),
    "scent, one pair": ScentOptions(name="scent", batch_size=1, negatives=1, lr=0.05),
    "scent, frequency": ScentOptions(
        name="scent", batch_size=1, negatives=3, lr=0.05, sampler="frequency"
    ),
    "scent, all": ScentOptions(name="scent", batch_size=10, lr=0.05, sampler="all"),
    "scent, sox": ScentOptions(name="scent", batch_size=10, negatives=3, lr=0.05, dual="sox"),
    "scent, asgd": ScentOptions(name="scent", batch_size=10, negatives=3, lr=0.02, dual="asgd"),
    "lse_softplus": SoftplusOptions(name="lse_softplus", batch_size=10, negatives=3, lr=0.05),
    "lse_softplus, one pair": SoftplusOptions(
        name="lse_softplus", batch_size=1, negatives=1, lr=0.05
    ),
    "lse_softplus, all": SoftplusOptions(
        name="lse_softplus", batch_size=10, lr=0.05, sampler="all"
    ),
    "css, in_batch": SampledOptions(
        name="css", batch_size=10, lr=0.05, sampler="in_batch", in_batch=InBatchOptions(mix=0.5)
    ),
    "scent, in_batch": ScentOptions(name="scent", batch_size=10, lr=0.05, sampler="in_batch"),
    "snm": MiningOptions(name="snm", batch_size=10, negatives=5, lr=0.05),
    "snm, logistic": MiningOptions(
        name="snm", batch_size=10, negatives=5, lr=0.02, loss="logistic", sampler="frequency"
    ),
    "snm, all": MiningOptions(name="snm", batch_size=10, lr=0.05, sampler="all"),
    "gbce": GeneralisedOptions(name="gbce", negatives=3, lr=0.02),
    "gbce, n=1": GeneralisedOptions(name="gbce", batch_size=1, negatives=1, lr=0.02, t=1.0),
    "implicit": LocalOptions(name="implicit", lr=0.5),
    "implicit, n=5": LocalOptions(name="implicit", lr=0.5, batch_size=5, negatives=3),
    "implicit, any": LocalOptions(name="implicit", lr=0.5, sampler="any"),
    "implicit, drop_hits": LocalOptions(name="implicit", lr=0.5, sampler="drop_hits"),
}


def trained(dataset, settings, engine, dtype, epochs, bias=True, l2=1.0):
    check(settings)
    registry.check(registry.method_of(settings), settings, dataset.info)
    settings = replace(settings, l2=l2, bias=bias)
    solver = registry.method_of(settings).build(settings, dataset.info)
    model = models.make(
        engine, dataset.info.classes, dataset.info.features, bias, solver.precision or dtype
    )
    model.link = registry.method_of(settings).link
    with np.errstate(all="ignore"):
        result = list(solver.fit(dataset, model, Streams.of(3), [epochs / 2, epochs]))
    return model.weights(), result


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


@pytest.mark.parametrize("features", [1, 31, 33, 63])
@pytest.mark.parametrize("name", ["umax, m=5", "is, one pair"])
def test_dense_rows_have_any_length(digits, name, features):
    """Compiled sums take many numbers at a time, and the rest one by one."""
    some, columns = slice(300), np.linspace(20, 60, features).astype(int)
    train = Split(np.ascontiguousarray(digits.train.X[some, columns]), digits.train.y[some])
    info = replace(digits.info, features=features, train=len(train))
    dataset = replace(digits, train=train, info=info)
    expected, result = (
        trained(dataset, METHODS[name], engine, "float64", 1)[0]["W"]
        for engine in ("numpy", "numba")
    )
    np.testing.assert_allclose(result, expected, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("name", METHODS)
def test_both_engines_end_at_the_same_place(small, name):
    losses = []
    for engine in ("numpy", "numba"):
        weights, _ = trained(small, METHODS[name], engine, "float32", 5, l2=0.1)
        model = LinearModel.of(weights["W"].astype(float), weights["b"].astype(float))
        losses.append(metrics.evaluate(model, small.test)["log_loss"])
    assert losses[1] == pytest.approx(losses[0], rel=1e-3)


COMPILES = """
import sys

import numpy as np
from numba.core.dispatcher import Dispatcher

from xcbench.core.dataset import Dataset, Split
from xcbench.core.statistics import describe
from xcbench.methods import registry
from xcbench.train import training
from xcbench.config.settings import Budget, Evaluation

rng = np.random.default_rng(0)
X = rng.random((40, 30)) * (rng.random((40, 30)) < float(sys.argv[1]))
rows = Split(X.astype(np.float32), np.arange(40) % 5)
info = describe("made", "", False, rows, rows, 5)
method = registry.builtin()["ove"]
solver = method.build(method.schema(name="ove", lr=0.1, negatives=2, batch_size=10), info)
dataset = Dataset(info, rows, rows, np.full(5, 8))
model = solver.make_model("numba", 5, 30, True, "float32")
training.warm_up(solver, model, dataset)


def compiled():
    modules = [it for name, it in sys.modules.items() if name.startswith("xcbench.core.kernels")]
    things = [it for module in modules for it in vars(module).values()]
    kernels = {id(it): it for it in things if isinstance(it, Dispatcher)}
    return sum(len(it.overloads) for it in kernels.values())


before = compiled()
lanes = [training.Lane(solver, model)]
training.run(lanes, dataset, 0, Budget(epochs=1, checkpoints=1), Evaluation())
print(before, compiled())
"""


@pytest.mark.parametrize("share", [0.1, 0.9], ids=["mostly zeros", "few zeros"])
def test_nothing_is_compiled_while_the_clock_of_training_runs(share):
    """In a process of its own: here the kernels are compiled already."""
    done = subprocess.run(
        [sys.executable, "-c", COMPILES, str(share)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    before, after = map(int, done.stdout.split())
    assert before == after > 0
