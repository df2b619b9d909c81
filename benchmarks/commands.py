"""Whole commands as users start them: on every core, with the libraries' own threads."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]


def seconds(
    *command: str, folder: Path = ROOT, environment: Mapping[str, str] | None = None
) -> float:
    """Wall time of a Python command, its start included."""
    free = {name: text for name, text in os.environ.items() if "_NUM_THREADS" not in name}
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env={**free, **(environment or {})},
        preexec_fn=_every_core,
        check=True,
        capture_output=True,
    )
    return time.perf_counter() - started


def _every_core() -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, range(os.cpu_count() or 1))
