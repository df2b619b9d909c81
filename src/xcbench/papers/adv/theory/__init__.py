"""The theory of the adversarial-softmax paper as small measured results: no data, seeds fixed.

Each file here is a result: ``measure()`` gives its frames and ``caption(frames)`` says what was
found. Both work on one small problem, `problem`.
"""

from __future__ import annotations

from types import ModuleType

import pandas as pd

from xcbench.papers.adv.theory import equivalence, signal_to_noise

PARTS: dict[str, ModuleType] = {
    "equivalence": equivalence,
    "signal_to_noise": signal_to_noise,
}


def measure() -> dict[str, pd.DataFrame]:
    """Measure everything, in a few seconds; a tidy frame of the name of each part."""
    return {name: part.measure() for name, part in PARTS.items()}
