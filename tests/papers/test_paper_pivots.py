"""Tables that a paper describes, from a few rows, and wrong descriptions."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from xcbench.papers import Grid
from xcbench.papers import columns as c
from xcbench.papers.columns import Column
from xcbench.papers.pivots import Cell, Cells, Labels, Once, Pivot, Printed, named
from xcbench.papers.rows import Conditions, compared, remark, within

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
OVE: Conditions = {c.METHOD: "ove"}
TREE: Conditions = {c.SAMPLER: "tree"}
METHODS = {"OVE": OVE, "tree": TREE, **named(c.METHOD, {"exact": "softmax", "NCE": "nce"})}
METHOD, RATE = Labels(c.METHOD), Labels(c.LR, "g")
LOSS = Column("loss")


def made(
    by: dict[str, Labels | dict[str, Conditions]],
    columns: Cells | None = None,
    where: Conditions | None = None,
    order: tuple[str, ...] = (),
) -> list[list[str]]:
    return Pivot(by, columns or {}, where or {}, order).table(ROWS).to_numpy().tolist()


def test_labels_are_in_their_order_and_lines_without_a_cell_are_left_out() -> None:
    assert made(by={"method": METHODS}) == [["OVE"], ["tree"]]
    assert made(by={"method": METHOD}) == [["ns"], ["ove"]]
    assert made(by={"K": Labels(c.CLASSES, ",.0f"), "rate": RATE}) == [
        ["20", "0.1"],
        ["20", "1"],
        ["1,500", "0.1"],
    ]
    samplers = named(c.SAMPLER, {it: it for it in ("uniform", "tree")})
    by = {"sampler": samplers, "rate": RATE}
    assert made(by=by) == [["uniform", "0.1"], ["tree", "0.1"], ["tree", "1"]]
    ordered = made(by=by, order=("rate", "sampler"))
    assert ordered == [["uniform", "0.1"], ["tree", "0.1"], ["tree", "1"]]
    ordered = made(by={"rate": RATE, "method": METHOD}, order=("method", "rate"))
    assert ordered == [["0.1", "ns"], ["1", "ns"], ["0.1", "ove"]]


def test_rows_have_any_of_the_values_that_are_wanted() -> None:
    where: Conditions = {c.GRID: [Grid("main"), Grid("more")], c.LR: 0.1}
    columns: Cells = {"seeds": Once(c.SEED + 1), "classes": Once(c.CLASSES)}
    assert made(where=where, by={"method": METHOD}, columns=columns) == [
        ["ns", "1", "20"],
        ["ove", "1", "20"],
    ]
    assert made(where={Column("unknown"): 1}, by={"method": METHOD}) == []
    assert Pivot({"method": METHODS}, {}).table(pd.DataFrame()).empty


def test_cells() -> None:
    columns: Cells = {
        "mean": LOSS,
        "expression": Cell(1 - LOSS, ".1f"),
        "at a rate": Cell(LOSS, ".2f", where={c.LR: 1.0}),
        "clip": Cell(LOSS, ".2f", less=Column("clipped")),
        "absent": Column("nowhere"),
    }
    tree, ove = made(by={"method": {"tree": TREE, "OVE": OVE}}, columns=columns)
    # of 1 and 2 the mean is 1.5, the deviation (n - 1) the root of a half
    lost = "(1 of 3 seeds diverged)"
    assert tree[1:3] == [f"1.5000 ± 0.7071 {lost}", f"-0.5 ± 0.7 {lost}"]
    assert tree[3:] == ["diverged (1 seeds)", "+0.75", "diverged (1 seeds)"]
    assert ove[1:] == ["4.0000", "-3.0", "–", "-0.25", "–"]


def test_with_a_remark_no_line_is_left_out() -> None:
    columns: Cells = {"loss": LOSS, "why": remark}
    lines = made(by={"method": METHODS}, columns=columns)
    assert lines[0] == ["OVE", "4.0000", ""]
    assert lines[2] == ["exact", "–", "skipped"]


def test_what_is_printed_stands_beside_what_was_measured() -> None:
    """Table 2 of the one-vs-each paper: OVE on MNIST has an error of 0.082 and a norm of 0.50."""
    rows = pd.DataFrame({"dataset": ["mnist"], "method": "ove", "seed": 0, "status": "skipped"})
    error = Printed("ove", "Table 2", "test_error")
    columns = {
        "printed": Cell(error, ".3f"),
        "apart": Cell(c.TEST_ERROR, ".3f", less=error),
        "norm": Cell(Printed("ove", "Table 2", "param_norm"), ".3f"),
    }
    by = {"dataset": named(c.DATASET, {"MNIST": "mnist"}), "method": {"OVE": OVE}}
    assert Pivot(by, columns).table(rows).empty
    table = Pivot(by, columns, every=True).table
    assert table(rows).iloc[0].tolist() == ["MNIST", "OVE", "0.082", "–", "0.500"]
    run = rows.assign(status="done", test_error=0.08)
    assert table(run).loc[0, "apart"] == "-0.002"


def test_whether_differences_are_as_small_as_asked() -> None:
    assert within([0.1, -0.2], [0.1, 0.2]) == "yes"
    assert within([0.1, -0.21], [0.1, 0.2]) == "no"
    assert within([0.1, math.nan], [0.1, 0.2]) == within([], []) == "–"


def test_in_how_many_seeds_one_is_above_another() -> None:
    one = pd.DataFrame({"seed": [0, 1, 2], "status": "done", "loss": [1.0, 2.0, 9.0]})
    other = pd.DataFrame({"seed": [1, 0, 3], "status": "done", "loss": [4.0, 0.5, 9.0]})
    # of seeds 0 and 1: 0.5 and -2, mean -0.75, deviation 2.5 over the root of 2
    assert compared(one, other, "loss", 2) == "in part, 1 of 2 (-0.75 ± 1.77)"
    assert compared(one[1:], other, "loss", 1, below=True) == "yes, 1 of 1 (-2.0)"
    assert compared(one, one, "loss") == "the same, 3 of 3"
    assert compared(one[2:], other, "loss") == "–"


def test_an_order_of_other_headings_is_refused() -> None:
    with pytest.raises(ValueError, match="'order' has other headings than 'by': rate"):
        Pivot({"method": METHOD}, {}, order=["rate"])
