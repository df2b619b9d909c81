"""Theorem 1: the rate it allows on a tiny problem, and rates at which U-max converges.

The theorem assumes eta <= delta² / (4 B_f²). B_f bounds the gradient of every term of the double
sum f(u, W) over the compact set of appendix A. Here as there, eta multiplies the gradient of Eq. 7,
with its factor N; the rate of our methods is eta N.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count, islice, product

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.optimize import minimize
from scipy.special import logsumexp

from xcbench.core.objectives import Numbers
from xcbench.core.objectives.double_sum import double_sum
from xcbench.papers.demonstration import Demonstration, Frames
from xcbench.show import style
from xcbench.system import forks

DELTA = 1.0
L2 = 0.1
STRENGTHS = 10.0 ** np.arange(-2, 3)
SEEDS = 10
FIXED = (1e-4, 5e-5)  # eta, for the number of steps until half
RUNNABLE = 1e-7  # Theorem 1's eta from which its steps are run
STARTS = (0.1, 1.0, 10.0)  # eta N, for rates that decay
DECAY = 200.0  # steps until half of the rate: ten epochs
STEPS = 30_000
BLOCK = 200  # looks at f that are computed together
CHECKPOINTS = np.unique(np.geomspace(10, STEPS, 40).astype(int))
YEAR = 365.25 * 86400


@dataclass(frozen=True)
class Problem:
    """Softmax regression with an l2 penalty: rows X (N, D) of norm 1, classes y, mu of Eq. 2."""

    X: np.ndarray
    y: np.ndarray
    classes: int
    mu: float

    @classmethod
    def tiny(cls, mu: float = L2) -> Problem:
        """N = 20 random directions in D = 3, K = 4 classes of five rows."""
        X = np.random.default_rng(0).normal(size=(20, 3))
        return cls(X / np.linalg.norm(X, axis=1, keepdims=True), np.arange(20) % 4, 4, mu)

    @property
    def beta(self) -> np.ndarray:
        """One over the probability that a step touches a class, by class (Eq. 6)."""
        share = np.bincount(self.y, minlength=self.classes) / len(self.y)
        return np.asarray(1 / (share + (1 - share) / (self.classes - 1)))

    def log_odds(self, W: np.ndarray) -> np.ndarray:
        """T = log sum_{k != y} e^{x·(w_k - w_y)}, (..., N), of W (..., K, D)."""
        scores = np.einsum("nd,...kd->...nk", self.X, W)
        true = self.y[:, None] == np.arange(self.classes)
        others = logsumexp(np.where(true, -np.inf, scores), axis=-1)
        return np.asarray(others - np.sum(np.where(true, scores, 0.0), axis=-1))

    def double_sum(self, u: np.ndarray, W: np.ndarray) -> np.ndarray:
        """f(u, W) of Eq. 5."""
        terms = u + np.exp(-u) + np.exp(self.log_odds(W) - u)
        return np.asarray(terms.sum(axis=-1) + self.mu / 2 * np.sum(W**2, axis=(-2, -1)))

    def best(self) -> tuple[np.ndarray, float]:
        """W at the optimum of the softmax (Eq. 3), by BFGS, and f there, at the best u."""
        shape = self.classes, self.X.shape[1]

        def loss(w: np.ndarray) -> float:
            return float(self.profile(w.reshape(shape)))

        def gradient(w: np.ndarray) -> np.ndarray:
            p = self.X @ w.reshape(shape).T
            p = np.exp(p - logsumexp(p, axis=1, keepdims=True))
            p[np.arange(len(self.y)), self.y] -= 1
            return np.asarray(p.T @ self.X + self.mu * w.reshape(shape)).ravel()

        optimum = minimize(
            loss, np.zeros(np.prod(shape)), jac=gradient, method="BFGS", options={"gtol": 1e-9}
        )
        return optimum.x.reshape(shape), float(optimum.fun)

    def profile(self, W: np.ndarray) -> np.ndarray:
        """Minimum of f over u, at log(1 + e^T): N plus the negative of Eq. 3."""
        return self.double_sum(np.logaddexp(0.0, self.log_odds(W)), W)


@dataclass(frozen=True)
class Bounds:
    """The compact set that holds the optimum, and the gradient's bound on it (appendix A)."""

    W: float  # B_W, Lemma 1
    u: float  # B_u, Lemma 2
    gradient: float  # B_f, Lemma 4

    @classmethod
    def of(cls, problem: Problem) -> Bounds:
        """Bounds of a problem."""
        n, x = len(problem.y), np.linalg.norm(problem.X, axis=1).max()
        W = np.sqrt(2 * n * np.log(problem.classes) / problem.mu)
        u = np.logaddexp(0.0, np.log(problem.classes - 1) + 2 * x * W)
        along_u = n * max(1.0, np.expm1(u))
        along_w = n * np.exp(u) * x + problem.mu * problem.beta.max() * W
        return cls(float(W), float(u), float(along_u + 2 * along_w))

    @property
    def rate(self) -> float:
        """The largest eta of Theorem 1."""
        return DELTA**2 / (4 * self.gradient**2)


