"""Formats of numbers, and the final table as text."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable

import pandas as pd
from tabulate import tabulate

from xcbench.core.metrics import in_tables
from xcbench.store import checkpoints
from xcbench.units import printable

NONE = "–"
RIGHT = ["rate", "seeds", "epochs", "train s", *(name.replace("_", " ") for name in in_tables())]
CONVENTIONS = [
    "Log losses and bounds are means per observation in nats, without any l2 penalty term.",
    "Errors are fractions of observations whose highest score is not their label.",
    "Precision at 1, where rows have several labels: the share of rows whose highest score is that "
    "of any of their labels; rows made of one row count as one.",
    "Train seconds exclude loading and evaluation; compare them only between cells run on the "
    "same machine in the same hour.",
    "The rate of a method is the one with the lowest mean training log loss, or validation log "
    "loss where validation rows were set aside (evaluation.validation), among the rates at which "
    "most seeds ended.",
    "Class prior: test log loss of the frequencies of the classes among the training rows, and "
    "test error of the most frequent class; a method that is worse has learned nothing.",
    "A ± b is the mean and the standard deviation over seeds (n - 1 in the denominator); cells "
    "that diverged, failed or were skipped have no part in it.",
]
CHECKPOINT = {
    checkpoints.LAST: "Numbers are those of the last checkpoint of a cell.",
    checkpoints.BEST: "Numbers are those of the last checkpoint of a cell. Where validation rows "
    "were set aside, they are those of the checkpoint with the lowest validation log loss (of "
    "methods without probabilities: validation error).",
}
EDGE = (
    "A rate marked as lower or upper edge is the lowest or highest that was run: a better one may "
    "lie outside the grid."
)
TWIN = (
    "Synthetic stand-in: this dataset imitates the shape of the real one and nothing else. Never "
    "compare its numbers with a published number."
)


def mean_spread(mean: float, spread: float, decimals: int) -> str:
    """``1.234 ± 0.005``; powers of ten for very small and very large means."""
    if pd.isna(mean):
        return NONE
    plain = mean == 0 or 10.0**-decimals <= abs(mean) < 1e5
    form = f".{decimals}f" if plain else ".1e"
    return f"{mean:{form}}" if pd.isna(spread) else f"{mean:{form}} ± {spread:{form}}"


def count(value: float) -> str:
    """Format a number of epochs: at most three decimals, no trailing zeros."""
    return NONE if pd.isna(value) else f"{round(value, 3):.10g}"


def seconds(value: float) -> str:
    """Format a time: three significant digits, whole seconds from a hundred on."""
    if pd.isna(value):
        return NONE
    return f"{value:.0f}" if value >= 100 else f"{value:#.3g}".rstrip(".")


def rate(value: float, edge: str = "") -> str:
    """Format a learning rate, with the edge of the grid it lies on."""
    if pd.isna(value):
        return NONE
    return f"{value:.6g} ({edge} edge)" if edge else f"{value:.6g}"


def plain(text: str, code: bool = False) -> str:
    """Escape a text for a cell of a Markdown table.

    Parameters
    ----------
    code : whether to keep backticks and emphasis.
    """
    text = " ".join(printable(text).split())
    text = re.sub(r"&(?=#?\w+;)", "&amp;", text)
    text = re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text)  # what CommonMark takes for HTML
    return re.sub(r"[\\|]" if code else r"[\\|*\[\]`]", r"\\\g<0>", text)


def in_words(
    table: pd.DataFrame,
    mark: Callable[[str], str],
    escape: Callable[[str], str] = printable,
) -> list[dict[str, str]]:
    """Format the final table as text.

    Parameters
    ----------
    mark : decorates the best value of each dataset.
    escape : function that escapes text for the target format.
    """
    words = []
    for _, row in table.iterrows():
        line = {
            "dataset": escape(row["dataset"]),
            "method": escape(row["method"]),
            "rate": rate(row["lr"], row["edge"]),
            "seeds": str(row["seeds"]) if row["seeds"] else NONE,
            "epochs": count(row["epoch"]),
            "train s": seconds(row["train_seconds"]),
        }
        for name, metric in in_tables().items():
            if name not in row:
                continue
            value = mean_spread(row[name], row[f"{name}_spread"], metric.digits)
            line[name.replace("_", " ")] = mark(value) if row[f"{name}_best"] else value
        reason = f": {row['message']}" if row["message"] else ""
        words.append(line | {"status": escape(row["status"] + reason)})
    return words


def terminal_table(table: pd.DataFrame) -> str:
    """Lay out the final table for the terminal, best values starred, long reasons folded."""
    words = in_words(table, lambda value: f"{value} *")
    for line in words:
        line.pop("train error")
        line["status"] = textwrap.fill(line["status"], 36)
    return _grid(words, "simple")


def conventions(checkpoint: str) -> list[str]:
    """What the numbers of a report are, with this rule for the checkpoint of a cell."""
    return [*CONVENTIONS, CHECKPOINT[checkpoint]]


def markdown(table: pd.DataFrame, title: str, twins: list[str], checkpoint: str) -> str:
    """Write the final table as a Markdown document, best values in bold."""
    words = in_words(table, lambda value: f"**{value}**", plain)
    notes = [f"**{name}**: {TWIN}" for name in twins]
    notes += [*conventions(checkpoint), *([EDGE] if table["edge"].any() else [])]
    bullets = "\n".join(f"- {note}" for note in notes)
    grid = _grid(words, "pipe")
    return f"# {title}\n\n{grid}\n\nBold: the best mean of a dataset.\n\n{bullets}\n"


def _grid(words: list[dict[str, str]], form: str) -> str:
    align = ["right" if name in RIGHT else "left" for name in words[0]]
    return tabulate(words, headers="keys", tablefmt=form, disable_numparse=True, colalign=align)
