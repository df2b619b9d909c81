"""Linear classifiers over very many classes: a library, and a reproducible benchmark.

Estimators, by scikit-learn's rules
    SampledSoftmaxClassifier
        softmax, probit and logistic regression by steps on a few drawn classes
    SoftmaxClassifier
        softmax regression at its optimum over all rows and classes
    MarginClassifier
        multi-class support vector machines

The same methods, data and numbers from the command line: ``xcbench --help``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xcbench.estimators import MarginClassifier as MarginClassifier
    from xcbench.estimators import SampledSoftmaxClassifier as SampledSoftmaxClassifier
    from xcbench.estimators import SoftmaxClassifier as SoftmaxClassifier

__version__ = "0.1.0"

# Public names and where they are; imported when they are asked for, which takes a second or two.
_PUBLIC = {
    "MarginClassifier": "xcbench.estimators",
    "SampledSoftmaxClassifier": "xcbench.estimators",
    "SoftmaxClassifier": "xcbench.estimators",
}
__all__ = [*_PUBLIC]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'xcbench' has no attribute '{name}'")
    return getattr(import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *_PUBLIC]
