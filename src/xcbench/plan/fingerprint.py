"""Fingerprint of behaviour: what today's code computes on a small fixed problem.

A cell's own method, protocol, evaluation, engine and precision run for four passes over a sample
(`xcbench.data.samples`), and the numbers of each column are kept. Rate and penalty are the same for
all cells that differ in these alone, and limits are small enough to act on few rows. Numbers are
compared, not hashed, so that a sum in another order changes nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
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
BUDGET = Budget(epochs=4.0, checkpoints=4)
# What limits of a cell become, where it has them.
OF_BUDGET: Content = {"ratio": 2.0, "share": 0.5, "patience": 1, "gain": 0.5}
OF_EVALUATION = {"rows": 30, "train_rows": 20, "curve_rows": 10, "every": 2}
DATA, RATE, WEIGHTS, LANES, TRIALS = "data", "rate", "weights", "lanes", "trials"  # besides a curve
MACHINE = {"train_seconds", "predict_seconds", "peak_mib", "train_mib"}  # columns of a computer
METRICS = ("train_", "test_", "validation_")
PATH = {"iteration", "epoch", "observations", "largest_gradient"}  # of a library to its optimum
DIGITS = 7
ROUNDING = 1e-6  # relative, of sums in float32; in any order


@dataclass(frozen=True)
class Case:
    """Settings that decide which code computes a cell's numbers, and how.

    Attributes
    ----------
    dataset : reader, how it reads, protocol without its seed, and settings of a maker; options at
        their first defaults are left out, here and below.
    twin : whether the rows are those of the dataset's twin.
    method : reference of the method.
    options : of the method, without its rate; but with ``auto``.
    lockstep : whether cells like it train in lockstep.
    budget : where checkpoints are, which rows train, and what ends training early.
    """

    dataset: Content
    twin: bool
    method: str
    options: Content
    evaluation: Content
    dtype: str
    engine: str
    lockstep: bool = False
    budget: Content = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        dataset: DatasetSettings,
        twin: bool,
        method: str,
        options: MethodOptions,
        evaluation: Evaluation,
        budget: Budget,
        **others: Any,
    ) -> Case:
        """Case of the settings of a cell."""
        protocol = changed(replace(dataset.protocol, split_seed=0))
        kept = {"reader": dataset.reader, "protocol": protocol, **code.reading(dataset)}
        maker = code.maker_of(dataset, twin)
        if maker:
            kept[maker[0]] = asdict(maker[1]) | {"seed": 0}
        l2 = L2 if options.l2 or not stochastic(options) else 0.0
        lr = AUTO if options.lr == AUTO else None
        same = {"name": options.name, **changed(replace(options, lr=lr, l2=l2))}
        measured = _small(evaluation, OF_EVALUATION)
        return cls(
            kept,
            twin,
            method,
            same,
            changed(evaluation) | measured,
            budget=_small(budget, OF_BUDGET),
            **others,
        )


def numbers(case: Case, noise: int | None = None) -> Numbers:
    """Numbers of today's code: of the prepared sample, of the weights, and of every column.

    Of a method that no seed controls, those of the sample alone.

    Parameters
    ----------
    noise : seed of relative noise in the features, as large as `ROUNDING`. What it moves, such as a
        tie of a tree, tells processors apart rather than code.

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
            if noise is not None:
                sample = _noisy(sample, np.random.default_rng(noise))
            by_column |= _of_training(case, sample)
    return {
        name: [float(f"{value:.{DIGITS}g}") for value in values]
        for name, values in by_column.items()
    }


def _small(settings: Options, limits: Content) -> Content:
    """Limits of the settings, where they have them."""
    return {name: limits[name] for name in changed(settings) if name in limits}


def _noisy(sample: Dataset, rng: np.random.Generator) -> Dataset:
    """The sample with noise in its features."""

    def noisy(split: Split) -> Split:
        X = split.X.copy()
        values = X if isinstance(X, np.ndarray) else X.data
        values *= 1.0 + ROUNDING * rng.standard_normal(values.shape)
        return replace(split, X=X)

    return replace(sample, train=noisy(sample.train), test=noisy(sample.test))


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


def _of_training(case: Case, sample: Dataset) -> Numbers:
    method = registry.find(case.method).thing
    settings = options(case)
    if isinstance(settings, SampledOptions):
        settings.negatives = min(settings.negatives, sample.info.classes - 1)
    budget: Budget = _read(BUDGET, case.budget)
    evaluation: Evaluation = _read(Evaluation(), case.evaluation)
    evaluation = replace(evaluation, top_k=min(evaluation.top_k, sample.info.classes))
    if evaluation.validation and evaluation.validation_from != "test":
        seen = evaluation.validation_from == "train_seen"
        # So many rows that `train_seen` keeps some of them back.
        sample = sample.held_out(0.9 if seen else evaluation.validation, 0, seen)
    rate: float | None = None
    for rate in RATES if method.has_rate(settings) else (None,):
        lane = _lane(case, method, replace(settings, lr=rate), sample)
        (trace,) = training.run([lane], sample, 0, budget, evaluation)
        weights = lane.model.weights()
        if trace.status == "done" and _moderate(weights, settings):
            break
    columns = _columns(trace.curve) | {RATE: [rate] if rate else []}
    if settings.lr == AUTO:
        of = method, settings, sample.info, sample.first(budget.share), case.engine, case.dtype
        columns[TRIALS] = [*search(*of, seed=0, budget=budget).losses]
    columns[WEIGHTS] = [n for name in sorted(weights) for n in samples.projections(weights[name])]
    if case.lockstep and rate:
        lanes = [
            _lane(case, method, replace(settings, lr=rate / 2**number), sample)
            for number in range(lockstep.FEWEST)
        ]
        columns[LANES] = _of_lockstep(lanes, sample, budget, evaluation)
    return columns


def _lane(case: Case, method: Method, settings: Options, sample: Dataset) -> Lane:
    trained = sample.first(case.budget.get("share", 1.0)).info
    built = training.built(method, settings, sample.info, trained, case.engine, case.dtype)
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
    """Numbers of every column, but of those that tell machines apart."""
    return {
        str(name): [float(value) for value in column if np.isfinite(value)]
        for name, column in curve.items()
        if name not in MACHINE and pd.api.types.is_numeric_dtype(column)
    }


def _of_lockstep(
    lanes: Sequence[Lane], sample: Dataset, budget: Budget, evaluation: Evaluation
) -> list[float]:
    """Last numbers of every lane; none where these rows do not train in lockstep."""
    solvers, models = [lane.solver for lane in lanes], [lane.model for lane in lanes]
    if not lockstep.possible(solvers, models, sample.first(budget.share)):
        return []
    traces = training.run(lanes, sample, 0, budget, evaluation)
    columns = [sorted(_columns(trace.curve).items()) for trace in traces]
    return [values[-1] for lane in columns for _, values in lane if values]
