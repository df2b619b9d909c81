"""An iteration of softmax A&R, against Algorithm 1 observation by observation, and against OVE.

As in `minibatch`, drawing classes and fetching rows stand outside the clock. The loop's first step
is compared with ours.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.shapes import Work, eurlex, omniglot, shape
from benchmarks.table import Row
from benchmarks.timing import interleaved
from xcbench.core.dataset import Dataset
from xcbench.methods.augment_reduce import LatentAugmentReduceOptions, SoftmaxAugmentReduceOptions
from xcbench.methods.one_vs_each import OneVsEachOptions
from xcbench.methods.options import SampledOptions

GOAL = 8.0
RATE = 0.02


class Loop:
    """Algorithm 1 in NumPy, with a dense gradient and averages of its squares."""

    def __init__(self, work: Work, W: np.ndarray) -> None:
        chunk = work.chunk
        assert chunk.classes is not None
        self.rows = list(chunk.rows)
        self.classes, self.weight = chunk.classes, float(np.exp(chunk.log_weight))
        self.scale = len(work.local) / len(self.rows)
        self.W, self.s, self.g = W.copy(), np.zeros_like(W), np.zeros_like(W)
        self.eta, self.t = np.full(len(self.rows), 2.0), 0

    def iteration(self) -> None:
        """E step, gradient and step on the coordinates that have one."""
        self.t += 1
        alpha = 2**-0.9
        W, g, s = self.W, self.g, self.s
        g[...] = 0.0
        for i, (features, values) in enumerate(self.rows):
            cells = np.ix_(self.classes[i], features)
            psi = W[cells] @ values
            odds = self.weight * np.exp(psi[1:] - psi[0])
            self.eta[i] = (1 - alpha) * self.eta[i] + alpha * (1 + odds.sum())
            grad = self.scale * odds / self.eta[i]
            g[cells] += np.multiply.outer(np.append(-grad.sum(), grad), values)
        at = np.nonzero(g)
        fresh = 1.0 if self.t == 1 else 0.1
        s[at] = (1 - fresh) * s[at] + fresh * g[at] ** 2
        W[at] -= RATE * self.t**-0.5 * g[at] / (1 + np.sqrt(s[at]))


def compare(dataset: Dataset, n: int, m: int) -> list[Row]:
    """Seconds an iteration of softmax A&R, of the loop, and of OVE under the same optimiser."""
    common: dict[str, Any] = {
        "lr": RATE,
        "batch_size": n,
        "negatives": m,
        "sampler": "others",
        "bias": False,
    }
    touched: dict[str, Any] = {"optimizer": "ar", "accumulator": "touched"}
    start = np.asarray(
        0.1 * np.random.default_rng(0).normal(size=(dataset.info.classes, dataset.info.features)),
        np.float32,
    )

    def work(settings: SampledOptions, engine: str = "numba") -> Work:
        made = Work.of(dataset, settings, engine, rows=n)
        made.model.V[:] = start
        return made

    ar = SoftmaxAugmentReduceOptions(name="ar_softmax", **common, **touched)
    ours = work(ar)
    peers = {
        "OVE, same optimiser": work(OneVsEachOptions(name="ove", **common, **touched)),
        "OVE, SGD": work(OneVsEachOptions(name="ove", **common)),
        "probit A&R": work(LatentAugmentReduceOptions(name="ar_probit", **common, **touched)),
    }
    loop = Loop(work(ar, "numpy"), start)
    ours.updates()
    loop.iteration()
    error = np.linalg.norm(loop.W - ours.model.V) / np.linalg.norm(ours.model.V - start)
    assert error < 1e-4, f"the loop takes another step: relative difference {error:.1e}"
    timings = interleaved(
        {
            "ours": ours.updates,
            "NumPy, per observation": loop.iteration,
            **{name: peer.updates for name, peer in peers.items()},
        }
    )
    seconds = timings.pop("ours")
    where = f"{n} x {m}, {shape(dataset)}"
    return [
        Row(f"vs {name}, s/iteration", where, seconds, of_peer, GOAL if "NumPy" in name else 0.0)
        for name, of_peer in timings.items()
    ]


def run() -> list[Row]:
    """EURLex's and Omniglot's shapes, with the paper's minibatches."""
    return compare(eurlex(), 379, 50) + compare(omniglot(), 541, 50)
