"""The board: its search, its statistics, and what rests on them."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from matplotlib.figure import Figure

from xcbench.board import (
    advice,
    checks,
    conclusions,
    protocol,
    results,
    tables,
    tuning,
    variance,
)
from xcbench.board.advice import Needs
from xcbench.board.comparison import Comparison
from xcbench.config.settings import Config
from xcbench.core.dataset import Dataset, Info, LabelSets, Split
from xcbench.methods import registry
from xcbench.methods.method import default_rate
from xcbench.show import pictures, ranks
from xcbench.show.effects import Effect
from xcbench.store.ordering import best_of_each
from xcbench.train.clock import Stopwatch

PROTOCOL = protocol.read()


def small_info() -> Info:
    return Info("small", "0", False, 100, 10, 20, 8, True, 5.0, 1.0, 1.0, 0.5, 0.3, 2.0, 0.7)


def drawn(name: str) -> list[Config]:
    method = registry.find(name).thing
    settings = Config(method=method.schema(name=name))
    return tuning.trials(PROTOCOL, settings, small_info())


@pytest.mark.parametrize("name", ["umax", "ove", "softmax", "svm_ovr", "fastxml", "memoir_l1"])
def test_methods_have_the_same_number_of_trials_and_the_first_is_the_default(name: str) -> None:
    points = [point.method for point in drawn(name)]
    assert len(points) == PROTOCOL.trials
    assert points[0] == registry.find(name).thing.schema(name=name)
    assert len({repr(point) for point in points}) == len(points)


def test_rates_lie_around_the_default_one_and_decay_within_its_range() -> None:
    umax = registry.find("umax").thing
    centre = default_rate(umax, umax.schema(name="umax"), small_info())
    for point in drawn("umax")[1:]:
        assert abs(np.log10(point.method.lr / centre)) <= PROTOCOL.rate_decades + 0.01
        assert PROTOCOL.decay[0] <= point.method.l2 <= PROTOCOL.decay[1]


def test_the_class_prior_has_nothing_to_tune() -> None:
    assert len(drawn("prior")) == 1


def test_early_stopping_takes_the_first_best_checkpoint_of_every_cell() -> None:
    curves = pd.DataFrame(
        {"cell": list("aaabb"), "validation_error": [0.5, 0.2, 0.2, 0.1, 0.3], "n": range(5)}
    )
    assert best_of_each(curves, "validation_error", "cell")["n"].tolist() == [1, 3]


def test_the_critical_difference_is_that_of_demsar() -> None:
    # Demšar 2006, section 3.2.2: q = 2.569 for four classifiers, on 14 datasets 1.25.
    values = pd.DataFrame(np.random.default_rng(0).random((14, 4)), columns=list("abcd"))
    result = ranks.ranks(values, "test_error")
    assert result is not None
    assert result.difference == pytest.approx(1.25, abs=0.005)
    assert result.average.sum() == pytest.approx(10)


def test_a_method_without_a_number_ranks_last() -> None:
    values = pd.DataFrame({"a": [1.0, 2.0], "b": [2.0, np.nan], "c": [3.0, 1.0]})
    result = ranks.ranks(values, "test_error")
    assert result is not None
    assert result.average.to_dict() == {"a": 1.5, "c": 2.0, "b": 2.5}


def test_a_front_has_whom_nobody_dominates() -> None:
    rng = np.random.default_rng(1)
    cost, quality = (pd.Series(rng.integers(0, 8, 30)) for _ in range(2))
    dominated = [
        any((cost[j] <= cost[i]) and (quality[j] >= quality[i])
            and (cost[j] < cost[i] or quality[j] > quality[i]) for j in cost.index)
        for i in cost.index
    ]  # fmt: skip
    entries = pd.DataFrame({"train_seconds": cost, "accuracy": quality})
    front = ranks.front(entries, "train_seconds", "accuracy")
    assert not any(dominated[i] for i in front)
    points = {(cost[i], quality[i]) for i in cost.index if not dominated[i]}
    assert {(cost[i], quality[i]) for i in front} == points


def test_a_front_begins_at_the_cheapest_even_if_it_is_never_right() -> None:
    entries = pd.DataFrame({"model_mib": [1.0, 2.0, 3.0], "accuracy": [0.0, 0.0, 0.5]})
    assert list(ranks.front(entries, "model_mib", "accuracy")) == [0, 2]


@pytest.mark.parametrize(
    ("places", "groups"),
    [
        ([1.0, 2.0, 3.0, 5.0], [(0, 1), (1, 2)]),  # at most 1.5 apart
        ([1.0, 1.2, 1.4], [(0, 2)]),  # the second and third are part of it
        ([1.0, 3.0, 5.0], []),
        ([1.0, 3.0, 4.0], [(1, 2)]),
    ],
)
def test_methods_that_do_not_differ_form_groups_none_of_which_is_in_another(
    places: list[float], groups: list[tuple[int, int]]
) -> None:
    assert ranks.cliques(ranks.Ranks(pd.Series(places), 1.5, 0.01, 4)) == groups


def test_a_conclusion_survives_where_it_holds_on_all_tasks() -> None:
    assert conclusions.verdict(Effect(1, 0.5, 1.5, 5), 4, 4) == "survives"
    assert conclusions.verdict(Effect(1, 0.5, 1.5, 5), 3, 4) == "depends on the task"
    assert conclusions.verdict(Effect(-1, -2, -0.5, 5), 0, 4) == "does not survive"
    assert conclusions.verdict(Effect(1, 0.5, 1.5, 5), 1, 1) == "too few tasks"


def test_the_reference_is_exact_softmax_where_it_has_a_result() -> None:
    accuracies = {("a", "softmax"): 0.7, ("a", "ove"): 0.8, ("b", "softmax"): np.nan,
                  ("b", "ove"): 0.5, ("b", "umax"): 0.6, ("c", "ove"): np.nan}  # fmt: skip
    tasks, methods = zip(*accuracies, strict=True)
    summary = pd.DataFrame({"task": tasks, "method": methods, "accuracy": accuracies.values()})
    assert results.references(summary) == {"a": "softmax", "b": "umax"}
    assert results.substitutes(summary).keys() == {"b"}


def test_differences_are_those_from_the_reference_of_the_task() -> None:
    numbers = {("a", "softmax"): (0.7, 0.5), ("a", "ove"): (0.8, 0.9), ("b", "ove"): (0.5, 0.4),
               ("b", "umax"): (0.6, 0.7)}  # fmt: skip
    rows = [
        {"task": task, "method": method, "seed": seed, "accuracy": number, "test_log_loss": np.nan}
        for (task, method), pair in numbers.items()
        for seed, number in enumerate(pair)
    ]
    finals = pd.DataFrame(rows)
    summary = finals.groupby(["task", "method"], as_index=False)["accuracy"].mean()
    nothing = pd.DataFrame()
    board = results.Board(PROTOCOL, nothing, finals, nothing, summary)
    table = tables.differences(board).set_index(["task", "method"])
    assert table["reference"].to_dict() == {("a", "ove"): "softmax", ("b", "ove"): "umax"}
    assert table["difference"].to_dict() == pytest.approx({("a", "ove"): 0.25, ("b", "ove"): -0.2})
    assert set(table["measure"]) == {"accuracy"}


def test_advice_takes_the_fastest_of_those_about_as_good() -> None:
    table = pd.DataFrame(
        {
            "method": ["slow", "fast", "bad", "sure"],
            "accuracy": [0.9, 0.895, 0.5, 0.8],
            "test_log_loss": [np.nan, np.nan, np.nan, 0.4],
            "train_seconds": [9.0, 1.0, 0.1, 2.0],
            "model_mib": 1.0,
            "row_seconds": 1e-6,
        }
    )
    chosen = {
        "fast": Needs(),
        "sure": Needs(probabilities=True),
        "bad": Needs(seconds=0.5),
    }
    for name, needs in chosen.items():
        result = advice.choice(table, needs)
        assert result is not None and result["method"] == name
    assert advice.choice(table, Needs(mib=0.1)) is None
    equal = table.assign(accuracy=0.9, test_log_loss=[np.nan, 0.5, 0.3, 0.4], train_seconds=1.0)
    best = advice.choice(equal, Needs())
    assert best is not None and best["method"] == "bad"  # of the lowest log loss


def test_rows_of_one_article_stay_together_when_some_are_set_aside() -> None:
    labels = [[0, 1], [1, 2, 3], [2], [0, 3], [1, 3]]
    flat = np.array([k for row in labels for k in row])
    article = np.repeat(np.arange(len(labels)), [len(row) for row in labels])
    sets = [labels[a] for a in article]
    start = np.cumsum([0, *map(len, sets)])
    own = LabelSets(start, np.concatenate(sets), 1 / np.array([len(row) for row in sets]))
    X = sp.csr_array(article[:, None].astype(np.float32))
    train = Split(X, flat, own)
    whole = Dataset(replace(small_info(), train=len(flat)), train, train, np.bincount(flat))
    for seed in range(5):
        held = whole.held_out(0.4, seed)
        assert held.validation is not None
        aside, kept = ({*part.X.toarray().ravel()} for part in (held.validation, held.train))
        assert not aside & kept
        assert len(held.train) + len(held.validation) == len(train)
        assert held.class_counts.sum() == held.info.train == len(held.train)


def test_the_clock_of_the_processor_stands_still_while_nothing_is_computed() -> None:
    with Stopwatch(processor=True) as clock, clock.running():
        time.sleep(0.1)
    assert clock.seconds < 0.05


def test_the_protocol_is_written_as_its_file_has_it(tmp_path: Path) -> None:
    protocol.write(tmp_path)
    text = (tmp_path / "PROTOCOL.md").read_text()
    assert f"- {PROTOCOL.trials} trials a method and task" in text
    assert all(f"| {task.name} |" in text for task in PROTOCOL.tasks)


def test_curves_are_compared_at_the_checkpoints_that_both_have() -> None:
    old = pd.DataFrame({"epoch": [0.0, 1.0, 2.0], "test_error": [0.9, 0.5, 0.4]})
    near = pd.DataFrame({"epoch": [0.0, 1.0, 1.7], "test_error": [0.9, 0.6, 0.1]})
    assert checks.difference(old, near, ["test_error"]) == pytest.approx(0.1)
    assert checks.difference(old, old, ["test_error"]) == 0
    assert checks.difference(old, near[:1], ["test_error"]) == np.inf


def test_what_choices_are_worth(tmp_path: Path) -> None:
    """Shares of a balanced design, against sums of squares by hand, at the best rates alone."""
    pytest.importorskip("statsmodels", reason="the extra board is not installed")
    names, rng = ("method", "method.sampler", "method.optimizer"), np.random.default_rng(0)
    index = pd.MultiIndex.from_product([["nce", "ove"], ["tree", "uniform"], ["ar", "sgd"]])
    rows = []
    for place, levels in enumerate(index):
        for lr, worse in ((0.1, 0.0), (1.0, 5.0)):
            for seed in range(3):
                y = 0.5 * (levels[0] == "nce") + 0.1 * place + worse + 0.01 * rng.normal()
                row = dict(zip(names, levels, strict=True)) | {"lr": lr, "seed": seed, "y": y}
                losses = dict.fromkeys(("test_log_loss", "validation_log_loss"), np.exp(y))
                row |= {"status": "done", "objective": y, "observations": 9}  # objective: a metric
                rows.append(row | losses)
    frame = pd.DataFrame(rows)
    (tmp_path / "board").mkdir()
    never = frame[:1].assign(**{"method.sampler": "slow", "observations": 0})
    pd.concat([frame, never]).to_csv(tmp_path / "board" / "crossed.csv", index=False)
    shares = variance.choices(tmp_path).set_index("choice")["share of squares"]
    best = frame[frame["lr"] == 0.1]
    squares = (best["y"] - best["y"].mean()).pow(2).sum()
    for name, factor in zip(names, ("objective", "sampler", "optimizer"), strict=True):
        between = best.groupby(name)["y"].transform("mean") - best["y"].mean()
        assert shares[factor] == pytest.approx(between.pow(2).sum() / squares, abs=1e-6)
    assert shares.sum() == pytest.approx(1)


def test_the_last_digit_of_a_layout_does_not_change_a_figure(tmp_path: Path) -> None:
    drawn = []
    for shift in (0.0, 1e-13):  # another processor rounds otherwise
        fig = Figure()
        ax = fig.add_axes((0.1 + shift, 0.1, 0.8, 0.8))
        ax.plot([0, 1], [0, 1], "o-", label="a line")
        ax.legend()
        drawn.append(pictures.write(fig, tmp_path / "line.png"))
    assert "clip-path" in drawn[0] and drawn[0] == drawn[1]


def test_a_comparison_spends_six_tenths_of_its_time_on_defaults(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, ran = [0.0], []

    class Timed(Comparison):
        """Every cell takes 20 seconds."""

        table = pd.DataFrame()

        def _prepared(self):
            return None

        def _jobs(self, method, info):
            return [SimpleNamespace(cell=SimpleNamespace(method=method))]

        def _drawn(self, info):
            return iter(self._jobs("drawn", info) * 9)

        def _run(self, job):
            ran.append(job.cell.method)
            self.entries[job.cell.method] = {}
            now[0] += 20
            return "done"

    monkeypatch.setattr("time.monotonic", lambda: now[0])
    task = protocol.Task("own", ())
    Timed(None, task, 90, Needs(), list("abcdefg")).run()  # type: ignore[arg-type]
    assert ran == ["a", "b", "c", "drawn", "drawn"]  # to 54 s, and to 90 s
