"""Two grids side by side: which cells are a pair, and what changed between them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from made_cells import make
from workspace import Outcome, Workspace
from xcbench.store import cells, grids
from xcbench.store.cell import Cell

SEEDS = range(4)
LOSSES = {"a": [1.0, 1.1, 1.2, 1.3], "b": [0.5, 0.65, 0.6, 0.8]}


def put(workspace: Workspace, **members: list[Cell]) -> None:
    runs = workspace.path / "runs"
    for name, its in members.items():
        for cell in its:
            cells.save(runs, cell)
        grids.add(runs, name, [cell.cell for cell in its])


def compared(workspace: Workspace, *words: str) -> Outcome:
    done = workspace.xcbench("compare", *(words or ("grid=a", "grid=b"))).succeeded()
    return done


def table(done: Outcome, title: str) -> list[dict[str, str]]:
    """Rows of a table, by its columns' places under the rule."""
    lines = done.out.split(f"\n{title}", 1)[1].splitlines()[1:]
    if lines[0].strip() == "(none)":
        return []
    spans = [match.span() for match in re.finditer("-+", lines[1])]
    names, _, *rows = lines[: lines.index("")]
    ends = [start for start, _ in spans[1:]] + [None]
    places = [slice(start, end) for (start, _), end in zip(spans, ends, strict=True)]
    return [{names[at].strip(): row[at].strip() for at in places} for row in rows]


MEASURES = "measures that differ"


def test_the_effect_is_that_of_a_paired_t_test(workspace: Workspace) -> None:
    sides = {
        name: [make(seed=seed, end=LOSSES[name][seed], epochs=epochs) for seed in SEEDS]
        for name, epochs in (("a", 4.0), ("b", 8.0))
    }
    put(workspace, **sides)
    done = compared(workspace)
    assert table(done, "settings that differ") == [{"setting": "budget.epochs", "a": "4", "b": "8"}]
    loss, error = table(done, MEASURES)
    truth = stats.ttest_rel(2 * np.array(LOSSES["b"]), 2 * np.array(LOSSES["a"]))
    interval = truth.confidence_interval(0.95)
    shown = [float(loss[name]) for name in ("b - a", "low", "high")]
    mean = 2 * (np.mean(LOSSES["b"]) - np.mean(LOSSES["a"]))
    assert shown == pytest.approx([mean, interval.low, interval.high], rel=1e-4)
    assert (loss["metric"], loss["seeds"], loss["b is"]) == ("test_log_loss", "4", "better")
    assert float(error["b - a"]) == pytest.approx(mean / 10, rel=1e-4)
    turned = compared(workspace, "grid=b,a")
    assert table(turned, MEASURES)[0]["b is"] == "worse"
    assert float(table(turned, MEASURES)[0]["b - a"]) == pytest.approx(-mean, rel=1e-4)


def test_only_what_changed_is_printed_and_what_is_clear_comes_first(workspace: Workspace) -> None:
    def side(epochs: float, change: dict[float, list[float]]) -> list[Cell]:
        return [
            make(lr=lr, seed=seed, end=1 + 0.1 * seed + change[lr][seed], epochs=epochs)
            for lr in (0.1, 0.2, 0.3)
            for seed in SEEDS
        ]

    none = dict.fromkeys((0.1, 0.2, 0.3), [0.0] * 4)
    unclear, clear = [0.1, -0.1, 0.3, -0.2], [0.2, 0.25, 0.2, 0.3]
    put(workspace, a=side(4.0, none), b=side(8.0, {**none, 0.1: unclear, 0.3: clear}))
    rows = table(compared(workspace), MEASURES)
    assert [(row["method.lr"], row["b is"]) for row in rows] == [
        ("0.3", "worse"), ("0.3", "worse"), ("0.1", ""), ("0.1", ""),
    ]  # fmt: skip
    done = compared(workspace, "grid=a", "grid=b", "lr=0.2")
    assert table(done, MEASURES) == []
    assert "without a difference in any common seed: 2" in done.out


