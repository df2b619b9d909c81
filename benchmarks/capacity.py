"""What grows with what, what fits, and what the largest datasets need: ``reports/scaling.md``.

``python -m benchmarks capacity [cells=20,200,2000,20000]`` measures the commands that read cells,
and keeps their rows in ``reports/scaling.csv``; the rest is computed from measured unit costs in
``reports/benchmarks.csv`` and from the sizes of arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.commands import over_cells
from benchmarks.measure import ROOT
from benchmarks.table import Kept
from xcbench.units import GIB

REPORTS = ROOT / "reports"
COLUMNS = ["command", "cells", "cpu_seconds", "wall_seconds", "peak_mib"]
MEMORY = 24.0  # GiB of a machine
HEAD = """# Scaling

Written by `python -m benchmarks capacity`. CPU seconds are of the process with those it started;
wall seconds of a machine with other work are larger, and say little.

## Cells

A launch of which every cell is there, and the commands that read all cells. Each is linear in
the cells. An index over them would save little: reading and checking the files of 20,000 cells is
what `results` takes, and the rest is work with the rows.

"""


def datasets(*shapes: tuple[Any, ...]) -> pd.DataFrame:
    """Rows of both parts, features, classes, stored values of a row, labels of a row.

    ``weights`` are GiB of float32 weights, a row of features a class, and its bias; ``rows`` GiB of
    the rows: values in float32, and the number of the feature where not every one is stored.
    """
    names = ["name", "train", "test", "features", "classes", "nonzeros", "labels"]
    table = pd.DataFrame(shapes, columns=names)
    stored = (table["train"] + table["test"]) * table["nonzeros"]
    size = np.where(table["nonzeros"] == table["features"], 4, 8)
    weights = 4 * table["classes"] * (table["features"] + 1) / GIB
    return table.assign(weights=weights, rows=stored * size / GIB)


# Shapes as the papers train them: the first label of a row, features cut off where they say so.
SHAPES = datasets(
    ("MNIST", 60_000, 10_000, 784, 10, 784, 1),
    ("EURLex-4K", 15_539, 3_809, 5_000, 896, 236.7, 1),
    ("Wiki10-31K", 14_146, 6_616, 101_938, 4_021, 673.4, 1),
    ("AmazonCat-13K", 1_186_239, 306_782, 203_882, 2_919, 71.1, 1),
    ("LSHTC1", 126_871, 31_718, 409_774, 12_294, 120, 1),
    ("DMOZ", 381_149, 95_288, 594_158, 27_875, 120, 1),
    ("Wikipedia-500K, 512 dense features, first labels", 1_646_302, 0, 512, 217_240, 512, 1),
)
# All labels, and the sizes that the Extreme Classification Repository prints.
LARGEST = datasets(
    ("Wikipedia-500K, 512 dense features", 1_813_391, 783_743, 512, 501_070, 512, 4.77),
    ("Amazon-3M, 512 dense features", 1_717_899, 742_507, 512, 2_812_281, 512, 36.17),
)
WORDS = {"Wikipedia-500K": (2_381_304, 501_070), "Amazon-3M": (337_067, 2_812_281)}


def measure(number: int) -> pd.DataFrame:
    """Rows of the commands over so many cells."""
    spent = over_cells(number, pinned=True).items()
    rows = [[name, number, round(it.cpu, 1), round(it.wall, 1), it.peak_mib] for name, it in spent]
    return pd.DataFrame(rows, columns=COLUMNS)


def of_cells(table: pd.DataFrame) -> str:
    """CPU seconds and peak memory, a row a command and a column a number of cells."""
    parts = []
    for column, what in (("cpu_seconds", "CPU seconds"), ("peak_mib", "Peak MiB")):
        wide = table.pivot(index="command", columns="cells", values=column)
        wide.columns = [f"{number:,} cells" for number in wide.columns]
        parts.append(f"{what}:\n\n{wide.reset_index().to_markdown(index=False)}\n")
    return "\n".join(parts)


def of_sizes(measured: pd.DataFrame) -> str:
    """Exponents of the cost in N, K, D and non-zeros, from the benchmark `scaling`."""
    rows = measured[measured["benchmark"].str.startswith("scaling: ")]
    parts = rows["benchmark"].str.extract(r"scaling: (.*), s: (.*)\^(.*)")
    table = pd.DataFrame(
        {
            "cost": parts[0],
            "grows with": parts[1],
            "over": rows["shape"].str.partition("=")[2],
            "from, s": rows["ours"],
            "to, s": rows["peer"],
            "exponent": parts[2],
        }
    )
    return (
        "## N, K, D and non-zeros\n\nThree orders of magnitude each, the others at N=2,000, "
        "K=1,000, D=1,000 and 50 non-zeros (`python -m benchmarks scaling`):\n\n"
        + table.to_markdown(index=False)
        + "\n"
    )


def of_memory(measured: pd.DataFrame) -> str:
    """What fits, from the sizes of the arrays, and one measured point beside it."""
    every = pd.concat([SHAPES, LARGEST])
    needed = {"SGD": every["weights"], "Adagrad": 2 * every["weights"]}
    table = pd.DataFrame(
        {
            "dataset": every["name"],
            "rows, GiB": every["rows"].map("{:.3g}".format),
            "weights, GiB": every["weights"].map("{:.3g}".format),
            **{
                f"with {name}": np.where(every["rows"] + size < MEMORY, "fits", "does not fit")
                for name, size in needed.items()
            },
        }
    )
    amazoncat = SHAPES.set_index("name").loc["AmazonCat-13K"]
    train = amazoncat["rows"] * amazoncat["train"] / (amazoncat["train"] + amazoncat["test"])
    expected = (amazoncat["weights"] + train) / amazoncat["weights"]
    result = _one(measured, "amazoncat: peak bytes")
    return (
        f"## What fits {MEMORY:.0f} GiB\n\nRows and float32 weights as they lie in memory; Adagrad "
        "keeps a second array like the weights. Rows are mapped from the disk, so what does not "
        "fit beside the weights is read again every epoch.\n\n"
        + table.to_markdown(index=False, disable_numparse=True)
        + f"\n\nChecked on AmazonCat's shape: weights and training rows together are "
        f"{expected:.3g} times the weights, the measured peak of training is {result:.3g} times "
        "(`python -m benchmarks amazoncat`).\n"
    )


def of_largest(measured: pd.DataFrame) -> str:
    """What Wikipedia-500K and Amazon-3M need, on paper."""
    seen, shapes = SHAPES.iloc[-1], LARGEST
    epoch = _one(measured, "wikipedia: epoch of negative sampling", "peer") / seen["train"]
    row = _one(measured, "wikipedia: evaluation of a row with uniform noise") / seen["classes"]
    one = shapes["train"] * epoch
    every, test = one * shapes["labels"], shapes["test"] * shapes["classes"] * row / 3600
    cell = 10 * every / 3600 + test
    columns = {
        "weights with Adagrad, GiB": (2 * shapes["weights"]).map("{:.3g}".format),
        "epoch, one label a row": one.map("{:.0f} s".format),
        "epoch, every label": every.map("{:.0f} s".format),
        "all test rows, 1 core": test.map("{:.3g} h".format),
        "10 epochs and one test, 1 core": cell.map("{:.3g} h".format),
        "the same for 64 cells on 64 machines": cell.map("{:.3g} h".format),
        "test rows predicted by 64 machines": (60 * test / 64).map("{:.3g} min".format),
    }
    table = pd.DataFrame(columns).set_index(shapes["name"].rename("dataset"))
    words = ", ".join(
        f"{name} {4 * K * D / GIB / 1024:.2g} TiB ({4 * K * D / GIB / 64:.0f} GiB on each of 64)"
        for name, (D, K) in WORDS.items()
    )
    return (
        "## Wikipedia-500K and Amazon-3M, on paper\n\nNot measured. Unit costs are those measured "
        f"at Wikipedia-500K's N, D and 217,240 classes: {1e6 * epoch:.3g} µs a row of negative "
        f"sampling with uniform noise, {1e9 * row:.3g} ns a class of a test row, on one core. A "
        "cell trains on one core of one machine: 64 machines run 64 cells in the time of one. "
        "Rows to predict can be cut into 64 files by hand. With more classes the weights lie less "
        "often in a cache, so these are lower bounds.\n\n"
        + table.T.reset_index(names="").to_markdown(index=False)
        + f"\n\nWith words as features, dense weights are too large: {words}. MEMOIR, with sparse "
        "weights, and trees are what is left there.\n"
    )


def _one(measured: pd.DataFrame, name: str, column: str = "ours") -> float:
    """Number of the first row of the benchmarks whose name begins so."""
    return float(measured.loc[measured["benchmark"].str.startswith(name), column].iloc[0])


def page(table: pd.DataFrame) -> str:
    """The measured commands, and what follows from the measured unit costs."""
    measured = pd.read_csv(REPORTS / "benchmarks.csv")
    parts = [of_cells(table), of_sizes(measured), of_memory(measured), of_largest(measured)]
    return HEAD + "\n".join(parts)


KEPT = Kept(REPORTS / "scaling.csv", ["command", "cells"], REPORTS / "scaling.md", "", page)


def run(cells: str = "") -> None:
    """Measure the commands over these numbers of cells, and write the page."""
    for number in [int(word) for word in cells.split(",") if word]:
        KEPT.add(measure(number))
    KEPT.write()
