"""Models: weights of all classes, dense or sparse, in NumPy or compiled."""

from __future__ import annotations

from xcbench.core.models.linear import LinearModel
from xcbench.core.models.model import Model

__all__ = ["LinearModel", "Model", "make"]


def make(engine: str, n_classes: int, n_features: int, bias: bool, dtype: str) -> LinearModel:
    """Make the linear model of an engine, ``numpy`` or ``numba``, with zero weights."""
    if engine == "numba":
        from xcbench.core.models.compiled import CompiledModel

        return CompiledModel(n_classes, n_features, bias, dtype)
    return LinearModel(n_classes, n_features, bias, dtype)
