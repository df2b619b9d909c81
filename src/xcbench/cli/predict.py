"""``xcbench predict``: score the rows of a file with a model or a cell's saved weights."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import numpy as np

from xcbench import model_files
from xcbench.cli import train
from xcbench.cli.command import Request, number
from xcbench.core.evaluation import top_classes
from xcbench.core.models.linear import LinearModel
from xcbench.data import new_rows, protocol
from xcbench.data.labelled_lines import ENCODING
from xcbench.data.settings import Protocol
from xcbench.errors import UserError, writing
from xcbench.estimators.predictor import finite
from xcbench.methods import registry
from xcbench.store import cells
from xcbench.store.cell import Cell
from xcbench.system import durable, sealed

Best = tuple[np.ndarray, np.ndarray]  # labels, and values, of some rows


@np.errstate(all="ignore")  # `finite` tells
def predict(request: Request) -> int:
    """Print ``label:log-probability`` of the k best classes, one line a row, the best first."""
    what, file = request.words
    with_model = model_files.is_model(Path(what))
    runs_dir = Path() if with_model else request.runs_dir()
    k, out = request.settings.pop("k", "1"), request.out()
    encoding = request.settings.pop("encoding", ENCODING)
    request.refuse_others("runs_dir=…, k=NUMBER, out=FILE and encoding=NAME")
    left_out: list[int] = []  # values of unseen features
    if with_model:
        highest, trained = number("k", k), model_files.load(Path(what))
        blocks = train.rows(trained, Path(file), encoding, left_out.append)
        best: Iterator[Best] = (trained.estimator.predict_top_k(X, highest) for _, X in blocks)
    else:
        best = _with_cell(cells.find(runs_dir, what), runs_dir, Path(file), k, encoding)
    lines = (line for labels, values in best for line in _lines(labels, values))
    if out:
        with writing(Path(out), "out"):
            durable.write(Path(out), lines)
    else:
        sys.stdout.writelines(lines)
        sys.stdout.flush()
    if sum(left_out):
        print(f"values of unseen features, ignored: {sum(left_out)}", file=sys.stderr)
    return 0


def _lines(labels: np.ndarray, values: np.ndarray) -> Iterator[str]:
    """Lines ``label:value label:value …``."""
    for names, row in zip(labels.tolist(), values.tolist(), strict=True):
        pairs = (f"{label}:{value:.6g}" for label, value in zip(names, row, strict=True))
        yield " ".join(pairs) + "\n"


def _with_cell(cell: Cell, runs_dir: Path, file: Path, k: str, encoding: str) -> Iterator[Best]:
    """Labels of the k best classes of every row and their log-probabilities, by a cell."""
    weights = cells.weights(runs_dir, cell)
    link = _link(cell)
    inputs = cells.inputs(runs_dir, cell)
    model = LinearModel.of(weights["W"], weights.get("b"), link)
    highest = number("k", k, most=len(inputs.labels))
    reader = "" if cell.shape.get("twin") else str(cell.config["dataset"].get("reader", ""))
    X = new_rows.read(file, inputs, reader, encoding)
    for _, scores in model.passes(protocol.applied(X, inputs, _protocol(cell))):
        best = top_classes(finite(model, scores), highest)
        yield inputs.labels[best], model.log_probabilities_of(scores, best)


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
