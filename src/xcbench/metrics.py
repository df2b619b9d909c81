"""Log loss and error over all classes, a block of rows at a time, accumulated in float64."""

from __future__ import annotations

import numpy as np

from xcbench.datasets.value import Split
from xcbench.linear import LinearModel


def evaluate(model: LinearModel, split: Split, softmax_twice: bool = False) -> dict[str, float]:
    """Mean -log softmax_y in nats, and the share of rows whose largest score is not y's.

    Parameters
    ----------
    model : the weights.
    split : the rows; without any row the result is empty.
    softmax_twice : also give ``log_loss_softmax_twice``, the number that comes of applying softmax
        to probabilities, log sum_k e^{p_k} - p_y (published baselines of the U-max paper).

    Returns
    -------
    dict
        ``log_loss``, ``error`` (fraction; the first of equal scores counts as the prediction).
    """
    n_rows = len(split)
    if n_rows == 0:
        return {}
    loss = wrong = twice = 0.0
    for block, scores in model.passes(split.X):
        row, y = np.arange(len(scores)), split.y[block]
        top = scores.max(axis=1, keepdims=True)
        true_score = scores[row, y].astype(np.float64)
        wrong += int((scores.argmax(axis=1) != y).sum())
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
    return result
