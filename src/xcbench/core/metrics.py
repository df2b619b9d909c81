"""Metrics over all classes, a block of rows at a time, accumulated in float64.

A further one is an entry of `METRICS`. Rows without features all have the same scores: these are
looked at once. And, of two cells with saved weights, how far their parameters are apart.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from xcbench.core import likelihoods
from xcbench.core.dataset import Split
from xcbench.core.models.model import Model
from xcbench.units import MIB

BlockFunction = Callable[[np.ndarray, np.ndarray], np.ndarray]
CLIP = 26.0  # of importance sampling: draws that all miss the mass of a row say nothing of its loss


@dataclass(frozen=True)
class Asked:
    """What is computed besides log loss and error.

    Attributes
    ----------
    metrics : names of further entries of `METRICS`.
    softmax_twice : ``log_loss_softmax_twice``, the number that comes of applying softmax to
        probabilities, log sum_k e^{p_k} - p_y (published baselines of the U-max paper).
    top_k : where it is not 0, ``hit_at_<top_k>``, the share of rows whose class is among the
        classes of the ``top_k`` largest scores; and, where rows have label sets,
        ``precision_at_<top_k>``.
    macro_f1 : ``macro_f1`` and ``macro_f1_of_means`` (`macro_f1s`).
    clip : where it is not 0, ``log_loss_clipped``, the mean of losses of at most so many nats
        (published evaluation of the augment-and-reduce paper).
    importance, rng : where it is not 0 and the link is not softmax, ``log_loss_importance``, by
        importance sampling with so many draws a row, clipped at ``clip``, or where that is 0 at
        26 nats.
    standard_error : ``log_loss_standard_error``, for a sample of rows.
    """

    metrics: tuple[str, ...] = ()
    softmax_twice: bool = False
    top_k: int = 0
    macro_f1: bool = False
    clip: float = 0.0
    importance: int = 0
    rng: np.random.Generator | None = None
    standard_error: bool = False


class Evaluated:
    """Rows and what a model says of them; whatever takes a pass over all classes, once.

    Attributes
    ----------
    losses : (N,) -log p(y | x) in nats, where the model has probabilities.
    sampled : the same by importance sampling, or None.
    twice : the same with softmax applied twice, or None.
    best : (N, k) classes of the highest scores, the first of equal ones first.
    log_probability : (K,), where rows have no features; their scores are all the same.
    """

    def __init__(self, model: Model, split: Split, asked: Asked) -> None:
        self.model, self.split, self.asked = model, split, asked
        self.probabilistic, self.y = model.link is not None, split.y
        self.sampled: np.ndarray | None = None
        self.twice: np.ndarray | None = None
        self.log_probability: np.ndarray | None = None
        n_rows, k = len(split), max(1, asked.top_k)
        self.losses = np.full(n_rows, np.log(model.n_classes))
        if split.X.shape[1] == 0 and self.probabilistic:
            self.log_probability = model.log_probabilities(np.empty((1, 0), model.dtype))[0]
            self.losses, self.best, self.twice = _of_equal_rows(self.log_probability, self.y, k)
            return
        highest = np.zeros(n_rows, np.int64)
        if not self.probabilistic:
            highest = model.predict(split.X)
        elif not model.untrained:  # else every score is the same, which spares a pass
            self.losses, highest = model.summarise(split)
            if model.link != "softmax":
                self.losses, self.sampled = _of_link(model, split, asked.importance, asked.rng)
        self.best = highest[:, None]
        if asked.softmax_twice or k > 1:
            self.best, self.twice = _further(model, split, k)

    @cached_property
    def hit(self) -> np.ndarray:
        """Whether each of the best classes is the row's own, (N, k)."""
        return np.asarray(self.best == self.y[:, None])

    @cached_property
    def inside(self) -> np.ndarray | None:
        """Whether each of the best classes is in the row's label set, (k, N), if there are sets."""
        if self.split.sets is None:
            return None
        return np.stack([self.split.sets.contain(column) for column in self.best.T])

    @cached_property
    def apart(self) -> tuple[np.ndarray, np.ndarray]:
        """Of every class |p_k - N_k / N| and N_k / N; none where rows have features."""
        if self.log_probability is None:
            return np.empty(0), np.empty(0)
        frequency = np.bincount(self.y, minlength=self.model.n_classes) / len(self.y)
        return np.abs(np.exp(self.log_probability) - frequency), frequency

    def blocks(self, function: BlockFunction) -> np.ndarray:
        """What a function gives of the scores (B, K) and classes (B,) of all blocks, (N,)."""
        passes = self.model.passes(self.split.X)
        return np.concatenate([function(scores, self.y[block]) for block, scores in passes])


@dataclass(frozen=True)
class Metric:
    """A metric: the one place that says what a column is.

    Attributes
    ----------
    name : of the column, behind ``train_``, ``test_`` or ``validation_``; ``{k}`` is `Asked.top_k`.
    value : its value, or None where there is none.
    of_block : in the place of ``value``, numbers (B,) of a block of scores (B, K) and true classes
        (B,), whose mean over all rows it is; computed where its name is asked for.
    direction : 1 where lower is better, else -1.
    digits : behind the point, in tables.
    axis : title of a figure's axis, behind the role; without one it is in no figure.
    roles : of the rows for which it stands in the final table, where it was computed.
    """

    name: str
    value: Callable[[Evaluated], float | None] = lambda rows: None
    of_block: BlockFunction | None = None
    direction: int = 1
    digits: int = 4
    axis: str = ""
    roles: tuple[str, ...] = ("test",)

    def of(self, rows: Evaluated) -> float | None:
        """Value for these rows, or None where there is none or it was not asked for."""
        if self.of_block is None:
            return self.value(rows)
        if self.name not in rows.asked.metrics:
            return None
        return float(rows.blocks(self.of_block).mean())


