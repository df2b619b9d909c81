"""What a cell says of the machine it ran on, and the versions that are locked."""

from __future__ import annotations

import os
import re
import tomllib
from importlib import metadata

import numpy as np
import scipy
from packaging.requirements import Requirement
from threadpoolctl import threadpool_limits

from workspace import ROOT
from xcbench.store import environment

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
LOCKED = ("numba", "ui", "test", "lint")  # extras of requirements.lock


def test_a_cell_names_the_machine_and_every_library_that_computes() -> None:
    environment._of_process.cache_clear()
    with threadpool_limits(1, "blas"):
        result = environment.of("numba")
    environment._of_process.cache_clear()
    assert (result["numpy"], result["scipy"]) == (np.__version__, scipy.__version__)
    for name in ("scikit-learn", "pandas", "numba", "llvmlite"):
        assert result[name] == metadata.version(name)
    assert re.match(r"openblas \d|mkl \d|blis \d", result["blas"])
    assert result["blas_threads"] == 1
    assert result["cpus"] == os.cpu_count()
    assert len(result["cpu"]) > 3
    assert result["os"].startswith(("Linux", "macOS", "Darwin"))
    assert "llvmlite" not in environment.of("numpy")


def locked() -> dict[str, list[Requirement]]:
    """Lines of the lock by name; a name has several where versions differ by platform."""
    lines = (ROOT / "requirements.lock").read_text("utf-8").splitlines()
    result: dict[str, list[Requirement]] = {}
    for line in lines:
        if line and not line.startswith("#"):
            result.setdefault(canonical(Requirement(line).name), []).append(Requirement(line))
    return result


def canonical(name: str) -> str:
    return re.sub("[-_.]+", "-", name).lower()


def test_the_lock_satisfies_what_the_project_asks_for() -> None:
    lock = locked()
    extras = [PROJECT["optional-dependencies"][name] for name in LOCKED]
    for words in (PROJECT["dependencies"], *extras):
        for asked in map(Requirement, words):
            assert canonical(asked.name) in lock, asked.name
            for line in lock[canonical(asked.name)]:
                (version,) = line.specifier
                assert version.operator == "==", line
                assert asked.specifier.contains(version.version), (asked, line)
