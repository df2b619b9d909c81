"""How far a fit is, on the terminal or in a notebook."""

from __future__ import annotations

import sys
import time

from xcbench.units import duration

WIDTH = 20


class Bar:
    """One line that is written over: ``epoch 3/20 ███░░░ loss 1.41, 2.1 s, about 12 s left``.

    Parameters
    ----------
    total : epochs of the fit.
    shown : whether anything is.
    """

    def __init__(self, total: int, shown: bool) -> None:
        self.total, self.shown = total, shown
        self.started, self.length = time.perf_counter(), 0

    def show(self, epoch: int, losses: dict[str, float]) -> None:
        """After an epoch."""
        if not self.shown:
            return
        spent = time.perf_counter() - self.started
        left = spent / epoch * (self.total - epoch)
        full = WIDTH * epoch // self.total
        numbers = ", ".join(f"{name} {value:.4g}" for name, value in losses.items())
        line = f"epoch {epoch}/{self.total} {'█' * full}{'░' * (WIDTH - full)} {numbers}"
        line += f", {duration(spent)}" + (f", about {duration(left)} left" if left else "")
        print(f"\r{line.ljust(self.length)}", end="", file=sys.stderr, flush=True)
        self.length = len(line)

    def end(self) -> None:
        """Leave the last line as it is."""
        if self.shown and self.length:
            print(file=sys.stderr, flush=True)
