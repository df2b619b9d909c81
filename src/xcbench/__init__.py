"""Linear classifiers over very many classes: a library, and a reproducible benchmark.

Estimators, by scikit-learn's rules
    SampledSoftmaxClassifier
        softmax, probit and logistic regression by steps on a few drawn classes
    SoftmaxClassifier
        softmax regression at its optimum over all rows and classes
    MarginClassifier
        multi-class support vector machines
    OneVsAllClassifier
        one logistic regression a class, for rows of one label or of several
    EarlyStopping
        when training ends by held-out rows

The benchmark
    load_dataset(name)
        a dataset of the catalogue, as the benchmark prepares it
    run(method=..., dataset=..., lr=..., seed=...)
        every combination of some values; gives the tidy frame of their cells
    results(...)
        the tidy frame of stored cells
    plot.curves(frame)
        losses and errors of every method at its best rate

The command line has the same methods, data and results: ``xcbench --help``.
"""

from __future__ import annotations

from pkgutil import resolve_name
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xcbench import plot as plot
    from xcbench.estimators import EarlyStopping as EarlyStopping
    from xcbench.estimators import MarginClassifier as MarginClassifier
    from xcbench.estimators import OneVsAllClassifier as OneVsAllClassifier
    from xcbench.estimators import SampledSoftmaxClassifier as SampledSoftmaxClassifier
    from xcbench.estimators import SoftmaxClassifier as SoftmaxClassifier
    from xcbench.run.harness import load_dataset as load_dataset
    from xcbench.run.harness import results as results
    from xcbench.run.harness import run as run

__version__ = "0.1.0"
__all__ = [
    "EarlyStopping",
    "MarginClassifier",
    "OneVsAllClassifier",
    "SampledSoftmaxClassifier",
    "SoftmaxClassifier",
    "load_dataset",
    "plot",
    "results",
    "run",
]

# Where public names are; they are imported when they are asked for, which takes a second or two.
_HOMES = {
    **{name: f"xcbench.estimators:{name}" for name in __all__ if name[0].isupper()},
    "load_dataset": "xcbench.run.harness:load_dataset",
    "plot": "xcbench.plot",
    "results": "xcbench.run.harness:results",
    "run": "xcbench.run",  # a module that is called
}


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return resolve_name(_HOMES[name])
    raise AttributeError(f"module 'xcbench' has no attribute '{name}'")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
