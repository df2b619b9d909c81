"""Tables of a paper survive kills, full disks and launches at the same time."""

from __future__ import annotations

import csv
import errno
import hashlib
import os
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from file_faults import KILLED, REFUSED, in_child, kill
from made_cells import make
from xcbench.committed import results_cache
from xcbench.committed.results_cache import ResultsCache
from xcbench.errors import UserError
from xcbench.papers import NAMES, run
from xcbench.papers.run import measured
from xcbench.store import cells

ROOT = Path(__file__).resolve().parents[2]


def _tables(grid: str, *seeds: int, lr: float = 0.1) -> ResultsCache:
    return ResultsCache.of(grid, [make(seed=seed, lr=lr) for seed in seeds])


def _replace(grid: str, new: ResultsCache) -> Callable[[ResultsCache], ResultsCache]:
    return lambda tables: tables.replaced(grid, new)


def _no_space() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize(("fault", "code"), [(kill, KILLED), (_no_space, REFUSED)])
def test_no_row_without_its_curve_whatever_fails(
    tmp_path: Path, fault: Callable[[], None], code: int
) -> None:
    old, other, new = _tables("g", 0, 1), _tables("h", 5), _tables("g", 2, 3)
    before, after = {*old.rows["cell"]}, {*new.rows["cell"]}
    codes = []
    for at in range(100):
        folder = tmp_path / str(at)
        results_cache.update(folder, "runs", lambda tables: old.joined(other))
        codes.append(
            in_child(
                lambda f=folder: results_cache.update(f, "runs", _replace("g", new)), at, fault
            )
        )
        tables = ResultsCache.read(folder, "runs")
        assert tables.has_curve.all()
        assert {*tables.rows["cell"]} - {*other.rows["cell"]} in (before, after)
        assert {*other.rows["cell"]} < {*tables.rows["cell"]}
        assert set(tables.rows["cell"]) <= set(tables.curves["cell"])
        results_cache.update(folder, "runs", _replace("g", new))  # the next launch mends all
        names = {path.name for path in folder.iterdir()}
        assert names == {"runs.csv", "runs-curves.csv", "runs-code.jsonl", ".tables.lock"}
        again = ResultsCache.read(folder, "runs")
        assert {*again.rows["cell"]} == {*again.curves["cell"]} == after | {*other.rows["cell"]}
        if codes[-1] == 0:
            break
    assert len(codes) > 6 and set(codes) == {code, 0}


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("fault", [kill, _no_space])
def test_rows_that_are_run_again_are_old_or_new_whatever_fails(
    tmp_path: Path, fault: Callable[[], None]
) -> None:
    old, new = (ResultsCache.of("g", [make(seed=0, end=end)]) for end in (1.0, 2.0))
    shown = []
    for at in range(100):
        folder = tmp_path / str(at)
        results_cache.update(folder, "runs", lambda tables: old)
        code = in_child(
            lambda f=folder: results_cache.update(f, "runs", _replace("g", new)), at, fault
        )
        tables = ResultsCache.read(folder, "runs")
        assert tables.has_curve.all() and len(tables.rows) == 1
        assert tables.rows["train_log_loss"].iloc[-1] == tables.curves["train_log_loss"].iloc[-1]
        shown.append(tables.rows["train_log_loss"].item())
        if code == 0:
            break
    assert sorted(set(shown)) == [1.0, 2.0] and shown == sorted(shown)


def test_launches_at_the_same_time_keep_the_rows_of_one_another(tmp_path: Path) -> None:
    def launch(number: int) -> None:
        for seed in range(5):
            name = f"g{number}-{seed}"
            results_cache.update(tmp_path, "runs", _replace(name, _tables(name, seed, lr=number)))

    threads = [threading.Thread(target=launch, args=(number,)) for number in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tables = ResultsCache.read(tmp_path, "runs")
    assert set(tables.rows["grid"]) == {f"g{n}-{seed}" for n in (1, 2, 3) for seed in range(5)}
    assert tables.has_curve.all()
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(".tmp")]


def _without_all(curves: pd.DataFrame) -> pd.DataFrame:
    return curves[curves["cell"] != curves["cell"].iloc[0]]


def _without_the_end(curves: pd.DataFrame) -> pd.DataFrame:
    own = curves.index[curves["cell"] == curves["cell"].iloc[0]]
    return curves.drop(own[-1])


def _without_the_middle(curves: pd.DataFrame) -> pd.DataFrame:
    return curves.drop(curves.index[1])


def _changed(curves: pd.DataFrame) -> pd.DataFrame:
    curves.loc[curves.index[1], "train_log_loss"] += 0.01
    return curves


