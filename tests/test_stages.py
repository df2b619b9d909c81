"""The stages of dvc.yaml: what is measured by code depends on that code."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from workspace import ROOT, Workspace
from xcbench.cli.digests import MEASURING
from xcbench.papers import NAMES, committed, module_of_grids, stated
from xcbench.system import sources

STAGES = yaml.safe_load((ROOT / "dvc.yaml").read_text("utf-8"))["stages"]
PAPERS = yaml.safe_load((ROOT / "params.yaml").read_text("utf-8"))["papers"]
DIGESTS = "reports/digests.json"


def asked(stage: str) -> list[str]:
    """Keys of the digests that a stage depends on, as dvc.yaml writes them."""
    spec = STAGES[stage].get("do", STAGES[stage])
    return [key for entry in spec["params"] for key in entry[DIGESTS]]


def test_a_stage_depends_on_digests_that_the_first_one_prints(workspace: Workspace) -> None:
    done = workspace.xcbench("digests").succeeded()
    printed = json.loads(done.out)
    assert {*printed["runs"]} == {*printed["reports"]} == {*NAMES} == {*PAPERS}
    assert STAGES["digests"]["always_changed"]
    for stage in ("first", "board-cells", "board", "replication"):
        assert {*asked(stage)} <= {*printed}
    assert (asked("runs"), asked("report")) == (["runs.${key}"], ["reports.${key}"])


def test_the_file_is_short() -> None:
    assert len((ROOT / "dvc.yaml").read_text("utf-8").splitlines()) <= 110


@pytest.mark.parametrize("name", NAMES)
def test_code_of_pages_and_claims_is_no_part_of_what_measures(name: str) -> None:
    measuring = sources.closure(*MEASURING, module_of_grids(name).__name__)
    pages = {f"xcbench.papers.{part}" for part in ("page", "report", "prose", "front", "findings")}
    assert not pages & {*measuring}


def test_reports_depend_on_what_the_runs_write() -> None:
    runs, report = STAGES["runs"]["do"], STAGES["report"]["do"]
    written = {path for entry in runs["outs"] for path in entry}
    assert written == {*report["deps"]}
    for paper, item in PAPERS.items():
        for path in written:
            name = path.replace("${key}", paper).replace("${item.further}", item["further"])
            assert (ROOT / name).exists(), name
    assert STAGES["benchmarks"]["frozen"] and STAGES["board-cells"]["frozen"]


def test_files_of_frozen_stages_are_committed() -> None:
    """Nothing makes them, and without one `dvc repro` fails at the stage that needs it."""
    for name in ("benchmarks", "board-cells"):
        for entry in STAGES[name]["outs"]:
            (path,) = entry if isinstance(entry, dict) else (entry,)
            assert (ROOT / path).exists(), path


def test_the_page_about_all_papers_depends_on_what_it_reads() -> None:
    """Every file under reports/ that the reader of committed tables opens is a dependency."""
    opened: set[str] = set()
    watching = True

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if watching and event == "open" and str(args[0]).startswith(str(ROOT / "reports")):
            opened.add(str(Path(args[0]).relative_to(ROOT)))

    sys.addaudithook(hook)  # which stays until the process ends
    for paper in NAMES:
        committed.read(ROOT / "reports" / paper)
        committed.hours(ROOT / "reports" / paper)
    watching = False
    assert opened == {*STAGES["replication"]["deps"]} - {
        "reports/board/figures",
        "reports/board/advice.csv",
        "reports/waiting.csv",
    }


@pytest.mark.skipif(shutil.which("dvc") is None, reason="DVC is not installed")
def test_dvc_reads_the_file() -> None:
    done = subprocess.run(["dvc", "stage", "list"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {f"runs@{paper}" for paper in NAMES} <= {
        line.split()[0] for line in done.stdout.splitlines()
    }


def test_metrics_count_verdicts_and_claims_and_say_how_far_results_are() -> None:
    rows = pd.DataFrame(
        {
            "kind": ["result", "result", "result", "size"],
            "table": ["Table 1"] * 4,
            "published": ["0.5", "-0.2", "<1", "7"],
            "difference": ["0.01", "-0.02", "", "0"],
            "verdict": ["close", "reproduced with the code's settings", "close", "reproduced"],
        }
    )
    same = ("p", "Sec. 1", "A wins", "", "", "", "", "")
    claims = [stated.Stated(*same, verdict, "", "", "") for verdict in stated.VERDICTS[1:3]]
    content = json.loads(committed.summary(rows, claims))
    digest = content.pop("tables")
    assert len(digest) == 64 and digest not in committed.summary(rows[::-1], claims)
    assert content == {
        "printed": 4,
        "results": {"close": 2, "reproduced_with_the_code_settings": 1},
        "claims": {"holds_in_part": 1},
        "median_relative_difference": {"Table 1": 0.06},
    }
