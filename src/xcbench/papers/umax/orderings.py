"""The paper's claims about the order of the methods, tested with correct log losses."""

from __future__ import annotations

import numpy as np
import pandas as pd

from xcbench.papers import LOSS
from xcbench.papers.frames import part
from xcbench.papers.section import Table
from xcbench.papers.umax.frames import BIASED, PUBLISHED_NAME
from xcbench.papers.umax.tables import DATASET_NAMES
from xcbench.report.formats import NONE
from xcbench.report.summary import ENDED, at_best_rate

CLAIMS = (("implicit", "umax"), ("umax", "vanilla"), ("implicit", "is"), ("umax", "is"))
READINGS = {
    "as published, printed rates": "table3_as_published",
    "as text, printed rates": "table3_as_text",
    "as text, tuned on a tenth": "table3_tuned",
    "as text, best of all rates": "figure3",
}
LATE = 40.0  # epoch from which a curve should not move any more if it has reached its plateau


def best(results: pd.DataFrame, grid: str, dataset: str, method: str) -> pd.DataFrame:
    """Cells of a method that ended, at its best rate, by seed."""
    rows = part(results, grid, dataset=dataset, method=method)
    rows = rows[rows["status"] != "skipped"]
    if rows.empty:
        return rows.set_index("seed")
    rows = at_best_rate(rows)
    return rows[rows["status"].isin(ENDED)].set_index("seed")


def order(results: pd.DataFrame) -> Table:
    """Whether one method ends below another, seed by seed."""
    lines = []
    for dataset, shown in DATASET_NAMES.items():
        for reading, grid in READINGS.items():
            line: dict[str, str] = {"dataset": shown, "reading": reading}
            for lower, higher in CLAIMS:
                first, second = (best(results, grid, dataset, m) for m in (lower, higher))
                name = f"{PUBLISHED_NAME[lower]} below {PUBLISHED_NAME[higher]}"
                line[name] = _compared(first, second)
            if set(list(line.values())[2:]) != {NONE}:
                lines.append(line)
    caption = (
        "Is the first below the second in training log loss? In how many of the seeds that ended "
        "for both, and the mean ± spread of the difference (negative: yes)"
    )
    return Table(caption, pd.DataFrame(lines))


def _compared(first: pd.DataFrame, second: pd.DataFrame) -> str:
    common = first.index.intersection(second.index)
    if common.empty:
        return NONE
    difference = (first.loc[common, LOSS] - second.loc[common, LOSS]).to_numpy(float)
    spread = f" ± {difference.std(ddof=1):.3f}" if len(difference) > 1 else ""
    if not difference.any():
        return f"the same, {len(common)} of {len(common)}"
    word = {0: "no", len(difference): "yes"}.get(int((difference < 0).sum()), "in part")
    return f"{word}, {(difference < 0).sum()} of {len(common)} ({difference.mean():+.3f}{spread})"


def plateaus(results: pd.DataFrame, curves: pd.DataFrame) -> Table:
    """Whether the biased methods stop improving above the optimum, at their best rates."""
    lines = []
    for dataset, shown in DATASET_NAMES.items():
        optimum = part(results, "optimum", dataset=dataset)
        floor = float(optimum[LOSS].iloc[0]) if len(optimum) else float("nan")
        for method in (*BIASED, "umax", "implicit"):
            cells = best(results, "figure3", dataset, method)
            if cells.empty:
                continue
            own = curves[curves["cell"].isin(cells["cell"])]
            late = own[own["epoch"] >= LATE].sort_values("epoch").groupby("cell")[LOSS]
            fall = (late.first() - late.last())[late.size() > 1].mean()
            end = cells[LOSS].mean()
            lines.append(
                {
                    "dataset": shown,
                    "method": PUBLISHED_NAME[method],
                    "final log loss": f"{end:.3f}",
                    "above the optimum": NONE if np.isnan(floor) else f"{end - floor:+.3f}",
                    f"fall since epoch {LATE:.0f}": NONE if np.isnan(fall) else f"{fall:.4f}",
                    "kind": "biased" if method in BIASED else "unbiased",
                }
            )
    caption = "Do the biased methods end on a plateau above the optimum, and the others not?"
    right = ("final log loss", "above the optimum", f"fall since epoch {LATE:.0f}")
    frame = pd.DataFrame(lines, columns=["dataset", "method", *right, "kind"])
    return Table(caption, frame, right)


def winners(results: pd.DataFrame) -> list[str]:
    """Sentences with the lowest training and test loss of every dataset, at the best rates."""
    sentences = []
    for dataset, shown in DATASET_NAMES.items():
        ends = {
            PUBLISHED_NAME[method]: cells
            for method in PUBLISHED_NAME
            if len(cells := best(results, "figure3", dataset, method))
        }
        if len(ends) < 2:
            continue
        words = []
        for column, what in ((LOSS, "training"), ("test_log_loss", "test")):
            ranked = sorted(ends, key=lambda name: ends[name][column].mean())
            first, second = (ends[name][column] for name in ranked[:2])
            words.append(
                f"{what} log loss {ranked[0]} {first.mean():.3f}, then {ranked[1]} "
                f"{second.mean():.3f}"
            )
        sentences.append(f"{shown}: {'; '.join(words)}.")
    return sentences
