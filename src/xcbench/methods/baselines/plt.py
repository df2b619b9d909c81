"""Probabilistic label trees of napkinXC; the extra ``plt``."""

from __future__ import annotations

from types import ModuleType

from xcbench.methods.baselines import RANKED, Baseline
from xcbench.methods.baselines.napkinxc import Napkin, lacks
from xcbench.methods.baselines.options import LabelTreeOptions


def tree(models: ModuleType, folder: str, s: LabelTreeOptions, **common: object) -> object:
    """A probabilistic label tree: logistic regressions in its nodes."""
    settings = {"arity": s.arity, "max_leaves": s.leaves, "ensemble": s.trees}
    return models.PLT(folder, **settings, **common)


method = Baseline(
    "plt",
    LabelTreeOptions,
    solver=lambda settings, info: Napkin(settings, tree, settings.labels),
    lacks=lacks,
    ranks=RANKED,
)
