"""Tables of a paper survive kills, full disks and launches at the same time."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from file_faults import KILLED, REFUSED, in_child, kill
from made_cells import make
from xcbench.papers import kept
from xcbench.papers.kept import Kept


def _tables(grid: str, *seeds: int, lr: float = 0.1) -> Kept:
    return Kept.of(grid, [make(seed=seed, lr=lr) for seed in seeds])


def _replace(grid: str, new: Kept) -> Callable[[Kept], Kept]:
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
        kept.update(folder, "runs", lambda tables: old.joined(other))
        codes.append(
            in_child(lambda f=folder: kept.update(f, "runs", _replace("g", new)), at, fault)
        )
        tables = Kept.read(folder, "runs")
        assert tables.whole.all()
        assert {*tables.rows["cell"]} - {*other.rows["cell"]} in (before, after)
        assert {*other.rows["cell"]} < {*tables.rows["cell"]}
        assert set(tables.rows["cell"]) <= set(tables.curves["cell"])
        kept.update(folder, "runs", _replace("g", new))  # the next launch mends all
        names = {path.name for path in folder.iterdir()}
        assert names == {"runs.csv", "runs-curves.csv", ".tables.lock"}
        again = Kept.read(folder, "runs")
        assert {*again.rows["cell"]} == {*again.curves["cell"]} == after | {*other.rows["cell"]}
        if codes[-1] == 0:
            break
    assert len(codes) > 6 and set(codes) == {code, 0}


def test_launches_at_the_same_time_keep_the_rows_of_one_another(tmp_path: Path) -> None:
    def launch(number: int) -> None:
        for seed in range(5):
            name = f"g{number}-{seed}"
            kept.update(tmp_path, "runs", _replace(name, _tables(name, seed, lr=number)))

    threads = [threading.Thread(target=launch, args=(number,)) for number in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tables = Kept.read(tmp_path, "runs")
    assert set(tables.rows["grid"]) == {f"g{n}-{seed}" for n in (1, 2, 3) for seed in range(5)}
    assert tables.whole.all()
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
@pytest.mark.parametrize("summed", [True, False], ids=["checksum", "older"])
def test_a_row_holds_only_with_all_of_its_curve(
    tmp_path: Path, damage: Callable[[pd.DataFrame], pd.DataFrame], summed: bool
) -> None:
    kept.update(tmp_path, "runs", lambda tables: _tables("g", 0, 1))
    results, checkpoints = kept.paths(tmp_path, "runs")
    if not summed:  # a table from before there were checksums: its last checkpoints are checked
        pd.read_csv(results).drop(columns=kept.CHECKSUM).to_csv(results, index=False)
        assert Kept.read(tmp_path, "runs").whole.all()
    damage(pd.read_csv(checkpoints)).to_csv(checkpoints, index=False)
    tables = Kept.read(tmp_path, "runs")
    noticed = summed or damage in (_without_all, _without_the_end)
    assert list(tables.whole) == [not noticed, True]
    held = [row["cell"] for rows in tables.finished.values() for row in rows]
    assert len(held) == 1 + (not noticed)
