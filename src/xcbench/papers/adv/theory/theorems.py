"""The paper's theorems as numbers, on small problems."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.special import expit, softmax

from xcbench.core.samplers.tree import Tree
from xcbench.papers import Measured
from xcbench.papers.adv.theory import problem
from xcbench.papers.adv.theory.equivalence import best, distance, negative_sampling
from xcbench.papers.adv.theory.signal_to_noise import closed_form

PROBLEMS = 200
CLASSES = 6  # of a random problem
STEP = 1e-5  # of the differences that give a Hessian
DEPTHS, DIMENSIONS = (4, 8, 12), 16  # of trees that are drawn from


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


def invariance(measured: Measured) -> list[float]:
    """Eq. 12: eta in other coordinates over eta in the scores, farthest from 1 of some problems."""
    rng = np.random.default_rng(0)
    ratios = [_eta_in_other_coordinates(rng) for _ in range(PROBLEMS // 10)]
    return [max(ratios, key=lambda ratio: abs(ratio - 1))]


def _eta_in_other_coordinates(rng: np.random.Generator) -> float:
    """With scores xi* + A theta + (B theta)², of a random problem, over eta's closed form.

    Of the Hessian in theta only J' H J is left where the gradient in the scores vanishes.
    """
    K = CLASSES
    p, q = rng.dirichlet(np.ones(K), size=2)
    A, B = rng.normal(size=(2, K, K))

    def jacobian(theta: np.ndarray) -> np.ndarray:
        return np.asarray(A + 2 * (B @ theta)[:, None] * B)

    def gradient(theta: np.ndarray) -> np.ndarray:  # of the expected loss
        xi = np.log(p / q) + A @ theta + (B @ theta) ** 2
        return np.asarray(jacobian(theta).T @ (q * expit(xi) - p * expit(-xi)))

    steps = STEP * np.eye(K)
    hessian = np.array([gradient(step) - gradient(-step) for step in steps]) / (2 * STEP)
    sigma, pairs = p / (p + q), np.eye(K)
    of_pair = sigma * pairs[None] - (1 - sigma) * pairs[:, None]  # positive, negative, score
    grad = of_pair @ jacobian(np.zeros(K))
    covariance = np.einsum("y,k,yki,ykj->ij", p, q, grad, grad)
    inverse, _ = closed_form(p[None], q[None])
    return float(inverse / np.trace(covariance @ np.linalg.inv(hessian)))


@dataclass(frozen=True)
class Counted(Tree):
    """A tree that counts the scores of nodes, each of k products, that it is asked for."""

    asked: list[int] = field(default_factory=list)

    def right(self, z: np.ndarray, node: np.ndarray) -> np.ndarray:
        """As the tree, counted."""
        self.asked.append(node.size)
        return super().right(z, node)


def cost_of_a_draw(measured: Measured) -> list[float]:
    """Section 3: products that a draw takes over k log2 C, the most over several C."""
    rng, costs = np.random.default_rng(0), []
    for depth in DEPTHS:
        C, z = 1 << depth, rng.normal(size=(20, DIMENSIONS))
        tree = Counted(rng.normal(size=(C, DIMENSIONS + 1)), C + np.arange(C))
        tree.draw(rng, z, 3)
        costs.append(sum(tree.asked) / (3 * len(z) * depth))
    return [max(costs)]
