"""Run benchmarks by name; without names all that `reports/benchmarks.md` shows."""

from __future__ import annotations

import argparse
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.table import save

RATIOS = {  # modules and their functions, imported alone: commands inherit the size of the process
    "sequential": ("sequential", "run"),
    "minibatch": ("minibatch", "run"),
    "augment_reduce": ("minibatch", "augment_reduce"),
    "draws": ("draws", "run"),
    "evaluation": ("passes", "evaluation"),
    "full_batch": ("passes", "full_batch"),
    "lockstep": ("passes", "lockstepped"),
    "scaling": ("memory", "scaling"),
    "memory": ("memory", "run"),
    "amazoncat": ("full_size", "run_amazoncat"),
    "memoir": ("full_size", "run_memoir"),
    "sweep": ("commands", "run_sweep"),
    "throughput": ("commands", "run_throughput"),
    "wikipedia": ("full_size", "run_wikipedia"),
}
PAGES = {  # which have files of their own; run by name alone
    "adapters": ("adapters", "run"),
    "at_defaults": ("at_defaults", "run"),
    "capacity": ("capacity", "run"),
    "curve_rows": ("curve_rows", "run"),
    "default_rates": ("default_rates", "run"),
    "found_rates": ("default_rates", "trials"),
    "equal_loss": ("equal_loss", "run"),
    "exact_softmax": ("exact_softmax", "run"),
    "executors": ("commands", "executors"),
    "grids": ("grids", "run"),
    "kept_apart": ("kept_apart", "run"),
    "multi_label": ("multi_label", "run"),
    "paper_hours": ("paper_hours", "run"),
    "rivals": ("rivals", "run"),
    "sampler_study": ("sampler_study", "run"),
    "waiting": ("waiting", "run"),
}


def function(name: str) -> Any:
    """Function of a benchmark: gives rows, or writes its page."""
    module, attribute = (RATIOS | PAGES)[name]
    return getattr(import_module(f"benchmarks.{module}"), attribute)


def main() -> None:
    """Print a table a benchmark, and keep each in ``reports/`` as soon as it is there."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("words", nargs="*", help=f"{', '.join([*RATIOS, *PAGES])}; options NAME=…")
    parser.add_argument("--out", type=Path, default=Path("reports"), help="folder of the tables")
    arguments = parser.parse_args()
    options = dict(word.split("=", 1) for word in arguments.words if "=" in word)
    names = [word for word in arguments.words if "=" not in word] or [*RATIOS]
    if unknown := set(names) - {*RATIOS, *PAGES}:
        parser.error(f"unknown: {', '.join(unknown)}; choose from {', '.join([*RATIOS, *PAGES])}")
    for name in names:
        started = time.perf_counter()
        if name in RATIOS:
            print(save(name, function(name)(), arguments.out))
        else:
            function(name)(**options)
        print(f"{name}: {time.perf_counter() - started:.0f} s\n", flush=True)


if __name__ == "__main__":
    main()
