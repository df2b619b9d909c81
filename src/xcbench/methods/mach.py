"""MACH (Medini et al. 2019) as a method: softmax over hashed classes, where K is too large."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

from xcbench.core import samplers
from xcbench.core.dataset import Info
from xcbench.core.objectives import LogOdds
from xcbench.core.objectives.softmax import softmax
from xcbench.core.solvers.hashed import HashedClasses
from xcbench.methods.method import Method, dense_weights, minibatch, over_gram
from xcbench.methods.options import StochasticOptions
from xcbench.options import option


@dataclass
class MachOptions(StochasticOptions):
    """Options of MACH."""

    repetitions: int = option(8, "softmax models, each of its own hash", at_least=1)
    buckets: int = option(0, "of a hash; 0: four times the root of K, at most K", at_least=0)


def of_buckets(settings: MachOptions, info: Info) -> Info:
    """The problem of a repetition."""
    buckets = min(settings.buckets or math.ceil(4 * info.classes**0.5), info.classes)
    return replace(info, classes=max(buckets, 2))


def objective(settings: MachOptions, info: Info) -> LogOdds:
    """Exact softmax over the buckets."""
    return LogOdds(softmax, is_bound=False)


def rate(settings: MachOptions, info: Info) -> float:
    """That of exact softmax over the buckets."""
    return over_gram(4.0)(settings, of_buckets(settings, info))


def solver(settings: MachOptions, info: Info) -> HashedClasses:
    """All repetitions."""
    few = of_buckets(settings, info)
    every = samplers.make("all", few.classes, 0)
    descent = partial(minibatch, objective(settings, few), every, settings, few)
    return HashedClasses(descent, settings.repetitions, few.classes)


def memory(settings: MachOptions, info: Info, itemsize: int, epochs: float) -> float:
    """Bytes of the weights of all repetitions."""
    few = of_buckets(settings, info)
    return settings.repetitions * dense_weights(settings, few, itemsize, epochs)


method = Method("mach", MachOptions, objective, rate, link=None, solver=solver, memory=memory)
