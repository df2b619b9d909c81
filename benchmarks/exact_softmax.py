"""Why sample at all? Exact softmax at its best beside sampled softmax, seconds to equal loss.

Exact softmax is minibatch SGD whose products and exponentials PyTorch computes, in blocks that it
chooses. All take one core, and processor seconds count: with more cores exact softmax takes as
many times less of the wall clock at best. On a graphics card seconds are those of the wall. The
loss is that of test rows, taken outside of the clock.

``python -m benchmarks exact_softmax`` adds what is missing to ``reports/exact-softmax.csv``, and
writes its table into ``docs/library.md``. On a machine with a card, ``python
benchmarks/exact_softmax.py FILE`` writes the rows of the card alone; it needs NumPy and PyTorch.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

CLASSES = (100, 1_000, 10_000, 100_000)
ON_A_CARD = (*CLASSES, 1_000_000)
FEATURES, TEST, BATCH = 128, 2000, 256
RATES = (10.0, 30.0, 100.0)  # of a step along the mean over the minibatch, times the rows of it
EPOCHS = 10
POINTS = 40  # measurements, more at the beginning
BLOCK = 200  # test rows whose scores are held at a time
GAINS = (0.5, 0.9, 0.99)  # shares of what the better one gains over the prior
LIMIT = {"cpu": 60.0, "cuda": 30.0}  # seconds of a training
ON_A_CORE = "exact"


class Problem(NamedTuple):
    """Rows of length 1 around centres of their classes, popular ones by a power law."""

    X: np.ndarray
    y: np.ndarray
    test: np.ndarray
    test_y: np.ndarray
    counts: np.ndarray


def problem(K: int) -> Problem:
    """Twice as many training rows as classes, at least 20,000."""
    rng, N = np.random.default_rng(K), max(20_000, 2 * K)
    law = np.arange(1, K + 1) ** -0.8
    y = rng.choice(K, N + TEST, p=law / law.sum())
    X = rng.standard_normal((N + TEST, FEATURES), np.float32) * 0.7
    X += rng.standard_normal((K, FEATURES), np.float32)[y]
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return Problem(X[:N], y[:N], X[N:], y[N:], np.bincount(y[:N], minlength=K))


def stops(N: int) -> np.ndarray:
    """Minibatches after which the loss is measured."""
    total = EPOCHS * (N // BATCH)
    return np.unique((total * np.linspace(0, 1, POINTS + 1)[1:] ** 2).astype(int).clip(1))


def exact(data: Problem, lr: float, device: str, limit: float) -> Iterator[tuple[float, float]]:
    """Seconds and test loss of exact softmax, from the class prior on."""
    import torch as t

    X, y = (t.from_numpy(it).to(device) for it in (data.X, data.y))
    log_prior = np.log((data.counts + 1) / (data.counts + 1).sum()).astype(np.float32)
    b = t.from_numpy(log_prior).to(device)
    W = t.zeros(len(b), FEATURES, device=device)
    test, test_y = (t.from_numpy(it).to(device) for it in (data.test, data.test_y))
    each = t.arange(BATCH, device=device)
    order: Any = None

    def step(rows: Any) -> None:
        x = X[rows]
        p = t.softmax(t.addmm(b, x, W.T), 1)
        p[each, y[rows]] -= 1
        W.addmm_(p.T, x, alpha=-lr)
        b.sub_(p.sum(0), alpha=lr)

    def loss() -> float:
        total = 0.0
        for first in range(0, TEST, BLOCK):
            x, of = test[first : first + BLOCK], test_y[first : first + BLOCK]
            total += float(t.nn.functional.cross_entropy(t.addmm(b, x, W.T), of, reduction="sum"))
        return total / TEST

    def now() -> float:
        if device == "cuda":
            t.cuda.synchronize()
            return time.perf_counter()
        return time.process_time()

    step(t.arange(BATCH, device=device))  # libraries start
    W.zero_()
    b.copy_(t.from_numpy(log_prior))
    rng, seconds, started, every = np.random.default_rng(0), 0.0, now(), len(X) // BATCH
    due = set(stops(len(X)))
    for i in range(max(due)):
        if i % every == 0:
            order = t.from_numpy(rng.permutation(len(X))).to(device)
        at = i % every * BATCH
        step(order[at : at + BATCH])
        if i + 1 in due:
            seconds += now() - started
            yield seconds, loss()
            if seconds > limit:
                return
            started = now()


def rows_of_exact(K: int, device: str, name: str) -> pd.DataFrame:
    """Points of every rate."""
    data = problem(K)
    lines = [
        {"K": K, "system": name, "lr": lr / BATCH, "seconds": seconds, "log_loss": loss}
        for lr in RATES
        for seconds, loss in exact(data, lr / BATCH, device, LIMIT[device])
    ]
    prior = float(-np.log((data.counts + 1) / (data.counts + 1).sum())[data.test_y].mean())
    return pd.DataFrame(lines).assign(prior=prior)


# ---------------------------------------------------------------- ours, and the page
SAMPLED: dict[str, dict[str, Any]] = {  # settings by name; the rate is the default one, times these
    "css": {"negatives": 20, "sampler": "frequency"},
    "negative_sampling": {"negatives": 5},
    "umax": {},
}
FACTORS = (1.0, 10**0.5, 10.0, 10**1.5)


def rows_of_sampled(K: int) -> Iterator[pd.DataFrame]:
    """Points of every method and rate; kernels are compiled before."""
    from benchmarks.shapes import built, settings_of
    from xcbench.core.dataset import Dataset, Split
    from xcbench.core.metrics import evaluate
    from xcbench.core.solvers import Streams
    from xcbench.core.statistics import describe
    from xcbench.methods import registry
    from xcbench.methods.method import default_rate

    data = problem(K)
    train, test = Split(data.X, data.y), Split(data.test, data.test_y)
    info = describe(f"K={K:,}", "", True, train, test, K)
    dataset = Dataset(info, train, test, data.counts)
    epochs = [float(it) for it in EPOCHS * np.linspace(0, 1, POINTS + 1) ** 2]
    for name, options in SAMPLED.items():
        centre = default_rate(registry.builtin()[name], settings_of(name, **options), info)
        for factor in FACTORS:
            lr = float(f"{factor * centre:.3g}")
            solver, model = built(dataset, settings_of(name, lr=lr, **options))
            lines, seconds, started = [], 0.0, time.process_time()
            for progress in solver.fit(dataset, model, Streams.of(0), epochs):
                if not progress.iteration:
                    started = time.process_time()
                    continue
                seconds += time.process_time() - started
                loss = evaluate(model.corrected, test)["log_loss"]
                lines.append({"seconds": seconds, "log_loss": loss})
                if seconds > LIMIT["cpu"] or not np.isfinite(loss):
                    break
                started = time.process_time()
            yield pd.DataFrame(lines).assign(K=K, system=name, lr=lr)


def table(rows: pd.DataFrame) -> str:
    """Seconds to shares of what the best of all gains over the prior, a line a K and a share."""
    from benchmarks.table import markdown

    lines = []
    for K, of_size in rows.groupby("K"):
        prior, best = of_size["prior"].max(), of_size["log_loss"].min()
        for share in GAINS:
            goal = prior - share * (prior - best)
            seconds = of_size["seconds"].where(of_size["log_loss"] <= goal)
            least = seconds.groupby(of_size["system"]).min()  # at the best rate for it
            shown = least.map("{:.2g}".format).replace("nan", "never")
            lines.append({"K": f"{K:,}", "log loss": f"{goal:.3f}", "share": share, **shown})
    return markdown(pd.DataFrame(lines).fillna(""))


def run(card: str = "") -> None:
    """Train what is missing, and write the table.

    Parameters
    ----------
    card : file with the rows of a graphics card, to add.
    """
    from benchmarks.measure import ROOT
    from benchmarks.table import Kept

    kept = Kept(
        ROOT / "reports" / "exact-softmax.csv",
        ["K", "system"],
        ROOT / "docs" / "library.md",
        "exact softmax",
        table,
        "%.6g",
    )
    if card:
        kept.add(pd.read_csv(card))
    for K in CLASSES:
        if not kept.has(K=K, system=ON_A_CORE):
            kept.add(rows_of_exact(K, "cpu", ON_A_CORE))
        if not kept.has(K=K, system=[*SAMPLED][-1]):
            kept.add(pd.concat(rows_of_sampled(K)))
    kept.write()


if __name__ == "__main__":
    import torch

    card = torch.cuda.get_device_name()
    frames = []
    for number in ON_A_CARD:
        frames.append(rows_of_exact(number, "cuda", f"exact, {card}"))
        pd.concat(frames).to_csv(sys.argv[1], index=False, float_format="%.6g")
        print(number, time.process_time(), flush=True)
