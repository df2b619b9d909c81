"""Inputs that fuzzing once found are taken or refused in a sentence."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from fuzz import targets

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
