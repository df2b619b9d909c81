"""MEMOIR: multi-class SVMs with a rival class from a margin oracle (Belyy, Sholokhov 2018)."""

from __future__ import annotations

import numpy as np

from xcbench.core.objectives import Numbers, Triple

RATE = 0.1  # eta_0 of Table 4


def hinge(true: Numbers, drawn: Numbers, log_weight: Numbers, share: float) -> Triple:
    """(1 + f_r - f_y)_+, of Crammer and Singer where r is the best other class (Eq. 10 and 11)."""
    lack = 1.0 + drawn - true
    inside = np.maximum(np.sign(lack), 0.0)
    return inside * lack, -inside, inside


def margin(true: Numbers, drawn: Numbers, log_weight: Numbers, share: float) -> Triple:
    """1 + f_r - f_y of every sample: the published l2 code does not test the hinge."""
    lack = 1.0 + drawn - true
    return lack, 0.0 * lack - 1.0, 0.0 * lack + 1.0
