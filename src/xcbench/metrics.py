"""Log loss and error over all classes, a block of rows at a time, accumulated in float64."""

from __future__ import annotations

import numpy as np

from xcbench.datasets.value import Split
from xcbench.linear import LinearModel


def evaluate(
    model: LinearModel, split: Split, softmax_twice: bool = False, top_k: int = 0
) -> dict[str, float]:
    """Mean -log softmax_y in nats, and the share of rows whose largest score is not y's.

    Parameters
    ----------
    model : the weights.
    split : the rows; without any row the result is empty.
    softmax_twice : also give ``log_loss_softmax_twice``, the number that comes of applying softmax
        to probabilities, log sum_k e^{p_k} - p_y (published baselines of the U-max paper).
    top_k : where it is not 0, also give ``hit_at_<top_k>``, the share of rows whose class is among
        the classes of the ``top_k`` largest scores; and, where rows have label sets,
        ``precision_at_<top_k>``.

    Returns
    -------
    dict
        ``log_loss``, ``error`` (fraction; the first of equal scores counts as the prediction, in
        hits too: ``hit_at_1`` is 1 - error). Where rows have label sets, ``precision_at_1``: the
        share of rows whose predicted class is in their set, rows made of one counting as one.
    """
    n_rows = len(split)
    if n_rows == 0:
        return {}
    loss, twice = np.empty(n_rows), np.empty(n_rows)
    best = np.empty((n_rows, max(1, top_k)), np.int64)
    for block, scores in model.passes(split.X):
        row, y = np.arange(len(scores)), split.y[block]
        highest = scores.max(axis=1, keepdims=True)
        exponential = np.exp(scores - highest)
        total = exponential.sum(axis=1, dtype=np.float64)
        loss[block] = np.log(total) + highest[:, 0] - scores[row, y].astype(np.float64)
        if softmax_twice:
            probability = exponential / total[:, None]
            log_total = np.log(np.exp(probability).sum(axis=1, dtype=np.float64))
            twice[block] = log_total - probability[row, y]
        best[block] = top_classes(scores, best.shape[1])
    hit = best == split.y[:, None]
    result = {"log_loss": float(loss.mean()), "error": float((~hit[:, 0]).mean())}
    if softmax_twice:
        result["log_loss_softmax_twice"] = float(twice.mean())
    if top_k:
        result[f"hit_at_{top_k}"] = float(hit.any(axis=1).mean())
    if split.sets is not None:
        inside = np.stack([split.sets.contain(column) for column in best.T])
        for k in sorted({1, best.shape[1]}):
            share = inside[:k].mean(axis=0)
            result[f"precision_at_{k}"] = float(np.average(share, weights=split.sets.weight))
    return result


def top_classes(scores: np.ndarray, k: int) -> np.ndarray:
    """The k classes (B, k) of the highest scores (B, K), best first, lower numbers among equals."""
    if k == 1:
        return scores.argmax(axis=1)[:, None]
    row, left = np.arange(len(scores)), scores.copy()
    best = np.empty((len(scores), k), np.int64)
    for place in range(k):
        best[:, place] = left.argmax(axis=1)
        left[row, best[:, place]] = -np.inf
    return best
