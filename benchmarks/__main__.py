"""Run benchmarks by name; without names all of them."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks import (
    amazoncat,
    augment_reduce,
    evaluation,
    full_batch,
    lockstep,
    memoir,
    memory,
    minibatch,
    scaling,
    sequential,
    sweep,
    throughput,
    wikipedia,
)
from benchmarks.table import Row, save, text

BENCHMARKS: dict[str, Callable[[], list[Row]]] = {
    "sequential": sequential.run,
    "minibatch": minibatch.run,
    "augment_reduce": augment_reduce.run,
    "evaluation": evaluation.run,
    "full_batch": full_batch.run,
    "lockstep": lockstep.run,
    "scaling": scaling.run,
    "memory": memory.run,
    "amazoncat": amazoncat.run,
    "memoir": memoir.run,
    "sweep": sweep.run,
    "throughput": throughput.run,
    "wikipedia": wikipedia.run,
}


def main() -> None:
    """Print a table a benchmark, and keep each in ``reports/`` as soon as it is there."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help=", ".join(BENCHMARKS))
    parser.add_argument("--out", type=Path, default=Path("reports"), help="folder of the tables")
    options = parser.parse_args()
    unknown = set(options.names) - set(BENCHMARKS)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; choose from {', '.join(BENCHMARKS)}")
    for name in options.names or BENCHMARKS:
        started = time.perf_counter()
        rows = BENCHMARKS[name]()
        save(name, rows, options.out)
        print(f"\n{name} ({time.perf_counter() - started:.0f} s)\n{text(rows)}", flush=True)
    print(f"\nwritten: {options.out / 'benchmarks.md'}, {options.out / 'benchmarks.csv'}")


if __name__ == "__main__":
    main()