@pytest.mark.parametrize("damage", [_without_all, _without_the_end, _without_the_middle, _changed])
def test_a_row_holds_only_with_all_of_its_curve(
    tmp_path: Path, damage: Callable[[pd.DataFrame], pd.DataFrame]
) -> None:
    results_cache.update(tmp_path, "runs", lambda tables: _tables("g", 0, 1))
    checkpoints = results_cache.paths(tmp_path, "runs")[1]
    damage(pd.read_csv(checkpoints)).to_csv(checkpoints, index=False)
    tables = ResultsCache.read(tmp_path, "runs")
    assert list(tables.has_curve) == [False, True]
    held = [row["cell"] for rows in tables.finished.values() for row in rows]
    assert held == [tables.rows["cell"].iloc[1]]


def test_a_checksum_is_that_of_the_fields_of_a_row(tmp_path: Path) -> None:
    results_cache.update(tmp_path, "runs", lambda tables: _tables("g", 0, 1))
    with results_cache.paths(tmp_path, "runs")[0].open(newline="") as handle:
        for row in csv.DictReader(handle):
            sealed = row.pop("checksum")
            text = "\n".join(f"{name}={row[name]}" for name in sorted(row) if row[name])
            assert sealed == hashlib.sha256(text.encode()).hexdigest()[:8]


def test_rows_stay_when_columns_are_added_or_in_another_order(tmp_path: Path) -> None:
    results_cache.update(tmp_path, "runs", lambda tables: _tables("g", 0, 1))
    path = results_cache.paths(tmp_path, "runs")[0]
    fields = pd.read_csv(path, dtype=str, keep_default_na=False)
    fields[sorted(fields)].assign(more="").to_csv(path, index=False)
    assert ResultsCache.read(tmp_path, "runs").damaged == 0


def _bit(content: bytes, rng: np.random.Generator) -> bytes:
    at, bit = divmod(int(rng.integers(8 * len(content))), 8)
    return content[:at] + bytes([content[at] ^ 1 << bit]) + content[at + 1 :]


def _digit(content: bytes, rng: np.random.Generator) -> bytes:
    at = int(rng.choice([i for i, byte in enumerate(content) if chr(byte).isdigit()]))
    other = (int(chr(content[at])) + int(rng.integers(1, 10))) % 10
    return content[:at] + b"%d" % other + content[at + 1 :]


def _part(content: bytes, rng: np.random.Generator) -> bytes:
    begin, end = sorted(rng.integers(len(content), size=2))
    return content[:begin] + content[end:]


def _byte(content: bytes, rng: np.random.Generator) -> bytes:
    at = int(rng.integers(len(content)))
    return content[:at] + content[at + 1 :]


def _cut(content: bytes, rng: np.random.Generator) -> bytes:
    return content[: int(rng.integers(len(content)))]


def _line(content: bytes, rng: np.random.Generator) -> bytes:
    lines = content.splitlines(keepends=True)
    del lines[int(rng.integers(len(lines)))]
    return b"".join(lines)


FAULTS = (_bit, _digit, _part, _byte, _cut, _line)


@pytest.mark.parametrize("table", [0, 1], ids=["rows", "curves"])
@pytest.mark.parametrize(
    "fault", [*FAULTS[:3], *(pytest.param(it, marks=pytest.mark.slow) for it in FAULTS[3:])]
)
def test_a_single_fault_is_noticed_or_changes_nothing(
    tmp_path: Path,
    fault: Callable[[bytes, np.random.Generator], bytes],
    table: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    results_cache.update(tmp_path, "runs", lambda tables: _tables("g", 0, 1, 2))
    path = results_cache.paths(tmp_path, "runs")[table]
    content, whole, rng = path.read_bytes(), measured(tmp_path), np.random.default_rng(table)
    noticed = 0
    for _ in range(40):
        path.write_bytes(fault(content, rng))
        try:
            shown = measured(tmp_path)
        except UserError:
            noticed += 1
            continue
        warned = capsys.readouterr().err.startswith("warning: ")
        noticed += warned
        _is_part(shown.results, whole.results)
        _is_part(shown.curves, whole.curves)
        assert warned or len(shown.results) == len(whole.results)
    assert noticed > 30


def _is_part(shown: pd.DataFrame, whole: pd.DataFrame) -> None:
    """What is shown of a cell is all that was measured of it."""
    own = whole[whole["cell"].isin(shown["cell"])].reset_index(drop=True)
    names = list(own.dropna(axis="columns", how="all"))
    pd.testing.assert_frame_equal(
        shown[names].reset_index(drop=True), own[names], check_dtype=False
    )


@pytest.mark.parametrize("paper", NAMES)
def test_the_committed_tables_fit_their_checksums(
    paper: str, capsys: pytest.CaptureFixture[str]
) -> None:
    tables = run.tables(ROOT / "reports" / paper)
    assert sum(len(own.rows) for own in tables.values())
    assert capsys.readouterr().err == ""


def test_rows_without_data_name_no_folder_of_a_machine() -> None:
    message = "not run: data (eurlex: eurlex_train.txt not found in /a/folder)"
    cell = cells.Cell("0" * 16, "eurlex", "ove", 0, "numpy", 1, "missing", {}, message=message)
    assert list(ResultsCache.of("search", [cell]).rows["message"]) == ["not run: data"]
