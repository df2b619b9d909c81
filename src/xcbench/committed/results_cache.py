"""The measured numbers of a paper as committed tables, and which of their rows still hold.

A row holds while the identity of its cell does, the same settings, data and versions, and while
today's code gives its numbers (`code_table`). Where the data
are absent, the row's digest of the data counts, and where another engine is installed, its engine.
Where the data are not prepared, a rate that a rule makes of them is that of the row.
A row whose text or curve differs from its checksum does not hold. Tables change by `update`, so
that launches at the same time add to those of one another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import pandas as pd

from xcbench.committed import checksums, code_table, csv_tables
from xcbench.committed.code_table import Codes
from xcbench.core.dataset import Info
from xcbench.data import Missing
from xcbench.errors import UserError, one_line, writing
from xcbench.methods.options import AUTO
from xcbench.options import Content
from xcbench.plan import code, identity
from xcbench.plan.code import Change, Code
from xcbench.plan.job import Job
from xcbench.store import checkpoints, results
from xcbench.store.cell import CURVE_COLUMNS, FINAL, OVERTIME, Cell
from xcbench.system import durable, locks

HEAD = ["grid", "cell", "status", "dataset", "method", "lr", "seed", "engine", "dataset_digest"]
NUMBERS = ["lr", "seed", *CURVE_COLUMNS]
MEMORY = "budget.memory"  # no part of an identity; a cell that needs more is skipped


def save(table: pd.DataFrame, path: Path, digits: int = checksums.DIGITS) -> None:
    """Write a table of a report in one move, unless that is what is there.

    Raises
    ------
    UserError
        If it cannot be written.
    """
    content = _bytes(table, digits)
    with writing(path, "reports_dir"):
        if not path.exists() or path.read_bytes() != content:
            durable.write(path, content)


def load(path: Path, columns: list[str]) -> pd.DataFrame:
    """A table that `save` wrote, empty where there is none.

    Raises
    ------
    UserError
        If it cannot be read, or lacks a column.
    """
    if not path.exists():
        return pd.DataFrame({name: [] for name in columns})  # of numbers: others are joined to it
    try:
        return pd.read_csv(path, dtype={"cell": str})[columns]
    except (OSError, ValueError, KeyError) as error:
        why = one_line(error)
        raise UserError(f"{path} cannot be read ({why}); restore it, or remove it") from None


def _bytes(table: pd.DataFrame, digits: int = checksums.DIGITS) -> bytes:
    return table.to_csv(index=False, float_format=f"%.{digits}g").encode()


@dataclass
class ResultsCache:
    """Tables of a part of a paper.

    Attributes
    ----------
    rows : one row for each cell of each grid.
    curves : one row a checkpoint of these cells.
    damaged : number of rows of the file that do not fit their checksums; they are left out.
    codes : records of the code that the rows come from.
    """

    rows: pd.DataFrame
    curves: pd.DataFrame
    damaged: int = 0
    codes: Codes = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path, part: str) -> ResultsCache:
        """Tables on the disk, or empty ones.

        Raises
        ------
        UserError
            If they cannot be read.
        """
        seen = None
        while seen != (files := _files(folder, part)):  # else another launch wrote meanwhile
            seen, problem = files, None
            try:
                tables = cls._of_files(*paths(folder, part))
            except UserError as error:
                problem = error
        if problem:
            raise problem
        return tables

    @classmethod
    def _of_files(cls, results: Path, checkpoints: Path, records: Path) -> ResultsCache:
        rows, damaged = csv_tables.read(results, HEAD, NUMBERS)
        if rows.duplicated(["grid", "cell"]).any():
            raise UserError(
                f"{results} has a row twice; restore it, or remove it: its cells run again"
            )
        return cls(rows, _read_curves(checkpoints), damaged, code_table.read(records))

    @classmethod
    def empty(cls) -> ResultsCache:
        """Tables without a row."""
        return cls(pd.DataFrame(columns=HEAD), pd.DataFrame(columns=["cell", *CURVE_COLUMNS]))

    @classmethod
    def of(cls, grid: str, cells: list[Cell]) -> ResultsCache:
        """Tables of the cells of a grid."""
        return cls(_rows(grid, cells), _curves(cells), codes=code_table.of(cells))

    def write(self, folder: Path, part: str) -> None:
        """Write the tables, all or none of them, unless they are what is there."""
        results, checkpoints, records = _homes(folder, part)
        exact = self.rows["lr"].map(lambda rate: "" if pd.isna(rate) else repr(float(rate)))
        rows = self.rows.assign(lr=exact)  # the rate is part of an identity
        curves = self.curves.dropna(subset=CURVE_COLUMNS, how="all")  # of what was run
        files = {checkpoints: _bytes(curves), results: _bytes(csv_tables.with_checksums(rows))}
        files[records] = code_table.content(self.codes, rows.get(code_table.COLUMN, []))
        if any(not path.exists() or path.read_bytes() != new for path, new in files.items()):
            durable.write_together(files, _pending(folder, part))

    def holds(self, job: Job, grid: str) -> str | None:
        """Identity of the row of a job of a grid, if there is one that holds."""
        settings, cell = job.settings, job.cell
        prepared, absent = isinstance(job.info, Info), isinstance(job.info, Missing)
        for row in self.finished.get((cell.dataset, cell.method, cell.seed), []):
            rate: float | None = None if pd.isna(row["lr"]) else float(row["lr"])
            unknown = (
                not prepared and cell.lr is None and row["grid"] == grid
            )  # a rule needs the data
            too_large = row["status"] == "skipped" and row[MEMORY] != settings.budget.memory
            tries = settings.method.lr == AUTO
            if too_large or (rate != cell.lr and not unknown and not tries):
                continue
            lr = AUTO if tries else rate
            candidate = replace(settings, method=replace(settings.method, lr=lr))
            digest = row["dataset_digest"] if absent else cell.dataset_digest
            if row["cell"] == identity.identity(candidate, cell.dataset, digest, row["engine"]):
                change = self._change(row, job.method)
                self.changes[cell.cell] = change
                return None if change else str(row["cell"])
        return None

    def _change(self, row: Content, method: str) -> Change:
        """What became of the code of a row; of one that measured nothing, none is asked."""
        if row["status"] in ("skipped", "failed"):
            return Change()
        name = row[code_table.COLUMN]
        if name not in self.by_code:
            self.by_code[name] = code.change(self.codes.get(name), method)
        return self.by_code[name]

    @cached_property
    def by_code(self) -> dict[str, Change]:
        """What is known of the records of code that were asked for."""
        return {}

    @cached_property
    def changes(self) -> dict[str, Change]:
        """What became of the code of the rows that were asked for, by identity of the job."""
        return {}

    @cached_property
    def has_curve(self) -> pd.Series:
        """Whether the curve of each row is there, all of its checkpoints as they were measured."""
        expected = self.rows.reindex(columns=[csv_tables.CURVE_CHECKSUM])[csv_tables.CURVE_CHECKSUM]
        sums = self.rows["cell"].map(checksums.of_curves(self.curves))
        return (expected == sums) | (expected.isna() & sums.isna())

    @property
    def lost(self) -> int:
        """Number of rows that are damaged or gone; of those that are gone, the curves tell."""
        return max(self.damaged, len(set(self.curves["cell"]) - set(self.rows["cell"])))

    @property
    def intact(self) -> ResultsCache:
        """The rows whose curves are there, and these curves."""
        rows = self.rows[self.has_curve]
        curves = self.curves[self.curves["cell"].isin(rows["cell"])]
        return ResultsCache(rows, curves, codes=self.codes)

    @cached_property
    def finished(self) -> dict[tuple[object, ...], list[Content]]:
        """Rows that need not run again, with their curves, by dataset, method and seed.

        They finished, need more than the memory that they may take, or took more than the
        seconds of the board.
        """
        finished: dict[tuple[object, ...], list[Content]] = {}
        rows = self.rows.reindex(columns=[*HEAD, "message", MEMORY, code_table.COLUMN])
        over = rows["message"].astype(str).str.contains(f"over {MEMORY}=|^{OVERTIME}")
        final = (rows["status"].isin(FINAL) | over) & self.has_curve
        for row in rows.loc[final, [*HEAD, MEMORY, code_table.COLUMN]].to_dict("records"):
            same = finished.setdefault((row["dataset"], row["method"], row["seed"]), [])
            same.append({str(name): value for name, value in row.items()})
        return finished

    @cached_property
    def skipped(self) -> set[str]:
        """Identities of the rows that say why nothing was run."""
        return set(self.rows.loc[self.rows["status"] == "skipped", "cell"])

    def only(self, grid: str, names: Iterable[str]) -> ResultsCache:
        """Cells of these identities, as those of a grid."""
        rows = self.rows[self.rows["cell"].isin(list(names)) & self.has_curve].drop_duplicates(
            "cell"
        )
        curves = self.curves[self.curves["cell"].isin(rows["cell"])]
        used = set(rows.get(code_table.COLUMN, [])) & self.by_code.keys()
        codes = code_table.renewed({name: self.codes[name] for name in used & self.codes.keys()})
        return ResultsCache(rows.assign(grid=grid), curves, codes={**self.codes, **codes})

    def joined(self, more: ResultsCache) -> ResultsCache:
        """Both, later checkpoints of a cell instead of earlier ones."""
        curves = _stacked(self.curves[~self.curves["cell"].isin(more.rows["cell"])], more.curves)
        codes = {**self.codes, **more.codes}
        return ResultsCache(_stacked(self.rows, more.rows), curves, codes=codes)

    def replaced(self, grid: str, new: ResultsCache, swept: Sequence[str] = ()) -> ResultsCache:
        """Tables with new rows of a grid.

        Rows of other grids with a cell that was measured anew have the new numbers, too.

        Parameters
        ----------
        swept : where only a part of the grid was wanted: what the grid sweeps; its other points
            stay as they are.
        """
        mine = self.rows["grid"] == grid
        if swept:
            mine &= _points(self.rows, swept).isin(set(_points(new.rows, swept)))
        others = _refreshed(self.rows[~mine], new.rows)
        merged = ResultsCache(others, self.curves, codes=self.codes).joined(new)
        curves = merged.curves[merged.curves["cell"].isin(merged.rows["cell"])]
        return ResultsCache(merged.rows, curves, codes=merged.codes)


def _refreshed(rows: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    """Rows in their order; those of cells with another curve by now are the new ones."""
    again = new.drop_duplicates("cell").set_index("cell")
    sums, old = (
        frame.reindex(columns=[csv_tables.CURVE_CHECKSUM])[csv_tables.CURVE_CHECKSUM].astype(object)
        for frame in (again, rows)
    )
    now = rows["cell"].map(sums).astype(object)
    other = rows["cell"].isin(again.index) & (old.fillna("") != now.fillna(""))
    if not other.any():
        return rows
    fresh = again.loc[rows.loc[other, "cell"]].reset_index()
    fresh = fresh.assign(grid=rows.loc[other, "grid"].to_numpy()).set_index(rows.index[other])
    return pd.concat([rows[~other], fresh]).sort_index()


def update(folder: Path, part: str, change: Callable[[ResultsCache], ResultsCache]) -> ResultsCache:
    """Change the tables on the disk while no other launch does; gives what they are now."""
    with writing(folder, "reports_dir"), locks.alone(folder / ".tables.lock", f"writes {folder}"):
        durable.finish(_pending(folder, part))
        durable.tidy([*_homes(folder, part), _pending(folder, part)])
        tables = change(ResultsCache.read(folder, part))
        tables.write(folder, part)
    return tables


def _read_curves(path: Path) -> pd.DataFrame:
    """Checkpoints; which of them are as they were measured, the rows tell."""
    needed = ["cell", *CURVE_COLUMNS]
    if not path.exists():
        return pd.DataFrame(columns=needed)
    with csv_tables.reading(path):
        return csv_tables.typed(csv_tables.text(path), needed)


def _stacked(*frames: pd.DataFrame) -> pd.DataFrame:
    """Frames on top of each other; those without rows say nothing about types."""
    full = [frame for frame in frames if len(frame)]
    return pd.concat(full, ignore_index=True) if full else frames[0]


def _points(rows: pd.DataFrame, swept: Sequence[str]) -> pd.Series:
    """Where in a sweep each row stands."""
    renamed = {"method.lr": "lr"}
    names = [renamed.get(name, name) for name in swept]
    values = rows.reindex(columns=names).astype(object)
    points = values.where(values.notna(), None).itertuples(index=False, name=None)
    return pd.Series(list(points), rows.index, dtype=object)


def paths(folder: Path, part: str) -> tuple[Path, Path, Path]:
    """Files of a part: results, curves, and records of code."""
    results, curves, records = (
        durable.current(path, _pending(folder, part)) for path in _homes(folder, part)
    )
    return results, curves, records


def _files(folder: Path, part: str) -> list[tuple[Path, int]]:
    """The files of a part, each with its number on the disk."""
    return [(path, durable.number(path)) for path in paths(folder, part)]


def _homes(folder: Path, part: str) -> tuple[Path, Path, Path]:
    results, curves = folder / f"{part}.csv", folder / f"{part}-curves.csv"
    return results, curves, folder / f"{part}-code.jsonl"


def _pending(folder: Path, part: str) -> Path:
    return folder / f".{part}-new"


def _rows(grid: str, cells: list[Cell]) -> pd.DataFrame:
    """Rows of a grid from its cells: the tidy frame, with what makes a cell hold."""
    frame = results.frame(cells, checkpoint=checkpoints.LAST)  # `stopped` grids choose another
    if not cells:
        return ResultsCache.empty().rows
    absent = frame["status"] == "skipped"  # a message may name folders of this machine
    messages = frame["message"].astype(object)
    frame["message"] = messages.mask(absent, messages.astype(str).str.partition(" (")[0])
    by_cell: dict[str, Content] = {
        cell.cell: {
            "method_version": cell.method_version,
            "dataset_digest": cell.dataset_digest,
            code_table.COLUMN: record.name if (record := Code.of(cell.code)) else "",
            "commit": cell.commit,
            "commit_source": cell.commit_source,
            **{f"shape.{name}": value for name, value in cell.shape.items()},
        }
        for cell in cells
    }
    more = pd.DataFrame([by_cell[name] for name in frame["cell"]], index=frame.index)
    frame = pd.concat([frame, more], axis=1)
    frame[csv_tables.CURVE_CHECKSUM] = frame["cell"].map(checksums.of_curves(_curves(cells)))
    frame.insert(0, "grid", grid)
    return frame


def _curves(cells: list[Cell]) -> pd.DataFrame:
    """Checkpoints of cells, without their settings."""
    frame = results.frame(cells, curves=True)
    if not cells:
        return ResultsCache.empty().curves
    excluded = {*results.COLUMNS, results.BY, "message"}
    columns = [name for name in frame if "." not in str(name) and name not in excluded]
    return frame[["cell", *CURVE_COLUMNS, *columns]]
