"""Which method is advised, by the board and on data of the user."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from xcbench.board import advice, protocol
from xcbench.board.advice import Needs
from xcbench.board.comparison import Comparison
from xcbench.cli import advise

PROTOCOL = protocol.read()


def test_advice_takes_the_fastest_of_those_about_as_good() -> None:
    table = pd.DataFrame(
        {
            "method": ["slow", "fast", "bad", "sure"],
            "accuracy": [0.9, 0.895, 0.5, 0.8],
            "test_log_loss": [np.nan, np.nan, np.nan, 0.4],
            "train_seconds": [9.0, 1.0, 0.1, 2.0],
            "model_mib": 1.0,
            "row_seconds": 1e-6,
        }
    )
    chosen = {
        "fast": Needs(),
        "sure": Needs(probabilities=True),
        "bad": Needs(seconds=0.5),
    }
    for name, needs in chosen.items():
        result = advice.choice(table, needs)
        assert result is not None and result["method"] == name
    assert advice.choice(table, Needs(mib=0.1)) is None
    equal = table.assign(accuracy=0.9, test_log_loss=[np.nan, 0.5, 0.3, 0.4], train_seconds=1.0)
    best = advice.choice(equal, Needs())
    assert best is not None and best["method"] == "bad"  # of the lowest log loss


def test_advice_asks_first_whom_the_board_ranks_best_in_its_shortest_time(tmp_path: Path) -> None:
    assert advise._order(tmp_path, Needs())[0] == min(advise._order(tmp_path, Needs()))
    (tmp_path / "board").mkdir()
    rows = [
        ("a", "umax", 1, 0.9, 2.0), ("a", "ove", 1, 0.8, 1.0), ("a", "svm_ovr", 1, 0.95, np.nan),
        ("b", "umax", 1, 0.9, 2.0), ("b", "ove", 1, 0.8, 1.0), ("b", "svm_ovr", 60, 0.99, np.nan),
    ]  # fmt: skip
    columns = ["task", "method", "seconds", "validation_accuracy", "validation_log_loss"]
    pd.DataFrame(rows, columns=columns).to_csv(tmp_path / "board" / "anytime.csv", index=False)
    assert advise._order(tmp_path, Needs())[:3] == ["svm_ovr", "umax", "ove"]
    probable = advise._order(tmp_path, Needs(probabilities=True))
    assert probable[:2] == ["ove", "umax"] and "svm_ovr" not in probable


def test_a_comparison_spends_six_tenths_of_its_time_on_defaults(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, ran = [0.0], []

    class Timed(Comparison):
        """Every cell takes 20 seconds."""

        table = pd.DataFrame()

        def prepared(self):
            return None

        def _jobs(self, method, info):
            return [SimpleNamespace(cell=SimpleNamespace(method=method))]

        def _drawn(self, info):
            return iter(self._jobs("drawn", info) * 9)

        def _run(self, job):
            ran.append(job.cell.method)
            self.entries[job.cell.method] = {}
            now[0] += 20
            return "done"

    monkeypatch.setattr("time.monotonic", lambda: now[0])
    task = protocol.Task("own", ())
    Timed(None, task, 90, Needs(), list("abcdefg")).run()  # type: ignore[arg-type]
    assert ran == ["a", "b", "c", "drawn", "drawn"]  # to 54 s, and to 90 s
