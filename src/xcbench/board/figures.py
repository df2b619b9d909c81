"""Figures of the board: an overview, average ranks, profiles and fronts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from matplotlib.figure import Figure

from xcbench.board.results import Board
from xcbench.board.tables import MEASURES
from xcbench.show import charts, pictures, ranks, style
from xcbench.show.pictures import Picture
from xcbench.store.ordering import best_value


def draw(board: Board, folder: Path) -> list[Picture]:
    """Draw the figures and save them in a folder."""
    with style.look():
        drawn = [*every(board)]
    figures = {name: figure for name, figure, _ in drawn}
    captions = {name: caption for name, _, caption in drawn}
    return [*pictures.save(figures, captions, folder).values()]


def every(board: Board) -> Iterator[tuple[str, Figure, str]]:
    """Names, figures and captions."""
    accuracy, loss = board.by_task("accuracy"), board.by_task("test_log_loss")
    best = accuracy.agg(best_value, axis="columns", column="accuracy")
    yield (
        "overview",
        charts.heat_map(accuracy.div(best, axis="index").T),
        "Accuracy (precision at 1 where every label counts) in per cent of the best of the task. "
        "A dash marks a method without a number; the tables have the reason.",
    )
    for name, words in MEASURES.items():
        if table := ranks.ranks(board.by_task(name), name):
            yield (
                f"ranks-{name}",
                charts.rank_diagram(table, f"average ranks by {words}"),
                f"Average ranks by {words} over {table.tasks} tasks. Methods joined by a bar do "
                "not differ (Nemenyi, 95 %); a method without a number ranks last.",
            )
    if len(loss):
        yield (
            "profile-loss",
            charts.profile(loss, "log loss"),
            "Performance profile of the log loss: share of tasks on which a method is within a "
            "ratio of the best.",
        )
    error = charts.profile(1 - accuracy, "error")
    yield "profile-error", error, "Performance profile of the error."
    trained = board.summary[board.summary["method"] != "prior"]
    yield (
        "front-seconds",
        charts.fronts(trained, "train_seconds", "accuracy", "training seconds"),
        "Accuracy against training time. A line joins the Pareto front, whose methods are named "
        "above the panel.",
    )
    yield (
        "front-mib",
        charts.fronts(trained, "model_mib", "accuracy", "model MiB"),
        "Accuracy against the size of the model, with the Pareto front.",
    )
