"""Processor seconds to plan many cells, and to tell whether their code changed.

``python -m benchmarks.planning [cells=10000]`` prints the table.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from tempfile import TemporaryDirectory
from typing import Any

from hydra import compose

from xcbench import sources
from xcbench.methods import registry
from xcbench.run import fingerprint, plan, sweeps
from xcbench.run.settings import Config

ROUNDS = 3


def seconds(action: Callable[[], Any]) -> float:
    """Least of a few times."""
    times = []
    for _ in range(ROUNDS):
        started = time.process_time()
        action()
        times.append(time.process_time() - started)
    return min(times)


def configurations(cells: int, folder: str) -> list[Config]:
    """Points that differ in rate and seed."""
    with sweeps.hydra():
        composer = sweeps.Composer(lambda words: compose("config", overrides=words))
        base = composer.read(["dataset=digits", "method=ove", f"runs_dir={folder}"])
    side = round(cells**0.5)
    return [
        replace(base, seed=seed, method=replace(base.method, lr=1e-3 * (1 + rate)))
        for seed in range(side)
        for rate in range(side)
    ]


def main(words: list[str]) -> None:
    """Print the table."""
    cells = next((int(it.partition("=")[2]) for it in words if it.startswith("cells=")), 10000)
    with TemporaryDirectory() as folder:
        points = configurations(cells, folder)
        jobs = plan.jobs(points)
        print(f"plan {len(jobs)} cells: {seconds(lambda: plan.jobs(points)):.2f} s")
    texts = [path.read_bytes() for path in sources.closure(registry.module("ove")).values()]
    parsed = seconds(lambda: [sources.text_digest(text) for text in texts])
    print(
        f"parse the {len(texts)} modules of a method: {parsed:.2f} s, once for a state of the code"
    )
    case = plan.case(jobs[0])
    fingerprint.numbers(case)  # compiles
    print(f"fingerprint of a method: {seconds(lambda: fingerprint.numbers(case)):.3f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
