"""The final table in words: every method at its best rate, for pages, Markdown and terminals."""

from __future__ import annotations

import textwrap
from functools import partial

import pandas as pd

from xcbench.core.metrics import in_tables
from xcbench.show import formats
from xcbench.show.table import Table, grid

WORDS = ("dataset", "method", "status")  # columns that are not numbers


def of(table: pd.DataFrame, caption: str) -> Table:
    """The final table (see `summary.summarise`) in words, the best value of a dataset in bold."""
    spread = {name: it for name, it in in_tables().items() if name in table}
    lines = [
        {
            **({"dataset": row["dataset"]} if "dataset" in table else {}),
            "method": row["method"],
            "rate": formats.rate(row["lr"], row["edge"]),
            "seeds": str(row["seeds"]) if row["seeds"] else formats.NONE,
            "epochs": formats.count(row["epoch"]),
            "train s": formats.seconds(row["train_seconds"]),
            **{
                name.replace("_", " "): formats.mean_spread(
                    row[name], row[f"{name}_spread"], metric.digits
                )
                for name, metric in spread.items()
            },
            "status": row["status"] + (f": {row['message']}" if row["message"] else ""),
        }
        for _, row in table.iterrows()
    ]
    frame = pd.DataFrame(lines)
    best = {name.replace("_", " "): table[f"{name}_best"].to_numpy(bool) for name in spread}
    bold = pd.DataFrame(best, frame.index).reindex(columns=frame.columns, fill_value=False)
    right = [str(name) for name in frame if name not in WORDS]
    return Table(caption, frame, right, bold=bold, verbatim=True)


def terminal(table: pd.DataFrame) -> str:
    """Lay out the final table for the terminal, best values starred, long reasons folded."""
    words = of(table, "")
    assert words.bold is not None
    frame = words.frame.map(formats.printable).mask(words.bold, words.frame + " *")
    frame["status"] = frame["status"].map(partial(textwrap.fill, width=36))
    frame = frame.drop(columns="train error", errors="ignore")
    return grid(frame.to_numpy().tolist(), [*map(str, frame)], words.right, "simple")
