"""Tables that a ``paper.yaml`` declares, from a few rows, and wrong declarations."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest

from xcbench.errors import UserError
from xcbench.papers import Measured, frames, page
from xcbench.papers.pivots import Pivot

ROWS = pd.DataFrame(
    [
        # grid, method, sampler, rate, seed, status, loss, clipped, classes
        ("main", "ns", "tree", 0.1, 0, "done", 1.0, 0.75, 20.0),
        ("main", "ns", "tree", 0.1, 1, "done", 2.0, 0.75, 20.0),
        ("main", "ns", "tree", 1.0, 0, "diverged", math.nan, math.nan, 20.0),
        ("main", "ns", "uniform", 0.1, 0, "done", 3.0, 3.0, 1500.0),
        ("more", "ove", None, 0.1, 0, "done", 4.0, 4.25, 20.0),
        ("more", "softmax", None, 0.1, 0, "skipped", math.nan, math.nan, math.nan),
    ],
    columns=[
        *("grid", "method", "method.sampler", "lr", "seed", "status"),
        *("loss", "clipped", "shape.classes"),
    ],
)
METHODS = {"OVE": "ove", "tree": {"method.sampler": "tree"}, "exact": "softmax", "NCE": "nce"}


def made(**spec: object) -> list[list[str]]:
    return Pivot(**{"columns": {}, **spec}).table(ROWS).to_numpy().tolist()


def test_labels_are_in_their_order_and_lines_without_a_cell_are_left_out() -> None:
    assert made(by={"method": METHODS}) == [["OVE"], ["tree"]]
    assert made(by={"method": "method"}) == [["ns"], ["ove"]]
    assert made(by={"K": "shape.classes ,.0f", "rate": "lr g"}) == [
        ["20", "0.1"],
        ["20", "1"],
        ["1,500", "0.1"],
    ]
    by = {"sampler": {it: {"method.sampler": it} for it in ("uniform", "tree")}, "rate": "lr g"}
    assert made(by=by) == [["uniform", "0.1"], ["tree", "0.1"], ["tree", "1"]]
    ordered = made(by=by, order=["rate", "sampler"])
    assert ordered == [["uniform", "0.1"], ["tree", "0.1"], ["tree", "1"]]
    ordered = made(by={"rate": "lr g", "method": "method"}, order=["method", "rate"])
    assert ordered == [["0.1", "ns"], ["1", "ns"], ["0.1", "ove"]]


def test_rows_have_any_of_the_values_that_are_wanted() -> None:
    where = {"grid": ["main", "more"], "lr": 0.1}
    columns = {"seeds": "once seed + 1", "classes": "once shape.classes"}
    assert made(where=where, by={"method": "method"}, columns=columns) == [
        ["ns", "1", "20"],
        ["ove", "1", "20"],
    ]
    assert made(where={"unknown": 1}, by={"method": "method"}) == []
    assert Pivot({"method": METHODS}, {}).table(pd.DataFrame()).empty


def test_cells() -> None:
    columns = {
        "mean": "loss",
        "expression": "1 - loss .1f",
        "at a rate": {"of": "loss .2f", "lr": 1.0},
        "clip": "loss less clipped .2f",
        "absent": "nowhere",
    }
    tree, ove = made(by={"method": {"tree": METHODS["tree"], "OVE": "ove"}}, columns=columns)
    # of 1 and 2 the mean is 1.5, the deviation (n - 1) the root of a half
    lost = "(1 of 3 seeds diverged)"
    assert tree[1:3] == [f"1.5000 ± 0.7071 {lost}", f"-0.5 ± 0.7 {lost}"]
    assert tree[3:] == ["diverged (1 seeds)", "+0.75", "diverged (1 seeds)"]
    assert ove[1:] == ["4.0000", "-3.0", "–", "-0.25", "–"]


def test_with_a_remark_no_line_is_left_out() -> None:
    columns = {"loss": "loss", "why": "remark"}
    lines = made(by={"method": METHODS}, columns=columns)
    assert lines[0] == ["OVE", "4.0000", ""]
    assert lines[2] == ["exact", "–", "skipped"]


def test_what_is_printed_stands_beside_what_was_measured() -> None:
    """Table 2 of the one-vs-each paper: OVE on MNIST has an error of 0.082 and a norm of 0.50."""
    rows = pd.DataFrame({"dataset": ["mnist"], "method": "ove", "seed": 0, "status": "skipped"})
    columns = {
        "printed": "printed Table 2 test_error .3f",
        "apart": "test_error less printed Table 2 test_error .3f",
        "norm": "printed Table 2 param_norm .3f",
    }
    by = {"dataset": {"MNIST": "mnist"}, "method": {"OVE": "ove"}}
    assert Pivot(by, columns, paper="ove").table(rows).empty
    table = Pivot(by, columns, every=True, paper="ove").table
    assert table(rows).iloc[0].tolist() == ["MNIST", "OVE", "0.082", "–", "0.500"]
    run = rows.assign(status="done", test_error=0.08)
    assert table(run).loc[0, "apart"] == "-0.002"


def test_whether_differences_are_as_small_as_asked() -> None:
    assert frames.within([0.1, -0.2], [0.1, 0.2]) == "yes"
    assert frames.within([0.1, -0.21], [0.1, 0.2]) == "no"
    assert frames.within([0.1, math.nan], [0.1, 0.2]) == frames.within([], []) == "–"


def test_in_how_many_seeds_one_is_above_another() -> None:
    one = pd.DataFrame({"seed": [0, 1, 2], "status": "done", "loss": [1.0, 2.0, 9.0]})
    other = pd.DataFrame({"seed": [1, 0, 3], "status": "done", "loss": [4.0, 0.5, 9.0]})
    # of seeds 0 and 1: 0.5 and -2, mean -0.75, deviation 2.5 over the root of 2
    assert frames.compared(one, other, "loss", 2) == "in part, 1 of 2 (-0.75 ± 1.77)"
    assert frames.compared(one[1:], other, "loss", 1, below=True) == "yes, 1 of 1 (-2.0)"
    assert frames.compared(one, one, "loss") == "the same, 3 of 3"
    assert frames.compared(one[2:], other, "loss") == "–"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"column": {}}, "there is no 'column'; there are by, columns"),
        ({"by": None}, "by"),
        ({"columns": {"loss": {"lr": 1}}}, "the column 'loss' does not say what it is 'of'"),
        ({"order": ["rate"]}, "'order' has other headings than 'by': rate"),
        ({"columns": {"loss": "losses.mean()"}}, "names 'losses.mean()', which is not in losses"),
    ],
)
def test_a_wrong_declaration_is_said_with_file_and_table(wrong: dict, said: str) -> None:
    spec = {"by": {"method": "method"}, "columns": {}} | wrong
    spec = {key: value for key, value in spec.items() if value is not None}
    with pytest.raises(UserError) as error:
        page.Content("bias", spec).frame("adv", Measured(ROWS, pd.DataFrame()))
    text = str(error.value)
    assert text.startswith("papers/adv/paper.yaml") and said in text and "\n" not in text


def test_an_unknown_key_beside_a_pivot_is_said_with_file_and_table(tmp_path: Path) -> None:
    whole = page.Page("adv", Measured(ROWS, pd.DataFrame()), ROWS, tmp_path, {})
    with pytest.raises(UserError) as error:
        whole.table("Losses", table="bias", pivto={"by": {}})
    text = str(error.value)
    assert text.startswith("papers/adv/paper.yaml, table 'bias': there is no 'pivto'")
