"""How inexact the margins of MEMOIR's oracles are: the measured table, and what is kept of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from xcbench.committed.results_cache import ResultsCache
from xcbench.data.settings import SyntheticSettings
from xcbench.methods import registry
from xcbench.papers.memoir.theory import inexact, margins

FEW = SyntheticSettings(train=800, test=400, features=300, classes=100, nonzeros=20)


def test_margins_are_as_inexact_as_their_oracles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(margins, "SPEC", FEW)
    monkeypatch.setattr(margins, "BATCHES", (1, 5))
    none = ResultsCache.empty().rows
    assert margins.measure(none, "margins", tmp_path, tmp_path) is none
    frame = margins.read(tmp_path / margins.FILE)
    mean = frame.groupby(["constant", "batches", "oracle"])["recall"].mean()
    first = mean["with", 1]
    assert first["random class"] < 0.03
    assert (
        first["scaled SimpleLSH, 16 bits"]
        < first["scaled SimpleLSH, 32 bits"]
        < first["scaled SimpleLSH, 64 bits"]
    )
    commonest = frame.groupby(["constant", "batches"])["commonest"].first()
    assert commonest["with", 1] > 2 * commonest["without", 1] > 0.02
    # A class at random is the best of the others with a probability of 1/(K - 1); some have no row.
    chance = frame[frame["oracle"] == "random class"]["recall"]
    assert chance.mean() == pytest.approx(1 / 99, rel=0.3)
    columns = [f"epsilon_at_{delta:g}" for delta in margins.DELTAS]
    assert (np.diff(frame[columns].to_numpy(), axis=1) >= 0).all()  # as delta falls
    assert (frame[columns] >= 0).all().all()
    shown = inexact.table(frame).frame
    assert set(shown["rows"]) == {f"synthetic, {it} the constant" for it in ("with", "without")}
    assert len(inexact.draw(frame).axes) == 4


def test_measurements_of_cells_whose_weights_are_gone_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what is complete is not measured again."""
    names = ["random class"]
    monkeypatch.setattr(margins, "ORACLES", dict.fromkeys(names))
    monkeypatch.setattr(margins, "installed", lambda: False)
    recall, asked = {"": 1.0, "a": 0.25, "b": 0.5}, []

    def measured(cell: str) -> Iterator[dict[str, Any]]:
        asked.append(cell)
        where = {"cell": cell} if cell else {"version": registry.builtin()["memoir_l2"].version}
        return iter([where | {"oracle": it, "recall": recall[cell]} for it in names if cell != "c"])

    monkeypatch.setattr(margins, "on_synthetic_rows", lambda: measured(""))
    monkeypatch.setattr(margins, "on_cell", lambda name, runs_dir: measured(name))
    rows = pd.DataFrame(
        [{"grid": "margins", "status": "done", "cell": name} for name in "abc"]
        + [{"grid": "table1", "status": "done", "cell": "d"}]
    )
    place = ("margins", tmp_path, tmp_path)
    margins.measure(rows, *place)
    margins.measure(rows, *place)
    assert asked == ["", "a", "b", "c", "c"]
    kept = margins.read(tmp_path / margins.FILE)
    assert kept["recall"].tolist() == [1.0, 0.25, 0.5]
    names.append("another")  # an oracle more: what has no weights any more stays as it is
    margins.ORACLES["another"] = None  # type: ignore[assignment]
    recall["b"] = 0.75
    monkeypatch.setattr(
        margins, "on_cell", lambda name, runs_dir: measured(name if name == "b" else "c")
    )
    margins.measure(rows[rows["cell"] != "c"], *place)
    kept = margins.read(tmp_path / margins.FILE)
    assert kept["recall"].tolist() == [1.0, 1.0, 0.25, 0.75, 0.75]
