"""MEMOIR at LSHTC1's full shape, and beside LIBLINEAR on a subset where that fits.

N=126,871, D=409,774, K=12,294, of which a dense W would have 40 GB in eight bytes a number; beside
them, as in the paper, a feature that is always 1, so that each row meets all classes. Prediction
is of as many rows as the test part has, 31,718, or all of the subset. Peak memory is that of
training beyond the process with its rows loaded; a run has its own process.
"""

from __future__ import annotations

import json
import subprocess
import sys

from benchmarks.shapes import shape, twin, with_constant
from benchmarks.table import Row
from xcbench.units import GIB

FULL = (126_871, 409_774, 12_294, 120.0)
SUBSET = (10_000, 409_774, 1_000, 120.0)  # W of LIBLINEAR: 3.3 GB
TEST_ROWS = 31_718
SETTINGS = {
    "MEMOIR-l2": "MemoirL2Options('memoir_l2', lr=0.1, iterations=25)",
    "MEMOIR-l1": "MemoirL1Options('memoir_l1', lr=0.1, iterations=25)",
    "one-vs-rest": "OneVsRestOptions('svm_ovr', bias=False)",
    "Crammer and Singer": "LiblinearOptions('svm_cs', bias=False)",
}
MOST_MEMORY, MOST_SECONDS = 2.0, 600.0  # GiB; of 25 batches
CHILD = """
import json, time
import benchmarks
from benchmarks.memory import peak
from benchmarks.shapes import twin, with_constant
from xcbench.core import metrics
from xcbench.core.engines import resolve
from xcbench.core.solvers import Streams
from xcbench.methods import registry
from xcbench.methods.baselines.options import LiblinearOptions, OneVsRestOptions
from xcbench.methods.memoir import MemoirL1Options, MemoirL2Options
from xcbench.run import training

dataset = with_constant(twin(*{shape}))
settings = {settings}
solver = registry.method_of(settings).build(settings, dataset.info)
info, engine = dataset.info, resolve("auto")
model = solver.make_model(engine, info.classes, info.features, False, "float32")
training.warm_up(solver, model, dataset)
open("/proc/self/clear_refs", "w").write("5")  # the peak is from now on
before, started = peak(), time.process_time()
for _ in solver.fit(dataset, model, Streams.of(0), [solver.epochs]):
    pass
seconds, memory = time.process_time() - started, peak() - before
predicted = metrics.costs(model, dataset.test.sample({rows}))["predict_seconds"]
print(json.dumps([seconds, predicted, memory, model.nbytes]))
"""
MEASURES = ("s of training", "s of prediction", "peak bytes beyond X", "bytes of the model")


def trained(name: str, size: tuple[int, int, int, float]) -> tuple[float, ...]:
    """`MEASURES`: CPU seconds of training, seconds of prediction, peak, size of the model."""
    code = CHILD.format(shape=size, settings=SETTINGS[name], rows=TEST_ROWS)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return tuple(json.loads(done.stdout.splitlines()[-1]))


def full() -> list[Row]:
    """Seconds, memory and prediction after 25 batches, as published, on all of it."""
    where, rows = shape(with_constant(twin(*FULL))), []
    for name in ("MEMOIR-l2", "MEMOIR-l1"):
        seconds, predicted, memory, model = trained(name, FULL)
        in_time, fits = seconds <= MOST_SECONDS, memory <= MOST_MEMORY * GIB
        rows += [
            Row(f"{name}, s of 25 batches", where, seconds, verdict=("<= 600", in_time)),
            Row(f"{name}, peak GiB beyond X", where, memory / GIB, verdict=("<= 2", fits)),
            Row(f"{name}, GiB of the model", where, model / GIB),
            Row(f"{name}, s of prediction", where, predicted),
        ]
    return rows


def subset() -> list[Row]:
    """`MEASURES` of MEMOIR-l2 on a subset, beside both SVMs of LIBLINEAR."""
    where, ours = shape(with_constant(twin(*SUBSET))), trained("MEMOIR-l2", SUBSET)
    rows = []
    for peer in ("one-vs-rest", "Crammer and Singer"):
        theirs = trained(peer, SUBSET)
        rows += [
            Row(f"MEMOIR-l2 vs LIBLINEAR's {peer}, {what}", where, here, there)
            for what, here, there in zip(MEASURES, ours, theirs, strict=True)
        ]
    return rows


def run() -> list[Row]:
    """The subset first: it takes some minutes."""
    return subset() + full()
