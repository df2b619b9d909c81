"""MEMOIR with the l2 penalty as a method."""

from __future__ import annotations

from dataclasses import dataclass

from xcbench.core.objectives.memoir import RATE
from xcbench.core.solvers.penalties import L2
from xcbench.methods import memoir
from xcbench.methods.memoir import MemoirOptions
from xcbench.options import option


@dataclass
class MemoirL2Options(MemoirOptions):
    """Options of MEMOIR-l2."""

    hinge: bool = option(False, "only samples of a margin below 1 move weights")


def impossible(settings: MemoirL2Options) -> str:
    """A step may not take all weights away."""
    rate = settings.lr if isinstance(settings.lr, float) else RATE
    if settings.strength * rate >= 1:
        too_strong = (
            f"method.strength={settings.strength:g} times the rate is 1 or more, so that a step "
            "takes all weights away; lower method.strength or method.lr"
        )
        return memoir.impossible(settings) or too_strong
    return memoir.impossible(settings)


method = memoir.of_penalty(
    "memoir_l2", MemoirL2Options, lambda settings: L2(settings.strength), impossible
)
