"""Numbers in the findings that are made by code."""

from __future__ import annotations

from xcbench.papers import Measured, effects
from xcbench.papers.claims import function
from xcbench.papers.memoir import lsh, theory
from xcbench.report.formats import NONE


def once(measured: Measured, words: str, column: str) -> str:
    """What all rows have, as a whole number."""
    rows = effects.rows(measured.results, words)
    return f"{rows[column].iloc[0]:,.0f}" if len(rows) else NONE


def batch(measured: Measured, size: int) -> str:
    """Accuracy on citeulike with batches of a size (Table 2)."""
    words = f"table2 citeulike memoir_l2 method.batch_size={size}"
    accuracies = effects.numbers(measured.results, words, "1 - test_error")
    return f"{100 * accuracies.mean():.2f} %" if len(accuracies) else NONE


def lsh_share(measured: Measured, dataset: str) -> str:
    """Accuracy of MEMOIR-LSH over that of MEMOIR-l2, with its interval."""
    share = effects.effect(lsh.lsh_accuracy(measured, dataset))
    return f"{share.mean:.2f} [{share.low:.2f}, {share.high:.2f}]" if share.seeds else NONE


def failing(measured: Measured) -> str:
    """Share of the pairs for which the printed step of Theorem 1 fails."""
    return f"{1 - theory.as_printed(measured)[0]:.0%}"


def of(measured: Measured, name: str) -> str:
    """A number of the theory."""
    return f"{function('memoir', name)(measured)[0]:.2g}"
