"""One-vs-all logistic regression with sampled negatives as a method."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from xcbench.core.dataset import Info
from xcbench.core.objectives import Pairwise
from xcbench.core.objectives.one_vs_all import one_vs_all
from xcbench.core.samplers.absent import Absent
from xcbench.core.samplers.clusters import AbsentClusters, Clusters
from xcbench.methods.method import Method, over_square_norm
from xcbench.methods.options import SampledOptions, start_option
from xcbench.options import option


@dataclass
class OneVsAllOptions(SampledOptions):
    """Options of one-vs-all with sampled negatives."""

    negatives: int = option(5, "classes drawn; a row's own labels are left out", at_least=1)
    sampler: str = option(
        "absent",
        "`absent`: uniform among the classes that a row lacks; `clusters`: half of them from the "
        "cluster of the label, whose rows are alike",
    )
    batch_size: int = option(10, "samples in a minibatch", at_least=1)
    init: str = start_option("prior", former="normalised")


def rate(settings: OneVsAllOptions, info: Info) -> float:
    """About 1 / |x|², less where a drawn class stands for many others and would overshoot."""
    spread = min(1.0, 20.0 * settings.negatives / info.classes)
    return over_square_norm(1.4)(settings, info) * spread**0.5


def sampler(settings: OneVsAllOptions, info: Info) -> Absent:
    """Draws among the classes that a row lacks."""
    if settings.sampler == "clusters":
        proposal = Clusters(**asdict(settings.clusters))
        return AbsentClusters(info.classes, settings.negatives, proposal=proposal)
    return Absent(info.classes, settings.negatives)


method = Method(
    "one_vs_all",
    OneVsAllOptions,
    lambda settings, info: Pairwise(one_vs_all, is_bound=False),
    rate,
    samplers=("absent", "clusters"),
    link=None,  # a logistic likelihood a class, none of the one class of a row
    sampler=sampler,
)