def evaluate(model: Model, split: Split, asked: Asked | None = None) -> dict[str, float]:
    """Metrics of a model on rows, by name; without any row the result is empty."""
    if not len(split):
        return {}
    rows = Evaluated(model, split, asked or Asked())
    values = [(metric.name.format(k=rows.asked.top_k), metric.of(rows)) for metric in METRICS]
    return {name: value for name, value in values if value is not None}


def log_loss(rows: Evaluated) -> float | None:
    """Mean -log p(y | x) in nats, where the model has probabilities."""
    return float(rows.losses.mean()) if rows.probabilistic else None


def error(rows: Evaluated) -> float:
    """Share of rows whose largest score is not y's; the first of equal ones is the prediction."""
    return float((~rows.hit[:, 0]).mean())


def clipped(rows: Evaluated) -> float | None:
    """Mean of losses of at most ``clip`` nats."""
    if not (rows.asked.clip and rows.probabilistic):
        return None
    return float(np.minimum(rows.losses, rows.asked.clip).mean())


def by_importance(rows: Evaluated) -> float | None:
    """Mean clipped loss by importance sampling."""
    if rows.sampled is None:
        return None
    return float(np.minimum(rows.sampled, rows.asked.clip or CLIP).mean())


def standard_error(rows: Evaluated) -> float | None:
    """Of the log loss of a sample of rows."""
    if not (rows.asked.standard_error and rows.probabilistic):
        return None
    return float(rows.losses.std(ddof=1) / np.sqrt(len(rows.losses)))


def softmax_twice(rows: Evaluated) -> float | None:
    """Log loss with softmax applied to probabilities."""
    if not (rows.asked.softmax_twice and rows.probabilistic and rows.twice is not None):
        return None
    return float(rows.twice.mean())


def hits(rows: Evaluated) -> float | None:
    """Share of rows whose class is among the best k; that of one is 1 - error."""
    return float(rows.hit.any(axis=1).mean()) if rows.asked.top_k else None


def precision(rows: Evaluated, k: int) -> float | None:
    """Share of the best k classes that are in the row's set, rows made of one counting as one."""
    if rows.inside is None or rows.split.sets is None:
        return None
    return float(np.average(rows.inside[:k].mean(axis=0), weights=rows.split.sets.weight))


def precision_at_k(rows: Evaluated) -> float | None:
    """Where k is more than 1."""
    return precision(rows, rows.asked.top_k) if rows.asked.top_k > 1 else None


def f1(rows: Evaluated, name: str) -> float | None:
    """One of `macro_f1s`."""
    return macro_f1s(rows.y, rows.best[:, 0])[name] if rows.asked.macro_f1 else None


def l1_error(rows: Evaluated) -> float | None:
    """sum_k |p_k - N_k / N| of rows without features (one-vs-each paper, Fig. 2c)."""
    apart, _ = rows.apart
    return float(apart.sum()) if apart.size else None


def relative_error(rows: Evaluated) -> float | None:
    """Mean of |p_k - N_k / N| / (N_k / N) over the classes that occur."""
    apart, frequency = rows.apart
    occurs = frequency > 0
    return float((apart[occurs] / frequency[occurs]).mean()) if apart.size else None


BOTH: tuple[str, ...] = ("train", "test")
METRICS = (  # in the order of the columns
    Metric("log_loss", log_loss, digits=3, axis="log loss (nats)", roles=BOTH),
    Metric("error", error, axis="error (fraction)", roles=BOTH),
    Metric("log_loss_clipped", clipped, roles=()),
    Metric("log_loss_importance", by_importance, roles=()),
    Metric("log_loss_standard_error", standard_error, roles=()),
    Metric("log_loss_softmax_twice", softmax_twice, roles=()),
    Metric("hit_at_{k}", hits, direction=-1, roles=()),
    Metric("precision_at_1", partial(precision, k=1), direction=-1),
    Metric("precision_at_{k}", precision_at_k, direction=-1, roles=()),
    Metric("macro_f1", partial(f1, name="macro_f1"), direction=-1, roles=()),
    Metric("macro_f1_of_means", partial(f1, name="macro_f1_of_means"), direction=-1, roles=()),
    Metric("l1_error", l1_error, roles=()),
    Metric("relative_error", relative_error, roles=()),
)


def names() -> list[str]:
    """Metrics that are computed where their name is asked for."""
    return [metric.name for metric in METRICS if metric.of_block]


def in_tables() -> dict[str, Metric]:
    """Columns of the final table, with their metrics."""
    return {f"{role}_{it.name}": it for role in BOTH for it in METRICS if role in it.roles}


def axes() -> dict[str, str]:
    """Titles of the axes of figures, by column."""
    drawn = [metric for metric in METRICS if metric.axis]
    return {f"{role}_{it.name}": f"{role} {it.axis}" for it in drawn for role in it.roles}


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
