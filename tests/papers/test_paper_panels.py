"""A panel of learning curves: lines, bands over seeds, and what is said of curves that end."""

from __future__ import annotations

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection

from drawn_lines import lines_of
from xcbench.papers.umax import figures
from xcbench.show import panels

NAN = float("nan")


def run(label, losses, cell="a", status="done") -> pd.DataFrame:
    at = np.arange(len(losses), dtype=float)
    return pd.DataFrame(
        {"label": label, "cell": cell, "status": status, "epoch": at, "loss": losses}
    )


def drawn(*parts: pd.DataFrame, labels=("10", "1"), times=30.0) -> tuple[Axes, str]:
    """A panel and the words around it."""
    runs = pd.concat(parts) if parts else pd.DataFrame(columns=panels.COLUMNS)
    ax = matplotlib.figure.Figure().subplots()
    end = panels.top(runs, times)
    panels.fit([ax], [runs], end, log=True)
    panels.draw(ax, runs, panels.by_rate(map(float, labels)), end)
    return ax, " ".join(text.get_text().replace("\n", " ") for text in ax.texts).strip()


def test_line_is_the_mean_and_band_the_range_over_seeds():
    ax, words = drawn(
        run("10", [6.0, 3.0, 1.0], "a"),
        run("10", [6.0, 4.0, 2.0], "b"),
        run("10", [6.0, 8.0, 6.0], "c"),
        run("1", [6.0, 5.0, 4.0]),
    )
    assert lines_of(ax) == {"10": [6, 5, 3], "1": [6, 5, 4]}
    bands = [band for band in ax.collections if isinstance(band, PolyCollection)]
    corners = bands[0].get_paths()[0].vertices
    at_the_end = corners[corners[:, 0] == 2][:, 1]
    assert (at_the_end.min(), at_the_end.max()) == (1.0, 6.0)
    assert words == ""


def test_single_seed_has_a_flat_band():
    ax, _ = drawn(run("10", [6.0, 3.0]), run("1", [6.0, 5.0]))
    corners = ax.collections[0].get_paths()[0].vertices
    assert set(corners[corners[:, 0] == 1][:, 1]) == {3.0}


def test_diverged_rate_is_named_and_its_line_ends_in_a_cross():
    ax, words = drawn(run("10", [6.0, 9.0, NAN], status="diverged"), run("1", [6.0, 5.0, 4.0]))
    assert words == "diverged: 10"
    crosses = [line for line in ax.lines if line.get_marker() == "x"]
    assert [(list(c.get_xdata()), list(c.get_ydata())) for c in crosses] == [([1.0], [9.0])]


def test_a_diverged_seed_is_counted_and_has_no_part_in_the_mean():
    ax, words = drawn(
        run("10", [6.0, 3.0, 2.0], "a"),
        run("10", [6.0, 99.0, NAN], "b", "diverged"),
        run("1", [6.0, 5.0, 4.0]),
    )
    assert words == "diverged: 10 (1 of 2 seeds)"
    assert lines_of(ax)["10"] == [6, 3, 2]
    assert all(line.get_marker() != "x" for line in ax.lines)


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ([], "missing: 10"),
        ([run("10", [NAN], status="failed")], "failed: 10"),
        ([run("10", [NAN], status="skipped")], "not run: 10"),
        ([run("10", [6.0, 5.5], status="timeout")], "out of time: 10"),
        ([run("10", [NAN, NAN])], "not evaluated: 10"),
        ([run("10", [6.0, 1e6])], "off the axis: 10 (to 1e+06)"),
    ],
)
def test_no_line_is_absent_in_silence(part, said):
    ax, words = drawn(run("1", [6.0, 5.0]), *part)
    assert words == said
    assert lines_of(ax)["1"] == [6, 5]
    assert ax.get_ylim()[1] < 30 * 6.5


def test_a_note_is_folded_between_names():
    parts = [run(f"{rate:g}", [6.0, 1e6 * rate]) for rate in range(10, 19)]
    ax, _ = drawn(run("1", [6.0, 5.0]), *parts, labels=("1", *map(str, range(10, 19))))
    note = ax.texts[0].get_text().splitlines()
    assert len(note) > 2 and max(map(len, note)) <= panels.FOLD
    assert all(line.endswith(("),", ")")) for line in note)


def test_panel_without_data_says_so():
    assert drawn(run("10", [NAN], status="skipped"))[1] == "not run: data"
    assert drawn()[1] == "no run"


def test_a_narrow_range_is_not_drawn_logarithmically():
    assert drawn(run("10", [6.0, 5.0]), run("1", [6.0, 5.5]))[0].get_yscale() == "linear"
    assert drawn(run("10", [6.0, 0.5]), run("1", [6.0, 5.5]))[0].get_yscale() == "log"


def test_colours_of_rates_differ_in_grey():
    looks = panels.by_rate(figures.FIGURE3_RATES)
    assert list(looks) == ["1000", "100", "10", "1", "0.1", "0.01", "0.001"]
    weights = np.array([0.2126, 0.7152, 0.0722])
    grey = [weights @ matplotlib.colors.to_rgb(look["color"]) for look in looks.values()]
    assert (np.diff(grey) > 0.02).all() and max(grey) < 0.8
