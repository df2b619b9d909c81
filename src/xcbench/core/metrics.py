"""Metrics over all classes; a further one is an entry of `METRICS`."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, Self, TypeVar

import numpy as np

from xcbench.core.dataset import Split
from xcbench.core.evaluation import BlockFunction, Extras, Predictions
from xcbench.core.models.model import Model, Summary
from xcbench.errors import UserError, suggestion
from xcbench.units import MIB


class Signed(Protocol):
    """A number, or an array or a frame of numbers."""

    def __neg__(self) -> Self: ...


Numbers = TypeVar("Numbers", bound=Signed)
INFINITY = float("inf")
BOTH: tuple[str, ...] = ("train", "test")
ROLES = (*BOTH, "validation")  # of rows, before the name of a metric
DEPTH = r"([1-9]\d{0,5})"  # what stands for {k} in a name
CLIP = 26.0  # of importance sampling: draws that all miss the mass of a row say nothing of its loss


@dataclass(frozen=True)
class Metric:
    """Definition of a metric: its column, direction, range and format.

    Attributes
    ----------
    name : column name after ``train_``, ``test_`` or ``validation_``; ``{k}`` is `Extras.top_k`.
    value : function that gives its value, or None.
    of_block : instead of ``value``, function of scores (B, K) and true classes (B,) that gives a
        number a row; the metric is their mean. Computed on request.
    of_best : instead of ``value``, function that gives its value for the best k classes. Computed
        on request, with a number for ``{k}`` in its name.
    direction : 1 if lower is better, else -1.
    range : lowest and highest possible value.
    digits : decimals in tables.
    axis : axis title in figures, after the role; without one, no figure shows it.
    roles : roles of rows, such as test, for which the final table shows it.
    """

    name: str
    value: Callable[[Predictions], float | None] = lambda rows: None
    of_block: BlockFunction | None = None
    of_best: Callable[[Predictions, int], float | None] | None = None
    direction: int = 1
    range: tuple[float, float] = (0.0, INFINITY)
    digits: int = 4
    axis: str = ""
    roles: tuple[str, ...] = ("test",)

    @property
    def ideal(self) -> float:
        """The best possible value."""
        return self.range[0] if self.direction > 0 else self.range[1]

    def key(self, values: Numbers) -> Numbers:
        """Sort key of values of this metric: the best one has the lowest key."""
        return values if self.direction > 0 else -values

    def matches(self, name: str) -> re.Match[str] | None:
        """Match a name of this metric, with a number for ``{k}``."""
        return re.fullmatch(self.name.replace("{k}", DEPTH), name)

    def depth(self, name: str) -> int:
        """The k in a requested name of this metric, or 0."""
        match = self.matches(name)
        return int(match[1]) if match and self.of_best else 0

    def of(self, rows: Predictions) -> Iterator[tuple[str, float | None]]:
        """Names and values for these rows; None if there is no value."""
        asked = rows.extras.metrics
        if self.of_best is not None:
            yield from ((n, self.of_best(rows, k)) for n in asked if (k := self.depth(n)))
        elif self.of_block is None:
            yield self.name.format(k=rows.extras.top_k), self.value(rows)
        elif self.name in asked:
            yield self.name, float(rows.blocks(self.of_block).mean())


def evaluate(
    model: Model, split: Split, extras: Extras | None = None, summary: Summary | None = None
) -> dict[str, float]:
    """Metrics of a model on rows, by name; empty without rows.

    ``summary`` is the result of `Model.summarise` on the rows, if already computed.
    """
    if not len(split):
        return {}
    extras = extras or Extras()
    rows = Predictions(model, split, replace(extras, depth=depth(extras.metrics)), summary)
    values = [pair for metric in METRICS for pair in metric.of(rows)]
    return {name: value for name, value in values if value is not None}


def log_loss(rows: Predictions) -> float | None:
    """Mean -log p(y | x) in nats, if the model has probabilities."""
    return float(rows.losses.mean()) if rows.probabilistic else None


def error(rows: Predictions) -> float:
    """Share of wrong predictions; the lower class wins among equal scores."""
    return float((~rows.hit[:, 0]).mean())


def clipped(rows: Predictions) -> float | None:
    """Mean of losses clipped at ``clip`` nats."""
    if not (rows.extras.clip and rows.probabilistic):
        return None
    return float(np.minimum(rows.losses, rows.extras.clip).mean())


def by_importance(rows: Predictions) -> float | None:
    """Mean clipped loss by importance sampling."""
    if rows.sampled is None:
        return None
    return float(np.minimum(rows.sampled, rows.extras.clip or CLIP).mean())


def standard_error(rows: Predictions) -> float | None:
    """Standard error of the log loss of a sample of rows; one row has none."""
    if not (rows.extras.standard_error and rows.probabilistic and len(rows.losses) > 1):
        return None
    return float(rows.losses.std(ddof=1) / np.sqrt(len(rows.losses)))


def softmax_twice(rows: Predictions) -> float | None:
    """Log loss with softmax applied to probabilities."""
    if not (rows.extras.softmax_twice and rows.probabilistic and rows.twice is not None):
        return None
    return float(rows.twice.mean())


def hits(rows: Predictions) -> float | None:
    """Share of rows whose class is among the best k; 1 - error for k = 1."""
    k = rows.extras.top_k
    return float(rows.hit[:, :k].any(axis=1).mean()) if k else None


def precision(rows: Predictions, k: int) -> float | None:
    """Precision at k: share of the best k classes that are in the label set, by original row."""
    if rows.inside is None or rows.split.sets is None:
        return None
    return float(np.average(rows.inside[:k].mean(axis=0), weights=rows.split.sets.weight))


def precision_at_k(rows: Predictions) -> float | None:
    """Precision at k, for k above 1."""
    return precision(rows, rows.extras.top_k) if rows.extras.top_k > 1 else None


def gain(
    rows: Predictions, k: int, discounted: bool = False, by_propensity: bool = False
) -> float | None:
    """Mean gain of the best k classes, divided by the highest possible; None without label sets.

    The gain of a row is sum_r v_r / log2(1 + r) over its classes at ranks r = 1..k. Without
    ``discounted`` it is sum_r v_r. Here v is 1 or the inverse propensity. Discounted gains are
    divided by the gain of min(k, labels of the row) hits with v = 1. This gives nDCG@k, PSnDCG@k
    and PSP@k as defined by the Extreme Classification Repository.
    """
    sets, weights = rows.split.sets, rows.extras.inverse_propensity
    if rows.inside is None or sets is None or (by_propensity and weights is None):
        return None
    v = weights if by_propensity and weights is not None else np.ones(rows.model.n_classes)
    discount = 1 / np.log2(np.arange(k) + 2) if discounted else np.ones(k)
    reached = discount @ (rows.inside[:k] * v[rows.best.T[:k]])
    count = np.diff(sets.start)
    row, value = np.repeat(np.arange(len(count)), count), v[sets.classes]
    best_first = np.lexsort((-value, row))
    rank = np.arange(len(row)) - np.repeat(sets.start[:-1], count)
    within = rank < k
    terms = value[best_first[within]] * discount[rank[within]]
    highest = np.bincount(row[within], terms, minlength=len(count))
    share = sets.weight
    if discounted:
        share = share / np.cumsum(discount)[np.minimum(count, k) - 1]
    return float(share @ reached / (share @ highest))


def f1(rows: Predictions, name: str) -> float | None:
    """One of `macro_f1s`."""
    return macro_f1s(rows.y, rows.best[:, 0])[name] if rows.extras.macro_f1 else None


def l1_error(rows: Predictions) -> float | None:
    """sum_k |p_k - N_k / N| of rows without features (one-vs-each paper, Fig. 2c)."""
    deviations, _ = rows.deviations
    return float(deviations.sum()) if deviations.size else None


def relative_error(rows: Predictions) -> float | None:
    """Mean of |p_k - N_k / N| / (N_k / N) over the classes that occur."""
    deviations, frequency = rows.deviations
    occurs = frequency > 0
    return float((deviations[occurs] / frequency[occurs]).mean()) if deviations.size else None


share = partial(Metric, direction=-1, range=(0.0, 1.0), roles=())  # of what is right
METRICS = (  # in the order of the columns
    Metric("log_loss", log_loss, digits=3, axis="log loss (nats)", roles=BOTH),
    Metric("error", error, range=(0.0, 1.0), axis="error (fraction)", roles=BOTH),
    Metric("log_loss_clipped", clipped, roles=()),
    Metric("log_loss_importance", by_importance, range=(-INFINITY, INFINITY), roles=()),
    Metric("log_loss_standard_error", standard_error, roles=()),
    Metric("log_loss_softmax_twice", softmax_twice, roles=()),
    share("hit_at_{k}", hits),
    share("precision_at_1", partial(precision, k=1), roles=("test",)),
    share("precision_at_{k}", precision_at_k),
    share("precision_at_{k}", of_best=precision),
    share("ndcg_at_{k}", of_best=partial(gain, discounted=True)),
    share("psp_at_{k}", of_best=partial(gain, by_propensity=True)),
    share("psndcg_at_{k}", of_best=partial(gain, discounted=True, by_propensity=True)),
    share("macro_f1", partial(f1, name="macro_f1")),
    share("macro_f1_of_means", partial(f1, name="macro_f1_of_means")),
    Metric("l1_error", l1_error, range=(0.0, 2.0), roles=()),
    Metric("relative_error", relative_error, roles=()),
)
COSTS = ("train_seconds", "predict_seconds", "row_seconds", "train_mib", "model_mib", "nonzeros")
WITHOUT_ROLE = (  # columns that other code measures
    Metric("bound", direction=-1, range=(-INFINITY, 0.0), axis="bound (nats)"),
    Metric("objective", range=(-INFINITY, INFINITY)),
    share("accuracy"),
    *map(Metric, COSTS),
)


def of_column(column: str) -> Metric:
    """Entry of a column: of ``test_ndcg_at_3_uncorrected`` that of ``ndcg_at_{k}``.

    Raises
    ------
    UserError
        If there is none, so that nothing says which of its values are better.
    """
    name = re.sub(f"^({'|'.join(ROLES)})_|_uncorrected$", "", column)
    for metrics, word in ((WITHOUT_ROLE, column), (METRICS, name)):
        for metric in metrics:
            if metric.matches(word):
                return metric
    k = next(iter(re.findall(r"\d+", column)), "5")
    names = [metric.name.replace("{k}", k) for metric in METRICS]
    columns = [f"{role}_{metric}" for role in ROLES for metric in names]
    names += [metric.name for metric in WITHOUT_ROLE]
    remedy = suggestion(column, [*columns, *names])
    remedy = remedy or f"; metrics are: {', '.join(dict.fromkeys(names))}"
    raise UserError(f"no metric '{column}' to order rows by{remedy}")


def names() -> list[str]:
    """Names of the metrics that are computed on request."""
    return [metric.name for metric in METRICS if metric.of_block or metric.of_best]


def exists(name: str) -> bool:
    """Whether a metric of this name can be requested."""
    return depth([name]) > 0 or ("{k}" not in name and name in names())


def depth(asked: Sequence[str]) -> int:
    """Number of top classes that the metrics of these names need, or 0."""
    return max((metric.depth(name) for metric in METRICS for name in asked), default=0)


def in_tables() -> dict[str, Metric]:
    """Columns of the final table, with their metrics."""
    return {
        f"{role}_{metric.name}": metric
        for role in BOTH
        for metric in METRICS
        if role in metric.roles
    }


def axes() -> dict[str, str]:
    """Titles of the axes of figures, by column."""
    drawn = [metric for metric in METRICS if metric.axis]
    with_role = {
        f"{role}_{metric.name}": f"{role} {metric.axis}"
        for metric in drawn
        for role in metric.roles
    }
    return with_role | {metric.name: metric.axis for metric in WITHOUT_ROLE if metric.axis}


def macro_f1s(y: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
    """Macro-averaged F1, over classes that occur among true or predicted ones.

    Returns
    -------
    dict
        ``macro_f1``: the mean over classes of 2 hits / (its rows + its predictions), as in
        scikit-learn. ``macro_f1_of_means``: the harmonic mean of macro-precision and macro-recall,
        as in the MEMOIR paper. A class that is never predicted has precision 0; one without rows
        has recall 0.
    """
    size = int(max(y.max(), predicted.max())) + 1
    decided = predicted[predicted >= 0]  # a recall tree that has not learnt enough tells no class
    rows, guesses = np.bincount(y, minlength=size), np.bincount(decided, minlength=size)
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
    """Seconds to predict the class of every row, number of nonzero weights, size of the model."""
    started = time.perf_counter()
    model.predict(split.X)
    seconds = time.perf_counter() - started
    columns = {"predict_seconds": seconds, "model_mib": model.nbytes / MIB}
    if model.nonzeros is not None:
        columns["nonzeros"] = float(model.nonzeros)
    return columns