def umax(
    problem: Problem, rate: Callable[[int], Numbers], delta: float, runs: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Algorithm 1, several runs side by side: u (runs, N) and W (runs, K, D), changed in place.

    Parameters
    ----------
    rate : eta of step t = 0, 1, …, for all runs or for each; it multiplies Eq. 7.
    delta : infinity for vanilla SGD, projected all the same.
    """
    n, others, bounds, beta = len(problem.y), problem.classes - 1, Bounds.of(problem), problem.beta
    rng, run = np.random.default_rng(0), np.arange(runs)
    u = np.full((runs, n), np.log(problem.classes))
    W = np.zeros((runs, problem.classes, problem.X.shape[1]))
    sign = np.array([n, -n])[:, None]  # of the drawn class and the true one
    for t in count():
        yield u, W
        i, k = rng.integers(n, size=runs), rng.integers(others, size=runs)
        x, y, eta = problem.X[i], problem.y[i], np.broadcast_to(rate(t), runs)
        pair = run[:, None], np.stack([k + (k >= y), y], axis=1)
        w = W[pair]
        difference = np.sum(x * (w[:, 0] - w[:, 1]), axis=1)
        _, excess, u_next = double_sum(
            difference + np.log(others), difference, u[run, i], eta * n, 1.0, delta
        )
        gradient = sign * np.asarray(excess)[:, None, None] * x[:, None]
        w = w - eta[:, None, None] * (gradient + problem.mu * beta[pair[1]][..., None] * w)
        size = np.linalg.norm(w, axis=2, keepdims=True)
        W[pair] = w * np.minimum(1.0, bounds.W / np.maximum(size, bounds.W))
        u[run, i] = np.minimum(bounds.u, u_next)


def until_half(problem: Problem, rate: float) -> float:
    """Steps at a fixed rate until f - min f has halved for the first time, mean over seeds."""
    least = problem.best()[1]
    every = max(1, round(1e-5 / rate))
    looks = islice(umax(problem, lambda t: rate, DELTA, SEEDS), 0, None, every)
    reached, half = np.full(SEEDS, np.nan), np.inf
    for start in count(0, BLOCK * every):
        block = [(u.copy(), W.copy()) for u, W in islice(looks, BLOCK)]
        gap = problem.double_sum(*map(np.stack, zip(*block, strict=True))) - least
        half = gap[0, 0] / 2 if start == 0 else half
        below = gap < half
        new = np.isnan(reached) & below.any(axis=0)
        reached[new] = start + every * below.argmax(axis=0)[new]
        if not np.isnan(reached).any():
            break
    return float(reached.mean())


def halving(mu: float) -> pd.DataFrame:
    """Theorem 1's rate, and the steps until f - min f has halved, for an l2 penalty.

    Returns
    -------
    DataFrame
        ``mu``; ``B_W``, ``B_u``, ``B_f``; ``rate``: of `FIXED` or, the last, of the theorem
        (``theorem``); ``steps``; ``time``, rate times steps. At low rates stochastic descent
        follows the gradient, and only ``time`` counts. So where ``measured`` is false, the
        theorem's steps are the ``time`` of the lowest rate over the theorem's rate.
    """
    problem = Problem.tiny(mu)
    bounds = Bounds.of(problem)
    measured = bounds.rate > RUNNABLE
    runs = FIXED + (bounds.rate,) * measured
    steps = [until_half(problem, rate) for rate in runs]
    if not measured:
        steps.append(runs[-1] * steps[-1] / bounds.rate)
    rows = pd.DataFrame(
        {
            "mu": mu,
            "B_W": bounds.W,
            "B_u": bounds.u,
            "B_f": bounds.gradient,
            "rate": (*FIXED, bounds.rate),
            "theorem": [False] * len(FIXED) + [True],
            "measured": [True] * len(FIXED) + [measured],
            "steps": steps,
        }
    )
    return rows.assign(time=rows["rate"] * rows["steps"])


def decaying(problem: Problem) -> pd.DataFrame:
    """Suboptimality at checkpoints, by method, start of the rate and seed.

    The rate is start / (1 + t / `DECAY`) for eta N. ``suboptimality`` is f(u, W) - min f over N;
    ``softmax`` is the same at the best u, of W alone.
    """
    least, n = problem.best()[1], len(problem.y)
    runs = pd.DataFrame(product(STARTS, range(SEEDS)), columns=["start", "seed"])
    starts, parts = runs["start"].to_numpy(), []
    for method, delta in (("umax", DELTA), ("vanilla", np.inf)):
        steps = umax(problem, lambda t: starts / n / (1 + t / DECAY), delta, len(starts))
        for t, (u, W) in zip(range(STEPS + 1), steps, strict=False):
            if t in CHECKPOINTS:
                parts.append(
                    runs.assign(
                        method=method,
                        step=t,
                        suboptimality=(problem.double_sum(u, W) - least) / n,
                        softmax=(problem.profile(W) - least) / n,
                    )
                )
    return pd.concat(parts, ignore_index=True)


def measure() -> dict[str, pd.DataFrame]:
    """Theorem 1's rate and its steps; suboptimality at rates that decay."""
    parts = [partial(decaying, Problem.tiny()), *(partial(halving, mu) for mu in STRENGTHS)]
    convergence, *theorem = forks.each(lambda part: part(), parts)
    return {
        "convergence": convergence,
        "convergence_theorem": pd.concat(theorem, ignore_index=True),
    }


def caption(frames: Frames) -> str:
    """What was measured and found."""
    every, runs = frames["convergence_theorem"], frames["convergence"]
    theorem = every[every["theorem"]].set_index("mu")
    at, best = theorem.loc[L2], theorem.loc[STRENGTHS[np.argmax(theorem["rate"])]]
    end = runs[runs["step"] == runs["step"].max()]
    median = end.groupby(["method", "start"])["suboptimality"].median()
    start, late = median["umax"].idxmin(), runs[runs["step"] >= runs["step"].max() / 30]
    line = late[(late["method"] == "umax") & (late["start"] == start)]
    line = line.groupby("step")["suboptimality"].median()
    order = np.polyfit(np.log(line.index), np.log(line), 1)[0]
    return (
        f"A softmax with l2 penalty, N = 20, K = 4, D = 3, mu = {L2:g}; B_W = {at['B_W']:.3g}, "
        f"B_u = {at['B_u']:.3g} and B_f = {at['B_f']:.2g}, so Theorem 1 covers rates eta up to "
        f"{at['rate']:.1g}: the suboptimality would halve in {at['steps']:.1g} steps (from a "
        f"measured time eta·t = {at['time']:.2g}), {at['steps'] / 1e9 / YEAR:.0g} years at 10⁹ "
        f"steps a second; of the strengths tried, mu = {best.name:g} has "
        f"the largest rate, {best['rate']:.1g}, and takes {best['steps']:,.0f} steps, which were "
        f"run. At eta N = "
        f"{start:g} / (1 + t/{DECAY:g}) U-max falls to {median['umax', start]:.1e} per observation "
        f"after {end['step'].max():,} steps (median of {SEEDS} seeds), as t^{order:.2f}; vanilla "
        f"SGD with the same draws and projections ends at {median['vanilla', start]:.1e}."
    )


def draw(frames: Frames) -> Figure:
    """Draw steps until half at the theorem's rate by l2, and the decaying rates."""
    fig, (left, *panels) = style.panels(10, 2.8, 1, 1 + len(STARTS))
    every = frames["convergence_theorem"]
    theorem = every[every["theorem"]]
    left.loglog(theorem["mu"], theorem["steps"], "o-", color=style.COLOURS["umax"])
    left.set(title="steps to half, Theorem 1", xlabel="l2 mu")
    runs = frames["convergence"]
    for ax, start in zip(panels, STARTS, strict=True):
        for method, dashes in (("umax", "-"), ("vanilla", "--")):
            part = runs[(runs["start"] == start) & (runs["method"] == method)]
            by_step = part.groupby("step")["suboptimality"]
            low, high = by_step.min(), by_step.max()
            colour = style.COLOURS[method]
            ax.fill_between(low.index, low, high, color=colour, alpha=0.25, linewidth=0)
            ax.loglog(by_step.median(), dashes, color=colour, label=method)
        ax.set(title=f"ηN = {start:g} / (1 + t/{DECAY:g})", xlabel="steps t")
    panels[0].set_ylabel("(f - min f) / N")
    panels[0].legend()
    return fig


DEMONSTRATION = Demonstration(
    "Theorem 1: convergence of U-max at its own rate", measure, caption, draw
)
