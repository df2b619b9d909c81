"""Log loss and error over all classes, a block of rows at a time, accumulated in float64.

Rows without features all have the same scores: these are looked at once. And, of two cells with
saved weights, how far their parameters are apart.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np

from xcbench.core import likelihoods
from xcbench.core.dataset import Split
from xcbench.core.models.model import Model
from xcbench.units import MIB

CLIP = 26.0  # of importance sampling: draws that all miss the mass of a row say nothing of its loss


def evaluate(
    model: Model,
    split: Split,
    softmax_twice: bool = False,
    top_k: int = 0,
    macro_f1: bool = False,
    *,
    clip: float = 0.0,
    importance: int = 0,
    rng: np.random.Generator | None = None,
    standard_error: bool = False,
) -> dict[str, float]:
    """Mean -log p(y | x) in nats, and the share of rows whose largest score is not y's.

    Parameters
    ----------
    model : the weights.
    split : the rows; without any row the result is empty.
    softmax_twice : also give ``log_loss_softmax_twice``, the number that comes of applying softmax
        to probabilities, log sum_k e^{p_k} - p_y (published baselines of the U-max paper).
    top_k : where it is not 0, also give ``hit_at_<top_k>``, the share of rows whose class is among
        the classes of the ``top_k`` largest scores; and, where rows have label sets,
        ``precision_at_<top_k>``.
    macro_f1 : also give ``macro_f1`` and ``macro_f1_of_means`` (`macro_f1s`).
    clip : where it is not 0, also give ``log_loss_clipped``, the mean of losses of at most so many
        nats (published evaluation of the augment-and-reduce paper).
    importance, rng : where it is not 0 and the link is not softmax, also give
        ``log_loss_importance``, by importance sampling with so many draws a row, clipped at
        ``clip``, or where that is 0 at 26 nats.
    standard_error : whether to give ``log_loss_standard_error``, for a sample of rows.

    Returns
    -------
    dict
        ``log_loss`` (where the model has probabilities), ``error`` (fraction; the first of equal
        scores counts as the prediction, in
        hits too: ``hit_at_1`` is 1 - error). Where rows have label sets, ``precision_at_1``: the
        share of rows whose predicted class is in their set, rows made of one counting as one.
        Where rows have no features, ``l1_error``: sum_k |softmax_k - N_k / N|, N_k of the N rows
        being of class k (one-vs-each paper, Fig. 2c); and ``relative_error``, the mean of
        |softmax_k - N_k / N| / (N_k / N) over the classes that occur.
    """
    n_rows = len(split)
    if n_rows == 0:
        return {}
    featureless = split.X.shape[1] == 0
    twice: np.ndarray | None = None
    sampled: np.ndarray | None = None
    if featureless:
        log_probability = model.log_probabilities(np.empty((1, 0), model.dtype))[0]
        loss, best, twice = _of_equal_rows(log_probability, split.y, max(1, top_k))
    else:
        if model.untrained:  # every score is the same, which spares a pass over all classes
            loss, highest = np.full(n_rows, np.log(model.n_classes)), np.zeros(n_rows, np.int64)
        elif model.link is None:
            highest = model.predict(split.X)
        else:
            loss, highest = model.summarise(split)
            if model.link != "softmax":
                loss, sampled = _of_link(model, split, importance, rng)
        best = highest[:, None]
        if softmax_twice or top_k > 1:
            best, twice = _further(model, split, max(1, top_k))
    hit = best == split.y[:, None]
    result = {"error": float((~hit[:, 0]).mean())}
    if model.link is not None:
        result = {"log_loss": float(loss.mean())} | result
        if clip:
            result["log_loss_clipped"] = float(np.minimum(loss, clip).mean())
        if sampled is not None:
            result["log_loss_importance"] = float(np.minimum(sampled, clip or CLIP).mean())
        if standard_error:
            result["log_loss_standard_error"] = float(loss.std(ddof=1) / np.sqrt(n_rows))
    if softmax_twice and twice is not None and model.link is not None:
        result["log_loss_softmax_twice"] = float(twice.mean())
    if top_k:
        result[f"hit_at_{top_k}"] = float(hit.any(axis=1).mean())
    if split.sets is not None:
        inside = np.stack([split.sets.contain(column) for column in best.T])
        for k in sorted({1, best.shape[1]}):
            share = inside[:k].mean(axis=0)
            result[f"precision_at_{k}"] = float(np.average(share, weights=split.sets.weight))
    if macro_f1:
        result |= macro_f1s(split.y, best[:, 0])
    if featureless:
        frequency = np.bincount(split.y, minlength=model.n_classes) / n_rows
        apart, occurs = np.abs(np.exp(log_probability) - frequency), frequency > 0
        result["l1_error"] = float(apart.sum())
        result["relative_error"] = float((apart[occurs] / frequency[occurs]).mean())
    return result


def macro_f1s(y: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
    """Macro-averaged F1, over the classes that occur as true or predicted ones.

    Returns
    -------
    dict
        ``macro_f1``: the mean over classes of 2 hits / (rows of it + predictions of it), as
        scikit-learn has it. ``macro_f1_of_means``: the harmonic mean of macro-precision and
        macro-recall, which is what the MEMOIR paper describes; a class that is never predicted has
        precision 0, one without rows recall 0.
    """
    size = int(max(y.max(), predicted.max())) + 1
    rows, guesses = np.bincount(y, minlength=size), np.bincount(predicted, minlength=size)
    hits = np.bincount(y[y == predicted], minlength=size)
    some = rows + guesses > 0
    rows, guesses, hits = rows[some], guesses[some], hits[some]
    precision = float(np.mean(hits / np.maximum(1, guesses)))
    recall = float(np.mean(hits / np.maximum(1, rows)))
    both = precision + recall
    return {
        "macro_f1": float(np.mean(2 * hits / (rows + guesses))),
        "macro_f1_of_means": 2 * precision * recall / both if both else 0.0,
    }


def costs(model: Model, split: Split) -> dict[str, float]:
    """Seconds of predicting the class of every row, weights that are not 0, size of the model."""
    started = time.perf_counter()
    model.predict(split.X)
    seconds = time.perf_counter() - started
    found = {"predict_seconds": seconds, "model_mib": model.nbytes / MIB}
    if model.nonzeros is not None:
        found["nonzeros"] = float(model.nonzeros)
    return found


def _of_link(
    model: Model,
    split: Split,
    draws: int,
    rng: np.random.Generator | None,
) -> tuple[np.ndarray, np.ndarray | None]:
    """Log loss of every row by quadrature and, where there are draws, by importance sampling."""
    exact, sampled = np.empty(len(split)), np.empty(len(split)) if draws else None
    for block, scores in model.passes(split.X):
        y = split.y[block]
        if sampled is None or rng is None:
            exact[block] = -model.log_probabilities_of(scores, y[:, None])[:, 0]
        else:
            assert model.link
            found = likelihoods.with_importance(model.link, scores, y, draws, rng)
            exact[block], sampled[block] = -found[0], -found[1]
    return exact, sampled


def _of_equal_rows(
    log_probability: np.ndarray, y: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of every row: log loss, the k best classes (N, k), log loss with softmax applied twice."""
    best = np.repeat(top_classes(log_probability[None], k), len(y), axis=0)
    probability = np.exp(log_probability)
    twice = np.log(np.exp(probability).sum()) - probability
    return -log_probability[y], best, twice[y]


