"""Classifiers that follow scikit-learn's rules, one class for each family of methods.

They train with the harness's own solvers: the same data, settings and seed give the same weights.
"""

from __future__ import annotations

from collections.abc import Mapping

from xcbench.errors import UserError
from xcbench.estimators.base import LinearClassifier
from xcbench.estimators.early_stopping import EarlyStopping
from xcbench.estimators.margin import MarginClassifier
from xcbench.estimators.one_vs_all import OneVsAllClassifier
from xcbench.estimators.sampled import SampledSoftmaxClassifier
from xcbench.estimators.softmax import SoftmaxClassifier
from xcbench.methods import registry

__all__ = [
    "EarlyStopping",
    "LinearClassifier",
    "MarginClassifier",
    "OneVsAllClassifier",
    "SampledSoftmaxClassifier",
    "SoftmaxClassifier",
    "of_method",
]


COMMON = {"random_state", "epochs", "dtype"}  # that a command gives to methods of all kinds


def of_method(
    method: str, options: Mapping[str, object], given: Mapping[str, object], **defaults: object
) -> LinearClassifier:
    """Make the estimator of a method and its options, by their names on the command line.

    Parameters
    ----------
    given, defaults : parameters of the estimators; a family ignores defaults that it lacks, and
        `COMMON` ones.

    Raises
    ------
    UserError
        If there is no such method, or it lacks a parameter that is given.
    """
    family: type[LinearClassifier] = SampledSoftmaxClassifier
    if method == OneVsAllClassifier.method:
        family = OneVsAllClassifier
    elif registry.find(method).thing.link is None:
        family = MarginClassifier
    elif method == "softmax" and options.get("solver", "lbfgs") == "lbfgs":
        family = SoftmaxClassifier
    arguments = {"method": method, **defaults, **given}
    known = {*family._get_param_names(), *family._of_training}
    for name in given.keys() - known - COMMON:
        raise UserError(f"{name} does not apply to method={method}; leave it out")
    names = arguments.keys() & known
    estimator = family().set_params(**{name: arguments[name] for name in names})
    estimator.options = {**estimator.options, **options}
    return estimator
