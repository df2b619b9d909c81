"""Engines that run the hot loops: NumPy, always available, and Numba, an extra."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from typing import Any

from xcbench.errors import UserError

ENGINES = ("auto", "numpy", "numba")
Compiled = Callable[..., Any]  # a function for the types of its arguments, by an engine
SIDE_BY_SIDE = 8  # models that compiled code moves together


@cache
def resolve(engine: str) -> str:
    """Resolve the engine: ``auto`` is Numba if installed, else NumPy.

    Raises
    ------
    UserError
        If Numba is requested but not installed.
    """
    if not installed(engine):
        raise UserError(
            "engine=numba is not possible: Numba is not installed; "
            "pip install 'xcbench[numba]', or engine=numpy"
        )
    return ("numba" if installed("numba") else "numpy") if engine == "auto" else engine


@cache
def installed(engine: str) -> bool:
    """Whether an engine can be used here."""
    return engine != "numba" or find_spec("numba") is not None


def versions(engine: str) -> dict[str, str]:
    """Versions that a cell records of its engine, besides NumPy's."""
    return {} if engine == "numpy" else {engine: metadata.version(engine)}
