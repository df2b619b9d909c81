"""Figures of the board: a figure a question, and an overview."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

import pandas as pd

from xcbench.board.comparisons import AHEAD, BEHIND
from xcbench.board.protocol import LINES, REFERENCE
from xcbench.board.results import CHOOSING, LINE, MEASURES, Board
from xcbench.show import charts
from xcbench.show.pictures import Drawing
from xcbench.store.ordering import best_value
from xcbench.units import count


def every(board: Board, tables: Mapping[str, pd.DataFrame]) -> Iterator[Drawing]:
    """All figures with their captions."""
    for measure, words in MEASURES.items():
        ranks = tables["ranks"]
        some = ranks[ranks["measure"] == measure].set_index("method")
        if len(some):
            some = some.assign(apart=some["result"].isin([BEHIND, AHEAD]))
            yield Drawing(
                f"ranks-{measure}",
                partial(charts.rank_intervals, some, f"average ranks by {words}"),
                f"Average ranks by {words} over {count(some['tasks'].iloc[0], 'task')}, with 95 % "
                "intervals over tasks and seeds. Grey methods are told apart from the leader.",
            )
    accuracy = board.summary.pivot(index="task", columns="method", values="accuracy")
    accuracy = accuracy.reindex(board.summary["task"].unique()).dropna(how="all")
    quality = tables["anytime"].rename(columns={CHOOSING["accuracy"]: "accuracy"})
    quality = quality[~quality["role"].isin([LINE, REFERENCE])]
    dashed = board.summary.pivot(index="task", columns="method", values=CHOOSING["accuracy"])
    yield Drawing(
        "front-seconds",
        partial(
            charts.fronts,
            quality,
            "train_seconds",
            "accuracy",
            "training seconds",
            dashed.reindex(columns=[REFERENCE, *LINES]),
        ),
        "Accuracy (precision at 1 where every label counts) of validation rows after the "
        "protocol's seconds of training, of all methods; those on the Pareto front have numbers, "
        "and their names above the panel. Dashed: exact softmax at its optimum, and what needs no "
        "training.",
    )
    best = accuracy.agg(best_value, axis="columns", column="accuracy")
    yield Drawing(
        "overview",
        partial(charts.heat_map, accuracy.div(best, axis="index").T),
        "Accuracy (precision at 1 where every label counts) in per cent of the best of the task. "
        "A dash marks a method without a number; the tables have the reason.",
    )
    yield Drawing(
        "front-mib",
        partial(
            charts.fronts,
            board.summary[board.summary["role"] != LINE],
            "model_mib",
            "accuracy",
            "model MiB",
        ),
        "Accuracy against the size of the model, with the Pareto front.",
    )
