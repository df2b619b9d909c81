"""What is fuzzed: functions of bytes, each with inputs to start from."""

from __future__ import annotations

from contextlib import suppress
from functools import cache

from fuzz import of_models, of_readers, of_results, of_tables, of_words, watch
from fuzz.edits import Target
from xcbench.errors import UserError


@cache
def all_of_them() -> dict[str, Target]:
    """Targets by name; some of them make the inputs to start from."""
    parts = (of_readers, of_results, of_models, of_tables, of_words)
    return {name: target for part in parts for name, target in part.targets().items()}


def accepts(target: Target, content: bytes) -> bool:
    """Whether an input is taken, and nothing runs; any exception but a sentence goes through."""
    warm(target)
    try:
        with watch.nothing_runs():
            target.take(content)
    except UserError as error:
        assert len(str(error).splitlines()) == 1
        assert target.quotes or str(error).isprintable(), str(error)
        return False
    return True


@cache
def warm(target: Target) -> None:
    """Let a target import, compile and make what it needs, which runs code."""
    for seed in target.seeds:
        with suppress(Exception):  # which the same input shows again
            target.take(seed)
