"""Running a paper: what runs, what holds, what damage is noticed. On a paper of three grids."""

from __future__ import annotations

import shutil
import signal
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tiny_paper
from tiny_paper import Place
from workspace import FINAL_METRICS, Workspace
from xcbench import options
from xcbench.committed import code_table, results_cache
from xcbench.committed.results_cache import ResultsCache
from xcbench.core import engines
from xcbench.errors import UserError
from xcbench.methods import registry
from xcbench.papers import Grid
from xcbench.plan.code import Code
from xcbench.store import cells


# ---------------------------------------------------------------- what runs
def test_the_search_goes_on_while_the_best_rate_ends_it(finished: Place) -> None:
    # With one pass over 60 rows a rate of 0.01 moves nothing: a higher one is better.
    search = finished.table("tuning", "search")
    for _, own in search.groupby("method"):
        assert {0.001, 0.01, 0.1} <= set(own["lr"])
        assert own["lr"].max() <= 0.01 * 10**4
        means = own.groupby("lr")["train_log_loss"].mean()
        highest = means.index.max()
        assert means.idxmin() < highest or highest == pytest.approx(100)
        assert (own.groupby("lr")["seed"].nunique() == 2).all()


def test_the_later_grid_takes_the_rate_with_the_lowest_loss(finished: Place) -> None:
    search = finished.table("tuning", "search")
    losses = search.groupby(["method", "lr"])["train_log_loss"].mean().reset_index()
    best = losses.loc[losses.groupby("method")["train_log_loss"].idxmin()].set_index("method")["lr"]
    tuned = finished.table("runs", "tuned").set_index("method")["lr"]
    assert (tuned == best[tuned.index]).all()
    assert len(tuned) == 4


@pytest.mark.parametrize("column", ["bound", "train_macro_f1"])
def test_a_criterion_may_be_a_metric_of_which_more_is_better(
    fresh: Place, monkeypatch: pytest.MonkeyPatch, column: str
) -> None:
    search = Grid("search", "tuning", extended=True, criterion={"ove": column})
    both = (search, Grid("tuned", rates_from="search"))
    monkeypatch.setattr(sys.modules["xcbench.papers.tiny.experiments"], "GRIDS", both)
    options = {"evaluation.macro_f1": "true", "budget.epochs": "10"}
    assert fresh.launch(method="ove", **options) == 0
    means = fresh.table("tuning").groupby("lr")[column].mean()
    chosen = fresh.table("runs")["lr"].unique().item()
    assert means[chosen] == means.max() > means.min()


def test_the_report_sees_every_row(finished: Place) -> None:
    seen = pd.read_csv(finished.path / "reports" / "tiny" / "seen.csv")
    assert len(seen) == len(finished.table("tuning")) + len(finished.table("runs"))


def test_at_most_four_decades(fresh: Place, capsys: pytest.CaptureFixture[str]) -> None:
    # From 1e-9 the loss falls with every decade, so that the search would go on.
    conf = options.folder() / "experiment" / "tiny" / "search.yaml"
    text = conf.read_text()
    try:
        conf.write_text(text.replace("0.001,0.01", "1e-9,1e-8").replace("0,1\n", "0\n"))
        assert fresh.launch(part="tuning", method="ove") == 0
    finally:
        conf.write_text(text)
    rates = sorted(fresh.table("tuning")["lr"])
    assert rates == pytest.approx([10.0**power for power in range(-9, -3)], rel=1e-12)


