"""The folder of a report: tables, figures and a page, written together."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import pandas as pd

from xcbench import show
from xcbench.core.metrics import in_tables
from xcbench.errors import UserError, writing
from xcbench.report import figures, page
from xcbench.show import section, summary, templates, variants
from xcbench.store import checkpoints, commits, results
from xcbench.store.cell import Cell
from xcbench.system import durable, locks, sealed

INPUTS = "inputs.sha256"
CONTENT = {"index.html", "table.csv", "table.md", "results.csv", "curves.csv", "figures", INPUTS}
CODE = (".py", ".html")
OPTIONAL = {templates.SELF_CONTAINED}


def build(
    cells: list[Cell],
    out: Path,
    title: str,
    stale: str = "",
    checkpoint: str = checkpoints.BEST,
) -> pd.DataFrame:
    """Write a report folder.

    The folder holds the page ``index.html``, its ``figures/``, and the final table as ``table.csv``
    and ``table.md``. ``results.csv`` has one row a cell, ``curves.csv`` one row a checkpoint. The
    same cells give the same bytes; a report of the same cells whose files are as they were written
    is not rebuilt (``inputs.sha256``). A new report replaces an earlier one atomically.

    Parameters
    ----------
    cells : the cells, in any order.
    out : folder of the report.
    title : heading of the report.
    stale : a sentence on cells that other code than today's measured, or nothing.
    checkpoint : rule for the checkpoint that stands for a cell, see `checkpoints.of`.

    Returns
    -------
    DataFrame
        The final table, one row per dataset and method variant (see `summary.summarise`).

    Raises
    ------
    UserError
        If there are no cells, or ``out`` has files that are not part of a report.
    """
    if not cells:
        raise UserError("no cell to report: run an experiment first, or use fewer filters")
    _check_replaceable(out)
    lock = out.parent / f".{out.name}.lock"
    with writing(out, "reports_dir"), locks.alone(lock, f"writes {out}"):
        return _build(cells, out, title, stale, checkpoint)


def _build(cells: list[Cell], out: Path, title: str, stale: str, checkpoint: str) -> pd.DataFrame:
    cells = sorted(cells, key=lambda cell: cell.cell)
    rows = results.frame(cells, checkpoint=checkpoint)
    labelled = variants.label(rows, cells)
    trained, priors = summary.summarise(labelled), summary.priors(labelled, cells)
    table = summary.with_references(trained, priors)
    curves = results.frame(cells, curves=True)
    curves = curves[[name for name in curves if "." not in str(name) and name != "message"]]
    marked = checkpoints.marked(rows, cells, checkpoint)
    texts = {
        name: frame.to_csv(index=False, float_format="%.10g")
        for name, frame in (
            ("results.csv", commits.with_commits(marked, cells)),
            ("curves.csv", curves),
            ("table.csv", table),
        )
    }
    shown = (
        f"{name} {metric.direction} {metric.range} {metric.digits} {metric.axis}"
        for name, metric in in_tables().items()
    )
    inputs = _digest(
        title, stale, checkpoint, *texts.values(), *(str(cell.shape) for cell in cells), *shown
    )
    durable.tidy([out])
    if _is_of(out, inputs):
        print(f"nothing changed since {out} was written")
        return table

    with durable.new_folder(out) as scratch:
        by_name = {cell.cell: cell for cell in cells}
        named = labelled.groupby("dataset_label")["cell"]
        by_label = {str(label): [by_name[name] for name in names] for label, names in named}
        drawn = figures.draw(labelled, curves, trained, scratch / "figures")
        final = section.markdown([*page.summary(by_label, table, checkpoint)])
        texts["table.md"] = f"# {title}\n\n{final}"
        texts["index.html"] = section.render(
            title,
            page.intro(labelled, cells),
            [*page.sections(by_label, labelled, table, drawn, checkpoint)],
            notices=[*filter(None, [stale])],
            home="",
        )
        for name, text in texts.items():
            (scratch / name).write_text(text, encoding="utf-8")
        (scratch / INPUTS).write_text(_checksums(scratch, inputs), encoding="utf-8")
    return table


def _digest(*inputs: str) -> str:
    """Hash of what a report is made of, the code that makes it included."""
    rooms = (Path(module).parent for module in (__file__, show.__file__))
    code = sorted(path for room in rooms for path in room.iterdir() if path.suffix in CODE)
    texts = (text.encode(errors="surrogatepass") for text in (matplotlib.__version__, *inputs))
    digests = [*map(sealed.file_digest, code), *map(sealed.digest, texts)]
    return sealed.digest("".join(digests).encode())


def _is_of(out: Path, inputs: str) -> bool:
    """Whether a report of these inputs is there, with all files as they were written."""
    try:
        return (out / INPUTS).read_bytes() == _checksums(out, inputs).encode()
    except OSError:
        return False


def _checksums(folder: Path, inputs: str) -> str:
    """The digest of the inputs, then that of every file, as sha256sum writes them."""
    omitted = {INPUTS, *OPTIONAL}
    files = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    names = [path.as_posix() for path in files if path.name not in omitted]
    lines = [f"{sealed.file_digest(folder / name)}  {name}" for name in names]
    return "\n".join([inputs, *lines, ""])


def _check_replaceable(out: Path) -> None:
    if out.is_file():
        raise UserError(f"{out} is a file; name a folder for the report")
    foreign = sorted(entry.name for entry in out.glob("*") if entry.name not in CONTENT | OPTIONAL)
    if foreign:
        raise UserError(
            f"{out} is not a report that could be replaced: it also holds {foreign[0]}; "
            "name another folder, or move that away"
        )
