"""The stages of dvc.yaml: what is measured by code depends on that code."""

from __future__ import annotations

import yaml

from workspace import ROOT
from xcbench.papers import NAMES

STAGES = yaml.safe_load((ROOT / "dvc.yaml").read_text("utf-8"))["stages"]


def test_an_edit_to_the_maths_makes_runs_stale() -> None:
    measuring = [name for name in STAGES if name.endswith(("-runs", "-tuning"))]
    assert {name.split("-")[0] for name in measuring} == {*NAMES}
    for name in measuring:
        assert {"src/xcbench/core", "reports/versions.csv"} <= {*STAGES[name]["deps"]}


def test_claims_are_made_by_the_reports_and_read_by_the_first_page() -> None:
    for paper in NAMES:
        made = f"reports/{paper}/claims.csv"
        assert {made: {"cache": False}} in STAGES[paper]["outs"]
        assert made in STAGES["replication"]["deps"]
