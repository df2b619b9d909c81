"""Hierarchical softmax of napkinXC; the extra ``plt``."""

from __future__ import annotations

from types import ModuleType

from xcbench.methods.baselines import RANKED, Baseline
from xcbench.methods.baselines.napkinxc import Napkin, lacks
from xcbench.methods.baselines.options import HierarchicalSoftmaxOptions


def softmax(
    models: ModuleType, folder: str, s: HierarchicalSoftmaxOptions, **common: object
) -> object:
    """Hierarchical softmax: a softmax in the nodes of the tree."""
    return models.HSM(folder, arity=s.arity, max_leaves=s.leaves, **common)


method = Baseline(
    "hsm",
    HierarchicalSoftmaxOptions,
    solver=lambda settings, info: Napkin(settings, softmax, "own"),
    lacks=lacks,
    ranks=RANKED,
)
