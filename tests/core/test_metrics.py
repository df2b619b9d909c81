"""What is measured of scores and of weights."""

import numpy as np
import pytest
from test_solvers import fit

from xcbench.core import metrics
from xcbench.core.dataset import LabelSets, Split
from xcbench.core.evaluation import Extras
from xcbench.core.metrics import Metric
from xcbench.core.models.linear import LinearModel
from xcbench.methods.ove import OneVsEachOptions
from xcbench.papers.ove import experiments

REALS = (-np.inf, np.inf)


def test_softmax_twice_is_the_published_baselines_number(digits):
    model, _ = fit(digits, OneVsEachOptions(name="ove", lr=0.05), dtype="float32")
    measures = metrics.evaluate(model, digits.test, Extras(softmax_twice=True))
    scores = np.asarray(digits.test.X, float) @ model.V.T.astype(float) + model.b
    probability = np.exp(scores - scores.max(axis=1, keepdims=True))
    probability /= probability.sum(axis=1, keepdims=True)
    true = probability[np.arange(360), digits.test.y]
    expected = np.log(np.exp(probability).sum(axis=1)) - true
    assert measures["log_loss_softmax_twice"] == pytest.approx(expected.mean(), rel=1e-6)
    assert measures["log_loss"] == pytest.approx(-np.log(true).mean(), rel=1e-5)
    lowest = np.log(9 + np.e) - 1
    assert lowest <= measures["log_loss_softmax_twice"] <= lowest + 1


@pytest.mark.parametrize("k", [1, 3, 10])
def test_hits_are_counted_in_the_order_of_the_scores(digits, k):
    model, _ = fit(digits, OneVsEachOptions(name="ove", lr=0.05), dtype="float32")
    model.V[7], model.b[7] = model.V[3], model.b[3]  # two classes that always tie
    measures = metrics.evaluate(model, digits.test, Extras(top_k=k))
    scores = np.concatenate([block for _, block in model.passes(digits.test.X)])
    best = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    assert measures[f"hit_at_{k}"] == (best == digits.test.y[:, None]).any(axis=1).mean()
    if k == 1:
        assert measures["hit_at_1"] == pytest.approx(1 - measures["error"])
    without = metrics.evaluate(model, digits.test)
    assert without == {name: measures[name] for name in ("log_loss", "error")}


@pytest.mark.parametrize("k", [1, 3])
def test_precision_counts_the_labels_among_the_best(k):
    rng = np.random.default_rng(0)
    model = LinearModel.of(rng.normal(size=(6, 4)), rng.normal(size=6))
    own = [set(rng.permutation(6)[: rng.integers(1, 4)].tolist()) for _ in range(50)]
    X = rng.normal(size=(50, 4))
    pairs = [(i, c) for i in range(50) for c in sorted(own[i])]  # a row per label
    sets = LabelSets(
        np.cumsum([0, *(len(own[i]) for i, _ in pairs)]),
        np.concatenate([sorted(own[i]) for i, _ in pairs]),
        np.array([1 / len(own[i]) for i, _ in pairs]),
    )
    split = Split(X[[i for i, _ in pairs]], np.array([c for _, c in pairs]), sets)
    measures = metrics.evaluate(model, split, Extras(top_k=k))
    scores = X @ model.V.T + model.b
    best = [np.argsort(-row)[:k].tolist() for row in scores]
    expected = np.mean([len(own[i] & set(best[i])) / k for i in range(50)])
    assert measures[f"precision_at_{k}"] == pytest.approx(expected)
    assert 1 - measures["error"] <= sets.weight.mean()  # the ceiling


