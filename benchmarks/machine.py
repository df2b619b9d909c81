"""What the timings were taken on."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path

from threadpoolctl import threadpool_info


def describe() -> dict[str, str]:
    """CPU, caches, versions, and the kind of core that BLAS took it for."""
    versions = {"python": platform.python_version()}
    for package in ("numpy", "scipy", "numba", "torch"):
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = "not installed"
    blas = {
        f"{pool['internal_api']} {pool.get('version')} for {pool['architecture']}"
        for pool in threadpool_info()
        if pool.get("architecture")
    }
    return {
        "CPU": _cpu(),
        "cores": f"{os.cpu_count()}, of which 1 is used",
        "caches": ", ".join(_caches()) or "not known",
        **versions,
        "BLAS": "; ".join(sorted(blas)) or "not known",
    }


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    named = {key.strip(): value.strip() for key, value in fields.items()}
    numbers = (named.get(key, "?") for key in ("cpu family", "model", "stepping"))
    return "{} (family {}, model {}, stepping {})".format(
        named.get("model name", platform.machine()), *numbers
    )


def _caches() -> list[str]:
    sizes = []
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        parts = [(index / name).read_text().strip() for name in ("level", "type", "size")]
        sizes.append(f"L{parts[0]} {parts[1].lower()} {parts[2]}")
    return sizes
