"""Eq. 9 on planted neighbours: recall and work of SimpleLSH's hash tables against n.

One of n vectors has the inner product S with the query, all others c S, the hardest case that
Definition 1 allows. Codes have k = log n / log(1/p2) bits, so that a table gives one wrong vector
on average. There are L = n^rho tables: the right vector is among them with a probability of about
1 - 1/e (Indyk and Motwani 1998). Work is the number of vectors that are compared with the query.
The oracle that trains here compares all codes instead (`xcbench.core.oracles.simple_lsh`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from xcbench.papers import Measured
from xcbench.show import pictures, style
from xcbench.show.pictures import Drawing
from xcbench.show.section import Section

S, C = 0.9, 0.5
SIZES = tuple(1 << power for power in range(5, 12))  # n
DIMENSIONS = 12
QUERIES = 40
PLANES = 20_000  # for the share of equal bits
CAPTION = (
    "Eq. 9: share of queries that find the one vector of inner product 0.9 among n - 1 of 0.45, "
    "and how many vectors they look at, in n^rho tables of codes; rho = log p1 / log p2 with "
    "arccos in the place of the printed cos. Of 40 queries, with hyperplanes of their own."
)


def equal_bits(inner: float) -> float:
    """Probability that a bit of x and w is the same, by the angle (Neyshabur and Srebro)."""
    return float(1 - np.arccos(inner) / np.pi)


def as_printed(inner: float) -> float:
    """The same as Eq. 9 prints it."""
    return float(1 - np.cos(inner) / np.pi)


RHO = float(np.log(equal_bits(S)) / np.log(equal_bits(C * S)))


def pair(rng: np.random.Generator, inner: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A unit query (d,) and unit vectors (n, d) with these inner products."""
    x, w = rng.normal(size=DIMENSIONS), rng.normal(size=(len(inner), DIMENSIONS))
    x /= np.linalg.norm(x)
    w -= np.outer(w @ x, x)
    w /= np.linalg.norm(w, axis=1, keepdims=True)
    return x, inner[:, None] * x + np.sqrt(1 - inner**2)[:, None] * w


def farthest_share(measured: Measured, formula: Callable[[float], float]) -> list[float]:
    """Share of equal bits less a formula, farthest from 0 of several inner products."""
    rng, inner = np.random.default_rng(0), np.linspace(-0.9, 0.9, 7)
    x, w = pair(rng, inner)
    planes = rng.normal(size=(DIMENSIONS, PLANES))
    shares = ((w @ planes > 0) == (x @ planes > 0)).mean(axis=1)
    differences = [share - formula(at) for share, at in zip(shares, inner, strict=True)]
    return [float(max(differences, key=abs))]


def query(rng: np.random.Generator, n: int) -> tuple[bool, int]:
    """Whether the tables find the right vector, and how many vectors are looked at."""
    bits = max(1, round(np.log(n) / -np.log(equal_bits(C * S))))
    tables = max(1, round(n**RHO))
    x, w = pair(rng, np.where(np.arange(n) == 0, S, C * S))
    planes = rng.normal(size=(DIMENSIONS, tables * bits)).astype(np.float32)
    same = (w.astype(np.float32) @ planes > 0) == (x.astype(np.float32) @ planes > 0)
    in_bucket = same.reshape(n, tables, bits).all(axis=2)
    return bool(in_bucket[0].any()), int(in_bucket.sum())


@cache
def queries() -> pd.DataFrame:
    """Recall and work of every n: means over the queries."""
    rng, lines = np.random.default_rng(0), []
    for n in SIZES:
        recall, work = np.mean([query(rng, n) for _ in range(QUERIES)], axis=0)
        lines.append({"n": n, "recall": recall, "work": work})
    return pd.DataFrame(lines)


def exponent(measured: Measured) -> list[float]:
    """Slope of log work against log n."""
    rows = queries()
    return [float(np.polyfit(np.log(rows["n"]), np.log(rows["work"]), 1)[0])]


def section(measured: Measured, folder: Path) -> list[Section]:
    """Recall and work against n."""
    drawn = pictures.save([Drawing("hashing", partial(draw, queries()), CAPTION)], folder)
    return [Section("Eq. 9: recall and work against n", figures=[*drawn.values()])]


def draw(rows: pd.DataFrame) -> Figure:
    """Draw both against n."""
    fig, (left, right) = style.panels(8, 3, 1, 2)
    left.plot(rows["n"], rows["recall"], marker="o", markersize=3)
    left.axhline(1 - 1 / np.e, label="1 - 1/e", **style.REFERENCE)
    left.set(ylabel="recall", ylim=(0, 1.02), xscale="log", xlabel="n")
    right.plot(rows["n"], rows["work"], marker="o", markersize=3, label="vectors looked at")
    right.plot(rows["n"], rows["n"] ** RHO, label=f"n^{RHO:.2f}", **style.REFERENCE)
    right.plot(rows["n"], rows["n"], linestyle=":", label="n")
    right.set(xscale="log", yscale="log", xlabel="n", ylabel="vectors a query")
    left.legend()
    right.legend()
    return fig
