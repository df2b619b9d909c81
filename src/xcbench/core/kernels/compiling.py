"""How kernels and formulas are compiled."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from types import FunctionType
from typing import Any, overload

import numba
from numba import njit, types
from numba.core.dispatcher import Dispatcher
from numba.core.typing import Signature
from numba.experimental.function_type import _get_wrapper_address
from numba.extending import register_jitable

from xcbench.core.engines import Compiled
from xcbench.core.kernels import keeping

FOLDER = keeping.folder()
numba.config.CACHE_DIR = str(FOLDER or "")  # type: ignore[attr-defined]

Formula = Callable[..., tuple[float, ...]]

number = types.float64
triple = types.UniTuple(number, 3)
quadruple = types.UniTuple(number, 4)
ODDS = triple(number, number, number, number, number, number)
SCORED_ODDS = quadruple(number, number, number, number, number, number)
PAIRS = triple(number, number, number, number)


def _six_to_three(a: float, b: float, c: float, d: float, e: float, f: float) -> tuple[float, ...]:
    return 0.0, 0.0, 0.0


def _six_to_four(a: float, b: float, c: float, d: float, e: float, f: float) -> tuple[float, ...]:
    return 0.0, 0.0, 0.0, 0.0


def _four_to_three(a: float, b: float, c: float, d: float) -> tuple[float, ...]:
    return 0.0, 0.0, 0.0


SIGNATURES = {"odds": ODDS, "scored_odds": SCORED_ODDS, "pairs": PAIRS}  # by family
# What a kernel that takes a formula of each family gets in the places of those it does not call.
STAND_INS = {"odds": _six_to_three, "scored_odds": _six_to_four, "pairs": _four_to_three}


@cache
def compiled(formula: Callable[..., object], signature: Signature) -> Compiled:
    """Compile a method's formula for single numbers, with the functions it calls.

    Raises
    ------
    numba.core.errors.NumbaError
        If it uses something that Numba does not support.
    """
    _register(formula, set())
    dispatcher = kernel(formula)
    if isinstance(dispatcher, Dispatcher):
        dispatcher.compile(signature)
        dispatcher.disable_compile()
    return dispatcher


class Pointer(types.WrapperAddressProtocol):
    """A compiled formula for kernels; all formulas of a family have the same type."""

    def __init__(self, dispatcher: Dispatcher, signature: Signature) -> None:
        self.of_formula, self.address = signature, _get_wrapper_address(dispatcher, signature)

    def signature(self) -> Signature:
        """Types of its arguments and results."""
        return self.of_formula

    def __wrapper_address__(self) -> int:
        """Where it lies."""
        return self.address


@cache
def pointer(formula: Formula, signature: Signature) -> Any:
    """Compile a formula for a kernel."""
    dispatcher = compiled(formula, signature)
    return Pointer(dispatcher, signature) if isinstance(dispatcher, Dispatcher) else dispatcher


def _register(function: Callable[..., object], seen: set[FunctionType]) -> None:
    """Let compiled code call the plain functions that a function refers to."""
    assert isinstance(function, FunctionType)
    for name in function.__code__.co_names:
        called = function.__globals__.get(name)
        if isinstance(called, FunctionType) and called not in seen:
            seen.add(called)
            _register(called, seen)
            register_jitable(error_model="numpy")(called)


@overload
def kernel(function: Callable[..., object]) -> Compiled: ...


@overload
def kernel(
    function: None = None, **options: Any
) -> Callable[[Callable[..., object]], Compiled]: ...


def kernel(function: Callable[..., object] | None = None, **options: Any) -> Compiled:
    """Compile a function on its first call; it releases the GIL, and is kept in our cache.

    Parameters
    ----------
    options : further ones of `numba.njit`; without a function, this gives a decorator.
    """
    if function is None:
        return partial(kernel, **options)
    dispatcher = njit(error_model="numpy", nogil=True, **options)(function)
    if FOLDER and isinstance(dispatcher, Dispatcher):  # else NUMBA_DISABLE_JIT is set
        keeping.keep(dispatcher, FOLDER)
    return dispatcher


def inlined(function: Callable[..., object]) -> Compiled:
    """Make a plain formula callable from kernels."""
    return register_jitable(error_model="numpy")(function)
