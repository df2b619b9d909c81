"""Figures of the report, from cells with made-up curves."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure

from made_cells import NAN, make
from xcbench.report.folder import build
from xcbench.show import pictures, style, variants
from xcbench.show.curves import draw_curves
from xcbench.show.rates import draw_rates
from xcbench.store import results
from xcbench.store.cell import Cell


def test_colours_belong_to_methods_and_dashes_to_variants():
    sample = [make(negatives=1), make(negatives=5), make("nce"), make("mine"), make("yours")]
    styles = style.line_styles(variants.label(results.frame(sample), sample))
    assert styles["umax (negatives=1)"]["color"] == styles["umax (negatives=5)"]["color"]
    assert styles["umax (negatives=1)"]["linestyle"] != styles["umax (negatives=5)"]["linestyle"]
    assert len({look["color"] for look in styles.values()}) == 4


def test_a_full_disk_refuses_a_figure_as_it_refuses_any_file(tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("no device that is always full")
    (tmp_path / "curves.pdf").symlink_to(full)
    rows = variants.label(results.frame([make()]), [make()])
    figure = draw_curves(rows, results.frame([make()], curves=True), style.line_styles(rows))
    with pytest.raises(OSError, match="No space left"):
        pictures.write(figure, tmp_path / "curves.png")


def drawn(make_figure, *sample: Cell):
    rows = variants.label(results.frame(sample), sample)
    return make_figure(rows, results.frame(sample, curves=True), style.line_styles(rows))


def test_curves_have_a_row_of_panels_for_the_bound_only_where_there_is_one():
    with_bound = make()
    with_bound.curve["bound"] = [NAN, 4.0, 3.0, 2.0, 1.0]
    labels = [ax.get_ylabel() for ax in drawn(draw_curves, with_bound).axes]
    assert "bound (nats)" in labels
    assert "bound (nats)" not in [ax.get_ylabel() for ax in drawn(draw_curves, make()).axes]


def test_curve_of_an_end_alone_is_a_horizontal_line():
    figure = drawn(draw_curves, make("softmax", None, end=0.9, checkpoints=1), make())
    assert "softmax (end only)" in [text.get_text() for text in figure.legends[0].get_texts()]
    heights = [list(line.get_ydata()) for line in figure.axes[0].lines]
    assert [0.9, 0.9] in heights


def test_exploding_method_does_not_flatten_the_others():
    figure = drawn(draw_rates, make(lr=0.1), make(lr=1.0, end=1.5), make("nce", 0.1, end=1e4))
    panel = next(ax for ax in figure.axes if ax.get_ylabel().startswith("train log loss"))
    assert panel.get_ylim()[1] < 2 * math.log(8)
    assert panel.get_title(loc="right") == "off the axis: nce (to 1e+04)"
    arrows = [line for line in panel.lines if line.get_marker() == "^" and len(line.get_xdata())]
    assert [list(line.get_xdata()) for line in arrows] == [[0.1]]


@pytest.mark.parametrize(
    ("name", "good", "poor", "start", "text"),
    [
        ("test_log_loss", [2.0, 0.5], [1e8], 2.1, "off the axis: nce (to 1e+08)"),
        ("bound", [-2.0, -0.5], [-1e8], -2.1, "off the axis: nce (to -1e+08)"),
        ("test_precision_at_1", [0.1, 0.9], [0.05], 0.1, ""),
        ("test_precision_at_1", [0.9, 0.99], [0.1], 0.9, "off the axis: nce (to 0.1)"),
    ],
)
def test_an_axis_shows_what_is_best(name, good, poor, start, text):
    with style.look():
        ax = Figure().subplots()
    style.fit_y(ax, {"umax": pd.Series(good), "nce": pd.Series(poor)}, name, start)
    low, high = ax.get_ylim()
    assert low <= min(good) and high >= max(good)
    assert ax.get_title(loc="right") == text
    style.mark_outside(ax, pd.Series(poor), name, {"color": "k"})
    assert len(ax.lines[-1].get_xdata()) == (1 if text else 0)
    assert high - low < 10


def test_diverged_rates_are_crosses_and_no_points():
    sample = [make(lr=0.01), make(lr=0.1), make(lr=1.0, status="diverged")]
    strip, _, panel, *_ = drawn(draw_rates, *sample).axes
    assert [list(line.get_xdata()) for line in strip.lines] == [[1.0]]
    assert list(panel.lines[0].get_xdata()) == [0.01, 0.1]


def test_nothing_to_draw():
    assert drawn(draw_curves, make(status="failed")) is None
    assert drawn(draw_rates, make(lr=0.1), make("nce", 0.1)) is None  # one rate is no comparison


def test_bounds_far_below_zero_are_drawn(tmp_path):
    """A bound has no value before training, and may lie below any loss worth showing."""
    cells = [make(method="ove", lr=lr) for lr in (0.1, 1.0)]
    for cell in cells:
        cell.curve["bound"] = [NAN] + [-1e8] * (len(cell.curve) - 1)
    build(cells, tmp_path / "out", "bounds")
    assert (tmp_path / "out" / "index.html").exists()
