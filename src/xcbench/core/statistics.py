"""Statistics of a prepared problem: sizes, row norms, and losses of the class prior."""

from __future__ import annotations

from typing import Any

import numpy as np

from xcbench.core.dataset import Info, Rows, Split, square_norms

SAMPLE = 2000  # rows whose largest principal direction is looked for
POWER_STEPS = 50
DIGITS = 4  # of what default rates depend on: rounding differs from machine to machine


def describe(
    name: str,
    digest: str,
    twin: bool,
    train: Split,
    test: Split,
    n_classes: int,
    test_dropped: int = 0,
) -> Info:
    """Compute the statistics of a problem."""
    norms = square_norms(train.X)
    counts = np.bincount(train.y, minlength=n_classes)
    return Info(
        name=name,
        digest=digest,
        twin=twin,
        train=len(train),
        test=len(test),
        features=train.X.shape[1],
        classes=n_classes,
        sparse=not isinstance(train.X, np.ndarray),
        nonzeros_per_row=_nonzeros(train.X) / max(1, len(train)),
        mean_square_norm=float(norms.mean()) if len(train) else 0.0,
        heavy_square_norm=_rounded(float((norms**2).sum() / max(norms.sum(), 1e-300))),
        largest_moment=_rounded(largest_moment(train.sample(SAMPLE).X)),
        largest_class=float(counts.max() / max(1, len(train))),
        prior_log_loss=float(-log_prior(counts)[test.y].mean()) if len(test) else None,
        majority_error=float((test.y != counts.argmax()).mean()) if len(test) else None,
        test_dropped=test_dropped,
        multi_label=test.sets is not None,
        accuracy_ceiling=float(test.sets.weight.mean()) if test.sets is not None else 1.0,
    )


def log_prior(class_counts: np.ndarray) -> np.ndarray:
    """Log frequency (K,) of every class, with one extra row spread evenly over all classes.

    So a class without training rows has a finite log loss; the others hardly change.
    """
    K = len(class_counts)
    return np.log((class_counts + 1.0 / K) / (class_counts.sum() + 1.0))


def inverse_propensity(
    label_counts: np.ndarray, n_rows: int, a: float = 0.55, b: float = 1.5
) -> np.ndarray:
    """Inverse propensity (K,): one over the probability that a true label was observed.

    1 + C (N_k + b)^-a with C = (log N - 1) (b + 1)^a, for a label of N_k of the N training rows
    (Jain et al. 2016). The default a and b are those of the Extreme Classification Repository,
    which has others for Wikipedia (0.5, 0.4) and Amazon (0.6, 2.6).
    """
    return 1 + (np.log(n_rows) - 1) * (b + 1) ** a * (label_counts + b) ** -a


def largest_moment(X: Rows) -> float:
    """Largest eigenvalue of the second moment X^T X / N of rows, by the power method."""
    N, D = X.shape
    if not (N and D):
        return 0.0
    rows: Any = X.astype(np.float64)
    direction = np.random.default_rng(0).random(D) + 0.5  # rows are often non-negative
    value = 0.0
    for _ in range(POWER_STEPS):
        direction = rows.T @ (rows @ direction) / N
        value = float(np.linalg.norm(direction))
        if value == 0:
            return 0.0
        direction /= value
    return value


def _nonzeros(X: Rows) -> int:
    return int(np.count_nonzero(X)) if isinstance(X, np.ndarray) else int(X.nnz)


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
