"""A progress bar for the terminal or a notebook."""

from __future__ import annotations

import sys
import time

from xcbench.system.terminal import control, filled
from xcbench.units import duration


class Bar:
    """A progress line that is overwritten: ``epoch 3/20 ███░░░ loss 1.41, 2.1 s, about 12 s left``.

    Parameters
    ----------
    unit : name of the things that are counted.
    total : number of things.
    shown : whether to print the bar.
    """

    def __init__(self, unit: str, total: int, shown: bool = True) -> None:
        self.unit, self.total, self.shown = unit, total, shown
        self.started, self.length = time.perf_counter(), 0

    def show(self, number: int, text: str) -> None:
        """Update the bar to a count, with a short message."""
        if not self.shown:
            return
        spent = time.perf_counter() - self.started
        left = spent / number * (self.total - number)
        line = f"{self.unit} {number}/{self.total} {filled(number / self.total)} {text}"
        line += f", {duration(spent)}" + (f", about {duration(left)} left" if left else "")
        start = control("\r", sys.stderr)
        print(f"{start}{line.ljust(self.length)}", end="", file=sys.stderr, flush=True)
        self.length = len(line)

    def end(self) -> None:
        """Leave the last line as it is."""
        if self.length:
            print(file=sys.stderr, flush=True)
