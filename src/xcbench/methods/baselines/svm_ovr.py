"""LIBLINEAR's linear SVMs, one class against the rest, through scikit-learn."""

from xcbench.methods.baselines import Baseline
from xcbench.methods.baselines.liblinear import OneVsRest, svm, weights
from xcbench.methods.baselines.options import OneVsRestOptions

method = Baseline(
    "svm_ovr",
    OneVsRestOptions,
    solver=lambda settings, info: OneVsRest(settings, svm),
    memory=weights,
    needs_features=True,
    version=2,
)
