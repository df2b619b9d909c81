"""The paper's claims about the order of the methods, tested with correct log losses."""

from __future__ import annotations

from itertools import product

import pandas as pd

from xcbench.core.metrics import of_column
from xcbench.papers import LOSS, Grid, Measured
from xcbench.papers.frames import compared, ended, number
from xcbench.papers.umax.experiments import (
    FIGURE3,
    OPTIMUM,
    TABLE3_CODE,
    TABLE3_PAPER,
    TABLE3_TUNED,
)
from xcbench.papers.umax.names import BIASED, DATASET_NAMES, PUBLISHED_NAME
from xcbench.show.formats import NONE
from xcbench.show.summary import at_best_rate

CLAIMS = (("implicit", "umax"), ("umax", "vanilla"), ("implicit", "is"), ("umax", "is"))
VARIANTS = {
    "code, printed rates": TABLE3_CODE,
    "paper, printed rates": TABLE3_PAPER,
    "paper, tuned on a tenth": TABLE3_TUNED,
    "paper, best of all rates": FIGURE3,
}
LATE = 40.0  # epoch from which a curve should not move any more if it has reached its plateau


def best(results: pd.DataFrame, grid: Grid, dataset: str, method: str) -> pd.DataFrame:
    """Cells of a method that ended, at its best rate."""
    rows = grid.rows(results, dataset=dataset, method=method)
    rows = rows[rows["status"] != "skipped"]
    return ended(at_best_rate(rows) if len(rows) else rows)


def order(measured: Measured) -> pd.DataFrame:
    """Whether one method ends below another, seed by seed."""
    lines = []
    for (dataset, shown), (variant, grid) in product(DATASET_NAMES.items(), VARIANTS.items()):
        ends = {
            method: best(measured.results, grid, dataset, method)
            for pair in CLAIMS
            for method in pair
        }
        line = [
            compared(ends[lower], ends[higher], LOSS, 3, below=True) for lower, higher in CLAIMS
        ]
        if {*line} != {NONE}:
            lines.append([shown, variant, *line])
    claims = (f"{PUBLISHED_NAME[lower]} below {PUBLISHED_NAME[higher]}" for lower, higher in CLAIMS)
    return pd.DataFrame(lines, columns=["dataset", "variant", *claims])


def plateaus(measured: Measured) -> pd.DataFrame:
    """Whether the biased methods stop improving above the optimum, at their best rates."""
    lines, curves = [], measured.curves
    for dataset, shown in DATASET_NAMES.items():
        optimum = OPTIMUM.rows(measured.results, dataset=dataset)
        floor = float(optimum[LOSS].iloc[0]) if len(optimum) else float("nan")
        for method in (*BIASED, "umax", "implicit"):
            cells = best(measured.results, FIGURE3, dataset, method)
            if cells.empty:
                continue
            cell_curves = curves[curves["cell"].isin(cells["cell"])]
            late = (
                cell_curves[cell_curves["epoch"] >= LATE].sort_values("epoch").groupby("cell")[LOSS]
            )
            fall = (late.first() - late.last())[late.size() > 1].mean()
            end = cells[LOSS].mean()
            lines.append(
                {
                    "dataset": shown,
                    "method": PUBLISHED_NAME[method],
                    "final log loss": f"{end:.3f}",
                    "above the optimum": number(end - floor, 3, "+"),
                    f"fall since epoch {LATE:.0f}": number(fall, 4),
                    "kind": "biased" if method in BIASED else "unbiased",
                }
            )
    return pd.DataFrame(lines)


def winners(measured: Measured) -> list[str]:
    """Sentences with the lowest training and test loss of every dataset, at the best rates."""
    sentences = []
    for dataset, shown in DATASET_NAMES.items():
        ends = {
            PUBLISHED_NAME[method]: cells
            for method in PUBLISHED_NAME
            if len(cells := best(measured.results, FIGURE3, dataset, method))
        }
        if len(ends) < 2:
            continue
        words = []
        for column, what in ((LOSS, "training"), ("test_log_loss", "test")):
            means = pd.Series({name: cells[column].mean() for name, cells in ends.items()})
            ranked = of_column(column).key(means).sort_values(kind="stable").index
            first, second = (ends[name][column] for name in ranked[:2])
            words.append(
                f"{what} log loss {ranked[0]} {first.mean():.3f}, then {ranked[1]} "
                f"{second.mean():.3f}"
            )
        sentences.append(f"{shown}: {'; '.join(words)}.")
    return sentences