def _further(model: Model, split: Split, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Of every row: the k best classes (N, k), and the log loss with softmax applied twice."""
    best, twice = np.empty((len(split), k), np.int64), np.empty(len(split))
    for block, scores in model.passes(split.X):
        exponential = np.exp(scores - scores.max(axis=1, keepdims=True))
        probability = exponential / exponential.sum(axis=1, dtype=np.float64, keepdims=True)
        log_total = np.log(np.exp(probability).sum(axis=1, dtype=np.float64))
        twice[block] = log_total - probability[np.arange(len(scores)), split.y[block]]
        best[block] = top_classes(scores, k)
    return best, twice


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


def param_norm(
    reference: Mapping[str, np.ndarray], weights: Mapping[str, np.ndarray], biases: bool = True
) -> float:
    """Distance from exact softmax's weights, |w_SOFT - w|_1 / |w_SOFT|_1 (Titsias 2016, Eq. 17).

    For reports: it needs two cells, both run with ``save_weights=true``.

    Parameters
    ----------
    reference, weights : ``W`` (K, D) and, if there are biases, ``b`` (K,), as in ``weights.npz``.
    biases : whether b counts as part of w; the paper does not say.

    Raises
    ------
    ValueError
        If one has biases that count and the other has none, or their shapes differ.
    """
    parts = ["W", "b"] if biases and "b" in {*reference, *weights} else ["W"]
    apart = size = 0.0
    for part in parts:
        if any(part not in side for side in (reference, weights)):
            raise ValueError(f"one of two models has no {part}")
        there, here = (np.asarray(side[part], np.float64) for side in (reference, weights))
        if there.shape != here.shape:
            raise ValueError(f"{part} has the shapes {there.shape} and {here.shape}")
        apart += float(np.abs(there - here).sum())
        size += float(np.abs(there).sum())
    return apart / size
