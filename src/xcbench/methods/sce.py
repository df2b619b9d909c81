"""Scalable cross-entropy as a method: softmax over buckets of classes (Mezentsev et al. 2024)."""

from __future__ import annotations

from dataclasses import dataclass

from xcbench.core.dataset import Info
from xcbench.core.objectives import LogOdds
from xcbench.core.objectives.softmax import softmax
from xcbench.core.samplers.buckets import Buckets
from xcbench.methods.method import Method, over_gram
from xcbench.methods.options import StochasticOptions
from xcbench.options import option


@dataclass
class BucketOptions(StochasticOptions):
    """Options of scalable cross-entropy."""

    batch_size: int = option(512, "samples in a minibatch", at_least=1)
    directions: int = option(0, "buckets of a minibatch; 0: twice the root of it", at_least=0)
    rows: int = option(0, "rows of a bucket; 0: twice the root of the minibatch", at_least=0)
    classes: int = option(256, "classes of a bucket", at_least=1)
    mixed: bool = option(
        True,
        "buckets lie along random sums of the minibatch's rows; false: random normal directions",
    )


def sampler(settings: BucketOptions, info: Info) -> Buckets:
    """The buckets."""
    return Buckets(
        info.classes, settings.directions, settings.rows, settings.classes, settings.mixed
    )


method = Method(
    "sce",
    BucketOptions,
    lambda settings, info: LogOdds(softmax, is_bound=False),
    over_gram(4.0),
    link=None,  # scores of classes that were in no bucket are no log-odds
    needs_features=True,
    sampler=sampler,
)
