"""Fingerprint of behaviour: what today's code computes on a small fixed problem.

A cell's own method, protocol, evaluation, engine and precision run for two passes over a sample
(`xcbench.data.samples`), and the numbers of each column are kept. Rate and penalty are the same for
all cells that differ in these alone. Numbers are compared, not hashed, so that a sum in another
order changes nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from xcbench.config.presets import over
from xcbench.config.settings import Budget, Evaluation
from xcbench.core.dataset import Dataset, Split
from xcbench.core.prior import PRIOR
from xcbench.core.solvers import lockstep
from xcbench.data import code, samples
from xcbench.data.settings import DatasetSettings
from xcbench.methods import registry
from xcbench.methods.method import Method, stochastic
from xcbench.methods.options import AUTO, MethodOptions, SampledOptions, StochasticOptions
from xcbench.options import Content, Options, as_at_first, changed
from xcbench.system import sealed, threads
from xcbench.train import training
from xcbench.train.rate import search
from xcbench.train.training import Lane

Numbers = dict[str, list[float]]
RATES = (1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-5)
LARGEST = 2.0  # a larger weight: the rate is too high to tell formulas apart
L2 = 0.1
BUDGET = Budget(epochs=2.0, checkpoints=2)
DATA, WEIGHTS, LANES, TRIALS = "data", "weights", "lanes", "trials"  # beside the columns of a curve
CLOCK = "train_seconds"
METRICS = ("train_", "test_", "validation_")
PATH = {"iteration", "epoch", "observations", "largest_gradient"}  # of a library to its optimum
DIGITS = 7
ROUNDING = 1e-6  # relative, of sums in float32


@dataclass(frozen=True)
class Case:
    """Settings that decide which code computes a cell's numbers, and how.

    Attributes
    ----------
    dataset : reader, protocol without its seed, and settings of a maker; options at their first
        defaults are left out, here and below.
    twin : whether the rows are those of the dataset's twin.
    method : reference of the method.
    options : of the method, without its rate; but with ``auto``.
    lockstep : whether cells like it train in lockstep.
    """

    dataset: Content
    twin: bool
    method: str
    options: Content
    evaluation: Content
    dtype: str
    engine: str
    lockstep: bool = False

    @classmethod
    def of(
        cls,
        dataset: DatasetSettings,
        twin: bool,
        method: str,
        options: MethodOptions,
        evaluation: Evaluation,
        **others: Any,
    ) -> Case:
        """Case of the settings of a cell."""
        protocol = changed(replace(dataset.protocol, split_seed=0))
        kept = {"reader": dataset.reader, "protocol": protocol}
        maker = code.maker_of(dataset, twin)
        if maker:
            kept[maker[0]] = asdict(maker[1]) | {"seed": 0}
        l2 = L2 if options.l2 or not stochastic(options) else 0.0
        lr = AUTO if options.lr == AUTO else None
        same = {"name": options.name, **changed(replace(options, lr=lr, l2=l2))}
        return cls(kept, twin, method, same, changed(evaluation), **others)


def numbers(case: Case, noise: int | None = None) -> Numbers:
    """Numbers of today's code: of the prepared sample, of the weights, and of every column.

    Of a method that no seed controls, those of the sample alone.

    Parameters
    ----------
    noise : seed of another order of the features, and of relative noise as large as `ROUNDING`.
        What they move, such as a tie of a tree, tells processors apart rather than code.

    Raises
    ------
    UserError
        If the format has no sample, or the method cannot be found.
    Exception
        Whatever the method raises on the sample.
    """
    settings = _read(DatasetSettings(name="sample"), case.dataset)
    with threads.one(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sample = code.sample(settings, case.twin)
        by_column = {DATA: samples.numbers(sample)}
        if registry.find(case.method).thing.seeded:
            order = np.arange(sample.info.features)
            if noise is not None:
                sample, order = _noisy(sample, np.random.default_rng(noise))
            by_column |= _of_training(case, sample, order)
    return {
        name: [float(f"{value:.{DIGITS}g}") for value in values]
        for name, values in by_column.items()
    }


def _noisy(sample: Dataset, rng: np.random.Generator) -> tuple[Dataset, np.ndarray]:
    """The sample with features in another order and noise, and the place of each feature in it."""
    order = rng.permutation(sample.info.features)

    def noisy(split: Split) -> Split:
        X: Any = split.X[:, order]
        values = X if isinstance(X, np.ndarray) else X.data
        values *= 1.0 + ROUNDING * rng.standard_normal(values.shape)
        if not isinstance(X, np.ndarray):
            X.sort_indices()
        return replace(split, X=X)

    train, test = noisy(sample.train), noisy(sample.test)
    return replace(sample, train=train, test=test), np.argsort(order)


def differences(old: Numbers, new: Numbers, optimum: bool = False) -> list[str]:
    """Columns whose numbers differ beyond rounding, or which only one of both has.

    Parameters
    ----------
    optimum : whether both end where a gradient vanishes. How many steps lead there depends on the
        rounding of the processor, so that only the end is compared.
    """
    if optimum:
        old, new = _ends(old), _ends(new)
    return [
        name
        for name in {**old, **new}
        if name not in old or name not in new or not code.close(old[name], new[name])
    ]


def _ends(numbers: Numbers) -> Numbers:
    """Last number of every column of a curve; those of the sample and of the weights."""
    return {
        name: values if name in (DATA, WEIGHTS) else values[-1:]
        for name, values in numbers.items()
        if name not in PATH
    }


def options(case: Case) -> Options:
    """Settings of the method, without a rate."""
    schema = registry.find(case.method).thing.schema
    return _read(as_at_first(schema(name=case.options["name"])), case.options)


def is_metric(column: str) -> bool:
    """Whether a column is measured by the evaluator, from weights."""
    return column.startswith(METRICS)


def _read(settings: Options, values: Content) -> Options:
    return sealed.record(type(settings), over(asdict(settings), values))


def _of_training(case: Case, sample: Dataset, order: np.ndarray) -> Numbers:
    """Numbers of training; ``order`` puts the features of the weights back."""
    method = registry.find(case.method).thing
    settings = options(case)
    if isinstance(settings, SampledOptions):
        settings.negatives = min(settings.negatives, sample.info.classes - 1)
    evaluation: Evaluation = _read(Evaluation(), case.evaluation)
    most = min(evaluation.top_k, sample.info.classes)
    evaluation = replace(evaluation, costs=False, every=1, top_k=most)
    if evaluation.validation and evaluation.validation_from == "train":
        sample = sample.held_out(evaluation.validation, 0)
    rate: float | None = None
    for rate in RATES if method.has_rate(settings) else (None,):
        lane = _lane(case, method, replace(settings, lr=rate), sample)
        (trace,) = training.run([lane], sample, 0, BUDGET, evaluation)
        weights = lane.model.weights()
        if trace.status == "done" and _moderate(weights, settings):
            break
    weights = {
        name: array[:, order] if array.ndim == 2 and array.shape[1] == len(order) else array
        for name, array in weights.items()
    }
    columns = _columns(trace.curve)
    if settings.lr == AUTO:
        of = method, settings, sample.info, sample, case.engine, case.dtype
        columns[TRIALS] = [*search(*of, seed=0, budget=BUDGET).losses]
    columns[WEIGHTS] = [n for name in sorted(weights) for n in samples.projections(weights[name])]
    if case.lockstep and rate:
        lanes = [
            _lane(case, method, replace(settings, lr=rate / 2**number), sample)
            for number in range(lockstep.FEWEST)
        ]
        columns[LANES] = _of_lockstep(lanes, sample, evaluation)
    return columns


def _lane(case: Case, method: Method, settings: Options, sample: Dataset) -> Lane:
    info = sample.info
    built = training.built(method, settings, info, info, case.engine, case.dtype)
    return Lane(*built, settings.l2)


def _moderate(weights: dict[str, np.ndarray], settings: Options) -> bool:
    """Whether no weight is large; biases that begin at the class prior may be."""
    prior = isinstance(settings, StochasticOptions) and settings.init == PRIOR
    return all(
        np.abs(array).max(initial=0) <= LARGEST
        for name, array in weights.items()
        if not (prior and name == "b")
    )


def _columns(curve: pd.DataFrame) -> Numbers:
    """Numbers of every column but the clock."""
    return {
        str(name): [float(value) for value in column if np.isfinite(value)]
        for name, column in curve.items()
        if name != CLOCK and pd.api.types.is_numeric_dtype(column)
    }


def _of_lockstep(lanes: Sequence[Lane], sample: Dataset, evaluation: Evaluation) -> list[float]:
    """Last numbers of every lane; none where these rows do not train in lockstep."""
    solvers, models = [lane.solver for lane in lanes], [lane.model for lane in lanes]
    if not lockstep.possible(solvers, models, sample):
        return []
    traces = training.run(lanes, sample, 0, BUDGET, evaluation)
    columns = [sorted(_columns(trace.curve).items()) for trace in traces]
    return [values[-1] for lane in columns for _, values in lane if values]
