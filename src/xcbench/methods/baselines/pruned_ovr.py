"""One-vs-rest logistic regression of napkinXC; the extra ``plt``."""

from __future__ import annotations

from types import ModuleType

from xcbench.methods.baselines import RANKED, Baseline
from xcbench.methods.baselines.napkinxc import Napkin, lacks
from xcbench.methods.baselines.options import PrunedOptions


def pruned(models: ModuleType, folder: str, s: PrunedOptions, **common: object) -> object:
    """A logistic regression a class."""
    return models.BR(folder, weights_threshold=s.threshold, **common)


method = Baseline(
    "pruned_ovr",
    PrunedOptions,
    solver=lambda settings, info: Napkin(settings, pruned, settings.labels),
    lacks=lacks,
    ranks=RANKED,
)
