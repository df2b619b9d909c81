"""A theorem on a small problem: what is measured, without data and with fixed seeds, and found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from xcbench.papers import Measured, report
from xcbench.show import pictures
from xcbench.show.pictures import Drawing
from xcbench.show.section import Section
from xcbench.show.table import Table
from xcbench.system import forks

Frames = Mapping[str, pd.DataFrame]


@dataclass(frozen=True)
class Demonstration:
    """A theorem on a small problem.

    Attributes
    ----------
    measure : gives tidy frames by name, the first of which the page shows.
    caption : what was measured and found, of the frames.
    draw : makes the figure of the frames; without, the page has the first of them as a table.
    words : columns of that table that are not numbers.
    """

    title: str
    measure: Callable[[], Frames]
    caption: Callable[[Frames], str]
    draw: Callable[[Frames], Figure] | None = None
    words: tuple[str, ...] = ()

    def section(self, folder: Path) -> Section:
        """Measure it; the frames are saved in a folder."""
        frames = self.measure()
        for name, frame in frames.items():
            frame.to_csv(folder / f"{name}.csv", index=False, float_format="%.8g")
        name, shown = next(iter(frames.items()))
        tables, drawings = [], []
        if self.draw:
            alt = f"{self.title}. The numbers are in {name}.csv."
            drawings = [Drawing(name, partial(self.draw, frames), "", alt)]
        else:
            shown = shown.rename(columns=lambda column: str(column).replace("_", " "))
            right = report.all_but(shown, *self.words)
            tables = [Table(f"The numbers, as in figures/{name}.csv", shown, right)]
        figures = pictures.save(drawings, folder)
        return Section(self.title, [self.caption(frames)], tables, [*figures.values()])


def sections(*every: Demonstration) -> Callable[[Measured, Path], list[Section]]:
    """A function that gives the section of each; they are measured side by side."""
    return lambda measured, folder: forks.each(lambda it: it.section(folder), every)
