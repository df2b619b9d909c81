"""The stages of dvc.yaml: what is measured by code depends on that code."""

from __future__ import annotations

import json

import pandas as pd
import yaml

from workspace import ROOT
from xcbench.papers import NAMES, metrics, stated

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


def test_reports_have_metrics_and_their_settings_are_parameters() -> None:
    for paper in NAMES:
        assert STAGES[paper]["metrics"] == [{f"reports/{paper}/summary.json": {"cache": False}}]
        settings = f"conf/paper/{paper}.yaml"
        keys = yaml.safe_load((ROOT / settings).read_text("utf-8"))
        for name in (f"{paper}-tuning", f"{paper}-runs"):
            if name in STAGES:
                words, asked = STAGES[name]["params"]
                assert words == paper and STAGES[name]["cmd"].endswith(f" ${{{paper}}}")
                assert {*asked[settings]} <= {*keys}
    assert STAGES["benchmarks"]["frozen"]


def test_metrics_count_verdicts_and_claims_and_say_how_far_results_are() -> None:
    rows = pd.DataFrame(
        {
            "kind": ["result", "result", "result", "size"],
            "table": ["Table 1"] * 4,
            "published": ["0.5", "-0.2", "<1", "7"],
            "difference": [0.01, -0.02, float("nan"), 0.0],
            "verdict": ["close", "reproduced with the code's settings", "close", "reproduced"],
        }
    )
    same = ("p", "Sec. 1", "A wins", "", "", "", "")
    claims = [stated.Stated(*same, verdict, "", "", "") for verdict in stated.VERDICTS[1:3]]
    content = json.loads(metrics.text(rows, claims))
    assert content == {
        "printed": 4,
        "results": {"close": 2, "reproduced_with_the_code_settings": 1},
        "claims": {"holds_in_part": 1},
        "median_relative_difference": {"Table 1": 0.06},
    }
