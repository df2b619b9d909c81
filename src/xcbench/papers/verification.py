"""Train cells of the committed tables again, and compare: `xcbench verify umax sample=40`."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pandas as pd
from omegaconf import OmegaConf

from xcbench.core.dataset import Info
from xcbench.data import external
from xcbench.data.settings import DatasetSettings
from xcbench.errors import UserError
from xcbench.methods import registry
from xcbench.papers.results_cache import ResultsCache
from xcbench.run import cells, plan, results
from xcbench.run.execute import execute_jobs
from xcbench.run.plan import Job
from xcbench.run.settings import Config
from xcbench.units import count

TWIN = "-twin"
TIMES = ("train_seconds", "predict_seconds", "peak_mib", "train_mib", "model_mib")
EQUAL = 1e-6  # of a relative difference; the tables have eight digits
COLUMNS = ["table", "cell", "dataset", "method", "lr", "seed", "column", "recorded", "now"]


@dataclass(frozen=True)
class Drawn:
    """A committed row, and the job that measures it again."""

    table: str
    row: pd.Series
    job: Job


def settings_of(row: pd.Series) -> Config:
    """Configuration of a committed row; options that are newer than the row have their defaults.

    Raises
    ------
    UserError
        If its dataset or its method is not here.
    """
    name = str(row["dataset"]).removesuffix(TWIN)
    path = external.catalogue().get(name)
    if path is None:
        raise UserError(f"dataset {name} of cell {row['cell']} is not in the catalogue")
    entry = OmegaConf.load(path)
    entry.pop("defaults", None)
    dataset = OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(DatasetSettings), entry))
    assert isinstance(dataset, DatasetSettings)
    protocol = _filled(dataset.protocol, row, "dataset.protocol.")
    schema = registry.find(str(row["method"])).thing.schema
    rate = None if pd.isna(row["lr"]) else float(row["lr"])
    method = _filled(schema(name=str(row["method"])), row, "method.")
    default = Config()
    return replace(
        default,
        dataset=replace(dataset, protocol=protocol),
        method=replace(method, lr=rate),
        budget=_filled(default.budget, row, "budget."),
        evaluation=_filled(default.evaluation, row, "evaluation."),
        seed=int(row["seed"]),
        dtype=str(row["run.dtype"]),
        engine=str(row["engine"]),
    )


def _filled(settings: Any, row: pd.Series, prefix: str) -> Any:
    """Settings with the values of a row's columns."""
    values: dict[str, Any] = {}
    types = get_type_hints(type(settings))
    for entry in fields(settings):
        name, value = entry.name, getattr(settings, entry.name)
        if is_dataclass(value) and not isinstance(value, type):
            values[name] = _filled(value, row, f"{prefix}{name}.")
        elif prefix + name in row and not pd.isna(row[prefix + name]):
            values[name] = _typed(row[prefix + name], types[name])
    return replace(settings, **values)


def _typed(value: Any, kind: Any) -> Any:
    """A value of a table as an option of a type."""
    if kind is bool:
        return str(value) == "True"
    if kind is int:
        return int(float(value))
    if kind is str:
        return str(value)
    if str(kind).startswith("list"):
        return json.loads(value)
    return float(value)


def draw(tables: dict[str, ResultsCache], sample: int, seed: int, runs_dir: Path) -> list[Drawn]:
    """Draw rows that ended by themselves, and whose data are here."""
    rows = [
        (name, row)
        for name, cache in sorted(tables.items())
        for _, row in cache.intact.rows.drop_duplicates("cell").iterrows()
        if row["status"] in ("done", "diverged") and pd.isna(row.get("budget.seconds", math.nan))
    ]
    drawn: list[Drawn] = []
    for number in np.random.default_rng(seed).permutation(len(rows)):
        if len(drawn) == sample:
            break
        drawn += _job(*rows[number], runs_dir)
    return drawn


def _job(table: str, row: pd.Series, runs_dir: Path) -> Iterator[Drawn]:
    settings = replace(settings_of(row), runs_dir=str(runs_dir), grid="verify", mlflow=False)
    (job,) = plan.jobs([settings], whole=False)
    if isinstance(job.info, Info) and job.cell.cell == row["cell"]:
        yield Drawn(table, row, job)


def compare(drawn: list[Drawn]) -> pd.DataFrame:
    """Train the cells again; gives the column of each that differs most, relative to its value."""
    execute_jobs([item.job for item in drawn])
    lines = []
    for item in drawn:
        cell = cells.usable(Path(item.job.settings.runs_dir), item.job.cell.cell)
        now = results.frame([cell]).iloc[0] if cell else pd.Series(dtype=object)
        lines.append({**_head(item), **_worst(item.row, now)})
    return pd.DataFrame(lines, columns=[*COLUMNS, "difference"])


def _head(item: Drawn) -> dict[str, Any]:
    return {"table": item.table, **item.row[COLUMNS[1:6]].to_dict()}


def _worst(row: pd.Series, now: pd.Series) -> dict[str, Any]:
    """The number that differs most; a missing one differs by infinity."""
    worst = {"column": "", "recorded": math.nan, "now": math.nan, "difference": 0.0}
    if row["status"] != now.get("status"):
        changed = {"recorded": row["status"], "now": now.get("status")}
        return {"column": "status", **changed, "difference": math.inf}
    for name in measured(row):
        old, new = float(row[name]), float(now.get(name, math.nan))
        difference = abs(new - old) / max(abs(old), 1e-12) if new == new else math.inf
        if difference > worst["difference"]:
            worst = {"column": name, "recorded": old, "now": new, "difference": difference}
    return worst


def measured(row: pd.Series) -> list[str]:
    """Columns of a row with numbers that training or evaluation gave, times and memory apart."""
    names = [str(name) for name in row.index if "." not in str(name)]
    last = names.index("message")
    return [
        name
        for name in names[names.index("engine") + 1 : last]
        if name not in TIMES and not pd.isna(row[name])
    ]


def said(table: pd.DataFrame) -> str:
    """How many cells are equal, and how far the others are."""
    different = table[table["difference"] > EQUAL]
    same = len(table) - len(different)
    text = f"{count(len(table), 'cell')} trained again: {same} equal to {EQUAL:g}"
    if len(different):
        text += f", {len(different)} differ, by {different['difference'].max():.2g} at most"
    return text
