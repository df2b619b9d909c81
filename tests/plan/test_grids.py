"""Grids: they grow by launches, are chosen together, and no fault in one is silent."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from byte_faults import faults
from made_cells import make
from xcbench.errors import UserError
from xcbench.store import cells, grids, results


def test_a_grid_grows_by_its_launches_and_the_last_one_is_replaced(tmp_path: Path, capsys) -> None:
    a, b, c = "a" * 16, "b" * 16, "c" * 16
    for name in ("g", grids.LAST):
        grids.add(tmp_path, name, [b, a])
        grids.add(tmp_path, name, [c, b])
    assert grids.members(tmp_path, "g") == [b, a, c]
    assert grids.members(tmp_path, grids.LAST) == [c, b]
    assert capsys.readouterr().out == "grid=g grows from 2 to 3 cells\n"
    grids.add(tmp_path, "h", ["d" * 16])
    assert grids.members(tmp_path, "h,g") == ["d" * 16, b, a, c]
    for words, sentence in (("g,x", "no grid 'x'.*known: g, h, last"), ("../g", "is not possible")):
        with pytest.raises(UserError, match=sentence):
            grids.members(tmp_path, words)


def test_grids_at_the_same_time_lose_no_cell(tmp_path: Path) -> None:
    wanted = [f"{number:016x}" for number in range(24)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: grids.add(tmp_path, "g", [name]), wanted))
    assert sorted(grids.members(tmp_path, "g")) == wanted


def test_no_fault_in_a_grid_is_silent(tmp_path: Path, capsys) -> None:
    wanted = [f"{number:016x}" for number in range(12)]
    grids.add(tmp_path, "g", wanted)
    path = tmp_path / "grids" / "g.json"
    count = 0
    for damaged in faults(path.read_bytes()):
        path.write_bytes(damaged)
        try:
            assert grids.members(tmp_path, "g") == wanted
        except UserError as error:
            assert "launch the grid again" in str(error)
            count += 1
    assert count > 100
    grids.add(tmp_path, "g", wanted[:1])  # the last fault is a digit of it
    assert "it begins anew" in capsys.readouterr().err


def test_results_of_several_grids(tmp_path: Path) -> None:
    sample = [make(seed=seed) for seed in range(3)]
    for number, cell in enumerate(sample):
        cells.save(tmp_path, cell)
        grids.add(tmp_path, f"g{number}", [cell.cell])
    chosen = results.select(tmp_path, {"grid": "g0,g2"})
    assert {cell.cell for cell in chosen} == {sample[0].cell, sample[2].cell}
