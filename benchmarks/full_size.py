"""Trainings at the full size of the largest datasets, each in a process of its own."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.shapes import Costs, Work, amazoncat, costs, dense, shape, twin
from benchmarks.table import Candidate, Row, ratios
from xcbench.methods.baselines.options import LiblinearOptions, OneVsRestOptions
from xcbench.methods.memoir_l1 import MemoirL1Options
from xcbench.methods.memoir_l2 import MemoirL2Options
from xcbench.methods.negative_sampling import NegativeSamplingOptions
from xcbench.methods.ove import OneVsEachOptions
from xcbench.units import GIB

OVE = OneVsEachOptions(name="ove", lr=0.01, batch_size=1, negatives=5, sampler="others")
CHUNK = 4096
WIKIPEDIA = (1_646_302, 512, 217_240)
LSHTC1 = (126_871, 409_774, 12_294, 120.0, True)
LSHTC1_PART = (10_000, 409_774, 1_000, 120.0, True)  # W of LIBLINEAR: 3.3 GB
TEST_ROWS = 31_718
L2 = MemoirL2Options("memoir_l2", lr=0.1, iterations=25)
L1 = MemoirL1Options("memoir_l1", lr=0.1, iterations=25)


def run_amazoncat() -> list[Row]:
    """One-vs-each by single rows with five remaining classes at AmazonCat-13K's full shape.

    The shape of the one-vs-each paper's Section 4.2: W has 595 million weights, 2.4 GB. Peak memory
    of training on 50,000 rows and of evaluation on 2,000, W included, beyond the process with X
    loaded; seconds an update, beside the loop of ``engine=numpy``.
    """
    spent = costs(amazoncat, OVE, stops=(50_000 / 1_186_239,), evaluated=2000)
    peak = Row(
        "peak bytes, OVE 1 x 5, engine=numba, as a multiple of W",
        f"W: {spent.model / 1e6:.0f} MB",
        spent.peak / spent.model,
        goal="<= 1.3",
    )
    candidates = {
        "ours": Candidate(Work(amazoncat(), OVE, "numba", CHUNK).updates),
        "engine=numpy": Candidate(Work(amazoncat(), OVE, "numpy", CHUNK).updates),
    }
    where, label = shape(amazoncat()), "OVE 1 x 5 "
    return [peak, *ratios(where, candidates, label=label, unit="s/update", units=CHUNK)]


def run_memoir() -> list[Row]:
    """MEMOIR at LSHTC1's full shape, and beside LIBLINEAR on a subset where that fits.

    N=126,871, D=409,774, K=12,294, of which a dense W would have 40 GB in eight bytes a number;
    beside them, as in the paper, a feature that is always 1, so that each row meets all classes.
    Prediction is of as many rows as the test part has, 31,718, or all of the subset. Peak memory is
    that of training beyond the process with its rows loaded.
    """
    part, where, rows = partial(twin, *LSHTC1_PART), shape(twin(*LSHTC1_PART)), list[Row]()
    ours = memoir_measures(costs(part, L2, predicted=TEST_ROWS))
    peers: dict[str, Any] = {
        "one-vs-rest": OneVsRestOptions("svm_ovr", bias=False),
        "Crammer and Singer": LiblinearOptions("svm_cs", bias=False),
    }
    for name, settings in peers.items():
        peer = memoir_measures(costs(part, settings, predicted=TEST_ROWS))
        label = f"MEMOIR-l2 vs LIBLINEAR's {name},"
        rows += [Row(f"{label} {what}", where, ours[what], peer[what]) for what in ours]
    where = shape(twin(*LSHTC1))
    for label, settings in {"MEMOIR-l2": L2, "MEMOIR-l1": L1}.items():
        spent = costs(partial(twin, *LSHTC1), settings, predicted=TEST_ROWS)
        rows += [
            Row(f"{label}, s of 25 batches", where, spent.seconds[-1], goal="<= 600"),
            Row(f"{label}, peak GiB beyond X", where, spent.peak / GIB, goal="<= 2"),
            Row(f"{label}, GiB of the model", where, spent.model / GIB),
            Row(f"{label}, s of prediction", where, spent.prediction),
        ]
    return rows


def memoir_measures(spent: Costs) -> dict[str, float]:
    """What is compared with LIBLINEAR."""
    return {
        "s of training": spent.seconds[-1],
        "s of prediction": spent.prediction,
        "peak bytes beyond X": spent.peak,
        "bytes of the model": spent.model,
    }


def run_wikipedia(size: tuple[int, int, int] = WIKIPEDIA) -> list[Row]:
    """Negative sampling at the shape of Wikipedia-500K: N=1,646,302, D=512 dense, K=217,240.

    The tree is fitted to all rows, which takes seven minutes; of an epoch the last four fifths are
    timed, evaluation on 200 rows over all classes. Each noise has its rows in a temporary file of
    3.4 GB that is mapped into memory. Peak memory: W (445 MB in float32) included, beyond the
    process with all of X mapped.
    """
    spent, epochs = {}, {}
    for noise in ("uniform", "tree"):
        settings: Any = NegativeSamplingOptions(
            name="negative_sampling", lr=0.01, sampler=noise, score_l2=1e-3, init="glorot"
        )
        with TemporaryDirectory() as folder:
            make = partial(dense, *size, Path(folder) / "rows.npy")
            spent[noise] = costs(make, settings, stops=(0.2, 1.0), evaluated=200)
        _, early, end = spent[noise].seconds
        epochs[noise] = (end - early) / 0.8
    where = "N={} D={} K={} dense".format(*size)
    label = "epoch of negative sampling, tree vs uniform noise, s"
    rows = [
        Row(label, where, epochs["tree"], epochs["uniform"], ">= 0.5"),
        Row("fit of the tree and start of the weights, s", where, spent["tree"].seconds[0]),
    ]
    for noise, its in spent.items():
        label = f"peak bytes, {noise} noise, Adagrad, as a multiple of W"
        rows += [
            Row(f"evaluation of a row with {noise} noise, s", where, its.evaluation),
            Row(label, f"W: {its.model / 1e6:.0f} MB", its.peak / its.model, goal="<= 3"),
        ]
    return rows
