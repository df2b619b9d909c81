"""Charts: fronts, and the bytes of a figure."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from xcbench.show import charts, pictures


def test_a_front_has_whom_nobody_dominates() -> None:
    rng = np.random.default_rng(1)
    cost, quality = (pd.Series(rng.integers(0, 8, 30)) for _ in range(2))
    dominated = [
        any((cost[j] <= cost[i]) and (quality[j] >= quality[i])
            and (cost[j] < cost[i] or quality[j] > quality[i]) for j in cost.index)
        for i in cost.index
    ]  # fmt: skip
    entries = pd.DataFrame({"train_seconds": cost, "accuracy": quality})
    front = charts.pareto_front(entries, "train_seconds", "accuracy")
    assert not any(dominated[i] for i in front)
    points = {(cost[i], quality[i]) for i in cost.index if not dominated[i]}
    assert {(cost[i], quality[i]) for i in front} == points


def test_a_front_begins_at_the_cheapest_even_if_it_is_never_right() -> None:
    entries = pd.DataFrame({"model_mib": [1.0, 2.0, 3.0], "accuracy": [0.0, 0.0, 0.5]})
    assert list(charts.pareto_front(entries, "model_mib", "accuracy")) == [0, 2]


def test_the_last_digit_of_a_layout_does_not_change_a_figure(tmp_path: Path) -> None:
    drawn = []
    for shift in (0.0, 1e-13):  # another processor rounds otherwise
        fig = Figure()
        ax = fig.add_axes((0.1 + shift, 0.1, 0.8, 0.8))
        ax.plot([0, 1], [0, 1], "o-", label="a line")
        ax.legend()
        drawn.append(pictures.write(fig, tmp_path / "line.png"))
    assert "clip-path" in drawn[0] and drawn[0] == drawn[1]
