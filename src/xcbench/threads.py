"""One thread for the libraries that have their own, so that numbers do not depend on the cores."""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one() -> Any:
    """Context in which BLAS and OpenMP have one thread."""
    return _libraries(len(sys.modules)).limit(limits=1)


@lru_cache(1)
def _libraries(modules: int) -> ThreadpoolController:
    """Libraries with threads of their own; finding them takes milliseconds, imports bring new ones.

    Parameters
    ----------
    modules : how many are imported.
    """
    return ThreadpoolController()
