"""The theory of the adversarial-softmax paper as small measured results: no data, seeds fixed.

Each of `PARTS` is a result: ``measure()`` gives its frames and ``caption(frames)`` says what was
found. Both work on one small problem, `problem`; `theorems` are numbers of claims.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pandas as pd

from xcbench.papers import Measured, report
from xcbench.papers.adv.theory import equivalence, signal_to_noise
from xcbench.show.section import Section
from xcbench.show.table import Table

PARTS: dict[str, ModuleType] = {
    "equivalence": equivalence,
    "signal_to_noise": signal_to_noise,
}
TITLES = {
    "equivalence": "Theorem 1: the same optimum in the nonparametric limit",
    "signal_to_noise": "Theorem 2: signal-to-noise ratio of the samplers",
}


def measure() -> dict[str, pd.DataFrame]:
    """Measure everything, in a few seconds; a tidy frame of the name of each part."""
    return {name: part.measure() for name, part in PARTS.items()}


def sections(measured: Measured, folder: Path) -> list[Section]:
    """A section a result, its numbers saved in a folder."""
    parts = []
    for name, frame in measure().items():
        frame.to_csv(folder / f"{name}.csv", index=False, float_format="%.8g")
        shown = frame.rename(columns=lambda column: str(column).replace("_", " "))
        right = report.all_but(shown, "model", "noise")
        numbers = Table(f"The numbers, as in figures/{name}.csv", shown, right)
        parts.append(Section(TITLES[name], [PARTS[name].caption(frame)], [numbers]))
    return parts
