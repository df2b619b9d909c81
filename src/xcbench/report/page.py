"""The page of a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pandas as pd
from markupsafe import Markup

from xcbench.show import formats, templates
from xcbench.show.pictures import DATASETS, Picture, slug
from xcbench.show.variants import pairs, split, text
from xcbench.store import checkpoints, commits
from xcbench.store.cell import STATUSES, Cell

UNDRAWN = f"figures are drawn for the first {DATASETS} datasets"


def render(
    title: str,
    cells: Mapping[str, list[Cell]],
    rows: pd.DataFrame,
    table: pd.DataFrame,
    figures: dict[str, list[Picture]],
    stale: str = "",
    checkpoint: str = checkpoints.BEST,
) -> str:
    """Render a report as HTML.

    Parameters
    ----------
    title : heading of the page.
    cells : the cells, by label of the dataset.
    rows : their labelled frame.
    table : the final table.
    figures : what `figures.draw` returned.
    stale : a sentence on cells that other code than today's measured, or nothing.
    checkpoint : rule for the checkpoint that stands for a cell.
    """
    counts = rows["status"].value_counts()
    measured = [cell for its in cells.values() for cell in its]
    return (
        templates.environment()
        .get_template("report/page.html")
        .render(
            title=title,
            cells=len(rows),
            stale=stale,
            counts=", ".join(f"{counts[word]} {word}" for word in STATUSES if word in counts),
            code=commits.counted(commits.with_commits(rows, measured)),
            sections=[
                _section(str(label), cells[str(label)], part, results, figures[str(label)])
                for (label, results), part in zip(
                    table.groupby("dataset", sort=False), _parts(rows, table), strict=True
                )
            ],
            right=formats.RIGHT,
            edge=formats.EDGE,
            twin=formats.TWIN,
            not_done=_not_done(rows),
            settings=_settings_of_methods(rows),
            conventions=formats.conventions(checkpoint),
        )
    )


def by_label(rows: pd.DataFrame, cells: Iterable[Cell]) -> dict[str, list[Cell]]:
    """Cells by label of their dataset."""
    label = dict(zip(rows["cell"], rows["dataset_label"], strict=True))
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(label[cell.cell], []).append(cell)
    return groups


def _parts(rows: pd.DataFrame, table: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Rows of each dataset, in the order of the final table."""
    parts = dict(list(rows.groupby("dataset_label")))
    return (parts[label] for label in table["dataset"].unique())


def _section(
    label: str,
    cells: list[Cell],
    part: pd.DataFrame,
    results: pd.DataFrame,
    figures: list[Picture],
) -> dict[str, Any]:
    words = formats.in_words(results, lambda value: Markup("<strong>{}</strong>").format(value))
    return {
        "label": label,
        "anchor": slug(label),
        "twin": is_twin(cells),
        "facts": _shape(cells),
        "settings": _settings_of_data(part),
        "columns": [name for name in words[0] if name != "dataset"],
        "results": words,
        "edge": results["edge"].any(),
        "figures": figures,
        "undrawn": "no cell ended" if results["train_log_loss"].isna().all() else UNDRAWN,
    }


def is_twin(cells: list[Cell]) -> bool:
    """Whether cells of a dataset ran on a synthetic stand-in."""
    return any(cell.dataset.endswith("-twin") or cell.shape.get("twin") for cell in cells)


def _shape(cells: list[Cell]) -> list[str]:
    shape = next((cell.shape for cell in cells if cell.shape), None)
    if shape is None:
        return ["shape unknown: the data was never loaded"]
    facts = [
        f"N = {shape['train']:,} train",
        f"{shape['test']:,} test",
        *_dropped(shape),
        f"D = {shape['features']:,} features",
        f"K = {shape['classes']:,} classes",
    ]
    if "nonzeros_per_row" in shape:
        facts.append(f"{shape['nonzeros_per_row']:.4g} non-zeros per row")
    return facts


def _dropped(shape: dict[str, Any]) -> list[str]:
    """What the protocol costs in test rows, and in accuracy that can be reached."""
    facts = []
    if shape.get("test_dropped"):
        facts.append(f"{shape['test_dropped']:,} more test rows dropped: their label is no class")
    if "accuracy_ceiling" in shape:
        facts.append(f"accuracy at most {shape['accuracy_ceiling']:.4f}: rows differ only in label")
    return facts


def _settings_of_data(part: pd.DataFrame) -> list[tuple[str, str]]:
    """Protocol, budget and the like of a dataset, several values side by side."""
    of_data, _, of_run = split(part)
    protocol = [name for name in of_data if name.startswith("dataset.protocol.")]
    settings = []
    for name in [*protocol, *of_run]:
        values = [value for value in part[name].map(text).unique() if value not in ("", "none")]
        if values:
            settings.append((name.removeprefix("dataset."), " or ".join(values)))
    return settings


def _settings_of_methods(rows: pd.DataFrame) -> list[dict[str, str]]:
    """List the settings of every method variant, in one line each."""
    _, of_method, _ = split(rows)
    settings: dict[str, str] = {}
    for _, row in rows.drop_duplicates("method_label").iterrows():
        names = [name for name in of_method if text(row[name]) != "none"]
        label = row["method_label"]
        settings[label] = ", ".join(pairs(row, names))
    return [{"method": label, "settings": settings[label]} for label in settings]


def _not_done(rows: pd.DataFrame) -> list[dict[str, str]]:
    return [
        {
            "dataset": row["dataset_label"],
            "method": row["method_label"],
            "rate": formats.rate(row["lr"]),
            "seed": str(row["seed"]),
            "status": row["status"],
            "message": "" if pd.isna(row["message"]) else row["message"],
            "cell": row["cell"],
        }
        for _, row in rows[rows["status"] != "done"].iterrows()
    ]
