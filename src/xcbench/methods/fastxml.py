"""FastXML (Prabhu and Varma 2014) and PfastreXML (Jain et al. 2016): trees that rank labels."""

from __future__ import annotations

from dataclasses import dataclass

from xcbench.core.dataset import Info
from xcbench.core.solvers.ranking_trees import PropensityTrees, RankingTrees
from xcbench.methods import baselines
from xcbench.methods.options import MethodOptions
from xcbench.options import option


@dataclass
class TreeOptions(MethodOptions):
    """Options of FastXML; the defaults are the paper's."""

    tuned = "C"

    trees: int = option(50, "in the ensemble", at_least=1)
    leaf: int = option(10, "rows in a leaf at most, where they can be parted", at_least=1)
    labels: int = option(100, "labels of a leaf that are kept", at_least=1)
    C: float = option(1.0, "weight of the logistic losses against ||w||_1", above=0)


@dataclass
class PropensityTreeOptions(TreeOptions):
    """Options of PfastreXML; the defaults are the paper's."""

    alpha: float = option(
        0.8, "of score = trees^alpha · nearness^(1 - alpha)", at_least=0, at_most=1
    )
    gamma: float = option(30.0, "of nearness = 1 / (1 + exp(gamma |x - mean|²))", above=0)
    a: float = option(0.55, "of the propensities 1 / (1 + C (N_k + b)^-a)", at_least=0)
    b: float = option(1.5, "of the propensities", at_least=0)


def solver(s: TreeOptions, info: Info) -> RankingTrees:
    """FastXML's trees."""
    return RankingTrees(s.trees, s.leaf, s.labels, s.C, s.bias)


def with_propensities(s: PropensityTreeOptions, info: Info) -> PropensityTrees:
    """PfastreXML's trees."""
    return PropensityTrees(s.trees, s.leaf, s.labels, s.C, s.bias, s.alpha, s.gamma, a=s.a, b=s.b)


def memory(settings: TreeOptions, info: Info, itemsize: int, epochs: float) -> float:
    """Bytes of hyperplanes and leaves: a tree has fewer weights than its rows have features."""
    rows = info.train * info.accuracy_ceiling  # before ``label=each`` made one for each label
    return settings.trees * (itemsize + 4) * rows * (1 + info.nonzeros_per_row)


fastxml = baselines.method("fastxml", TreeOptions, solver, memory=memory, needs_features=True)
pfastrexml = baselines.method(
    "pfastrexml", PropensityTreeOptions, with_propensities, memory=memory, needs_features=True
)
