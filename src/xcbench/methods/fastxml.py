"""FastXML (Prabhu and Varma 2014) as a method: trees that rank labels."""

from __future__ import annotations

from dataclasses import dataclass

from xcbench.core.dataset import Info
from xcbench.core.solvers.ranking_trees import RankingTrees
from xcbench.methods.baselines import Baseline
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


def solver(s: TreeOptions, info: Info) -> RankingTrees:
    """FastXML's trees."""
    return RankingTrees(s.trees, s.leaf, s.labels, s.C, s.bias)


def memory(settings: TreeOptions, info: Info, itemsize: int, epochs: float) -> float:
    """Bytes of hyperplanes and leaves: a tree has fewer weights than its rows have features."""
    rows = info.train * info.accuracy_ceiling  # before ``label=each`` made one for each label
    return settings.trees * (itemsize + 4) * rows * (1 + info.nonzeros_per_row)


method = Baseline("fastxml", TreeOptions, solver=solver, memory=memory, needs_features=True)
