"""What a method is: its settings, its objective, its default rate. One value, in one file.

Ours are in the other files of this folder; one from outside is the same value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, is_dataclass, replace
from functools import partial

from xcbench import plugins
from xcbench.core import optimizers, samplers
from xcbench.core.dataset import Info
from xcbench.core.objectives import Objective
from xcbench.core.optimizers import Optimizer
from xcbench.core.samplers import Sampler
from xcbench.core.solvers import Solver
from xcbench.core.solvers.l2_on_drawn import L2OnDrawn
from xcbench.core.solvers.lbfgs import LBFGS
from xcbench.core.solvers.minibatch import Descent, Minibatch
from xcbench.methods.options import (
    FullBatchOptions,
    MethodOptions,
    SampledOptions,
    StochasticOptions,
)
from xcbench.options import Content, Options

ADAPTIVE_RATES = {"ar": 0.04, "adagrad": 0.1}


def stochastic(settings: MethodOptions) -> bool:
    """Whether it is not the full batch that is asked for; then there is a learning rate."""
    return not (isinstance(settings, FullBatchOptions) and settings.solver == "lbfgs")


def sampler(settings: MethodOptions, info: Info) -> Sampler:
    """What draws classes as the settings say; every class where nothing is to be drawn."""
    if isinstance(settings, SampledOptions) and stochastic(settings):
        if settings.sampler not in samplers.NAMES:
            outside: Sampler = plugins.find("sampler", settings.sampler).thing(
                info.classes, settings.negatives
            )
            return outside
        if settings.sampler == "in_batch":
            how = settings.in_batch
            return samplers.InBatch(info.classes, settings.negatives, how.correction, how.mix)
        return samplers.make(
            settings.sampler,
            info.classes,
            settings.negatives,
            settings.exponent,
            settings.smoothing,
            settings.refresh,
            **of_sampler(settings),
        )
    return samplers.make("all", info.classes, 0)


def of_sampler(settings: SampledOptions) -> Content:
    """Options of the sampler alone, which stand under its name."""
    group = getattr(settings, settings.sampler, None)
    return asdict(group) if is_dataclass(group) and not isinstance(group, type) else {}


def dense_weights(settings: MethodOptions, info: Info, itemsize: int, epochs: float) -> float:
    """Bytes of K (D + 1) numbers, of their copies, and of the squares of adaptive steps."""
    numbers = info.classes * (info.features + 1.0)
    if not stochastic(settings):
        return 50 * 8 * numbers  # SciPy keeps 20 pairs of vectors
    squares = isinstance(settings, StochasticOptions) and settings.optimizer != "sgd"
    return itemsize * numbers * ((2 if info.sparse else 1) + squares)


def sparse_weights(info: Info, itemsize: int, visits: float) -> float:
    """Bytes of weights that are sums of visited rows, each in two classes at most."""
    numbers = min(info.classes * (info.features + 1.0), 2 * visits * info.nonzeros_per_row)
    return 4 * (itemsize + 4) * numbers


@dataclass(frozen=True)
class Method:
    """A method.

    Attributes
    ----------
    name : in commands, tables and figures.
    schema : dataclass of its settings: `SampledOptions`, or derived from it, with the defaults;
        `StochasticOptions` for a method that draws no classes.
    objective : settings and dataset to what is minimised; ``settings.lr`` is filled in.
    default_rate : the rate where none is set.
    version : of its maths and loop. A change of either raises it, which changes the identity of
        its cells.
    samplers : ways of drawing classes it allows (`SampledOptions.sampler`). With ``others``, it
        also allows samplers from outside; if they weigh classes differently, with ``frequency``.
    noises : ways of drawing, named as those, that for this method are noise that may also be the
        true class (`xcbench.core.samplers.Negatives`).
    optimizers : ways in which its weights move (`StochasticOptions.optimizer`).
    link : of the model whose likelihood it fits: softmax, probit or logistic; None where its scores
        give no probabilities.
    exact_gradient : whether an objective's grad is the gradient of its value at the same local
        state; not so where the local state moves first, or the step is implicit.
    has_rate : whether a method with these settings has a rate at all.
    impossible : why its settings are impossible, in one sentence, or nothing.
    needs_features : whether data without features are refused.
    seeded : whether the seed decides its numbers; where not, none tell that its code changed.
    ranks : whether it scores every class, or how many of the best of a row. One that tells a class
        a row alone (False) has no best k.
    lacks : which package it needs that is not installed, in one sentence, or nothing. Its cells are
        then skipped, and say so.
    memory : bytes of its weights, roughly, with the copies of them that training and evaluation
        make: of settings, a dataset, the bytes of a weight and the epochs.
    solver : a solver of its own, or None where minibatches serve (or the full batch, if its schema
        is a `FullBatchOptions`).
    sampler : what draws its classes; under the full batch it gives every class once.
    """

    name: str
    schema: type[MethodOptions]
    objective: Callable[[Options, Info], Objective]
    default_rate: Callable[[Options, Info], float]
    version: int = 1
    samplers: tuple[str, ...] = (
        "shared",
        "others",
        "any",
        "drop_hits",
        "all",
        *samplers.WEIGHTED,
    )
    noises: tuple[str, ...] = ()
    optimizers: tuple[str, ...] = ("sgd", "ar", "adagrad")
    link: str | None = "softmax"
    exact_gradient: bool = True
    has_rate: Callable[[Options], bool] = stochastic
    impossible: Callable[[Options], str] = lambda settings: ""
    needs_features: bool = False
    seeded: bool = True
    ranks: bool | int = True
    lacks: Callable[[Options], str] = lambda settings: ""
    memory: Callable[[Options, Info, int, float], float] = dense_weights
    solver: Callable[[Options, Info], Solver | None] = lambda settings, info: None
    sampler: Callable[[Options, Info], Sampler] = sampler

    def build(self, settings: Options, info: Info) -> Solver:
        """Solver for settings and a dataset; ``settings.lr`` is filled in."""
        solver = self.solver(settings, info)
        if solver is not None:
            return solver
        objective, sampler = self.objective(settings, info), self.sampler(settings, info)
        if isinstance(settings, FullBatchOptions) and not stochastic(settings):
            share = l2_share(settings, info)
            return LBFGS(
                objective, sampler, share, settings.tolerance, settings.iterations, settings.init
            )
        return minibatch(objective, sampler, settings, info)


def minibatch(
    objective: Objective,
    sampler: Sampler,
    settings: StochasticOptions,
    info: Info,
    loop: Callable[..., Minibatch] = Descent,
) -> Minibatch:
    """Stochastic descent on an objective; in a loop of its own, or the one that serves."""
    assert isinstance(settings.lr, float)
    sampling = settings.sampler if isinstance(settings, SampledOptions) else "all"
    if isinstance(settings, SampledOptions) and settings.l2 and settings.l2_on == "drawn":
        others = info.classes - 1 if sampling == "all" else settings.negatives
        loop = partial(L2OnDrawn, negatives=others, project=settings.projects)
    return loop(
        objective=objective,
        sampler=sampler,
        optimizer=optimizer(settings, info),
        batch_size=settings.batch_size,
        order=settings.order,
        passes=settings.passes,
        init=settings.init,
    )


def optimizer(settings: StochasticOptions, info: Info) -> Optimizer:
    """How the weights move."""
    assert isinstance(settings.lr, float)
    if settings.optimizer == "ar":
        touched = settings.accumulator == "touched"
        return optimizers.augment_reduce(
            settings.lr, settings.lr_decay, settings.l2, info.train, touched
        )
    share = l2_share(settings, info)
    if settings.optimizer == "adagrad":
        return optimizers.adagrad(settings.lr, settings.lr_decay, settings.lr_root_decay, share)
    linear = settings.lr_schedule == "linear"
    return optimizers.sgd(settings.lr, settings.lr_decay, share, linear)


def default_rate(method: Method, settings: MethodOptions, info: Info) -> float:
    """Rate where none is set: the method's, or an adaptive step's own.

    An adaptive step moves every coordinate by about its rate, whatever the gradient, and so the
    row's own score by |x|_1 times that, which should be at most about 1.
    """
    if isinstance(settings, StochasticOptions) and settings.optimizer != "sgd":
        length = (info.nonzeros_per_row * info.heavy_square_norm) ** 0.5 + settings.bias
        return min(ADAPTIVE_RATES[settings.optimizer], 1 / max(length, 1e-12))
    return method.default_rate(settings, info)


def with_rate(method: Method, settings: Options, info: Info) -> Options:
    """Settings with a number as rate: the default rule's where none is set, or trials are to come.

    A method without a rate gets none.
    """
    if isinstance(settings.lr, float):
        return settings
    rate = default_rate(method, settings, info) if method.has_rate(settings) else None
    return replace(settings, lr=rate)


def l2_share(settings: MethodOptions, info: Info) -> float:
    """L2 penalty of one sample, lambda / N."""
    return settings.l2 / info.train


def gram(settings: Options, info: Info, rows: float) -> float:
    """Bound of the largest eigenvalue of the inner products of so many drawn rows, on average.

    That of the first row is |x|², long rows being the ones that move weights; each other one adds
    the second moment along the direction that rows share most: of one-hot rows the frequency of a
    feature, and with biases at least 1. A step of a class on these rows moves its scores by at most
    rate · gram · grad.
    """
    return float(
        max(
            info.heavy_square_norm
            + settings.bias
            + (max(rows, 1.0) - 1.0) * (info.largest_moment + settings.bias),
            1e-12,
        )
    )


# The factors of our default rates were found on generated rows (`reports/default-rates.md`).
def over_gram(factor: float) -> Callable[[Options, Info], float]:
    """Rate factor / gram(n): the n rows of a minibatch may all move the same class."""
    return lambda settings, info: factor / gram(settings, info, settings.batch_size)


def over_drawn(factor: float) -> Callable[[Options, Info], float]:
    """Rate for sums over the K - 1 others that are estimated by m of them, each for K/m classes.

    A drawn class is moved by K/m for every row that drew it: all n where the draws are shared. The
    true class is moved by K for every row of it.
    """

    def rate(settings: Options, info: Info) -> float:
        n, m = settings.batch_size, min(settings.negatives, info.classes)
        share = 1.0 if settings.sampler == "shared" else m / info.classes
        of_drawn = gram(settings, info, 1 + (n - 1) * share) / m
        of_true = gram(settings, info, 1 + (n - 1) * info.largest_class)
        return factor / (info.classes * max(of_drawn, of_true))

    return rate


STALE = 6  # rows more that a class may have missed when it is drawn


def over_stale(factor: float) -> Callable[[Options, Info], float]:
    """Rate factor / gram(n + 6) for double sums: a class is drawn alone, while others move on."""
    return lambda settings, info: factor / gram(settings, info, settings.batch_size + STALE)


def over_square_norm(factor: float) -> Callable[[Options, Info], float]:
    """Rate factor / mean |x|²: a unit of rate moves a row's own score by |x|² (bias included).

    Rows without features all have the same scores, which a step moves n times.
    """

    def rate(settings: Options, info: Info) -> float:
        rows = 1 if info.features else settings.batch_size
        return factor / (rows * max(info.mean_square_norm + settings.bias, 1e-12))

    return rate
