"""``xcbench train`` and ``xcbench evaluate``: models from and for the user's files."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from xcbench import estimators, model_files, options
from xcbench.cli.command import Request, number
from xcbench.core.dataset import Raw, Rows, Split
from xcbench.data import labelled_lines, labelled_rows, protocol
from xcbench.data.labelled_lines import ENCODING
from xcbench.data.settings import Protocol
from xcbench.errors import UserError
from xcbench.estimators import OneVsAllClassifier
from xcbench.model_files import Trained
from xcbench.options import Content


def _automatic_or_none(text: str) -> str | None:
    """``auto`` or ``none``, of early stopping."""
    if text not in ("auto", "none"):
        raise UserError(f"early_stopping={text} must be auto or none")
    return None if text == "none" else text


PARAMETERS: dict[str, Callable[[str], Any]] = {
    "epochs": int,
    "random_state": int,
    "early_stopping": _automatic_or_none,
    "dtype": str,
    "engine": str,
}
LABEL = "protocol.label"
EACH = "each"  # the rule by which all labels of a row are learnt
NAMES = {"seed": "random_state", "budget.epochs": "epochs"}


def train(request: Request) -> int:
    """Train a method on the rows of a file, and write the model."""
    settings = request.settings
    out, method = Path(settings.pop("out", "model")), settings.pop("method", "implicit")
    test, encoding = settings.pop("test", None), settings.pop("encoding", ENCODING)
    places = settings.pop("features", None)
    features = None if places is None else number("features", options.multiplied(places))
    if method == OneVsAllClassifier.method and not {LABEL, f"dataset.{LABEL}"} & settings.keys():
        settings[LABEL] = EACH
    chosen = _protocol(settings)
    given = _parameters(settings)
    raw = _labelled(Path(request.words[0]), encoding, features)
    started = time.perf_counter()
    try:
        rows, inputs = protocol.training(raw, chosen)
        inputs = replace(inputs, hashed=int(bool(features)))
        method_options = {name.removeprefix("method."): value for name, value in settings.items()}
        defaults = {"random_state": 0, "reduction": "pick_all", "verbose": sys.stderr.isatty()}
        estimator = estimators.of_method(method, method_options, given, **defaults)
        estimator.fit(*_targets(rows, inputs.labels))
    except ValueError as error:
        raise UserError(str(error)) from None
    trained = Trained(estimator, inputs, chosen, _counts(raw, chosen, rows, inputs.labels))
    model_files.save(out, trained)
    print(_summary(raw, trained, out, time.perf_counter() - started))
    if test is not None:
        print(_measures(trained, Path(test), 1, encoding))
    return 0


def _labelled(path: Path, encoding: str, features: int | None) -> Raw:
    """Rows of the training file, of which some have a label."""
    (raw,) = labelled_rows.read([path], encoding, features)
    if not len(raw.labels):
        raise UserError(f"{path} has no row with a label; a line is 'label feature:value ...'")
    return raw


def _counts(raw: Raw, chosen: Protocol, rows: Split, labels: np.ndarray) -> np.ndarray:
    """Training rows of every class, ascending; for ``label=rarest`` all that have the label."""
    of = rows.y
    if chosen.label == "rarest":
        every = protocol.training(raw, replace(chosen, other_labels="keep"))[0]
        of = rows.y if every.sets is None else every.sets.classes
    return np.bincount(of, minlength=len(labels))[np.argsort(labels)]


def _targets(rows: Split, names: np.ndarray) -> tuple[Rows, Any]:
    """Rows with their labels: with ``label=each`` all of a row, in a set."""
    if rows.sets is None or len(originals := rows.original_rows()) == len(rows):
        return rows.X, names[rows.y]
    assert originals.sets is not None
    return originals.X, [
        set(labels.tolist())
        for labels in np.split(names[originals.sets.classes], originals.sets.start[1:-1])
    ]


def evaluate(request: Request) -> int:
    """Print the metrics of a model on the labelled rows of a file."""
    k = number("k", request.settings.pop("k", "1"))
    encoding = request.settings.pop("encoding", ENCODING)
    request.refuse_others("k=NUMBER and encoding=NAME")
    trained = model_files.load(Path(request.words[0]))
    print(_measures(trained, Path(request.words[1]), k, encoding))
    return 0


def _parameters(settings: dict[str, str]) -> dict[str, object]:
    """Take out what is no option of a method."""
    parameters: Content = {}
    for key in list(settings):
        name = NAMES.get(key, key)
        if name in PARAMETERS:
            try:
                parameters[name] = PARAMETERS[name](settings.pop(key))
            except ValueError:
                raise UserError(f"{key} must be a whole number") from None
    return parameters


def _protocol(settings: dict[str, str]) -> Protocol:
    """Take out how rows become a problem."""
    node: Any = OmegaConf.structured(Protocol(classes="train"))
    for key in [key for key in settings if re.match(r"(dataset\.)?protocol\.", key)]:
        try:
            OmegaConf.update(node, key.rpartition("protocol.")[2], settings.pop(key))
        except OmegaConfBaseException as error:
            raise UserError(f"{key} is not possible: {str(error).splitlines()[0]}") from None
    chosen: Protocol = OmegaConf.to_object(node)  # type: ignore[assignment]
    options.check(chosen, "protocol.")
    if chosen.split != "given" or chosen.classes != "train":
        raise UserError(
            "train uses all rows of its file and their classes; "
            "leave out protocol.split and protocol.classes"
        )
    return chosen


def _summary(raw: Raw, trained: Trained, out: Path, seconds: float) -> str:
    """What was learnt from what."""
    estimator, lines = trained.estimator, []
    counts = raw.label_counts
    if (counts == 0).any() and (not trained.protocol or trained.protocol.unlabelled == "drop"):
        lines.append(f"rows without a label, left out: {(counts == 0).sum():,}")
    if (counts > 1).any():
        rule = trained.protocol.label if trained.protocol else ""
        learnt = "all" if rule == EACH else f"one (label={rule})"
        lines.append(f"rows with several labels, {learnt} learnt: {(counts > 1).sum():,}")
    rate = "" if estimator.lr_ is None else f", lr={estimator.lr_:.4g}"
    passes = "iterations" if estimator._settings.lr is None else "epochs"
    lines.append(
        f"{estimator._name(estimator._info.classes)} on {estimator._info.train:,} rows, "
        f"{estimator.n_features_in_:,} features, {len(estimator.classes_):,} labels: "
        f"{estimator.n_iter_} {passes}{rate}, {seconds:.1f} s"
    )
    return "\n".join([*lines, f"model: {out}"])


def _measures(trained: Trained, path: Path, k: int, encoding: str) -> str:
    """Precision among all labels; error and log loss, where one of a row's labels was learnt."""
    one_learnt = trained.protocol is None or trained.protocol.label != EACH
    k = min(k, len(trained.estimator.classes_))
    ignored: list[int] = []
    blocks = rows(trained, path, encoding, ignored.append)
    total = pd.DataFrame(_sums(trained, labels, X, k, one_learnt) for labels, X in blocks).sum()
    judged = total["rows"] - total["unlabelled"]
    lines = [f"rows {judged:.0f}"]
    if not judged:
        return lines[0]
    if one_learnt:
        lines.append(f"error {total['errors'] / judged:.6g}")
        if total["of_loss"]:
            lines.append(f"log_loss {total['loss'] / total['of_loss']:.6g}")
    elif k > 1:
        lines.append(f"precision_at_1 {total['best'] / judged:.6g}")
    lines.append(f"precision_at_{k} {total['hits'] / (k * judged):.6g}")
    unseen = "rows whose labels training has not seen, errors" + " without log loss" * one_learnt
    notes = {
        "rows without a label, left out": total["unlabelled"],
        unseen: total["unseen"],
        "values of unseen features, ignored": sum(ignored),
    }
    return "\n".join(
        [*lines, *(f"{what}: {number:.0f}" for what, number in notes.items() if number)]
    )


