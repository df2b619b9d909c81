"""Importance sampling as a method."""

from __future__ import annotations

from dataclasses import dataclass

from xcbench.core.objectives import LogOdds
from xcbench.core.objectives.softmax import softmax
from xcbench.methods.method import Method, over_gram
from xcbench.methods.options import SampledOptions
from xcbench.options import option


@dataclass
class ImportanceOptions(SampledOptions):
    """Options of importance sampling."""

    sampler: str = option("others", "as for sampled methods", former="shared")


method = Method(
    "is",
    ImportanceOptions,
    lambda settings, info: LogOdds(softmax, is_bound=False, weighted=False),
    over_gram(4.0),
    version=2,
    samplers=("shared", "others", "all"),
)
