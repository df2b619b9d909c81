"""PfastreXML (Jain et al. 2016) as a method: FastXML with propensities of the labels."""

from __future__ import annotations

from dataclasses import dataclass

from xcbench.core.dataset import Info
from xcbench.core.solvers.ranking_trees import PropensityTrees
from xcbench.methods.baselines import Baseline
from xcbench.methods.fastxml import TreeOptions, memory
from xcbench.options import option


@dataclass
class PropensityTreeOptions(TreeOptions):
    """Options of PfastreXML; the defaults are the paper's."""

    alpha: float = option(
        0.8, "of score = trees^alpha · nearness^(1 - alpha)", at_least=0, at_most=1
    )
    gamma: float = option(30.0, "of nearness = 1 / (1 + exp(gamma |x - mean|²))", above=0)
    a: float = option(0.55, "of the propensities 1 / (1 + C (N_k + b)^-a)", at_least=0)
    b: float = option(1.5, "of the propensities", at_least=0)


def solver(s: PropensityTreeOptions, info: Info) -> PropensityTrees:
    """PfastreXML's trees."""
    return PropensityTrees(s.trees, s.leaf, s.labels, s.C, s.bias, s.alpha, s.gamma, a=s.a, b=s.b)


method = Baseline(
    "pfastrexml", PropensityTreeOptions, solver=solver, memory=memory, needs_features=True
)
