"""Tables of a report: means over seeds, best rates, variants of methods and datasets."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from made_cells import NAN, grid, make
from xcbench.show import final_table, summary, variants
from xcbench.show.formats import mean_spread, seconds
from xcbench.store import results
from xcbench.store.cell import Cell


def table_of(*sample: Cell) -> pd.DataFrame:
    return summary.summarise(variants.label(results.frame(sample), sample))


def only_row(*sample: Cell) -> pd.Series:
    table = table_of(*sample)
    assert len(table) == 1
    return table.iloc[0]


# ---------------------------------------------------------------- the table
def test_mean_and_spread_over_seeds_by_hand():
    row = only_row(*(make(seed=seed, end=end) for seed, end in enumerate((1.0, 1.2, 1.7))))
    assert row["seeds"] == 3
    assert row["train_log_loss"] == pytest.approx(1.3)
    assert row["train_log_loss_spread"] == pytest.approx(math.sqrt((0.09 + 0.01 + 0.16) / 2))
    assert row["test_log_loss"] == pytest.approx(2.6)
    assert row["train_error"] == pytest.approx(0.13)
    assert row["test_error_spread"] == pytest.approx(math.sqrt(0.13) / 5)
    assert (row["epoch"], row["train_seconds"]) == (4.0, 2.0)
    assert row["status"] == "done"


def test_one_seed_has_no_spread():
    assert math.isnan(only_row(make())["train_log_loss_spread"])


def test_best_rate_has_the_lowest_mean_training_loss():
    row = only_row(
        make(lr=0.01, seed=0, end=1.4),
        make(lr=0.01, seed=1, end=1.4),
        make(lr=0.1, seed=0, end=1.0),  # the lowest single value, not the lowest mean
        make(lr=0.1, seed=1, end=2.0),
        make(lr=1.0, seed=0, end=1.6),
        make(lr=1.0, seed=1, end=1.6),
    )
    assert row["lr"] == 0.01


def test_rate_with_a_diverged_seed_loses_to_a_complete_one():
    row = only_row(
        make(lr=0.01, seed=0, end=1.5),
        make(lr=0.01, seed=1, end=1.5),
        make(lr=0.1, seed=0, end=1.0),
        make(lr=0.1, seed=1, status="diverged"),
    )
    assert (row["lr"], row["status"]) == (0.01, "done")


def test_without_a_complete_rate_the_best_available_is_shown_as_diverged():
    sample = [make(lr=0.1, seed=0, end=1.1), make(lr=0.1, seed=1, status="diverged")]
    other = make("nce", 0.1, 0, end=1.9)
    table = table_of(*sample, other).set_index("method")
    assert table.loc["umax", "status"] == "1 done, 1 diverged"
    assert table.loc["umax", "train_log_loss"] == pytest.approx(1.1)
    assert not table.loc["umax", "train_log_loss_best"]  # survivors alone win no prize
    assert table.loc["nce", "train_log_loss_best"]


def test_timeout_counts_as_ended():
    row = only_row(make(seed=0), make(seed=1, status="timeout"))
    assert row["status"] == "1 done, 1 timeout"
    assert row["train_log_loss_best"]


@pytest.mark.parametrize(
    ("ends", "edge"),
    [((1.0, 1.5, 2.0), "lower"), ((1.5, 1.0, 2.0), ""), ((2.0, 1.5, 1.0), "upper"), ((1.0,), "")],
)
def test_edge_of_the_grid(ends, edge):
    rates = (0.01, 0.1, 1.0)
    row = only_row(*(make(lr=lr, end=end) for lr, end in zip(rates, ends, strict=False)))
    assert row["edge"] == edge


def test_a_diverged_rate_belongs_to_the_grid_and_a_skipped_one_does_not():
    sample = [make(lr=0.01, end=1.5), make(lr=0.1, end=1.0)]
    assert only_row(*sample, make(lr=1.0, status="diverged"))["edge"] == ""
    assert only_row(*sample, make(lr=1.0, status="skipped"))["edge"] == "upper"


@pytest.mark.parametrize("status", ["diverged", "failed", "skipped"])
def test_method_without_any_result_leaves_a_row(status):
    row = only_row(
        make(lr=0.1, status=status, message="reason"), make(lr=1.0, status=status, message="reason")
    )
    assert row["status"] == status
    assert ("reason" in row["message"]) == (status != "diverged")
    assert "at every rate: 0.1, 1" in row["message"]
    assert math.isnan(row["train_log_loss"]) and math.isnan(row["lr"])
    assert row["edge"] == ""


def test_rates_without_a_training_loss_are_not_averaged():
    sample = [make(lr=0.1), make(lr=1.0)]
    for cell in sample:
        cell.curve["train_log_loss"] = NAN
    row = only_row(*sample)
    assert math.isnan(row["test_log_loss"]) and math.isnan(row["lr"])


def test_best_is_marked_per_dataset_and_metric():
    table = table_of(
        make("umax", end=1.0),
        make("nce", end=1.5),
        make("umax", dataset="other", end=1.7),
        make("nce", dataset="other", end=1.6),
    )
    best = table[table["test_error_best"]]
    assert list(zip(best["dataset"], best["method"], strict=True)) == [
        ("other", "nce"),
        ("tiny", "umax"),
    ]


def test_method_without_a_rate():
    row = only_row(make("softmax", None, 0, end=0.8), make("softmax", None, 1, end=0.8))
    assert math.isnan(row["lr"]) and row["seeds"] == 2
    assert row["train_log_loss"] == pytest.approx(0.8)


# ---------------------------------------------------------------- variants
@pytest.mark.parametrize(
    ("other", "labels"),
    [
        ({"negatives": 10}, ["umax (negatives=5)", "umax (negatives=10)"]),
        ({"negatives": 5, "version": 2}, ["umax (version=1)", "umax (version=2)"]),
        ({"negatives": 5, "epochs": 8.0}, ["umax (epochs=4)", "umax (epochs=8)"]),
        ({"negatives": 5, "engine": "numpy"}, ["umax (engine=numba)", "umax (engine=numpy)"]),
        ({"negatives": 5, "bias": False}, ["umax (bias=false)", "umax (bias=true)"]),
    ],
)
def test_method_variants_are_never_averaged(other, labels):
    table = table_of(make(end=1.0, negatives=5), make(end=3.0, **other))
    assert list(table["method"]) == labels
    assert sorted(table["train_log_loss"]) == pytest.approx([1.0, 3.0])


def test_dataset_variants_are_never_averaged():
    table = table_of(make(end=1.0), make(end=3.0, protocol="l2"))
    assert list(table["dataset"]) == ["tiny (row_norm=l2)", "tiny (row_norm=none)"]
    assert set(table["method"]) == {"umax"}


def test_settings_that_differ_between_methods_or_datasets_alone_are_no_variant():
    table = table_of(
        make("umax", negatives=5, lr_decay=0.9),
        make("nce", negatives=1),
        make("nce", negatives=1, dataset="other", protocol="l2", epochs=50.0),
    )
    assert set(table["method"]) == {"umax", "nce"}
    assert set(table["dataset"]) == {"tiny", "other"}


# ---------------------------------------------------------------- formats
@pytest.mark.parametrize(
    ("mean", "spread", "shown"),
    [
        (1.2344, 0.0051, "1.234 ± 0.005"),
        (1.2344, NAN, "1.234"),
        (NAN, NAN, "–"),
        (0.0, 0.0, "0.000 ± 0.000"),
        (0.00012, 0.00003, "1.2e-04 ± 3.0e-05"),
        (1.5e7, 2e6, "1.5e+07 ± 2.0e+06"),
    ],
)
def test_mean_spread(mean, spread, shown):
    assert mean_spread(mean, spread, 3) == shown


@pytest.mark.parametrize(
    ("value", "shown"), [(0.01234, "0.0123"), (4.1, "4.10"), (99.99, "100"), (1234.5, "1234")]
)
def test_seconds(value, shown):
    assert seconds(value) == shown


def test_terminal_table():
    text = final_table.terminal(table_of(*grid()))
    lines = {line.split()[1]: line for line in text.splitlines() if line.startswith("tiny")}
    assert "0.900 *" in lines["softmax"]
    assert "0.01 (lower edge)" in lines["vanilla"]
    assert "failed: ValueError" in lines["broken"]
    assert max(map(len, text.splitlines())) < 180


def test_an_option_that_came_later_makes_no_variant():
    """A cell from before an option was there and one with its default belong together."""
    old, new = make(seed=0, lr=0.1), make(seed=0, lr=0.2)
    new.config["dataset"]["protocol"]["min_rows"] = 1
    new.config["budget"]["seconds"] = None
    table = table_of(old, new)
    assert table["dataset"].tolist() == ["tiny"] and table["method"].tolist() == ["umax"]
