"""Scoring the rows of a file with the saved weights of a cell."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import IO

import scipy.sparse as sp

from xcbench import durable
from xcbench.cli.command import Given
from xcbench.core.metrics import top_classes
from xcbench.core.models.linear import LinearModel
from xcbench.data import protocol, svmlight
from xcbench.data.files import open_content
from xcbench.data.inputs import Inputs
from xcbench.data.settings import Protocol
from xcbench.data.sparse_text import bad_line, shown, sparse_rows
from xcbench.errors import UserError, writing
from xcbench.methods import registry
from xcbench.run import cells
from xcbench.run.cell import Cell

BOM = b"\xef\xbb\xbf"
HEADER = re.compile(rb"(\d{1,18})\s+(\d{1,18})\s+(\d{1,18})")
LABELS = re.compile(rb"\d+(?:,\d+)*+")


def predict(given: Given) -> int:
    """Print ``label:log-probability`` of the k best classes, one line a row, best first."""
    runs_dir = given.runs_dir()
    wanted, out = given.settings.pop("k", "1"), given.settings.pop("out", None)
    given.refuse_others("runs_dir=…, k=NUMBER and out=FILE")
    cell = cells.find(runs_dir, given.words[0])
    weights = cells.weights(runs_dir, cell)
    link = _link(cell)
    own = Inputs.of(cells.saved_arrays(runs_dir, cell, cells.INPUTS))
    model = LinearModel.of(weights["W"], weights.get("b"), link)
    n_classes = len(own.labels)
    if not re.fullmatch("[0-9]+", wanted) or not 1 <= int(wanted) <= n_classes:
        raise UserError(f"k={wanted} is not possible: it must lie between 1 and {n_classes}")
    lines = _lines(model, read(Path(given.words[1]), own), cell, own, int(wanted))
    if out is None:
        sys.stdout.writelines(lines)
        sys.stdout.flush()
    else:
        with writing(Path(out), "out"):
            durable.write(Path(out), "".join(lines))
    return 0


def _lines(model: LinearModel, X: sp.csr_array, cell: Cell, own: Inputs, k: int) -> Iterator[str]:
    for _, scores in model.passes(protocol.applied(X, own, _protocol(cell))):
        best = top_classes(scores, k)
        log_probability = model.log_probabilities_of(scores, best)
        for labels, row in zip(own.labels[best].tolist(), log_probability.tolist(), strict=True):
            pairs = (f"{label}:{value:.6g}" for label, value in zip(labels, row, strict=True))
            yield " ".join(pairs) + "\n"


def _protocol(cell: Cell) -> Protocol:
    settings = cell.config["dataset"]["protocol"]
    for name in settings.keys() - {entry.name for entry in fields(Protocol)}:
        raise UserError(
            f"cell {cell.cell} was trained with dataset.protocol.{name}={settings[name]}, which "
            "this version does not know; predict with the version that ran it"
        )
    return Protocol(**settings)


def _link(cell: Cell) -> str:
    """Link of the cell's model.

    Raises
    ------
    UserError
        If it has no probabilities, or if they need more than its weights: negative sampling adds
        log p_n to the scores, which is the same for all classes or not saved.
    """
    method = registry.find(cell.launch.get("method_target", cell.method)).thing
    if method.link is None:
        raise UserError(
            f"cell {cell.cell} cannot predict probabilities: method {cell.method} has none; "
            "take a cell of a method with a log loss"
        )
    noise = cell.config["method"].get("sampling")
    if method.name == "negative_sampling" and noise != "uniform":
        raise UserError(
            f"cell {cell.cell} predicts by its scores plus log p_n of {noise} noise, "
            "which is not saved with its weights; predict with a cell of method.sampling=uniform"
        )
    return str(method.link)


def read(path: Path, own: Inputs) -> sp.csr_array:
    """Rows of a file in the format the cell was trained on: svmlight, else repository format.

    The labels may be missing, and the header of the repository format too.

    Raises
    ------
    UserError
        With file and line, if a line is malformed or a feature is none of the cell's.
    """
    return _repository(path, own.width) if own.first < 0 else _svmlight(path, own)


def _svmlight(path: Path, own: Inputs) -> sp.csr_array:
    X, _, _ = svmlight.rows(path, unlabelled=True)
    last = own.first + own.width - 1
    strange = X.indices[(X.indices < own.first) | (X.indices > last)]
    if len(strange):
        raise UserError(
            f"{path} has a feature {strange[0]}; the cell was trained on svmlight files with the "
            f"features {own.first} to {last}; give rows with the same features"
        )
    return sp.csr_array((X.data, X.indices - own.first, X.indptr), (X.shape[0], own.width))


def _repository(path: Path, n_features: int) -> sp.csr_array:
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
