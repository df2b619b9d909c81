"""Inputs that fuzzing once found are taken or refused in a sentence."""

from __future__ import annotations

import importlib
import random
import sys
from pathlib import Path

import pandas as pd
import pytest

from fuzz import __main__ as campaign
from fuzz import planted, targets, watch
from fuzz.edits import SilentError, Target, covered

FOUND = sorted((Path(__file__).parent / "fuzz" / "found").glob("*/*"))
NAMES = ("repository", "svmlight", "arff", "idx", "dense_text", "bydate", "citeulike", "omniglot")

MADE = ("model_arrays", "dataset")
RUNS = 200  # of a target: arrays in which no byte of a good file is left to guide libFuzzer


@pytest.mark.parametrize("name", MADE)
def test_arrays_with_drawn_edits_are_taken_or_refused(name: str) -> None:
    """``python -m fuzz`` draws more of them."""
    target, draw = targets.all_of_them()[name], random.Random(0)
    taken = [targets.accepts(target, draw.randbytes(draw.choice((5, 9)))) for _ in range(RUNS)]
    assert 0 < sum(taken) < RUNS


@pytest.mark.parametrize("path", FOUND, ids=lambda path: f"{path.parent.name}-{path.name[:14]}")
def test_what_was_found_once(path: Path) -> None:
    targets.accepts(targets.all_of_them()[path.parent.name], path.read_bytes())


@pytest.mark.parametrize("name", [*NAMES, "words", "triples", "cell", "model", *MADE, "archive"])
def test_a_target_begins_with_what_it_takes(name: str) -> None:
    target = targets.all_of_them()[name]
    assert any([targets.accepts(target, seed) for seed in target.seeds])


@pytest.mark.parametrize("name", [planted.__name__, "this"])
def test_what_imports_a_module_that_it_names_is_found(name: str) -> None:
    target = Target(lambda content: importlib.import_module(content.decode()), ())
    for _ in range(2):
        sys.modules.pop("this", None)
        with pytest.raises(watch.CodeRunError, match=r"planted|this"):
            targets.accepts(target, name.encode())


@pytest.mark.parametrize("code", ["import os; os.system('true')", "1 + 1"])
def test_what_runs_is_found(code: str) -> None:
    with pytest.raises(watch.CodeRunError):
        targets.accepts(Target(lambda content: exec(content.decode()), ()), code.encode())


def test_what_is_damaged_and_taken_as_something_else_is_found() -> None:
    target = covered("a-test", lambda: {"a": b"good"}, lambda folder: (folder / "a").read_bytes())
    assert targets.accepts(target, b"")
    with pytest.raises(SilentError):
        targets.accepts(target, b"\0\0\0\1\0x")
    assert targets.accepts(target, b"")


def test_a_report_keeps_the_rows_of_other_targets(tmp_path: Path) -> None:
    found = ["fuzz.edits.SilentError: a (?), b", "fuzz.watch.CodeRunError: c (?), d"]
    for name, findings in (("damaged_grid", found), ("grid", []), ("idx", [])):
        report = campaign.rows([campaign.Outcome(name, 7, 1, 0.4, 30, findings)])
        campaign.write(campaign.beside(report, tmp_path), tmp_path)
    rows = pd.read_csv(tmp_path / "fuzzing.csv").set_index("target")
    assert list(rows.index) == ["damaged_grid", "grid", "idx"]
    assert list(rows["silent"]) == ["1", "-", "-"] and list(rows["code run"]) == [1, 0, 0]
    page = (tmp_path / "fuzzing.md").read_text()
    assert (
        "**all**" in page and " 21 |" in page and "- damaged_grid: fuzz.edits.SilentError" in page
    )
