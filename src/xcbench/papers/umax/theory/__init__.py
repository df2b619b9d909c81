"""The theory of the U-max paper as small measured results: no data, seeds fixed, seconds.

Each of `PARTS` is a result: ``measure()`` gives its frames, ``caption(frames)`` says what was found
and ``draw(frames)`` makes its figure. `composition` and `implicit_steps` are numbers of claims.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pandas as pd
from matplotlib.figure import Figure

from xcbench.papers import Measured
from xcbench.papers.umax.theory import bisection, convergence, second_moment, step_size
from xcbench.show import pictures, style
from xcbench.show.pictures import Picture
from xcbench.show.section import Section

PARTS: dict[str, ModuleType] = {
    "step_size": step_size,
    "bisection": bisection,
    "convergence": convergence,
    "second_moment": second_moment,
}
TITLES = {
    "step_size": "Propositions 1 and 2: sizes of steps",
    "bisection": "Proposition 4: evaluations to solve an implicit step",
    "convergence": "Theorem 1: convergence of U-max at its own rate",
    "second_moment": "Section 2.3: the gradients of the two double sums",
}


@dataclass(frozen=True)
class Result:
    """A measured statement.

    Attributes
    ----------
    name : of the figure and the first word of its frames' names.
    caption : what was measured and found, with numbers from the frames.
    frames : tidy frames by name; the figure shows the one of its own name.
    """

    name: str
    caption: str
    frames: dict[str, pd.DataFrame]
    figure: Figure


def measure() -> dict[str, pd.DataFrame]:
    """Measure everything, in about half a minute; nothing is written.

    Returns
    -------
    dict
        Tidy frames by name; their columns are described where they are made.
    """
    return {name: frame for part in PARTS.values() for name, frame in part.measure().items()}


def draw(frames: dict[str, pd.DataFrame]) -> dict[str, Figure]:
    """Draw a figure for each part, by name."""
    with style.look():
        return {name: part.draw(frames) for name, part in PARTS.items()}


def results(frames: dict[str, pd.DataFrame]) -> list[Result]:
    """Measured statements in the paper's order of topics, with caption, frames and figure."""
    figures = draw(frames)
    return [
        Result(
            name,
            part.caption(frames),
            {key: frame for key, frame in frames.items() if key.startswith(name)},
            figures[name],
        )
        for name, part in PARTS.items()
    ]


def sections(measured: Measured, folder: Path) -> list[Section]:
    """A section a result, its figure and its numbers saved in a folder."""
    parts = []
    for result in results(measure()):
        png = folder / f"{result.name}.png"
        svg = pictures.write(result.figure, png)
        for name, frame in result.frames.items():
            frame.to_csv(folder / f"{name}.csv", index=False, float_format="%.8g")
        title = TITLES[result.name]
        alt = f"{title}. The numbers are in {result.name}.csv."
        parts.append(Section(title, [result.caption], figures=[Picture(png, alt, "", svg)]))
    return parts
