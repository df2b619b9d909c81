"""Digests of source."""

from __future__ import annotations

from pathlib import Path

import pytest

from xcbench.system import sources

TEXT = '''
"""A module."""
import math
from os import path, sep

LIMIT = 3


def area(radius: float, times: int = 1) -> float:
    """Of a circle."""
    whole = 0.0
    for number in range(times):
        whole += math.pi * radius**2  # each
    return whole
'''


def same(old: str, new: str) -> bool:
    assert old in TEXT
    return sources.text_digest(TEXT) == sources.text_digest(TEXT.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  # each", ""),
        ('"""Of a circle."""', '"""Its area."""'),
        ('"""A module."""', ""),
        ("range(times)", "range(\n        times,\n    )"),
        ("radius: float", "radius"),
        (" -> float", ""),
        ("import math\nfrom os import path, sep", "from os import path, sep\nimport math"),
    ],
)
def test_what_changes_no_result_changes_no_digest(old: str, new: str) -> None:
    assert same(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("radius**2", "radius**3"),
        ("+=", "-="),
        ("LIMIT = 3", "LIMIT = 4"),
        ("times: int = 1", "times: int = 2"),
        ("radius", "diameter"),  # a parameter's name is part of calls
        ("area", "surface"),
        ("return whole", "return number"),
        ("from os import path, sep", "from os import path, sep as path_sep"),
        ("math.pi", "math.e"),
    ],
)
def test_what_may_change_a_result_changes_the_digest(old: str, new: str) -> None:
    assert not same(old, new)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("from a import f\nfrom b import f", "from b import f\nfrom a import f"),
        ("from a import *\nfrom b import f", "from b import f\nfrom a import *"),
        (
            "try:\n import a as m\nexcept ImportError:\n import b as m",
            "try:\n import b as m\nexcept ImportError:\n import a as m",
        ),
        (
            "if TYPE_CHECKING:\n x = 1\nelse:\n x = 2",
            "if TYPE_CHECKING:\n x = 1\nelse:\n x = 3",
        ),
        ("if not TYPE_CHECKING:\n x = 1", "if not TYPE_CHECKING:\n x = 2"),
        (  # the last name is the module's, not the inner function's
            "def f():\n def g():\n  K = 1\n  return K\n return g() * K",
            "def f():\n def g():\n  L = 1\n  return L\n return g() * L",
        ),
        ("def f(r):\n a = [K for K in r]\n return K", "def f(r):\n a = [L for L in r]\n return L"),
    ],
)
def test_programs_that_differ_in_a_name_alone(one: str, other: str) -> None:
    assert sources.text_digest(one) != sources.text_digest(other)


def test_what_is_there_for_type_checkers_changes_no_digest() -> None:
    one, other = (
        f"from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n import {name}\nx = 1"
        for name in "ab"
    )
    assert sources.text_digest(one) == sources.text_digest(other)


def test_a_digest_covers_what_is_imported_and_nothing_for_type_checkers() -> None:
    modules = sources.closure("xcbench.methods.ove", "xcbench.train.training")
    reached = {"core.objectives.one_vs_each", "core.kernels.descent", "core.metrics"}
    assert {f"xcbench.{name}" for name in reached} <= {*modules}
    assert not {name for name in modules if name.startswith(("xcbench.papers", "xcbench.cli"))}
    assert "xcbench.core.objectives.bouchard" not in modules
    assert all(name.startswith("xcbench") for name in modules)


def test_a_digest_of_somebodys_module_covers_the_modules_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "theirs_a.py").write_text("from theirs_b import f\nimport numpy, json\n")
    (tmp_path / "theirs_b.py").write_text("def f():\n    return 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert {*sources.closure("theirs_a")} == {"theirs_a", "theirs_b"}


def test_a_digest_of_an_installed_package_covers_its_modules_and_no_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "site-packages"
    for package in ("their_method", "their_library"):
        (installed / package).mkdir(parents=True)
        (installed / package / "__init__.py").write_text("")
        (installed / package / "part.py").write_text("LIMIT = 1\n")
    lines = "from their_method.part import LIMIT\nfrom their_library import part\n"
    (installed / "their_method" / "top.py").write_text(lines)
    monkeypatch.syspath_prepend(installed)
    assert {*sources.closure("their_method.top")} == {"their_method.top", "their_method.part"}
