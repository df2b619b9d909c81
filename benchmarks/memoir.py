"""MEMOIR at LSHTC1's full shape, and beside LIBLINEAR on a subset where that fits.

N=126,871, D=409,774, K=12,294, of which a dense W would have 40 GB in eight bytes a number; beside
them, as in the paper, a feature that is always 1, so that each row meets all classes. Peak
memory is that of training beyond the process with its rows loaded; a run has its own process.
"""

from __future__ import annotations

import json
import subprocess
import sys

from benchmarks.shapes import shape, twin, with_constant
from benchmarks.table import Row
from xcbench.memory import GIB

FULL = (126_871, 409_774, 12_294, 120.0)
SUBSET = (5_000, 409_774, 100, 120.0)  # W of LIBLINEAR: 328 MB
SETTINGS = {
    "MEMOIR-l2": "MemoirL2('memoir_l2', lr=0.1, iterations=25)",
    "MEMOIR-l1": "MemoirL1('memoir_l1', lr=0.1, iterations=25)",
    "one-vs-rest": "OneVsRest('svm_ovr', bias=False)",
    "Crammer and Singer": "Liblinear('svm_cs', bias=False)",
}
MOST_MEMORY, MOST_SECONDS = 2.0, 600.0  # GiB; of 25 batches
CHILD = """
import json, time
import benchmarks
from benchmarks.memory import peak
from benchmarks.shapes import twin, with_constant
from xcbench import config, registry, trace
from xcbench.engines import resolve
from xcbench.solvers import Streams, make_model

dataset = with_constant(twin(*{shape}))
settings = config.{settings}
solver = registry.entry(settings).build(settings, dataset.info)
info, engine = dataset.info, resolve("auto")
model = make_model(solver, engine, info.classes, info.features, False, "float32")
trace.warm_up(solver, model, dataset)
open("/proc/self/clear_refs", "w").write("5")  # the peak is from now on
before, started = peak(), time.process_time()
for _ in solver.fit(dataset, model, Streams.of(0), [solver.epochs]):
    pass
print(json.dumps([time.process_time() - started, peak() - before, model.nbytes]))
"""


def trained(name: str, size: tuple[int, int, int, float]) -> tuple[float, float, float]:
    """CPU seconds of training, peak bytes beyond the rows, bytes of the model."""
    code = CHILD.format(shape=size, settings=SETTINGS[name])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seconds, memory, model = json.loads(done.stdout.splitlines()[-1])
    return seconds, memory, model


def full() -> list[Row]:
    """Seconds and memory of 25 batches, as published, on all of it."""
    where, rows = shape(with_constant(twin(*FULL))), []
    for name in ("MEMOIR-l2", "MEMOIR-l1"):
        seconds, memory, _ = trained(name, FULL)
        in_time, fits = seconds <= MOST_SECONDS, memory <= MOST_MEMORY * GIB
        rows += [
            Row(f"{name}, s of 25 batches", where, seconds, verdict=("<= 600", in_time)),
            Row(f"{name}, peak GiB beyond X", where, memory / GIB, verdict=("<= 2", fits)),
        ]
    return rows


def subset() -> list[Row]:
    """Seconds, peak and size of MEMOIR-l2 on a subset, beside both SVMs of LIBLINEAR."""
    where, ours = shape(with_constant(twin(*SUBSET))), trained("MEMOIR-l2", SUBSET)
    rows = []
    for peer in ("one-vs-rest", "Crammer and Singer"):
        theirs = trained(peer, SUBSET)
        rows += [
            Row(f"MEMOIR-l2 vs LIBLINEAR's {peer}, {what}", where, here, there)
            for what, here, there in zip(
                ("s", "peak bytes beyond X", "bytes of the model"), ours, theirs, strict=True
            )
        ]
    return rows


def run() -> list[Row]:
    """The subset first: it takes a minute."""
    return subset() + full()
