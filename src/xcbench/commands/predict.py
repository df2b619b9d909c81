"""Scoring the rows of a file with the saved weights of a cell."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import IO

import numpy as np
import scipy.sparse as sp

from xcbench import cells, config
from xcbench.cells import Cell
from xcbench.commands import Given, again
from xcbench.datasets.files import open_content
from xcbench.datasets.protocol import column_factors, scaled
from xcbench.datasets.sparse_text import bad_line, shown, sparse_rows
from xcbench.errors import UserError
from xcbench.linear import LinearModel
from xcbench.metrics import top_classes

BOM = b"\xef\xbb\xbf"
HEADER = re.compile(rb"(\d{1,18})\s+(\d{1,18})\s+(\d{1,18})")
LABELS = re.compile(rb"\d+(?:,\d+)*+")
APPLIED = ("divide_by", "row_norm")
OF_ROWS = (  # these say which rows there are and what their class is, nothing about features
    *("label", "classes", "unlabelled", "min_rows", "rows", "featureless"),
    *("split", "split_train", "split_seed"),
)


def predict(given: Given) -> int:
    """Print ``class:log-probability`` of the k best classes, one line a row, best first."""
    runs_dir = given.runs_dir()
    wanted = given.settings.pop("k", "1")
    given.refuse_others("runs_dir=… and k=NUMBER")
    cell = cells.find(runs_dir, given.words[0])
    model = LinearModel.of(**cells.weights(runs_dir, cell))
    n_classes, n_features = model.V.shape
    if not re.fullmatch("[0-9]+", wanted) or not 1 <= int(wanted) <= n_classes:
        raise UserError(f"k={wanted} is not possible: it must lie between 1 and {n_classes}")
    _refuse_noise(cell)
    protocol = _scaling(cell)
    X = read(Path(given.words[1]), n_features)
    rows = scaled(X, column_factors(X, protocol), protocol)
    for _, scores in model.passes(rows):
        best, log_probability = top(scores, int(wanted))
        for classes, values in zip(best.tolist(), log_probability.tolist(), strict=True):
            pairs = (f"{k}:{value:.6g}" for k, value in zip(classes, values, strict=True))
            sys.stdout.write(" ".join(pairs) + "\n")
    sys.stdout.flush()
    return 0


def _refuse_noise(cell: Cell) -> None:
    """Weights of negative sampling lack log p_n, which is the same for all classes or not saved.

    Raises
    ------
    UserError
        If it is not the same.
    """
    method = cell.config["method"]
    if method["name"] == "negative_sampling" and method["sampling"] != "uniform":
        raise UserError(
            f"cell {cell.cell} predicts by its scores plus log p_n of {method['sampling']} noise, "
            "which is not saved with its weights; predict with a cell of method.sampling=uniform"
        )


def top(scores: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Best k classes of each row, the lower number first among equals, and log-probabilities.

    Parameters
    ----------
    scores : (B, K).

    Returns
    -------
    classes, log_probability : (B, k), best first.
    """
    largest = scores.max(axis=1, keepdims=True)
    log_total = np.log(np.exp(scores - largest).sum(axis=1, dtype=np.float64, keepdims=True))
    best = top_classes(scores, k)
    chosen = np.take_along_axis(scores, best, axis=1).astype(np.float64)
    return best, chosen - largest - log_total


def read(path: Path, n_features: int) -> sp.csr_array:
    """Rows of a file in repository format; the header and the labels may be missing.

    Raises
    ------
    UserError
        With file and line, if a line is malformed or a feature is none of the cell's.
    """
    with open_content(path) as handle:
        first = handle.readline().removeprefix(BOM)
        header = HEADER.fullmatch(first.strip())
        expected = None
        if header:
            expected = int(header[1])
            if int(header[2]) != n_features:
                raise UserError(
                    f"{path}, line 1: the header says {int(header[2])} features, "
                    f"the cell was trained on {n_features}; give rows with the same features"
                )
        X, _ = sparse_rows(_rows(handle, path, b"" if header else first), n_features, path)
    if expected not in (None, X.shape[0]):
        raise UserError(
            f"{path} has {X.shape[0]} rows, its header says {expected}; the file is cut off or "
            "its header is wrong"
        )
    if not X.shape[0]:
        raise UserError(f"{path} has no rows; give it at least one")
    return X


def _rows(handle: IO[bytes], path: Path, first: bytes) -> Iterator[tuple[int, bytes]]:
    """Pairs of each row behind its labels, with the number of the line."""
    if first:
        yield 1, _pairs(first, path, 1)
    for number, line in enumerate(handle, start=2):
        yield number, _pairs(line, path, number)


def _pairs(line: bytes, path: Path, number: int) -> bytes:
    head, _, tail = line.partition(b" ")
    if b":" in head:  # a row without label
        return line
    if head.strip() and not LABELS.fullmatch(head.strip()):
        raise bad_line(
            path,
            number,
            f"{shown(head)} is neither a list of labels l1,l2 nor a pair feature:value",
        )
    return tail


def _scaling(cell: Cell) -> config.Protocol:
    """The part of the cell's protocol that changes features, of each row alone.

    Raises
    ------
    UserError
        If it changes features in another way.
    """
    dataset = cell.config["dataset"]
    default = asdict(config.Protocol())
    for name, value in dataset["protocol"].items():
        if name not in (*APPLIED, *OF_ROWS) and value != default.get(name):
            raise UserError(
                f"cell {cell.cell} was trained with dataset.protocol.{name}={again.text(value)}, "
                "which predict cannot apply to new rows"
            )
    made = cell.shape.get("twin") or dataset["reader"] == "synthetic"  # these are never divided
    return config.Protocol(
        divide_by=1.0 if made else dataset["protocol"]["divide_by"],
        row_norm=dataset["protocol"]["row_norm"],
    )
