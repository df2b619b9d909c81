"""One-vs-each by single rows with five remaining classes at AmazonCat-13K's full shape.

The shape of the one-vs-each paper's Section 4.2: W has 595 million weights, 2.4 GB. Peak memory of
training on 50,000 rows and of evaluation on 2,000, W included, beyond the process with X loaded.
"""

from __future__ import annotations

import json
import subprocess
import sys

from benchmarks.shapes import Work, amazoncat, shape
from benchmarks.table import Row
from benchmarks.timing import interleaved
from xcbench.methods.one_vs_each import OneVsEachOptions

SETTINGS = OneVsEachOptions(name="ove", lr=0.01, batch_size=1, negatives=5, sampler="others")
ROWS = 4096
MOST = 1.3  # times W
CHILD = """
import json
import benchmarks
from benchmarks.amazoncat import SETTINGS
from benchmarks.memory import peak
from benchmarks.shapes import amazoncat
from xcbench.core import metrics, models
from xcbench.core.dataset import Split
from xcbench.core.solvers import Streams
from xcbench.methods import registry
from xcbench.run import training

dataset = amazoncat()
solver = registry.method_of(SETTINGS).build(SETTINGS, dataset.info)
model = models.make("numba", dataset.info.classes, dataset.info.features, True, "float32")
training.warm_up(solver, model, dataset)
few = Split(dataset.train.X[:2000], dataset.train.y[:2000])
open("/proc/self/clear_refs", "w").write("5")  # the peak is from now on
before = peak()
model.V[:] = 0
for _ in solver.fit(dataset, model, Streams.of(0), [50_000 / len(dataset.train)]):
    pass
metrics.evaluate(model, few)
print(json.dumps([peak() - before, model.V.nbytes]))
"""


def memory() -> Row:
    """Peak bytes as a multiple of W."""
    done = subprocess.run([sys.executable, "-c", CHILD], capture_output=True, text=True, check=True)
    extra, W = json.loads(done.stdout)
    return Row(
        "peak bytes, OVE 1 x 5, engine=numba, as a multiple of W",
        f"W: {W / 1e6:.0f} MB",
        extra / W,
        verdict=(f"<= {MOST}", extra <= MOST * W),
    )


def time() -> Row:
    """Seconds an update, beside the loop of ``engine=numpy``."""
    dataset = amazoncat()
    work = {
        engine: Work.of(dataset, SETTINGS, engine, bias=True, rows=ROWS)
        for engine in ("numba", "numpy")
    }
    timings = interleaved({engine: work[engine].updates for engine in work}, units=ROWS)
    return Row(
        "OVE 1 x 5 vs engine=numpy, s/update", shape(dataset), timings["numba"], timings["numpy"]
    )


def run() -> list[Row]:
    """Memory first, in a process of its own."""
    return [memory(), time()]
