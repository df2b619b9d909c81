"""Run benchmarks by name; without names all that `reports/benchmarks.md` shows."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks import (
    adapters,
    capacity,
    commands,
    default_rates,
    equal_loss,
    full_size,
    grids,
    memory,
    minibatch,
    multi_label,
    paper_hours,
    passes,
    rivals,
    sequential,
)
from benchmarks.table import Row, save

RATIOS: dict[str, Callable[[], list[Row]]] = {
    "sequential": sequential.run,
    "minibatch": minibatch.run,
    "augment_reduce": minibatch.augment_reduce,
    "evaluation": passes.evaluation,
    "full_batch": passes.full_batch,
    "lockstep": passes.lockstepped,
    "scaling": memory.scaling,
    "memory": memory.run,
    "amazoncat": full_size.run_amazoncat,
    "memoir": full_size.run_memoir,
    "sweep": commands.run_sweep,
    "throughput": commands.run_throughput,
    "wikipedia": full_size.run_wikipedia,
}
PAGES: dict[str, Callable[..., None]] = {  # which have files of their own; run by name alone
    "adapters": adapters.COMPARISON.run,
    "capacity": capacity.run,
    "default_rates": default_rates.run,
    "equal_loss": equal_loss.COMPARISON.run,
    "executors": commands.executors,
    "grids": grids.run,
    "multi_label": multi_label.COMPARISON.run,
    "paper_hours": paper_hours.run,
    "rivals": rivals.run,
}


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
            print(save(name, RATIOS[name](), arguments.out))
        else:
            PAGES[name](**options)
        print(f"{name}: {time.perf_counter() - started:.0f} s\n", flush=True)


if __name__ == "__main__":
    main()
