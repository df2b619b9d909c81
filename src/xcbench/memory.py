"""Peak memory of training: the high-water mark that Linux keeps of the process."""

from __future__ import annotations

import ctypes
import gc
from contextlib import suppress
from pathlib import Path

MIB, GIB = 1 << 20, 1 << 30
PROCESS = Path("/proc/self")


class PeakMemory:
    """Highest resident memory over the stretches between `begin` and `end`.

    Evaluation between them has no part in it: the mark is reset at every beginning. Memory-mapped
    rows count as far as they were touched. Nothing is known on systems without ``/proc``.

    Parameters
    ----------
    wanted : else nothing is measured, which saves most of the time of a tiny cell.

    Attributes
    ----------
    start, peak : bytes when training began, and at most; 0 where nothing is known.
    """

    def __init__(self, wanted: bool = True) -> None:
        self.wanted = wanted
        self.start = self.peak = 0

    def begin(self) -> None:
        """Go on; before the first time, give back what earlier work of the process left free."""
        if not self.wanted:
            return
        if not self.start:
            _trim()
        with suppress(OSError):
            (PROCESS / "clear_refs").write_text("5")  # the mark falls to what is resident now
            self.start = self.start or _bytes("VmRSS")

    def end(self) -> None:
        """Stop."""
        if not self.wanted:
            return
        with suppress(OSError):
            self.peak = max(self.peak, _bytes("VmHWM"))

    def columns(self) -> dict[str, float]:
        """``peak_mib``, of the whole process, and ``train_mib``, beyond what was there before."""
        if not (self.start and self.peak):
            return {}
        return {"peak_mib": self.peak / MIB, "train_mib": (self.peak - self.start) / MIB}


def _trim() -> None:
    """Return freed memory to the system: taken again, it would not count as taken in training."""
    gc.collect()
    with suppress(OSError, AttributeError):  # glibc alone has it
        ctypes.CDLL(None).malloc_trim(0)


def _bytes(name: str) -> int:
    """One of the process's numbers, which the kernel gives in kB."""
    lines = (PROCESS / "status").read_text().splitlines()
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith(name)), 0)
