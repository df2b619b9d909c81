"""What the class prior reaches on a paper's datasets: ``priors.csv`` next to its rows.

The rows of a paper do not hold these numbers, which follow from the labels alone. The file has them
by the digest of the dataset, so that a report shows them where the data are absent.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pandas as pd

from xcbench import data
from xcbench.committed import csv_tables
from xcbench.core.dataset import Dataset, Info
from xcbench.core.statistics import log_prior
from xcbench.data import Missing
from xcbench.errors import writing
from xcbench.plan import planning
from xcbench.plan.job import Job
from xcbench.show.section import Section
from xcbench.show.table import Table
from xcbench.system import durable, locks

SHAPE = ["dataset", "train", "classes"]
REACHED = ["train_log_loss", "test_log_loss", "majority_error"]
COLUMNS = [*SHAPE, "dataset_digest", *REACHED]
NUMBERS = [*SHAPE[1:], *REACHED]
FILE = "priors.csv"
CAPTION = (
    "Log loss of the frequencies of the classes among the training rows, on training and on test "
    "rows, and test error of the most frequent class; means over splits of the same size"
)


def update(folder: Path, jobs: Iterable[Job]) -> None:
    """Add the datasets of jobs, those that are here, to the table of a paper."""
    path = folder / FILE
    with writing(path, "reports_dir"), locks.alone(folder / ".tables.lock", f"writes {folder}"):
        priors = read(folder)
        digests = set(priors["dataset_digest"])
        here = [job for job in jobs if not isinstance(job.info, Missing) and not job.info.twin]
        absent = {job.info.digest: job for job in here if job.info.digest not in digests}
        planned = planning.prepared(list(absent.values()), complete=False)
        new = [job for job in planned if isinstance(job.info, Info)]
        if new:
            lines = priors.values.tolist() + [_line(job) for job in new]
            table = pd.DataFrame(lines, columns=COLUMNS).sort_values([*SHAPE, "dataset_digest"])
            durable.write(path, csv_tables.with_checksums(table).to_csv(index=False))


def read(folder: Path) -> pd.DataFrame:
    """The table of a paper; an empty one where there is none.

    Raises
    ------
    UserError
        If it cannot be read.
    """
    priors, damaged = csv_tables.read(folder / FILE, COLUMNS, NUMBERS)
    if damaged:
        print(
            f"warning: {folder / FILE}: left out {damaged} damaged rows; restore the file, or "
            f"`xcbench paper {folder.name}` computes them again",
            file=sys.stderr,
        )
    return priors


def section(folder: Path) -> Iterator[Section]:
    """The part of a report that shows them, where there are any."""
    priors = read(folder)
    if len(priors):
        means = priors.groupby(SHAPE, as_index=False)[REACHED].mean()
        shown = means.rename(columns=lambda name: str(name).replace("_", " "))
        right = tuple(str(name) for name in shown if name != "dataset")
        yield Section("Class prior", tables=[Table(CAPTION, shown, right)])


def _line(job: Job) -> list[object]:
    info = job.info
    assert isinstance(info, Info)
    dataset = data.load(info, planning.cache_dir(job.settings))
    reached = [train_log_loss(dataset), info.prior_log_loss, info.majority_error]
    return [info.name, info.train, info.classes, info.digest, *reached]


def train_log_loss(dataset: Dataset) -> float:
    """Log loss of the class prior on the rows whose frequencies it has."""
    counts = dataset.class_counts
    return float(-(counts @ log_prior(counts)) / counts.sum())
