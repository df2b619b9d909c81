"""Why a goal is not held: the limit that was measured, each in other rows of the table."""

from __future__ import annotations

import re

import pandas as pd

REASONS = {  # by a pattern of the benchmark's name
    r"sequential: \w+ vs careful NumPy loop": (
        "The accesses to weights take most of the time (`memory`). C written for this one method "
        "holds the goal of U-max, and does not hold that of Implicit SGD (`limit`)."
    ),
    r"sequential: \w+ vs C ": (
        "Ours serves any method: it sums each class's score, calls the formula through a pointer,"
        " and takes biases and weight decay. `short rows` has this cost of an update alone, "
        "`scores apart` is C that sums both scores. The loops over a row differ in one thing in "
        "the compiled code: C rounds a product and its sum once, which would change the last "
        "digit of committed rows. With fewer instructions between two updates, C asks for the "
        "weights of the next one earlier. Tried, no faster: arrays without counted references, no"
        " test for negative indices, prefetching. NumPy's minimum and maximum, which pass NaN on,"
        " cost Implicit SGD some of its formula's time."
    ),
    r"minibatch: vs torch EmbeddingBag": (
        "C reaches no more (`limit`). The accesses to weights, which no loop can spare, take most"
        " of the time (`memory`)."
    ),
    r"minibatch: vs C .*-ffast-math": (
        "-ffast-math adds in the order of the machine's registers. Ours has one order, so that "
        "runs repeat; against C with that order the goal is held."
    ),
    r"lockstep: \w+, 6 rates": (
        "Six rates fill six of a register's eight lanes, and weights are copied to the lanes and "
        "back at every checkpoint."
    ),
    r"scaling: .* K\^": (
        "The way to a step's weights alone grows faster (`control`): with many classes they lie "
        "outside of the caches."
    ),
}


def reason(benchmark: str) -> str:
    """Why the goal of a benchmark is not held, or nothing."""
    return next((text for name, text in REASONS.items() if re.match(name, benchmark)), "")


def table(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of `benchmarks.table` whose goal is not held, with the reason."""
    missed = rows.loc[rows["held"] == "no", ["benchmark", "shape", "ratio", "goal"]]
    return missed.assign(why=missed["benchmark"].map(reason))