def test_points_without_a_tuned_rate_are_left_out(
    fresh: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fresh.launch(part="runs", dataset="small", seed="0") == 0
    assert (
        "left out, because no rate could be chosen: small ove, small umax"
        in capsys.readouterr().out
    )
    assert set(fresh.table("runs")["grid"]) == {"sums"}


def test_a_twin_takes_its_own_tuned_rate(fresh: Place) -> None:
    (fresh.path / "data" / "small" / "train.txt").unlink()
    twin = {"dataset.missing": "twin", "method": "ove", "seed": "0"}
    assert fresh.launch(dataset="small", **twin) == 0
    search, tuned = fresh.table("tuning"), fresh.table("runs", "tuned")
    assert set(search["dataset"]) == set(tuned["dataset"]) == {"small-twin"}
    best = search.loc[search["train_log_loss"].idxmin(), "lr"]
    assert list(tuned["lr"]) == [best]


@pytest.mark.parametrize("word", ["false", "no", "0"])
def test_a_plan_that_is_not_wanted_keeps_no_report_back(place: Place, word: str) -> None:
    place.file("replication").unlink()
    assert place.launch(part="report", plan=word) == 0
    assert place.file("replication").exists()


# ---------------------------------------------------------------- what holds
def altered(place: Place, column: str = "") -> None:
    """Pretend that the rows come from code of another digest, or of other numbers too."""
    folder = place.file("runs").parent
    tables = ResultsCache.read(folder, "runs")
    codes, names = {}, {}
    for name, record in tables.codes.items():
        numbers = dict(record.numbers or {})
        if column:
            numbers[column] = [it + 1.0 for it in numbers[column]]
        other = replace(record, digest="0", numbers=numbers)
        codes[other.name], names[name] = other, other.name
    rows = tables.rows.assign(code=tables.rows["code"].replace(names))
    replace(tables, rows=rows, codes=codes).write(folder, "runs")


def records(place: Place) -> bytes:
    return place.file("runs").with_name("runs-code.jsonl").read_bytes()


def test_rows_of_moved_code_hold_and_get_its_digest(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    tables, code = place.bytes(), records(place)
    altered(place)
    assert place.launch(plan="true") == 0 and records(place) != code
    assert place.launch() == 0 and records(place) == code and place.bytes() == tables
    assert "stale" not in capsys.readouterr().out


def test_rows_of_other_code_run_again_and_say_why(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    code = records(place)
    altered(place, "weights")
    assert place.launch(plan="true") == 0
    text = capsys.readouterr().out
    assert "of them stale)" in text and "cells stale: changed: training" in text
    assert code_table.stale(*_runs(place)).endswith("cells stale: changed: training.")
    assert place.launch() == 0
    assert records(place) == code and code_table.stale(*_runs(place)) == ""


def _runs(place: Place) -> tuple[pd.DataFrame, dict[str, Code]]:
    tables = ResultsCache.read(place.file("runs.csv").parent, "runs")
    return tables.rows, dict(tables.codes)


def test_nothing_runs_again(place: Place) -> None:
    before = place.bytes()
    assert place.launch() == 0
    assert place.ran() == set()  # not even without runs/
    assert place.bytes() == before
    assert not place.prepared()


def test_a_cell_that_needs_too_much_memory_is_looked_at_once(fresh: Place) -> None:
    small = {"grid": "sums", "dataset": "small"}
    assert fresh.launch(**small, **{"budget.memory": "1e-6"}) == 0
    assert set(fresh.table("runs")["status"]) == {"skipped"}
    before = fresh.bytes()
    fresh.forget_runs()
    assert fresh.launch(**small, **{"budget.memory": "1e-6"}) == 0
    assert not fresh.prepared() and fresh.bytes() == before
    assert fresh.launch(**small) == 0
    assert set(fresh.table("runs")["status"]) == {"done"}


def test_a_new_version_of_a_method_runs_its_cells_alone(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    ove = registry.builtin()["ove"]
    known = registry.builtin() | {"ove": replace(ove, version=ove.version + 1)}
    monkeypatch.setattr(registry, "builtin", lambda: known)
    before = pd.concat([place.table("tuning"), place.table("runs")])
    assert place.launch() == 0
    after = pd.concat([place.table("tuning"), place.table("runs")])
    old, new = (frame.set_index("cell")["method"] for frame in (before, after))
    assert place.ran() == set(new[new == "ove"].index)
    assert set(new[new == "umax"].index) == set(old[old == "umax"].index)
    assert not set(new[new == "ove"].index) & set(old[old == "ove"].index)
    assert len(after) == len(before)


def test_rows_hold_without_data(place: Place) -> None:
    shutil.rmtree(place.path / "data")
    before = place.bytes()
    assert place.launch() == 0
    assert place.ran() == set()
    assert place.bytes() == before


def test_without_data_and_rows_cells_are_skipped(fresh: Place) -> None:
    shutil.rmtree(fresh.path / "data")
    assert fresh.launch(dataset="small", seed="0") == 0
    assert set(fresh.table("runs")["status"]) == {"skipped"}
    assert set(fresh.table("runs")["grid"]) == {"tuned", "sums"}
    assert pd.read_csv(fresh.file("runs-curves")).empty


@pytest.mark.slow
def test_skipped_rows_stay_as_they_were_when_options_are_added(fresh: Place) -> None:
    shutil.rmtree(fresh.path / "data")
    assert fresh.launch(dataset="small", seed="0") == 0
    older = fresh.table("runs").drop(columns=["method.exponent", "checksum"])
    folder = fresh.file("runs").parent
    results_cache.update(folder, "runs", lambda tables: ResultsCache(older, tables.curves))
    older = fresh.table("runs")
    fresh.forget_runs()
    assert fresh.launch(dataset="small", seed="0") == 0
    pd.testing.assert_frame_equal(fresh.table("runs"), older)


def test_rows_hold_under_another_engine(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    measured = set(place.table("runs")["engine"])
    other = "numpy" if measured == {"numba"} else "numba"
    monkeypatch.setattr(engines, "resolve", lambda engine: other)
    assert place.launch() == 0
    assert place.ran() == set()
    assert set(place.table("runs")["engine"]) == measured


def test_default_rates_with_many_digits_hold_without_data(fresh: Place) -> None:
    conf = options.folder() / "experiment" / "tiny" / "sums.yaml"
    text = conf.read_text()
    try:
        conf.write_text(text.replace("method.lr: 0.01", "method.lr: null"))
        assert fresh.launch(part="runs", dataset="small") == 0
        rate = fresh.table("runs")["lr"].iloc[0]
        assert float(f"{rate:.8g}") != rate  # else the test shows nothing
        shutil.rmtree(fresh.path / "data")
        fresh.forget_runs()
        assert fresh.launch(part="runs", dataset="small") == 0
        rows = fresh.table("runs").groupby("grid")["status"].unique().map(list).to_dict()
        # What one grid ran at its default rate is no substitute for a tuned one of another.
        assert rows == {"sums": ["done"], "tuned": ["skipped"]}
    finally:
        conf.write_text(text)


# ---------------------------------------------------------------- force and single grids
def test_force_runs_all_again_and_gives_the_same(place: Place) -> None:
    before = place.table("tuning"), place.table("runs")
    assert place.launch(force="true") == 0
    names = {*before[0]["cell"], *before[1]["cell"]}
    assert place.ran() == names
    for old, part in zip(before, ("tuning", "runs"), strict=True):
        new = place.table(part)
        pd.testing.assert_frame_equal(
            old.set_index(["grid", "cell"])[FINAL_METRICS].sort_index(),
            new.set_index(["grid", "cell"])[FINAL_METRICS].sort_index(),
        )


@pytest.mark.parametrize(
    "narrow",
    [{"dataset": "digits"}, {"seed": "1"}, {"method.double_sum": "raman", "method": "umax"}],
    ids=str,
)
def test_forcing_a_part_leaves_the_other_rows(place: Place, narrow: dict[str, str]) -> None:
    sums = place.table("runs", "sums").rename(columns={"method.double_sum": "sum"})
    before = place.table("runs")
    part = {**narrow, "part": "runs"}
    if "method.double_sum" in narrow:  # of the grids, only this one should run on it
        conf = options.folder() / "experiment" / "tiny" / "tuned.yaml"
        text = conf.read_text()
        conf.write_text(text.replace("ove,umax", "ove"))
    try:
        assert place.launch(force="true", **part) == 0
    finally:
        if "method.double_sum" in narrow:
            conf.write_text(text)
    after = place.table("runs")
    assert set(zip(after["grid"], after["cell"], strict=True)) == set(
        zip(before["grid"], before["cell"], strict=True)
    )
    wanted = {
        "dataset": sums["dataset"] == "digits",
        "seed": sums["seed"] == 1,
        "method.double_sum": sums["sum"] == "raman",
    }[next(name for name in narrow if name != "method")]
    again = set(sums.loc[wanted, "cell"])
    assert again <= place.ran()
    assert not place.ran() & set(sums.loc[~wanted, "cell"])


def test_a_cell_measured_anew_is_new_in_every_grid_that_has_it(place: Place) -> None:
    def with_a_second_grid(tables: ResultsCache) -> ResultsCache:
        sums = tables.rows[tables.rows["grid"] == "sums"]
        return tables.joined(tables.only("second", sums["cell"].head(3)))

    results_cache.update(place.file("runs").parent, "runs", with_a_second_grid)
    before = ResultsCache.read(place.file("runs").parent, "runs")
    assert place.launch(grid="sums", force="true") == 0
    after = ResultsCache.read(place.file("runs").parent, "runs")
    assert after.has_curve.all() and after.rows["grid"].tolist().count("second") == 3
    clocks = after.rows.groupby("cell")["train_seconds"].nunique()
    assert (clocks <= 1).all()
    assert len(before.rows) == len(after.rows)


def test_single_grids(finished: Place, fresh: Place) -> None:
    """Also one that takes its rates from another."""
    assert fresh.launch(grid="search") == 0
    assert set(fresh.table("tuning")["grid"]) == {"search"} and not fresh.file("runs").exists()
    assert fresh.launch(grid="tuned") == 0
    assert set(fresh.table("runs")["cell"]) == set(finished.table("runs", "tuned")["cell"])
    with pytest.raises(UserError, match=r"^grid=none is not possible: it is one of search, "):
        fresh.launch(grid="none")


# ---------------------------------------------------------------- interrupted
def test_ctrl_c_keeps_what_is_finished(
    finished: Place, fresh: Place, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    save, saved = cells.save, []
    # A suite in the background has inherited that Ctrl-C is to be ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))

    def save_and_interrupt(runs_dir: Path, cell: cells.Cell) -> None:
        save(runs_dir, cell)
        saved.append(cell.cell)
        if len(saved) == 3:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(cells, "save", save_and_interrupt)
    assert fresh.launch() == 130
    assert set(fresh.table("tuning")["cell"]) == set(saved)
    assert not fresh.file("runs").exists()
    assert not (fresh.path / "reports" / "replication.csv").exists()
    monkeypatch.setattr(cells, "save", save)
    assert fresh.launch() == 0
    _same_numbers(finished, fresh)


def test_a_killed_launch_is_finished_by_the_same_command(
    finished: Place, fresh: Place, patched: Path
) -> None:
    words = [f"{name}={value}" for name, value in fresh.settings.items()]
    command = (str(options.folder()), "paper", "tiny", *words)
    done = Workspace(fresh.path).script(tiny_paper.__file__, *command, KILL_AT="18")
    assert done.code == -signal.SIGKILL, done.text
    assert len(fresh.ran()) == 18
    assert fresh.launch() == 0
    _same_numbers(finished, fresh)


def _same_numbers(one: Place, other: Place) -> None:
    for part in ("tuning", "runs"):
        first, second = (
            place.table(part).set_index(["grid", "cell"])[FINAL_METRICS] for place in (one, other)
        )
        pd.testing.assert_frame_equal(first, second)


def test_rows_without_a_record_of_their_code_are_stale() -> None:
    rows = pd.DataFrame({"status": ["done", "done", "skipped"], "code": [np.nan, np.nan, "x"]})
    assert code_table.stale(rows, {}).startswith("2 cells stale: its code was not recorded.")
    assert "2 cells" in code_table.stale(rows[["status"]], {})
