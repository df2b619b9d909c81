"""Classifiers by scikit-learn's rules, one class a family of methods.

They train with the harness's own solvers: the same data, settings and seed give the same weights.
"""

from __future__ import annotations

from xcbench.estimators.base import LinearClassifier
from xcbench.estimators.margin import MarginClassifier
from xcbench.estimators.sampled import SampledSoftmaxClassifier
from xcbench.estimators.softmax import SoftmaxClassifier

__all__ = ["LinearClassifier", "MarginClassifier", "SampledSoftmaxClassifier", "SoftmaxClassifier"]
