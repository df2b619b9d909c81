"""Numbers in the findings that are made by code."""

from __future__ import annotations

from collections.abc import Callable

from xcbench.papers import Measured
from xcbench.papers import columns as c
from xcbench.papers.columns import Column
from xcbench.papers.memoir import lsh, theory
from xcbench.papers.memoir.experiments import TABLE2
from xcbench.papers.rows import Rows
from xcbench.show import effects
from xcbench.show.formats import NONE


def once(measured: Measured, rows: Rows, column: Column) -> str:
    """What all rows have, as a whole number."""
    ended = rows.of(measured.results)
    return f"{ended[str(column)].iloc[0]:,.0f}" if len(ended) else NONE


def batch(measured: Measured, size: int) -> str:
    """Accuracy on citeulike with batches of a size (Table 2)."""
    rows = TABLE2("citeulike", "memoir_l2", {c.BATCH_SIZE: size})
    accuracies = rows.numbers(measured.results, 1 - c.TEST_ERROR)
    return f"{100 * accuracies.mean():.2f} %" if len(accuracies) else NONE


def lsh_share(measured: Measured, dataset: str) -> str:
    """Accuracy of MEMOIR-LSH over that of MEMOIR-l2, with its interval."""
    share = effects.effect(lsh.lsh_accuracy(measured, dataset))
    return f"{share.mean:.2f} [{share.low:.2f}, {share.high:.2f}]" if share.seeds else NONE


def failing(measured: Measured) -> str:
    """Share of the pairs for which the printed step of Theorem 1 fails."""
    return f"{1 - theory.as_printed(measured)[0]:.0%}"


def of(measured: Measured, number: Callable[[Measured], list[float]]) -> str:
    """A number of the theory."""
    return f"{number(measured)[0]:.2g}"
