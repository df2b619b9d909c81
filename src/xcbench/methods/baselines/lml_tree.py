"""A label tree of LibMultiLabel; the extra ``libmultilabel``."""

from __future__ import annotations

from types import ModuleType

import scipy.sparse as sp

from xcbench.methods.baselines import RANKED, Baseline
from xcbench.methods.baselines.libmultilabel import LibMultiLabel, lacks
from xcbench.methods.baselines.options import LibMultiLabelTreeOptions


def tree(
    linear: ModuleType,
    Y: sp.csr_matrix,
    X: sp.csr_matrix,
    options: str,
    s: LibMultiLabelTreeOptions,
) -> object:
    """Classifiers in the nodes of a tree over the labels, made by k-means of their summed rows."""
    return linear.train_tree(Y, X, options, s.arity, s.depth, False)


method = Baseline(
    "lml_tree",
    LibMultiLabelTreeOptions,
    solver=lambda settings, info: LibMultiLabel(
        settings, tree, lambda fit, X, s: fit.predict_values(X, beam_width=s.beam)
    ),
    lacks=lacks,
    needs_features=True,
    seeded=False,  # its threads draw from one generator
    ranks=RANKED,
)
