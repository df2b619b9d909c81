"""Inputs that fuzzing once found are taken or refused in a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz import targets

FOUND = sorted((Path(__file__).parent / "fuzz" / "found").glob("*/*"))
NAMES = ("repository", "svmlight", "arff", "idx", "dense_text", "bydate", "citeulike", "omniglot")


@pytest.mark.parametrize("path", FOUND, ids=lambda path: f"{path.parent.name}-{path.name[:14]}")
def test_what_was_found_once(path: Path) -> None:
    targets.accepts(targets.all_of_them()[path.parent.name], path.read_bytes())


@pytest.mark.parametrize("name", [*NAMES, "words", "triples", "cell", "model", "archive"])
def test_a_target_begins_with_what_it_takes(name: str) -> None:
    target = targets.all_of_them()[name]
    assert any([targets.accepts(target, seed) for seed in target.seeds])
