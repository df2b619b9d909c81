"""The page on scaling: arrays as large as a measured run, and tables of what is measured."""

import re
import sys

import pandas as pd
import pytest

from workspace import ROOT

sys.path.insert(0, str(ROOT))
from benchmarks import capacity, missed
from benchmarks.__main__ import PAGES, RATIOS, function

MEASURED = pd.read_csv(ROOT / "reports" / "benchmarks.csv")


def test_the_sizes_of_arrays_are_those_of_a_measured_run() -> None:
    shape = capacity.SHAPES.set_index("name").loc["AmazonCat-13K"]
    assert shape["weights"] * 2**30 == pytest.approx(2381e6, rel=0.01)
    text = capacity.of_memory(MEASURED)
    told = re.search(r"together are (\S+) times the weights, the measured .* is (\S+) times", text)
    assert told
    assert float(told[1]) == pytest.approx(float(told[2]), rel=0.05)


def test_the_page_says_what_does_not_fit() -> None:
    assert "does not fit" in capacity.of_memory(MEASURED)
    assert "64 machines" in capacity.of_largest(MEASURED)
    assert "K" in capacity.of_sizes(MEASURED)


@pytest.mark.parametrize("name", [*RATIOS, *PAGES])
def test_every_benchmark_is_there(name):
    pytest.importorskip("numba")
    assert callable(function(name))


def test_a_goal_that_is_not_held_has_its_reason():
    without = missed.table(MEASURED)
    assert len(without) and (without["why"] != "").all(), without[without["why"] == ""]
