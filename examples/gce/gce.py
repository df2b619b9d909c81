"""Generalised cross-entropy (Zhang and Sabuncu 2018), for labels that may be wrong."""

from dataclasses import dataclass

import numpy as np

from xcbench.core.objectives import LogOdds, sigmoid, softplus
from xcbench.methods.method import Method, over_square_norm
from xcbench.methods.options import SampledOptions
from xcbench.options import option


@dataclass
class GCE(SampledOptions):
    q: float = option(0.7, "near 0: softmax; 1: one minus the probability", above=0, at_most=1)


def gce(log_odds, log_drawn, local, rate, square_norm, q):
    power = np.exp(-q * softplus(log_odds))  # p^q, where p = softmax_y
    return (1 - power) / q, power * sigmoid(log_odds), local  # value, grad, local state


method = Method("gce", GCE, lambda s, _: LogOdds(gce, False, parameter=s.q), over_square_norm(1.0))
