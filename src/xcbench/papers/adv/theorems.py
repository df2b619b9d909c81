"""The paper's theorems as numbers, on small problems."""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from xcbench.papers import Measured
from xcbench.papers.adv.theory import problem
from xcbench.papers.adv.theory.equivalence import best, distance, negative_sampling
from xcbench.papers.adv.theory.signal_to_noise import closed_form

PROBLEMS = 200
CLASSES = 6  # of a random problem


def signal_to_noise(measured: Measured) -> list[float]:
    """Theorem 2: how much larger eta is with noise equal to p_D, least of random problems."""
    rng, ratios = np.random.default_rng(0), []
    for _ in range(PROBLEMS):
        p_data, p_noise = rng.dirichlet(np.ones(rng.integers(2, 20)), size=(2, 1))
        (equal, _), (other, _) = closed_form(p_data, p_data), closed_form(p_data, p_noise)
        ratios.append(other / equal)
    return [min(ratios)]


def distance_of_optima(measured: Measured) -> list[float]:
    """Theorem 1: distance from softmax's optimum, p_D, once the bias is removed; free scores."""
    rng = np.random.default_rng(0)
    p_data, p_noise = (rng.dirichlet(np.ones(CLASSES), size=problem.ROWS) for _ in range(2))
    scores = best(negative_sampling(p_data, p_noise), "free scores", CLASSES)
    return [distance(softmax(scores + np.log(p_noise), axis=1), p_data)]
