"""Which checkpoint stands for a cell, in the results and in a report."""

from __future__ import annotations

import pandas as pd
import pytest

from made_cells import make
from workspace import NewWorkspace, Workspace
from xcbench.store import checkpoints
from xcbench.store.cell import Cell

BY = "validation_log_loss"
RUN = ("-m", "mlflow=false", "dataset=digits", "budget.epochs=12", "budget.checkpoints=12")


@pytest.fixture(scope="module")
def swept(new_workspace: NewWorkspace) -> Workspace:
    """Cells of a rate so high that validation losses rise again, and others without such rows."""
    workspace = new_workspace("checkpoints")
    for words in (
        ("method=ove,softmax", "only.ove.lr=10,30", "evaluation.validation=0.3", "grid=held"),
        ("method=ove", "method.lr=30", "grid=plain"),
    ):
        done = workspace.run(*RUN, *words)
        assert done.code == 0, done.text
    return workspace


def courses(workspace: Workspace) -> dict[str, pd.DataFrame]:
    """The curves on the disk."""
    folders = (workspace.path / "runs" / "cells").glob("[!.]*")
    return {path.name: pd.read_csv(path / "curve.csv") for path in folders}


def test_a_cell_with_validation_rows_stands_at_its_best_checkpoint(swept: Workspace) -> None:
    curves, rows = courses(swept), swept.frame().set_index("cell")
    earlier = 0
    for name, row in rows.iterrows():
        curve = curves[str(name)]
        held = BY in curve
        at = curve[BY].idxmin() if held else curve.index[-1]
        earlier += at < curve.index[-1]
        for column in ("epoch", "train_seconds", "test_log_loss", "test_error", "train_error"):
            assert row[column] == pytest.approx(curve.loc[at, column], rel=1e-12), column
        assert row["checkpoint"] == (f"best {BY}" if held else "last")
    assert earlier and rows["checkpoint"].nunique() == 2


def test_the_last_checkpoint_on_request(swept: Workspace) -> None:
    curves, rows = courses(swept), swept.frame("checkpoint=last")
    for row in rows.to_dict("records"):
        assert row["test_log_loss"] == pytest.approx(
            curves[row["cell"]]["test_log_loss"].iloc[-1], rel=1e-12
        )
    assert set(rows["checkpoint"]) == {"last"}
    refused = swept.xcbench("results", "checkpoint=first")
    assert refused.code == 2 and "checkpoint=first is not possible" in refused.err


def test_curves_mark_the_checkpoint_that_counts(swept: Workspace) -> None:
    rows, whole = swept.frame(), swept.frame("--curves")
    marked = whole[whole["checkpoint"].notna()].reset_index(drop=True)
    pd.testing.assert_frame_equal(marked, rows, check_dtype=False)
    assert len(whole) > len(rows)


def test_a_report_says_which_checkpoint_it_shows(swept: Workspace) -> None:
    for words, at in (((), f"best {BY}"), (("checkpoint=last",), "last")):
        done = swept.xcbench("report", "grid=held", "name=held", *words)
        assert done.code == 0, done.text
        folder = swept.path / "reports" / "held"
        rows = pd.read_csv(folder / "results.csv")
        assert set(rows["checkpoint"]) == {at}
        table = pd.read_csv(folder / "table.csv").set_index("method")
        shown = rows[(rows["method"] == "ove") & (rows["lr"] == table.at["ove", "lr"])]
        assert table.at["ove", "test_log_loss"] == pytest.approx(shown["test_log_loss"].mean())
        assert table.at["ove", "lr"] == rows.loc[rows.query("method == 'ove'")[BY].idxmin(), "lr"]
        for page in ("index.html", "table.md"):
            told = "checkpoint with the lowest validation log loss" in (folder / page).read_text()
            assert told == (not words)


def held(values: list[float], column: str = BY, **options: object) -> Cell:
    cell = make(checkpoints=len(values) - 1, **options)
    cell.curve[column] = values
    return cell


def test_the_first_of_equals_and_never_one_without_a_value() -> None:
    nan = float("nan")
    assert checkpoints.of(held([3.0, nan, 1.0, 1.0, 2.0]), "best") == (2, BY)
    assert checkpoints.of(held([nan] * 5), "best") == (4, "")
    assert checkpoints.of(held([0.5, 0.1, 0.2], "validation_error"), "best").place == 1
    assert checkpoints.of(held([3.0, 1.0, 2.0], status="diverged"), "best") == (2, "")
    assert checkpoints.of(make(status="failed"), "best") == (0, "")


def test_tables_of_papers_keep_the_last_checkpoint() -> None:
    from xcbench.committed import results_cache

    cell = held([3.0, 1.0, 2.0])
    (row,) = results_cache._rows("grid", [cell]).to_dict("records")
    assert row["epoch"] == cell.curve["epoch"].iloc[-1] and row[BY] == 2.0
    assert "checkpoint" not in row


def test_the_library_has_both(swept: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    import xcbench

    monkeypatch.chdir(swept.path)
    best, last = xcbench.results(grid="held"), xcbench.results(grid="held", checkpoint="last")
    assert (best[BY] <= last[BY]).all() and (best[BY] < last[BY]).any()
