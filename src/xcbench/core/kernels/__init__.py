"""The few hot loops, compiled with Numba; import this package only where Numba is installed.

Each is the counterpart of a method of `xcbench.core.models.linear.LinearModel`, or of the loop over
minibatches. Their arguments are a few records. The formula of an objective is passed as a compiled
function, so kernels are independent of methods.
"""

from xcbench.core.kernels.by_feature import scores_by_feature
from xcbench.core.kernels.compiling import SIGNATURES, compiled
from xcbench.core.kernels.descent import descend
from xcbench.core.kernels.evaluation import absorb, absorb_panel, fill_panel
from xcbench.core.kernels.full_batch import LANES, gradient_of_all, scores_of_all
from xcbench.core.kernels.lockstep import lockstep
from xcbench.core.kernels.minibatch import adapt, adapt_all, by_class, scatter, scores_at
from xcbench.core.kernels.products import FLOATS, REGISTERS
from xcbench.core.kernels.records import Pairs, Panel, Rows, Running, Samples, Scaled, Step, Weights
from xcbench.core.kernels.rows import nonzeros

__all__ = [
    "FLOATS",
    "LANES",
    "REGISTERS",
    "SIGNATURES",
    "Pairs",
    "Panel",
    "Rows",
    "Running",
    "Samples",
    "Scaled",
    "Step",
    "Weights",
    "absorb",
    "absorb_panel",
    "adapt",
    "adapt_all",
    "by_class",
    "compiled",
    "descend",
    "fill_panel",
    "gradient_of_all",
    "lockstep",
    "nonzeros",
    "scatter",
    "scores_at",
    "scores_by_feature",
    "scores_of_all",
]
