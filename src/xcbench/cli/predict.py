"""``xcbench predict``: score the rows of a file with a model or a cell's saved weights."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path

import numpy as np

from xcbench import model_files
from xcbench.cli import train
from xcbench.cli.command import Request
from xcbench.core.dataset import Rows
from xcbench.core.evaluation import top_classes
from xcbench.core.models.linear import LinearModel
from xcbench.data import new_rows, protocol
from xcbench.data.inputs import Inputs
from xcbench.data.labelled_lines import ENCODING
from xcbench.data.settings import Protocol
from xcbench.errors import UserError, writing
from xcbench.estimators.predictor import finite
from xcbench.methods import registry
from xcbench.store import cells
from xcbench.store.cell import Cell
from xcbench.system import durable, sealed


@np.errstate(all="ignore")  # `finite` tells
def predict(request: Request) -> int:
    """Print ``label:log-probability`` of the k best classes, one line a row, the best first."""
    if model_files.is_model(Path(request.words[0])):
        return _with_model(request)
    runs_dir = request.runs_dir()
    k, out = request.settings.pop("k", "1"), request.settings.pop("out", None)
    encoding = request.settings.pop("encoding", ENCODING)
    request.refuse_others("runs_dir=…, k=NUMBER, out=FILE and encoding=NAME")
    cell = cells.find(runs_dir, request.words[0])
    weights = cells.weights(runs_dir, cell)
    link = _link(cell)
    inputs = cells.inputs(runs_dir, cell)
    model = LinearModel.of(weights["W"], weights.get("b"), link)
    n_classes = len(inputs.labels)
    if not re.fullmatch("[0-9]+", k) or not 1 <= int(k) <= n_classes:
        raise UserError(f"k={k} is not possible: it must lie between 1 and {n_classes}")
    reader = "" if cell.shape.get("twin") else str(cell.config["dataset"].get("reader", ""))
    X = new_rows.read(Path(request.words[1]), inputs, reader, encoding)
    lines = _lines(model, X, cell, inputs, int(k))
    if out is None:
        _print(lines)
    else:
        with writing(Path(out), "out"):
            durable.write(Path(out), "".join(lines))
    return 0


def _with_model(request: Request) -> int:
    """The same with a model that ``xcbench train`` wrote, a block of rows at a time."""
    k, out = train.number("k", request.settings.pop("k", "1")), request.settings.pop("out", None)
    encoding = request.settings.pop("encoding", ENCODING)
    request.refuse_others("k=NUMBER, out=FILE and encoding=NAME")
    trained = model_files.load(Path(request.words[0]))
    left_out: list[int] = []

    def lines() -> Iterator[str]:
        for _, X in train.rows(trained, Path(request.words[1]), encoding, left_out.append):
            best, values = trained.estimator.predict_top_k(X, k)
            yield from _pairs(best, values)

    if out is None:
        _print(lines())
    else:
        scratch = durable.sibling(Path(out).absolute())
        with writing(Path(out), "out"):
            try:
                with scratch.open("w", encoding="utf-8") as handle:
                    handle.writelines(lines())
                scratch.replace(out)
            finally:
                scratch.unlink(missing_ok=True)
    if sum(left_out):
        print(
            f"values of unseen features, ignored: {sum(left_out)}",
            file=sys.stderr,
        )
    return 0


def _print(lines: Iterable[str]) -> None:
    """Print lines, exactly into a pipe or a file; a terminal gets no control characters."""
    sys.stdout.writelines(lines)
    sys.stdout.flush()


def _pairs(labels: np.ndarray, values: np.ndarray) -> Iterator[str]:
    """Lines ``label:value label:value …``."""
    for names, row in zip(labels.tolist(), values.tolist(), strict=True):
        pairs = (f"{label}:{value:.6g}" for label, value in zip(names, row, strict=True))
        yield " ".join(pairs) + "\n"


def _lines(model: LinearModel, X: Rows, cell: Cell, inputs: Inputs, k: int) -> Iterator[str]:
    for _, scores in model.passes(protocol.applied(X, inputs, _protocol(cell))):
        best = top_classes(finite(model, scores), k)
        log_probability = model.log_probabilities_of(scores, best)
        yield from _pairs(inputs.labels[best], log_probability)


def _protocol(cell: Cell) -> Protocol:
    settings = cell.config["dataset"].get("protocol", {})
    for name in settings.keys() - {entry.name for entry in fields(Protocol)}:
        raise UserError(
            f"cell {cell.cell} was trained with dataset.protocol.{name}={settings[name]}, which "
            "this version does not know; predict with the version that ran it"
        )
    try:
        return sealed.record(Protocol, settings)
    except TypeError as error:
        raise UserError(f"cell {cell.cell} is damaged: {error}") from None


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
    noise = cell.config["method"].get("sampler")
    if method.name == "negative_sampling" and noise != "uniform":
        raise UserError(
            f"cell {cell.cell} predicts by its scores plus log p_n of {noise} noise, "
            "which is not saved with its weights; predict with a cell of method.sampler=uniform"
        )
    return str(method.link)
