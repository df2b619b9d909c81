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
        the classes of the ``top_k`` largest scores. Of one true class a row, precision@k is
        that share divided by k.

    Returns
    -------
    dict
        ``log_loss``, ``error`` (fraction; the first of equal scores counts as the prediction, in
        hits too: ``hit_at_1`` is 1 - error).
    """
    n_rows = len(split)
    if n_rows == 0:
        return {}
    loss = wrong = twice = hits = 0.0
    for block, scores in model.passes(split.X):
        row, y = np.arange(len(scores)), split.y[block]
        top = scores.max(axis=1, keepdims=True)
        true_score = scores[row, y].astype(np.float64)
        wrong += int((scores.argmax(axis=1) != y).sum())
        if top_k:
            hits += int((_rank(scores, y) < top_k).sum())
        exponential = np.exp(scores - top)
        total = exponential.sum(axis=1, dtype=np.float64)
        loss += float((np.log(total) + top[:, 0] - true_score).sum())
        if softmax_twice:
            probability = exponential / total[:, None]
            log_total = np.log(np.exp(probability).sum(axis=1, dtype=np.float64))
            twice += float((log_total - probability[row, y]).sum())
    result = {"log_loss": loss / n_rows, "error": wrong / n_rows}
    if softmax_twice:
        result["log_loss_softmax_twice"] = twice / n_rows
    if top_k:
        result[f"hit_at_{top_k}"] = hits / n_rows
    return result


def _rank(scores: np.ndarray, y: np.ndarray) -> np.ndarray:
    """How many classes stand before class y_i in row i; the lower number first among equals."""
    true_score = scores[np.arange(len(y)), y][:, None]
    before = np.count_nonzero(scores > true_score, axis=1)
    equal = scores == true_score
    equal &= np.arange(scores.shape[1]) < y[:, None]
    return before + np.count_nonzero(equal, axis=1)
