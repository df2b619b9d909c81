"""Mistakes on the command line of a run are told in plain sentences, without words of libraries."""

from __future__ import annotations

import re

import pytest

from workspace import Workspace
from xcbench.errors import suggestion

INSIDE = re.compile(
    "viable|Exception|interpolation|hydra.cc|Error (merging|parsing|resolving)|of type|defaults l",
    re.IGNORECASE,
)


@pytest.mark.parametrize(
    ("words", "mention"),
    [
        (("method.lr=${nope}",), r"\$\{nope\} refers to no option"),
        (("method.lr=[1",), "check its brackets"),
        (("seed=${oc.env:NOPE}",), "environment variable NOPE is not set"),
        (("method.lr=${abc:1}",), r"\$\{abc:…\} is not understood"),
        (("method.lr=${method.lr}",), "refers to itself"),
        (("seed",), "settings are NAME=VALUE"),
        (("method.lr=abc",), "method.lr=abc is not possible: it must be a number"),
        (("seed=1.5",), "seed=1.5 is not possible: it must be an integer"),
        (("force=maybe",), "it must be true or false"),
        (("budget=3",), "options of its own"),
        (("evaluation.metrics=3",), "it must be a list"),
        (("-m", "seed=foo(1)"), "NAME=A,B"),
        (("-m", "method.lr=0.1,abc"), "method.lr=abc is not possible: it must be a number"),
        (("dataset=${nope}",), "plain names"),
        (("+method=ove",), "method is set twice"),
        (("+foo=1",), "unknown option 'foo'"),
        (("~nope",), "no option 'nope'"),
        (("=3",), "NAME=VALUE"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_words_of_hydra_reach_nobody(
    workspace: Workspace, words: tuple[str, ...], mention: str
) -> None:
    done = workspace.run("dataset=digits", "method=ove", "plan=true", *words)
    assert done.code != 0 and "Traceback" not in done.text, done.text
    assert re.search(mention, done.text) and not INSIDE.search(done.text), done.text


@pytest.mark.parametrize(
    ("word", "close"),
    [
        ("method.nope", ""),
        ("method.nane", "method.name"),
        ("method.bach_size", "method.batch_size"),
        ("seconds", "budget.seconds"),
        ("metod.name", "method.name"),
        ("umx", "umax"),
    ],
)
def test_a_suggestion_is_similar(word: str, close: str) -> None:
    names = ("method.name", "method.batch_size", "budget.seconds", "umax")
    assert suggestion(word, names) == (f"; did you mean {close}" if close else "")
