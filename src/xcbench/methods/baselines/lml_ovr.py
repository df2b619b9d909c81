"""One-vs-rest of LibMultiLabel; the extra ``libmultilabel``."""

from __future__ import annotations

from types import ModuleType

import scipy.sparse as sp

from xcbench.methods.baselines import RANKED, Baseline
from xcbench.methods.baselines.liblinear import weights
from xcbench.methods.baselines.libmultilabel import LibMultiLabel, lacks
from xcbench.methods.baselines.options import LibMultiLabelOptions


def one_vs_rest(
    linear: ModuleType, Y: sp.csr_matrix, X: sp.csr_matrix, options: str, s: LibMultiLabelOptions
) -> object:
    """A classifier a label."""
    return linear.train_1vsrest(Y, X, False, options, False)


method = Baseline(
    "lml_ovr",
    LibMultiLabelOptions,
    solver=lambda settings, info: LibMultiLabel(
        settings, one_vs_rest, lambda fit, X, s: fit.predict_values(X)
    ),
    lacks=lacks,
    memory=weights,
    needs_features=True,
    seeded=False,  # its threads draw from one generator
    ranks=RANKED,
)
