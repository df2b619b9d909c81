"""The few hot loops, compiled with Numba; import this package only where Numba is installed.

Each is the counterpart of a verb of `xcbench.linear.LinearModel`, or of the loop over single
observations. Rows are ``values[begin[i]:end[i]]`` at ``features[begin[i]:end[i]]``; dense rows have
no ``features``. Formulas of methods come in as compiled functions, so nothing here knows a method.
"""

from xcbench.kernels.compiling import ODDS, PAIRS, SCORED_ODDS, STAND_INS, compiled
from xcbench.kernels.evaluation import absorb_block, absorb_panel
from xcbench.kernels.minibatch import adapt, by_class, scatter, scores_at
from xcbench.kernels.sequential import descend

__all__ = [
    "ODDS",
    "PAIRS",
    "SCORED_ODDS",
    "STAND_INS",
    "absorb_block",
    "absorb_panel",
    "adapt",
    "by_class",
    "compiled",
    "descend",
    "scatter",
    "scores_at",
]