def test_settings_are_compared_within_a_dataset_and_a_method(workspace: Workspace) -> None:
    """The default rate of one method changed: it differs, those of the other methods do not."""
    common = [make("ove", 0.1, seed, end=1.0) for seed in SEEDS]
    put(
        workspace,
        a=[*common, *(make("umax", 0.1, seed, end=1.0, negatives=5) for seed in SEEDS)],
        b=[*common, *(make("umax", 0.2, seed, end=0.9, negatives=5) for seed in SEEDS)],
    )
    done = compared(workspace)
    assert table(done, "settings that differ") == [{"setting": "method.lr", "a": "0.1", "b": "0.2"}]
    assert {row["method"] for row in table(done, MEASURES)} == {"umax"}
    assert "2 pairs of settings" in done.out and "partner" not in done.out


def test_two_methods_are_compared_at_equal_rates(workspace: Workspace) -> None:
    put(
        workspace,
        a=[make("ove", lr, seed) for lr in (0.1, 1.0) for seed in SEEDS],
        b=[make("umax", lr, seed, end=0.9, negatives=5) for lr in (0.1, 2.0) for seed in SEEDS],
    )
    done = compared(workspace)
    assert table(done, "settings that differ") == [
        {"setting": "method", "a": "ove", "b": "umax"},
        {"setting": "method.negatives", "a": "none", "b": "5"},
    ]
    assert {row["metric"] for row in table(done, MEASURES)} == {"test_log_loss", "test_error"}
    assert re.search(r"4 cells of a without a partner .* lr=1 ", done.out)
    assert re.search(r"4 cells of b without a partner .* lr=2 ", done.out)


def test_what_did_not_end_and_what_ran_once(workspace: Workspace) -> None:
    put(
        workspace,
        a=[make(seed=seed, end=LOSSES["a"][seed]) for seed in SEEDS],
        b=[
            *(make(seed=seed, end=LOSSES["b"][seed], epochs=8.0) for seed in (0, 1, 2)),
            make(seed=3, status="diverged", epochs=8.0),
        ],
    )
    done = compared(workspace)
    (status,) = table(done, "statuses that differ")
    assert (status["seed"], status["a"], status["b"]) == ("3", "done", "diverged")
    assert {row["seeds"] for row in table(done, MEASURES)} == {"3"}
    put(workspace, once=[make(seed=0, end=0.7, epochs=2.0)])
    loss, _ = table(compared(workspace, "grid=a", "grid=once"), MEASURES)
    assert float(loss["b - a"]) == pytest.approx(2 * (0.7 - np.mean(LOSSES["a"])), rel=1e-4)
    assert loss["seeds"] == "4"


def test_several_cells_of_a_pair_are_left_out(workspace: Workspace) -> None:
    put(
        workspace,
        a=[make(lr=lr, seed=seed) for lr in (0.1, 0.2) for seed in SEEDS],
        b=[make(lr=0.3, seed=seed, end=0.9) for seed in SEEDS],
    )
    done = compared(workspace)
    assert table(done, MEASURES) == [] and "0 pairs" in done.out
    assert "8 cells of a left out" in done.out and "4 cells of b left out" in done.out


def test_other_measures_and_mistakes(workspace: Workspace, tmp_path: Path) -> None:
    put(workspace, a=[make(seed=seed) for seed in SEEDS])
    put(workspace, b=[make(seed=seed, epochs=8.0) for seed in SEEDS])
    done = compared(workspace, "grid=a", "grid=b", "metric=train_seconds")
    (line,) = table(done, MEASURES)
    assert (line["a"], line["b"], line["b is"]) == ("2", "4", "worse")
    for words, mention in (
        (("grid=a",), "needs two grids"),
        (("grid=a", "grid=b", "grid=a"), "needs two grids"),
        (("grid=a", "grid=none"), "no grid 'none'"),
        (("grid=a", "grid=b", "metric=test_eror"), "did you mean test_error"),
        (("grid=a", "grid=b", "metric=test_macro_f1"), "no cell of these grids has a column"),
        (("grid=a", "grid=b", "nope=1"), "no column 'nope'"),
        (("grid=a", "grid=b", "checkpoint=first"), "it must be best or last"),
        ((), "CELL CELL, or grid=NAME grid=NAME"),
    ):
        workspace.xcbench("compare", *words).refused(mention)
