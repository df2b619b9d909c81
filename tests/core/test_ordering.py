"""Every choice by a metric takes what is truly best: scores that rank the true classes highest.

The truth is in the scores. Three models differ in how far the classes of a row lie above the
others: by much, by little, or below them.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from made_cells import make
from xcbench.board import conclusions, tuning
from xcbench.committed.results_cache import ResultsCache
from xcbench.core.dataset import LabelSets, Split
from xcbench.core.evaluation import Extras
from xcbench.core.metrics import METRICS, evaluate, in_tables, of_column
from xcbench.core.models.linear import LinearModel
from xcbench.errors import UserError
from xcbench.papers import Grid, run
from xcbench.papers.rows import stopped
from xcbench.show import charts, summary, variants
from xcbench.store import results
from xcbench.store.ordering import best_first, best_of_each, best_value, near_best

K, ROWS = 6, 80
MARGINS = {"poor": (-8.0, -2.0), "good": (3.0, 4.0), "middling": (-1.0, 3.0)}
LEVELS = list(MARGINS)
RATES = dict(zip(LEVELS, (0.1, 1.0, 10.0), strict=True))
NAMES = list(dict.fromkeys(metric.name.replace("{k}", "2") for metric in METRICS))
COLUMNS = [f"validation_{name}" for name in NAMES] + ["validation_error_uncorrected", "bound"]


def labels(rng: np.random.Generator) -> LabelSets:
    """One to three of the classes for each row."""
    sets = [np.sort(rng.permutation(K)[: rng.integers(1, 4)]) for _ in range(ROWS)]
    return LabelSets(np.cumsum([0, *map(len, sets)]), np.concatenate(sets), np.ones(ROWS))


def extras(rng: np.random.Generator) -> Extras:
    return Extras(
        metrics=tuple(f"{name}_at_2" for name in ("precision", "ndcg", "psp", "psndcg")),
        softmax_twice=True,
        top_k=2,
        macro_f1=True,
        clip=20.0,
        importance=500,
        rng=rng,
        standard_error=True,
        inverse_propensity=1 + 5 * rng.random(K),
    )


@cache
def measured(level: str) -> dict[str, float]:
    """All metrics of a model, of rows with features and of rows without."""
    rng = np.random.default_rng(0)
    sets = labels(rng)
    y = sets.classes[sets.start[:-1]]
    row = np.repeat(np.arange(ROWS), np.diff(sets.start))
    scores = 0.3 * rng.normal(size=(ROWS, K))
    margin = rng.uniform(*MARGINS[level], ROWS)
    scores[row, sets.classes] += margin[row]
    scores[np.arange(ROWS), y] += np.sign(margin)
    split = Split(np.eye(ROWS), y, sets)
    values = evaluate(LinearModel.of(scores.T, link="probit"), split, extras(rng))
    share = np.bincount(y, minlength=K) / ROWS
    mixed = {"good": share, "middling": (share + 1 / K) / 2, "poor": np.roll(np.sort(share), 3)}
    model = LinearModel.of(np.zeros((K, 0)), np.log(mixed[level]))
    values |= {
        name: value
        for name, value in evaluate(model, Split(np.zeros((ROWS, 0)), y)).items()
        if name not in values
    }
    return {f"validation_{name}": value for name, value in values.items()} | {
        "bound": -values["log_loss"],
        "validation_error_uncorrected": values["error"],
    }


def cells(column: str) -> pd.DataFrame:
    """A row for each level, each a rate of one method."""
    return pd.DataFrame(
        {
            "cell": LEVELS,
            "grid": "search",
            "dataset": "tiny",
            "method": "umax",
            "status": "done",
            "seed": 0,
            "lr": [RATES[level] for level in LEVELS],
            column: [measured(level)[column] for level in LEVELS],
        }
    )


def checkpoints(column: str) -> pd.DataFrame:
    """One cell that is poor, middling, good twice, and poor again."""
    course = ["poor", "middling", "good", "good", "poor"]
    values = [measured(level)[column] for level in course]
    return pd.DataFrame({"cell": "a", "epoch": range(5), column: values})


def test_all_metrics_are_measured() -> None:
    assert {f"validation_{name}" for name in NAMES} <= set(measured("good"))
    for metric in METRICS:  # two that have a name in common are one to those who order
        entry = of_column(metric.name.replace("{k}", "2"))
        assert (entry.direction, entry.range) == (metric.direction, metric.range)


@pytest.mark.parametrize("column", COLUMNS)
def test_the_best_rate(column: str) -> None:
    chosen = summary.at_best_rate(cells(column), column)
    assert list(chosen["cell"]) == ["good"]


@pytest.mark.parametrize("column", COLUMNS)
def test_early_stopping_takes_the_first_of_the_best_checkpoints(column: str) -> None:
    curves = checkpoints(column)
    assert list(best_of_each(curves, column, "cell")["epoch"]) == [2]
    last = curves.tail(1)
    assert list(stopped(last, curves, column)[column]) == [measured("good")[column]]


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("stopped", [False, True])
def test_a_search_tunes_by_its_criterion(column: str, stopped: bool) -> None:
    grid = Grid("search", "tuning", criterion={"umax": column}, stopped=stopped)
    rows = cells(column)
    best = rows.assign(epoch=1)[["cell", "epoch", column]]
    poor = best.assign(epoch=2, **{column: measured("poor")[column]})  # all end alike
    ends = rows.assign(**{column: poor[column]}) if stopped else rows
    tables = ResultsCache(ends, pd.concat([best, poor], ignore_index=True))
    assert run.best_settings(grid, tables) == {("tiny", "umax"): {"method.lr": RATES["good"]}}


@pytest.mark.parametrize("column", COLUMNS)
def test_the_best_alone_is_near_the_best(column: str) -> None:
    values = cells(column).set_index("cell")[column]
    assert best_value(values, column) == measured("good")[column]
    near = near_best(values, column, 0.01)
    assert list(near.index[near]) == ["good"]


@pytest.mark.parametrize("column", COLUMNS)
def test_a_better_method_gains(column: str) -> None:
    rows = [
        {"task": task, "seed": seed, "method": level, column: measured(level)[column]}
        for task in "ab"
        for seed in (0, 1)
        for level in LEVELS
    ]
    gain = conclusions.gains(pd.DataFrame(rows), "good", "middling", column)
    assert (gain > 0).all(axis=None) and gain.shape == (2, 2)


@pytest.mark.parametrize("column", COLUMNS)
def test_the_front_ends_at_the_best_quality(column: str) -> None:
    entries = cells(column).assign(train_seconds=[1.0, 3.0, 2.0]).set_index("cell")
    assert list(charts.pareto_front(entries, "train_seconds", column)) == [
        "poor",
        "middling",
        "good",
    ]
    dear = entries.assign(train_seconds=[3.0, 1.0, 2.0])
    assert list(charts.pareto_front(dear, "train_seconds", column)) == ["good"]


@pytest.mark.parametrize("name", ["log_loss", "error", "precision_at_1"])
def test_the_board_tunes_by_its_criterion(name: str) -> None:
    column = f"validation_{name}"
    rows = cells(column)
    curves = rows[["cell", column]].assign(epoch=1)
    best = tuning.best_points(rows, curves, every_label=name == "precision_at_1")
    assert best == [{"lr": RATES[level]} for level in ("good", "middling", "poor")]


@pytest.mark.parametrize("name", list(in_tables()))
def test_the_final_table_marks_the_best(name: str) -> None:
    sample = [make(level) for level in LEVELS]
    for cell in sample:
        cell.curve[name] = measured(cell.method)[f"validation_{name.partition('_')[2]}"]
    table = summary.summarise(variants.label(results.frame(sample), sample))
    assert list(table.loc[table[f"{name}_best"], "method"]) == ["good"]


@pytest.mark.parametrize(
    ("column", "meant"),
    [
        ("validation_ndgc_at_3", "validation_ndcg_at_3"),
        ("test_eror", "test_error"),
        ("macro_f2", "macro_f1"),
    ],
)
def test_a_column_without_a_metric_is_refused(column: str, meant: str) -> None:
    message = f"no metric '{column}' to order rows by; did you mean {meant}$"
    rows = cells("bound").assign(**{column: 1.0})
    with pytest.raises(UserError, match=message):
        summary.at_best_rate(rows, column)
    with pytest.raises(UserError, match=message):
        best_first(rows, column)
    with pytest.raises(UserError, match=message):
        stopped(rows, rows.drop(columns=column), column)
    with pytest.raises(UserError, match=message):
        Grid("search", criterion={"umax": column})


def test_a_clock_is_no_metric() -> None:
    with pytest.raises(UserError, match="no metric 'epoch' to order rows by; metrics are: log_los"):
        of_column("epoch")


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 10**6), scale=st.sampled_from([0.0, 1e-3, 1.0, 30.0, 1e4]))
def test_values_lie_in_the_range_of_their_metric(seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    sets = labels(rng)
    y = sets.classes[sets.start[:-1]]
    link = rng.choice(["softmax", "probit", "logistic"])
    X, empty = rng.normal(size=(ROWS, 3)), np.zeros((ROWS, 0))
    model = LinearModel.of(scale * rng.normal(size=(K, 3)), link=str(link))
    prior = LinearModel.of(np.zeros((K, 0)), scale * rng.normal(size=K))
    for values in (
        evaluate(model, Split(X, y, sets), extras(rng)),
        evaluate(prior, Split(empty, y), Extras(softmax_twice=True)),
    ):
        for name, value in values.items():
            low, high = of_column(name).range
            assert low - 1e-12 <= value <= high + 1e-12, name


@pytest.mark.parametrize("name", [name for name in NAMES if of_column(name).range == (0.0, 1.0)])
def test_perfect_predictions_have_the_ideal_share(name: str) -> None:
    """Every row has two classes, which stand first."""
    rng = np.random.default_rng(0)
    pairs = np.array([rng.permutation(K)[:2] for _ in range(ROWS)])
    sets = LabelSets(np.arange(0, 2 * ROWS + 1, 2), pairs.ravel(), np.ones(ROWS))
    scores = np.zeros((ROWS, K))
    scores[np.arange(ROWS), pairs[:, 0]], scores[np.arange(ROWS), pairs[:, 1]] = 50.0, 40.0
    rng_free = Extras(
        metrics=("precision_at_2", "ndcg_at_2", "psp_at_2", "psndcg_at_2"),
        top_k=2,
        macro_f1=True,
        inverse_propensity=np.ones(K),
    )
    values = evaluate(LinearModel.of(scores.T), Split(np.eye(ROWS), pairs[:, 0], sets), rng_free)
    assert values[name] == pytest.approx(of_column(name).ideal, abs=1e-12)
