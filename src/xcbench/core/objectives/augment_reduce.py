"""Augment and reduce (Ruiz et al. 2018): softmax, multinomial probit and multinomial logistic.

The class with the largest utility psi_k + eps_k is observed. All errors but that of the true class
are integrated out; eps = eps_y has a variational distribution for each sample. A step updates that
distribution first, then the weights. `xcbench.core.solvers.augment_reduce` has the loop.

Values are computed before the distribution is updated: it is then independent of the drawn classes,
so the mean over the draws is a bound. After the update (`averaged_after`) they are too high, by
about alpha Var(e^T) / eta² for softmax.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import erfcx, log_ndtr

from xcbench.core.objectives import Numbers, Objective, Start, Triple, sigmoid, softplus
from xcbench.core.objectives.double_sum import terms

Function = Callable[[Any], Any]
UNIT_SCALE = float(np.log(np.expm1(1.0)))  # gamma of the scale 1


def averaged(
    log_odds: Numbers,
    log_drawn: Numbers,
    u: Numbers,
    alpha: float,
    square_norm: Numbers,
    parameter: float,
) -> Triple:
    """Value log eta + (1 + e^T) / eta - 1, u = log eta: minus Eq. 8, the double sum of U-max.

    The local step eta <- (1 - alpha) eta + alpha (1 + e^T) follows the natural gradient (Algorithm
    1).

    Returns
    -------
    Value at the eta before the step, e^T / eta at the new one, and the new u.
    """
    value, _, _ = terms(log_odds, u)
    u = np.logaddexp(np.log1p(-alpha) + u, np.log(alpha) + softplus(log_odds))
    return value, np.exp(log_odds - u), u


def averaged_after(
    log_odds: Numbers,
    log_drawn: Numbers,
    u: Numbers,
    alpha: float,
    square_norm: Numbers,
    parameter: float,
) -> Triple:
    """As `averaged`, with the value at the eta after the step, as the published code takes it."""
    _, excess, u = averaged(log_odds, log_drawn, u, alpha, square_norm, parameter)
    value, _, _ = terms(log_odds, u)
    return value, excess, u


@dataclass(frozen=True)
class Link:
    """A standard distribution of the errors.

    Attributes
    ----------
    log_density, of_log_density, bend_of_log_density : log phi, its derivative, minus its second.
    log_cdf, of_log_cdf, bend_of_log_cdf : log Phi, its derivative, minus its second.
    entropy, deviation : in nats; the standard deviation.
    sample : an array of a size.
    """

    log_density: Function
    of_log_density: Function
    bend_of_log_density: Function
    log_cdf: Function
    of_log_cdf: Function
    bend_of_log_cdf: Function
    entropy: float
    deviation: float
    sample: Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]


def hazard(t: np.ndarray) -> np.ndarray:
    """phi(t) / Phi(t) of the normal distribution, safe in both tails."""
    return np.asarray(np.sqrt(2 / np.pi) / erfcx(-t / np.sqrt(2)))


PROBIT = Link(
    log_density=lambda e: -0.5 * e * e - 0.5 * np.log(2 * np.pi),
    of_log_density=lambda e: -e,
    bend_of_log_density=np.ones_like,
    log_cdf=log_ndtr,
    of_log_cdf=hazard,
    bend_of_log_cdf=lambda t: np.clip(hazard(t) * (t + hazard(t)), 0.0, 1.0),
    entropy=0.5 * float(np.log(2 * np.pi * np.e)),
    deviation=1.0,
    sample=lambda rng, size: rng.standard_normal(size),
)
LOGISTIC = Link(
    log_density=lambda e: -softplus(e) - softplus(-e),
    of_log_density=lambda e: 1.0 - 2.0 * sigmoid(e),
    bend_of_log_density=lambda e: 2.0 * sigmoid(e) * sigmoid(-e),
    log_cdf=lambda t: -softplus(-t),
    of_log_cdf=lambda t: sigmoid(-t),
    bend_of_log_cdf=lambda t: sigmoid(t) * sigmoid(-t),
    entropy=2.0,
    deviation=float(np.pi / np.sqrt(3)),
    sample=lambda rng, size: rng.logistic(size=size),
)


@dataclass(frozen=True)
class Latent(Objective):
    """Minus the ELBO, with one draw of eps = mu + s v, s = softplus(gamma) (Algorithm 2).

    ELBO_n = E_q[log phi(eps) + sum_k omega_k log Phi(eps + f_y - f_k)] + H(q), and H(q) = log s +
    H(standard). Local state (mu, gamma) takes a step of the given rate along its reparameterised
    gradient with the first draw. The grad is at the new q, with the second draw.

    Attributes
    ----------
    entropy : whether the step of gamma includes the entropy. The value always does.
    bounded : whether a step of (mu, gamma) is no longer than Newton's.
    noise : (B, 2), the standard draws v of a minibatch.
    """

    link: Link
    entropy: bool = True
    bounded: bool = False
    is_bound: bool = True
    start: tuple[float, float] = (0.0, UNIT_SCALE)
    noise: np.ndarray = field(default_factory=lambda: np.zeros((1, 2)))

    def __call__(
        self,
        scores: np.ndarray,
        log_weight: Numbers,
        local: np.ndarray,
        rate: float,
        square_norm: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Value, grad after the step of (mu, gamma), and these; a weight of 0 drops a draw."""
        gap, weight = scores[:, :1] - scores[:, 1:], np.exp(log_weight)
        value = -self._bound(gap, weight, *local.T)
        local = local + self._local_step(gap, weight, local, rate)
        eps = local[:, 0] + softplus(local[:, 1]) * self.noise[:, 1]
        pull = weight * self.link.of_log_cdf(eps[:, None] + gap)
        return value, np.column_stack([-pull.sum(axis=1), pull]), local

    def settled(self, start: Start, y: np.ndarray) -> np.ndarray:
        """The q with mean and standard deviation of the error given that y is observed."""
        errors: Any = start.errors(y)
        scale = errors.deviation / self.link.deviation
        return np.column_stack([errors.mean, np.log(np.expm1(scale))])

    def _local_step(
        self, gap: np.ndarray, weight: Numbers, local: np.ndarray, rate: float
    ) -> np.ndarray:
        """Step (B, 2) of mu and gamma along the ELBO's gradient g, with the first draw.

        The bounded step is the implicit one of the quadratic with the ELBO's curvature h at this
        point, rate g / (1 + rate h): no longer than Newton's.
        """
        (mu, gamma), v, link = local.T, self.noise[:, 0], self.link
        s, widening = softplus(gamma), sigmoid(gamma)
        eps = mu + s * v
        t = eps[:, None] + gap
        of_eps = link.of_log_density(eps) + (weight * link.of_log_cdf(t)).sum(axis=1)
        of_s = of_eps * v + (1.0 / s if self.entropy else 0.0)
        step = rate * np.column_stack([of_eps, of_s * widening])
        if not self.bounded:
            return step
        bend = link.bend_of_log_density(eps) + (weight * link.bend_of_log_cdf(t)).sum(axis=1)
        bend_in_s = bend * v * v + (1.0 / (s * s) if self.entropy else 0.0)
        return step / (1.0 + rate * np.column_stack([bend, bend_in_s * widening * widening]))

    def _bound(
        self, gap: np.ndarray, weight: Numbers, mu: np.ndarray, gamma: np.ndarray
    ) -> np.ndarray:
        """ELBO (B,) with the second draw."""
        s = softplus(gamma)
        eps = mu + s * self.noise[:, 1]
        below = (weight * self.link.log_cdf(eps[:, None] + gap)).sum(axis=1)
        return np.asarray(self.link.log_density(eps) + below + np.log(s) + self.link.entropy)

    def sample(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        """Standard draws, for the local step and for the weights."""
        return self.link.sample(rng, (rows, 2))

    def with_noise(self, noise: np.ndarray | None) -> Latent:
        """With these draws."""
        return self if noise is None else replace(self, noise=noise)
