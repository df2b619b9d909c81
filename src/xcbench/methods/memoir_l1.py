"""MEMOIR with the l1 penalty as a method."""

from __future__ import annotations

from dataclasses import dataclass

from xcbench.core.solvers.penalties import L1
from xcbench.methods import memoir
from xcbench.methods.memoir import MemoirOptions
from xcbench.options import option


@dataclass
class MemoirL1Options(MemoirOptions):
    """Options of MEMOIR-l1."""

    strength: float = option(5e-6, "of the penalty; the loss is a mean over rows", at_least=0)
    truncation_limit: float = option(
        0.0,
        "a class is truncated only where that changes it by at most this share of its length; "
        "0: always, as published",
        at_least=0,
    )


method = memoir.of_penalty(
    "memoir_l1",
    MemoirL1Options,
    lambda settings: L1(settings.strength, settings.truncation_limit),
)
