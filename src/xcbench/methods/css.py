"""Complementary sum sampling (Botev, Zheng and Barber 2017) as a method."""

from xcbench.core.objectives import LogOdds
from xcbench.core.objectives.softmax import softmax
from xcbench.core.samplers import WEIGHTED
from xcbench.methods.method import Method, over_gram
from xcbench.methods.options import SampledOptions

# The log of an estimate of the partition function: too low on average, so that nothing is bounded.
method = Method(
    "css",
    SampledOptions,
    lambda settings, info: LogOdds(softmax, is_bound=False),
    over_gram(4.0),
    samplers=("others", "all", "in_batch", *WEIGHTED),
)