@pytest.mark.parametrize("k", [1, 3, 5])
def test_ranking_metrics_are_sums_over_ranks(k):
    """Each row by loops; the weighted ones over what the best order of the own labels gains."""
    rng = np.random.default_rng(1)
    model = LinearModel.of(rng.normal(size=(7, 4)), rng.normal(size=7))
    own = [sorted(rng.permutation(7)[: rng.integers(1, 7)].tolist()) for _ in range(40)]
    X, v = rng.normal(size=(40, 4)), 1 + 5 * rng.random(7)
    sets = LabelSets(np.cumsum([0, *map(len, own)]), np.concatenate(own), np.ones(40))
    split = Split(X, np.array([labels[0] for labels in own]), sets)
    hits, ndcg = [], []
    gained = {"psp": [], "psndcg": []}
    best_possible = {"psp": [], "psndcg": []}
    for row, labels in zip(X @ model.V.T + model.b, own, strict=True):
        best = np.argsort(-row)[:k].tolist()
        heaviest = sorted(labels, key=lambda c: -v[c])[:k]
        ideal = sum(1 / np.log2(2 + r) for r in range(min(k, len(labels))))
        hits.append(len({*best} & {*labels}) / k)
        ndcg.append(sum(1 / np.log2(2 + r) for r, c in enumerate(best) if c in labels) / ideal)
        for result, order in ((gained, [c if c in labels else -1 for c in best]),
                             (best_possible, heaviest)):  # fmt: skip
            result["psp"].append(sum(v[c] for c in order if c >= 0) / k)
            terms = [v[c] / np.log2(2 + r) for r, c in enumerate(order) if c >= 0]
            result["psndcg"].append(sum(terms) / ideal)
    expected = {f"precision_at_{k}": np.mean(hits), f"ndcg_at_{k}": np.mean(ndcg)}
    expected |= {f"{n}_at_{k}": np.sum(gained[n]) / np.sum(best_possible[n]) for n in gained}
    extras = Extras(metrics=tuple(expected), inverse_propensity=v, top_k=2)
    result = metrics.evaluate(model, split, extras)
    for name, value in expected.items():
        assert result[name] == pytest.approx(value, abs=1e-12)
    assert result["hit_at_2"] == metrics.evaluate(model, split, Extras(top_k=2))["hit_at_2"]
    # a row a label, together as heavy as the row was: the same numbers
    count = np.diff(sets.start)
    row = np.repeat(np.arange(40), count)
    each = LabelSets(
        *(getattr(sets.take(row), name) for name in ("start", "classes")), 1 / count[row]
    )
    many = metrics.evaluate(model, Split(X[row], sets.classes, each), extras)
    for name, value in expected.items():
        assert many[name] == pytest.approx(value, abs=1e-12)


def test_names_of_ranking_metrics_hold_a_number():
    assert metrics.exists("precision_at_1") and metrics.depth(["precision_at_1"]) == 1
    assert metrics.exists("ndcg_at_10") and metrics.depth(["ndcg_at_10", "psp_at_3"]) == 10
    for name in ("ndcg_at_0", "ndcg_at_{k}", "ndcg_at_x", "ndcg", "error"):
        assert not metrics.exists(name)


def margins(scores, y):
    """By how much the class of a row lies above the best other one."""
    row, others = np.arange(len(y)), scores.copy()
    others[row, y] = -np.inf
    return scores[row, y] - others.max(axis=1)


def test_a_further_metric_is_one_entry(digits, monkeypatch):
    entry = Metric("margin", of_block=margins, direction=-1, range=REALS, digits=2, axis="margin")
    monkeypatch.setattr(metrics, "METRICS", (*metrics.METRICS, entry))
    monkeypatch.setattr("xcbench.core.models.model.BLOCK_SCORES", 500)  # several blocks
    rng = np.random.default_rng(0)
    model = LinearModel.of(rng.normal(size=(10, 64)), rng.normal(size=10))
    assert "margin" not in metrics.evaluate(model, digits.test)
    measures = metrics.evaluate(model, digits.test, Extras(metrics=("margin",)))
    scores = np.sort(digits.test.X @ model.V.T + model.b, axis=1)
    ahead = scores[:, -1] - scores[:, -2]  # of the winner; what the true class lacks is below it
    right = model.predict(digits.test.X) == digits.test.y
    true = (digits.test.X @ model.V.T + model.b)[np.arange(360), digits.test.y]
    assert measures["margin"] == pytest.approx(np.where(right, ahead, true - scores[:, -1]).mean())
    assert "margin" in metrics.names() and "test_margin" in metrics.in_tables()
    assert metrics.axes()["test_margin"] == "test margin"
    assert metrics.of_column("validation_margin") == entry


def test_param_norm_is_equation_17():
    soft = {"W": np.array([[1.0, -2.0], [0.5, 0.0]]), "b": np.array([1.0, -1.0])}
    other = {"W": np.array([[1.5, -2.0], [0.5, -1.0]]), "b": np.array([3.0, -1.0])}
    assert experiments.param_norm(soft, other) == pytest.approx(3.5 / 5.5)
    assert experiments.param_norm(soft, other, biases=False) == pytest.approx(1.5 / 3.5)
    assert experiments.param_norm(soft, soft) == 0
    with pytest.raises(ValueError, match="has no b"):
        experiments.param_norm(soft, {"W": other["W"]})
    with pytest.raises(ValueError, match="shapes"):
        experiments.param_norm(soft, {"W": other["W"][:1]}, biases=False)
