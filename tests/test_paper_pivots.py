"""Tables that a ``paper.yaml`` declares, from a few rows, and wrong declarations."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from xcbench.errors import UserError
from xcbench.papers import Measured, page
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
        page.cells("adv", Measured(ROWS, pd.DataFrame()), "bias", spec)
    text = str(error.value)
    assert text.startswith("papers/adv/paper.yaml") and said in text and "\n" not in text
