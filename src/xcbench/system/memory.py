"""Memory: available bytes, out-of-memory kills, and peak of training.

Only Linux provides these numbers; elsewhere nothing is refused for lack of memory.
"""

from __future__ import annotations

import ctypes
import gc
import math
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from xcbench.errors import UserError
from xcbench.units import MIB, readable

PROCESS = Path("/proc/self")
SYSTEM = Path("/proc")
GROUPS = Path("/sys/fs/cgroup")
KILLED = "out of memory: the system killed the process"
PER_FEATURE = 24  # bytes: three arrays of 8 bytes a feature, while rows are prepared or trained on


def available() -> float:
    """Bytes available without swapping, in the machine, the control group and ``ulimit -v``."""
    free = _number(SYSTEM / "meminfo", "MemAvailable:") or math.inf / 1024
    return min([1024 * free, _left_in_address_space(), *(_left_in(it) for it in _groups())])


def check(needed: float, what: str, remedy: str) -> None:
    """Refuse what does not fit, before anything of it is allocated.

    Parameters
    ----------
    needed : bytes, about.
    what : start of the sentence: where, and what needs them.
    remedy : end of the sentence: what to do.

    Raises
    ------
    UserError
        If fewer bytes are available.
    """
    free = available()
    if needed > free:
        raise UserError(
            f"{what} needs about {readable(needed)} of memory, of which {readable(max(0, free))} "
            f"are available; {remedy}"
        )


def check_features(number: int, where: str, remedy: str) -> None:
    """`check` the arrays with an entry for each of so many features."""
    check(PER_FEATURE * number, where, remedy)


def _left_in_address_space() -> float:
    """Limit of the process's virtual memory, less what it has."""
    try:
        import resource
    except ImportError:  # not on Windows
        return math.inf
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    used = _number(PROCESS / "status", "VmSize:")
    if most == resource.RLIM_INFINITY or used is None:
        return math.inf
    return most - 1024 * used


def _groups() -> Iterator[Path]:
    """Folders of the process's memory control group and of those above, versions 2 and 1."""
    with suppress(OSError):
        for line in (PROCESS / "cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers in ("", "memory"):
                root = GROUPS / controllers
                group = root / path.lstrip("/")
                yield from (group, *(at for at in group.parents if at.is_relative_to(root)))


def _left_in(group: Path) -> float:
    """Limit of a control group, less what it holds and cannot give back."""
    for limit, used, cached in (
        ("memory.max", "memory.current", "inactive_file"),
        ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    ):
        most, held = _number(group / limit), _number(group / used)
        if most is not None and held is not None:
            return most - held + (_number(group / "memory.stat", cached) or 0)
    return math.inf


def kills() -> str:
    """Number of out-of-memory kills since the system started."""
    with suppress(OSError):
        boot = (SYSTEM / "sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {_number(SYSTEM / 'vmstat', 'oom_kill') or 0:.0f}"
    return ""


def killed_since(before: str) -> bool:
    """Whether there were further kills since an earlier value of `kills`."""
    boot, _, number = before.partition(" ")
    now, _, more = kills().partition(" ")
    return number.isdigit() and boot == now and int(more) > int(number)


def _number(path: Path, name: str = "") -> float | None:
    """A number of a file of the system: the one behind a name, or the first."""
    with suppress(OSError, ValueError, IndexError):
        words = path.read_text().split()
        return float(words[words.index(name) + 1] if name else words[0])
    return None


class PeakMemory:
    """Highest resident memory over the intervals between `begin` and `end`.

    Evaluation in between is excluded: the kernel's peak is reset at every `begin`. Memory-mapped
    rows count once touched. Systems without ``/proc`` have no numbers.

    Parameters
    ----------
    enabled : whether to measure; not doing so saves most of the time of a tiny cell.

    Attributes
    ----------
    start, peak : bytes at the start of training and at the peak; 0 if unknown.
    """

    def __init__(self, enabled: bool = True) -> None:
        self.enabled = enabled
        self.start = self.peak = 0

    def begin(self) -> None:
        """Start or continue; at first, return freed memory of earlier work to the system."""
        if not self.enabled:
            return
        if not self.start:
            _trim()
        with suppress(OSError):
            (PROCESS / "clear_refs").write_text("5")  # the mark falls to what is resident now
            self.start = self.start or _bytes("VmRSS")

    def end(self) -> None:
        """Stop."""
        if not self.enabled:
            return
        with suppress(OSError):
            self.peak = max(self.peak, _bytes("VmHWM"))

    def columns(self) -> dict[str, float]:
        """``peak_mib``, of the whole process, and ``train_mib``, the increase since the start."""
        if not (self.start and self.peak):
            return {}
        return {"peak_mib": self.peak / MIB, "train_mib": (self.peak - self.start) / MIB}


def _trim() -> None:
    """Return freed memory to the system: taken again, it would not count as taken in training."""
    gc.collect()
    if not gc.get_freeze_count():  # modules stay: the collections before later cells skip them
        gc.freeze()
    with suppress(OSError, AttributeError):  # glibc alone has it
        ctypes.CDLL(None).malloc_trim(0)


def _bytes(name: str) -> int:
    """One of the process's numbers, which the kernel gives in kB."""
    return 1024 * int(_number(PROCESS / "status", f"{name}:") or 0)
