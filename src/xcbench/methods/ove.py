"""One-vs-each as a method."""

from __future__ import annotations

from dataclasses import dataclass

from xcbench.core.objectives import Pairwise
from xcbench.core.objectives.one_vs_each import one_vs_each
from xcbench.core.samplers import WEIGHTED
from xcbench.methods.method import Method, over_drawn
from xcbench.methods.options import FullBatchOptions, SampledOptions
from xcbench.options import option


@dataclass
class OneVsEachOptions(FullBatchOptions, SampledOptions):
    """Options of one-vs-each."""

    sampler: str = option("others", "as for sampled methods", former="shared")


method = Method(
    "ove",
    OneVsEachOptions,
    lambda settings, info: Pairwise(one_vs_each, is_bound=True),
    over_drawn(4.0),
    samplers=("shared", "others", "all", *WEIGHTED),
)
