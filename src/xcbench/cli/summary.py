"""Table at the end of a sweep: every method at its best rate."""

from __future__ import annotations

from collections.abc import Sequence

from xcbench.show import final_table, summary, variants
from xcbench.store import checkpoints, results
from xcbench.store.cell import ENDED, Cell

LINES = 40  # a longer table is a report's


def show(cells: Sequence[Cell]) -> None:
    """Print the final table of these cells, if any ended."""
    if not any(cell.status in ENDED for cell in cells):
        return
    rows = variants.label(results.frame(cells, checkpoint=checkpoints.BEST), cells)
    table = summary.with_references(summary.summarise(rows), summary.priors(rows, cells))
    if len(table) <= LINES:
        print(f"\n{final_table.terminal(table)}\n* the best mean of a dataset\n")