def _sums(
    trained: Trained, labels: list[list[str]], X: Rows, k: int, one_learnt: bool
) -> dict[str, float]:
    """Counts over some rows, with labels among the best class and among the best k; their loss."""
    estimator = trained.estimator
    classes = [_classes(estimator.classes_, names) for names in labels]
    labelled = np.array(list(map(bool, labels)))
    targets = np.array([_target(trained, its) for its in classes], np.int64)
    best = np.searchsorted(estimator.classes_, estimator.predict_top_k(X, k)[0])
    seen, loss = np.flatnonzero(targets >= 0), np.nan
    if one_learnt and len(seen) and hasattr(estimator, "predict_proba"):
        loss = estimator.evaluate(X[seen], estimator.classes_[targets[seen]])["log_loss"]
    return {
        "rows": len(labels),
        "unlabelled": (~labelled).sum(),
        "unseen": (labelled & (targets < 0)).sum(),
        "errors": (labelled & (best[:, 0] != targets)).sum(),
        "best": sum(guess[0] in its for its, guess in zip(classes, best, strict=True)),
        "hits": sum(len({*its} & {*guess}) for its, guess in zip(classes, best, strict=True)),
        "loss": len(seen) * loss,
        "of_loss": 0 if np.isnan(loss) else len(seen),
    }


def rows(
    trained: Trained, path: Path, encoding: str, ignored: Callable[[int], None]
) -> Iterator[tuple[list[list[str]], Rows]]:
    """Yield labels and features of the rows of a file, in blocks.

    Parameters
    ----------
    ignored : called with the number of values left out, of features unseen in training.
    """
    if trained.inputs is None:
        raise UserError("the model was trained on arrays, not on a file; predict from Python")
    labelled_rows.check_header(path, trained.inputs)
    total = 0
    for block in labelled_lines.blocks(path, encoding, unlabelled=True):
        total += len(block.labels)
        X, others = labelled_rows.at(block.X, trained.inputs)
        ignored(others)
        yield block.labels, trained.features(X)
    if not total:
        raise UserError(f"{path} has no rows; give it at least one")


def _classes(names: np.ndarray, labels: list[str]) -> list[int]:
    """Classes of a row's labels; those that training has not seen are left out."""
    if names.dtype.kind == "i":
        values: list[int] | list[str] = [
            int(text) for text in labels if labelled_rows.INTEGER.fullmatch(text)
        ]
    else:
        values = labels
    place = np.searchsorted(names, np.array(values, names.dtype if not values else None))
    place = np.minimum(place, len(names) - 1)
    return [int(p) for p, value in zip(place, values, strict=True) if names[p] == value]


def _target(trained: Trained, classes: list[int]) -> int:
    """The class that the rule takes; -1 for none."""
    if not classes:
        return -1
    rule = trained.protocol.label if trained.protocol else "first"
    if rule == "rarest" and trained.counts is not None:
        return min(classes, key=lambda k: (trained.counts[k], k))  # type: ignore[index]
    return classes[0] if rule == "first" else min(classes)
