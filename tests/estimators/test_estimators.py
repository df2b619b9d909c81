"""The estimators keep scikit-learn's rules; its own checks are the truth."""

from __future__ import annotations

import doctest
from typing import Any

import pytest
from sklearn.utils.estimator_checks import (
    check_methods_sample_order_invariance,
    estimator_checks_generator,
    parametrize_with_checks,
)

from xcbench import (
    MarginClassifier,
    OneVsAllClassifier,
    SampledSoftmaxClassifier,
    SoftmaxClassifier,
)
from xcbench.estimators import margin, one_vs_all, sampled, softmax
from xcbench.estimators.base import LinearClassifier

SAMPLED = (
    *("implicit", "umax", "vanilla", "ove", "ove_grouped", "is", "nce", "negative_sampling"),
    *("bouchard", "ar_softmax", "ar_probit", "ar_logistic", "softmax", "scent", "lse_softplus"),
)
QUICK: dict[str, Any] = {"engine": "numpy"}  # the same rules, nothing to compile
FAMILIES: list[LinearClassifier] = [
    SampledSoftmaxClassifier("umax", epochs=10, **QUICK),
    SoftmaxClassifier("softmax", **QUICK),
    MarginClassifier("memoir_l2", **QUICK),
    OneVsAllClassifier(epochs=10, **QUICK),
]
METHODS: list[LinearClassifier] = [
    *(SampledSoftmaxClassifier(name, epochs=10, **QUICK) for name in SAMPLED),
    *(SoftmaxClassifier(name, **QUICK) for name in ("ove", "bouchard")),
    *(MarginClassifier(name, **QUICK) for name in ("svm_ovr", "svm_cs", "memoir_l1", "class_sums")),
    *(MarginClassifier(name, **QUICK) for name in ("gbce", "snm")),
]
# Methods of a family share every line around the solver: what else they might break is here.
OF_A_METHOD = (
    *("check_classifiers_train", "check_classifiers_classes", "check_estimator_sparse_array"),
    *("check_estimators_pickle", "check_decision_proba_consistency", "check_dict_unchanged"),
)


@parametrize_with_checks(FAMILIES)
def test_rules_of_scikit_learn(estimator: LinearClassifier, check: Any) -> None:
    check(estimator)


def test_the_order_of_rows_is_not_seen_in_the_trees_noise() -> None:
    """With products in float32 the last digits of log p_n depended on a row's place."""
    model = SampledSoftmaxClassifier("negative_sampling", random_state=0, **QUICK)
    check_methods_sample_order_invariance(model.method, model)


@pytest.mark.parametrize("estimator", METHODS, ids=lambda estimator: estimator.method)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_rules_that_a_method_could_break(estimator: LinearClassifier) -> None:
    tried = set()
    for one, check in estimator_checks_generator(estimator):
        name = check.func.__name__
        if name in OF_A_METHOD and name not in tried:
            check(one)
            tried.add(name)
    assert tried == set(OF_A_METHOD)


@pytest.mark.parametrize("module", [sampled, softmax, margin, one_vs_all], ids=lambda m: m.__name__)
def test_examples(module: Any) -> None:
    assert doctest.testmod(module).failed == 0
