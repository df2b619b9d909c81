"""Reports: tables, figures and a page made from cells."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pandas as pd

from xcbench import results
from xcbench.cells import Cell
from xcbench.errors import UserError, writing
from xcbench.report import figures, page, summary, variants
from xcbench.report.formats import markdown, terminal_table

__all__ = ["build", "terminal_table"]

CONTENT = {"index.html", "table.csv", "table.md", "results.csv", "curves.csv", "figures"}


def build(found: list[Cell], out: Path, title: str) -> pd.DataFrame:
    """Write a report folder.

    The folder holds ``index.html`` (everything, in one file), ``table.csv`` and ``table.md``
    (the final table), ``results.csv`` (one row a cell), ``curves.csv`` (one row a checkpoint;
    the settings are in ``results.csv``, by ``cell``) and ``figures/``. The same cells
    give the same bytes. An earlier report at the same place is replaced when the new one is
    complete.

    Parameters
    ----------
    found : the cells, in any order.
    out : folder of the report.
    title : heading of the report.

    Returns
    -------
    DataFrame
        The final table, one row per dataset and method variant (see `summary.summarise`).

    Raises
    ------
    UserError
        If there are no cells, or ``out`` holds anything that is not part of a report.
    """
    if not found:
        raise UserError(
            "there are no cells to report: run an experiment first, or select with wider filters"
        )
    _check_replaceable(out)
    with writing(out, "reports_dir"):
        return _build(found, out, title)


def _build(found: list[Cell], out: Path, title: str) -> pd.DataFrame:
    found = sorted(found, key=lambda cell: cell.cell)
    rows = results.frame(found)
    labelled = variants.label(rows, found)
    table = summary.summarise(labelled)
    curves = results.frame(found, curves=True)
    curves = curves[[name for name in curves if "." not in str(name) and name != "message"]]

    out.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    try:
        twins = [
            str(label)
            for label, part in labelled.groupby("dataset_label")
            if page.is_twin([cell for cell in found if cell.cell in set(part["cell"])])
        ]
        table.to_csv(scratch / "table.csv", index=False, float_format="%.10g")
        (scratch / "table.md").write_text(markdown(table, title, twins), encoding="utf-8")
        rows.to_csv(scratch / "results.csv", index=False, float_format="%.10g")
        curves.to_csv(scratch / "curves.csv", index=False, float_format="%.10g")
        drawn = figures.draw(labelled, curves, scratch / "figures")
        html = page.render(title, found, labelled, table, drawn)
        (scratch / "index.html").write_text(html, encoding="utf-8")
        scratch.chmod(0o755)
        if out.exists():
            shutil.rmtree(out)
        scratch.rename(out)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return table


def _check_replaceable(out: Path) -> None:
    if out.is_file():
        raise UserError(f"{out} is a file; name a folder for the report")
    foreign = sorted(entry.name for entry in out.glob("*") if entry.name not in CONTENT)
    if foreign:
        raise UserError(
            f"{out} is not a report that could be replaced: it also holds {foreign[0]}; "
            "name another folder, or move that away"
        )
