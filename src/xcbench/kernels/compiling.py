"""How kernels and formulas are compiled, and where the result is kept."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

import numba
from numba import njit, types
from numba.extending import register_jitable


def _cache_dir() -> str:
    """Where compiled code is kept: a folder for each state of the code that it was made of.

    Numba looks at the file of the compiled function alone, not at those it calls.
    """
    package = Path(__file__).parents[1]
    sources = sorted(
        path
        for pattern in ("kernels/*.py", "objectives/*.py", "adaptive.py")
        for path in package.glob(pattern)
    )
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:12]
    own = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    scratch = Path(tempfile.gettempdir()) / f"xcbench-{os.getuid()}"
    for folder in (Path(own or Path.home() / ".cache"), scratch):
        try:
            where = folder / "xcbench" / f"numba-{numba.__version__}-{digest}"
            where.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(where, os.W_OK):
            return str(where)
    return ""


numba.config.CACHE_DIR = _cache_dir()  # type: ignore[attr-defined]

number = types.float64
triple = types.UniTuple(number, 3)
quadruple = types.UniTuple(number, 4)
ODDS = triple(number, number, number, number, number, number)
SCORED_ODDS = quadruple(number, number, number, number, number, number)
PAIRS = triple(number, number, number, number)


def _six_to_three(a: float, b: float, c: float, d: float, e: float, f: float) -> Any:
    return 0.0, 0.0, 0.0


def _six_to_four(a: float, b: float, c: float, d: float, e: float, f: float) -> Any:
    return 0.0, 0.0, 0.0, 0.0


def _four_to_three(a: float, b: float, c: float, d: float) -> Any:
    return 0.0, 0.0, 0.0


# What a kernel that takes a formula of each family gets in the places of those it does not call.
STAND_INS = {ODDS: _six_to_three, SCORED_ODDS: _six_to_four, PAIRS: _four_to_three}


@cache
def compiled(formula: Callable[..., Any], signature: Any) -> Any:
    """Compile a method's formula for single numbers, with the functions it calls.

    Raises
    ------
    numba.core.errors.NumbaError
        If it uses what Numba does not know.
    """
    _register(formula, set())
    return njit(signature, cache=True, error_model="numpy")(formula)


def _register(function: FunctionType | Callable[..., Any], seen: set[Any]) -> None:
    """Let compiled code call the plain functions that a function refers to."""
    assert isinstance(function, FunctionType)
    for name in function.__code__.co_names:
        called = function.__globals__.get(name)
        if isinstance(called, FunctionType) and called not in seen:
            seen.add(called)
            _register(called, seen)
            register_jitable(error_model="numpy")(called)


def kernel(function: Any) -> Any:
    """Compile a function when it is first called."""
    return njit(cache=True, error_model="numpy")(function)


def inlined(function: Any) -> Any:
    """Let kernels call a plain formula."""
    return register_jitable(error_model="numpy")(function)
