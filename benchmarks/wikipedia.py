"""Negative sampling at the shape of Wikipedia-500K: N=1,646,302, D=512 dense, K=217,240 classes.

The tree is fitted to all rows, which takes seven minutes; of an epoch the last four fifths are
timed, evaluation on 200 rows over all classes. Each noise runs in a process of its own, its rows
in a temporary file of 3.4 GB that is mapped into memory. Peak memory: W (445 MB in float32)
included, beyond the process with all of X mapped.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.table import Row

TRAIN, FEATURES, CLASSES = 1_646_302, 512, 217_240
EVALUATED = 200
MOST = 3.0  # times W
SLOWER = 2.0  # than uniform noise
CHILD = """
import json, time
from pathlib import Path
import benchmarks
from benchmarks import shapes
from benchmarks.memory import peak
from xcbench.core import metrics, models
from xcbench.core.dataset import Split
from xcbench.core.solvers import Streams
from xcbench.methods import registry
from xcbench.methods.negative_sampling import NegativeSamplingOptions
from xcbench.run import training

settings = NegativeSamplingOptions(
    name="negative_sampling", lr=0.01, sampling="{sampling}", score_l2=1e-3, start="glorot"
)
dataset = shapes.dense({train}, {features}, {classes}, Path({path!r}))
solver = registry.method_of(settings).build(settings, dataset.info)
model = models.make("numba", dataset.info.classes, dataset.info.features, True, "float32")
training.warm_up(solver, model, dataset)
few = Split(dataset.train.X[:{evaluated}], dataset.train.y[:{evaluated}])
dataset.train.X.sum()  # all of it is mapped now: part of what was there before
open("/proc/self/clear_refs", "w").write("5")  # the peak is from now on
before = peak()
seconds = [time.process_time()]
for progress in solver.fit(dataset, model, Streams.of(0), [0.2, 1.0]):
    seconds.append(time.process_time())
fitted = time.process_time()
metrics.evaluate(model.corrected, few)
evaluated = time.process_time()
print(json.dumps(dict(
    epoch=(seconds[3] - seconds[2]) / 0.8,
    fit=seconds[1] - seconds[0],
    evaluation=(evaluated - fitted) / len(few),
    peak=peak() - before,
    W=model.V.nbytes,
)))
"""


def measured(
    sampling: str, train: int = TRAIN, features: int = FEATURES, classes: int = CLASSES
) -> dict[str, float]:
    """Seconds of an epoch, of the fit and of an evaluated row; peak bytes and bytes of W."""
    with tempfile.TemporaryDirectory() as folder:
        code = CHILD.format(
            sampling=sampling,
            train=train,
            features=features,
            classes=classes,
            path=str(Path(folder) / "rows.npy"),
            evaluated=EVALUATED,
        )
        words = [sys.executable, "-c", code]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
    result: dict[str, float] = json.loads(done.stdout)
    return result


def rows(result: dict[str, dict[str, float]], shape: str) -> list[Row]:
    """Comparisons from what was measured of each noise."""
    tree, uniform = result["tree"]["epoch"], result["uniform"]["epoch"]
    made = [
        Row(
            "epoch of negative sampling, tree vs uniform noise, s",
            shape,
            tree,
            uniform,
            verdict=(f"tree <= {SLOWER:g} uniform", tree <= SLOWER * uniform),
        ),
        Row("fit of the tree and start of the weights, s", shape, result["tree"]["fit"]),
    ]
    for name, own in result.items():
        times = own["peak"] / own["W"]
        made += [
            Row(f"evaluation of a row with {name} noise, s", shape, own["evaluation"]),
            Row(
                f"peak bytes, {name} noise, Adagrad, as a multiple of W",
                f"W: {own['W'] / 1e6:.0f} MB",
                times,
                verdict=(f"<= {MOST:g}", times <= MOST),
            ),
        ]
    return made


def run() -> list[Row]:
    """One noise after the other."""
    shape = f"N={TRAIN} D={FEATURES} K={CLASSES} dense"
    return rows({name: measured(name) for name in ("uniform", "tree")}, shape)
