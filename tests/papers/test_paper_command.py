"""`xcbench paper`: parts of a paper, and mistakes in one sentence. On a paper of three grids."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tiny_paper import Place
from workspace import Workspace
from xcbench import papers
from xcbench.cli.command import Request
from xcbench.cli.paper import paper
from xcbench.errors import UserError
from xcbench.papers import run
from xcbench.plan import planning
from xcbench.plan.job import Job


def test_a_plan_writes_nothing(fresh: Place) -> None:
    assert fresh.launch(plan="true") == 0
    assert not fresh.file("tuning").exists()
    assert not fresh.ran()


def test_a_plan_counts_the_cells_of_every_grid(
    fresh: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    def planned(**words: str) -> list[str]:
        capsys.readouterr()
        assert fresh.launch(plan="true", **words) == 0
        return capsys.readouterr().out.splitlines()

    def numbers(line: str, state: str) -> int:
        return sum(int(number) for number in re.findall(rf"(\d+) {state}", line))

    def total(lines: list[str]) -> str:
        (line,) = [it for it in lines if it.endswith("nothing was run (plan=true)")]
        return line

    lines = planned()
    grids = [line for line in lines if re.match(r"(tuning|runs) \d+/\d+: ", line)]
    assert len(grids) > 1 and len(lines) <= len(grids) + 4
    for state in ("cells", "valid", "to run", "no data"):
        assert numbers(total(lines), state) == sum(numbers(line, state) for line in grids)
    missing = numbers(total(lines), "to run")
    assert missing > 0 == numbers(total(lines), "valid")
    listed = planned(verbose="true")
    assert sum(bool(re.match("[0-9a-f]{16}  to run ", line)) for line in listed) == missing
    assert fresh.launch(part="tuning") == 0
    lines = planned(part="tuning")
    assert numbers(total(lines), "to run") == 0 < numbers(total(lines), "valid")
    measured = planned(part="tuning", **{"budget.epochs": "9"})  # other cells, of the same methods
    assert numbers(total(measured), "to run") > 0 == numbers(total(measured), "valid")
    assert re.search(r"; about [\d.]+ (s|min|h) of training", total(measured))


def test_a_part_on_empty_tables(fresh: Place) -> None:
    assert fresh.launch(method="ove", seed="1") == 0
    assert set(fresh.table("tuning")["method"]) == {"ove"}
    assert set(fresh.table("tuning")["seed"]) == {1}


def test_values_are_the_same_however_they_are_written(fresh: Place) -> None:
    narrow = {"method.lr": "1e-2", "seed": "00", "dataset": "small"}
    assert fresh.launch(part="tuning", **{**narrow, "seed": "0"}) == 0
    assert set(fresh.table("tuning")["lr"]) == {0.01}  # nor is a wanted rate extended


def test_points_are_planned_once(fresh: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    job, planned = planning._job, []

    def count(*given: Any) -> Job:
        planned.append(job(*given))
        return planned[-1]

    points = {"grid": "sums", "part": "runs", "dataset": "small", "seed": "0", "plan": "true"}
    assert fresh.launch(**points) == 0  # prepares the dataset; before that, points are planned too
    monkeypatch.setattr(planning, "_job", count)
    assert fresh.launch(**points) == 0
    assert len(planned) == len({it.cell.cell for it in planned}) == 2


def test_launches_at_the_same_time_keep_the_rows_of_one_another(
    fresh: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    execute = run.execute

    def execute_beside_another(planned: list[Job]) -> int:
        monkeypatch.setattr(run, "execute", execute)
        # The other launch begins and ends while this one runs its cells.
        assert fresh.launch(grid="sums", part="runs", dataset="digits", seed="0") == 0
        return execute(planned)

    monkeypatch.setattr(run, "execute", execute_beside_another)
    assert fresh.launch(grid="sums", part="runs", dataset="small", seed="0") == 0
    assert list(fresh.table("runs").groupby("dataset").size()) == [2, 2]


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        ({"part": "all"}, "part=all is not possible"),
        ({"nonsense": "1"}, "nonsense"),
        ({"budget.nonsense": "1"}, "budget.nonsense"),
        ({"budget.epochs": "many"}, "many"),
        ({"budget.epochs": "-1"}, "must be greater than 0"),
        ({"workers": "0"}, "workers=0"),
        ({"seed": "'"}, "seed"),
        ({"dataset": "nowhere"}, "has a point with seed=0 dataset=nowhere"),
        ({"dataset": "digits", "dataset.synthetic.train": "9"}, "synthetic"),
        ({"variant": "nowhere"}, "nowhere"),
        ({"dataset.missing": "error", "data_dir": "/nowhere"}, "small"),
    ],
    ids=str,
)
def test_a_wrong_setting_is_one_sentence(
    fresh: Place, overrides: dict[str, str], said: str
) -> None:
    narrow = {"seed": "0"} if "seed" not in overrides else {}
    with pytest.raises(UserError) as caught:
        fresh.launch(**narrow, **overrides)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_report_without_rows_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="umax has no measured rows to report; `xcbench paper um"):
        paper(Request("paper", ["umax"], {"part": "report", "reports_dir": str(tmp_path)}))


def test_papers_that_are_not_there(workspace: Workspace) -> None:
    done = workspace.xcbench("paper", "nonsense")
    assert done.code == 2, done.text
    assert "there is no paper 'nonsense'" in done.err
    assert done.err.count("\n") == 1, done.text


def test_a_package_that_a_paper_lacks_is_no_missing_paper(
    patched: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xcbench.committed.results_cache", None)
    for name in ("xcbench.papers.ove", "xcbench.papers.ove.experiments"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.raises(ModuleNotFoundError, match="results_cache"):
        papers.find("ove")
