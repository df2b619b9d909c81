"""PD-Sparse (Yen et al. 2016): an l1-regularised max-margin problem, by its dual."""

from __future__ import annotations

from dataclasses import dataclass

from xcbench.core.dataset import Info
from xcbench.core.solvers.pd_sparse import PDSparse
from xcbench.methods import baselines
from xcbench.methods.baselines.options import UnbiasedOptions
from xcbench.methods.options import MethodOptions
from xcbench.options import option


@dataclass
class PDSparseOptions(UnbiasedOptions):
    """Options of PD-Sparse; the defaults are those of the published code."""

    tuned = "strength"

    strength: float = option(0.1, "lambda of lambda ||W||_1", at_least=0)
    C: float = option(1.0, "weight of the losses", above=0)
    passes: int = option(50, "over the rows, at most", at_least=1)
    tolerance: float = option(
        1e-3, "it ends where the duality gap is this share of the objective", at_least=0
    )
    search_share: float = option(
        1.0,
        "of a row's features that the search for classes samples, each as likely as it is large; "
        "the scores of classes in use stay exact",
        above=0,
        at_most=1,
    )


def impossible(settings: MethodOptions) -> str:
    """There are no biases."""
    if settings.bias:
        return "method.bias=true is not possible for pd_sparse; set dataset.protocol.constant=1"
    return ""


def memory(settings: PDSparseOptions, info: Info, itemsize: int, epochs: float) -> float:
    """Bytes of v and of weights, for the labels of a row and twenty classes more."""
    in_use = info.train * (1 + 20 * info.accuracy_ceiling)
    numbers = min(info.classes * info.features, in_use * (1 + info.nonzeros_per_row))
    return (112 + 4 * (itemsize + 4)) * numbers


method = baselines.Baseline(
    "pd_sparse",
    PDSparseOptions,
    solver=lambda s, info: PDSparse(s.strength, s.C, s.passes, s.tolerance, s.search_share),
    impossible=impossible,
    memory=memory,
    needs_features=True,
)
