"""Trained models as folders: ``model.json`` and ``arrays.npz``, with checksums and no pickle.

Sparse weights are stored by feature, so the cost of a row depends on its features alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import xcbench
from xcbench import options, plugins
from xcbench.core.dataset import Info
from xcbench.core.solvers import Streams
from xcbench.data import protocol as protocols
from xcbench.data.inputs import Inputs
from xcbench.data.settings import Protocol
from xcbench.errors import UserError, one_line, writing
from xcbench.estimators import (
    EarlyStopping,
    LinearClassifier,
    MarginClassifier,
    OneVsAllClassifier,
    SampledSoftmaxClassifier,
    SoftmaxClassifier,
)
from xcbench.methods import registry
from xcbench.options import Content
from xcbench.system import arrays as checked
from xcbench.system import durable, memory, sealed
from xcbench.units import printable

FORMAT = 1  # a reader of this number reads files of lower ones
MANY = 1_000_000  # features, whose arrays may need more memory than there is
MODEL, ARRAYS = "model.json", "arrays.npz"
EARLY = "early_stopping"  # a parameter that has parameters of its own
FAMILIES: dict[str, type[LinearClassifier]] = {
    family.__name__: family
    for family in (
        *(SampledSoftmaxClassifier, SoftmaxClassifier, MarginClassifier),
        OneVsAllClassifier,
    )
}
# Of a model that another program wrote, with checksums that fit.
MISFITS = (LookupError, TypeError, ValueError, AttributeError, AssertionError, ArithmeticError)


@dataclass(frozen=True)
class Fitted:
    """What an estimator learnt besides arrays; the names are its own."""

    lr_: float | None
    n_iter_: int
    loss_curve_: list[float | None]
    n_features_in_: int


@dataclass
class Trained:
    """A trained estimator with the feature transformation of its training rows.

    Attributes
    ----------
    inputs, protocol : None if the estimator was trained on arrays.
    counts : number of training rows of every class.
    """

    estimator: LinearClassifier
    inputs: Inputs | None = None
    protocol: Protocol | None = None
    counts: np.ndarray | None = None

    def features(self, X: Any) -> Any:
        """Transform rows as the training rows were transformed."""
        if self.inputs is None or self.protocol is None:
            return X
        return protocols.applied(X, self.inputs, self.protocol)


def is_model(folder: Path) -> bool:
    """Whether a folder holds a model."""
    return (folder / MODEL).is_file()


def save(folder: Path, trained: Trained) -> None:
    """Write a model atomically; it replaces an earlier one.

    Raises
    ------
    UserError
        If it cannot be written, or the folder holds something else.
    """
    estimator = trained.estimator
    name = estimator._name(estimator._info.classes)
    if folder.exists() and not is_model(folder) and (folder.is_file() or any(folder.iterdir())):
        raise UserError(f"{folder} holds something other than a model; name another folder")
    state = estimator.state_
    if estimator._info.sparse and "W" in state:
        state = {**state, "W": np.asfortranarray(state["W"])}
    arrays = {f"state.{name}": array for name, array in state.items()}
    arrays["classes"] = _plain(estimator.classes_)
    if trained.inputs is not None:
        inputs = trained.inputs.arrays()
        arrays |= {f"inputs.{name}": inputs[name] for name in inputs if name != "labels"}
    if trained.counts is not None:
        arrays["counts"] = trained.counts
    content = {
        "format": FORMAT,
        "xcbench": xcbench.__version__,
        "family": next(name for name, kind in FAMILIES.items() if isinstance(estimator, kind)),
        "method": name,
        "method_version": registry.find(name).thing.version,
        "parameters": _parameters(estimator),
        "settings": asdict(estimator._settings),
        "info": asdict(estimator._info),
        "protocol": asdict(trained.protocol) if trained.protocol else None,
        "fitted": asdict(_fitted(estimator)),
        "names": [str(name) for name in vars(estimator).get("feature_names_in_", [])],
    }
    with writing(folder, "out"), durable.new_folder(folder.absolute()) as scratch:
        with (scratch / ARRAYS).open("wb") as handle:
            np.savez(handle, allow_pickle=False, **arrays)
        content["files"] = {ARRAYS: sealed.file_digest(scratch / ARRAYS)}
        (scratch / MODEL).write_text(sealed.dumps(content), "utf-8")


def load(folder: Path, trust: Iterable[str] = ()) -> Trained:
    """Read a model.

    Parameters
    ----------
    trust : modules that it may import; methods and samplers of xcbench and of installed packages
        need none.

    Raises
    ------
    UserError
        If there is no model, it is damaged, its version is not supported, or it names a module
        that is not trusted.
    """
    try:
        content = sealed.loads((folder / MODEL).read_bytes())
        if content["format"] > FORMAT:
            raise UserError(
                f"{folder} was written by xcbench {content['xcbench']}, in a format that this "
                "version does not know; use that version"
            )
        if sealed.file_digest(folder / ARRAYS) != content["files"][ARRAYS]:
            raise ValueError(f"{ARRAYS} has changed since it was written")
        arrays = checked.load(folder / ARRAYS)
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise UserError(f"{folder} holds no model, or a damaged one ({error})") from None
    try:
        with plugins.reading(trust):
            return _restored(folder, content, arrays)
    except UserError as error:  # which may quote what stands in the file
        raise UserError(printable(one_line(error))) from None
    except MISFITS as error:
        why = printable(one_line(error))
        raise UserError(f"{folder} holds no model of this version ({why})") from None


def _restored(folder: Path, content: Content, arrays: dict[str, np.ndarray]) -> Trained:
    method, parameters = content["method"], content["parameters"]
    version = registry.find(method).thing.version
    if version != content["method_version"]:
        raise UserError(
            f"{folder} was trained by version {content['method_version']} of method "
            f"{method}, this is version {version}; train it again"
        )
    if not isinstance(parameters.get(EARLY), str | None):
        parameters = {**parameters, EARLY: EarlyStopping(**parameters[EARLY])}
    estimator: LinearClassifier = FAMILIES[content["family"]](**parameters)
    if estimator.method != method or estimator.dtype not in ("float32", "float64"):
        raise ValueError(f"method {estimator.method!r}, dtype {estimator.dtype!r}")
    fitted, info = sealed.record(Fitted, content["fitted"]), _info(content["info"])
    for name, value in vars(fitted).items():
        setattr(estimator, name, value)
    estimator.loss_curve_ = [math.nan if loss is None else loss for loss in fitted.loss_curve_]
    if estimator.n_features_in_ != info.features:
        raise ValueError(f"{estimator.n_features_in_} features, not {info.features}")
    if content["names"]:
        names = np.array(content["names"])
        checked.distinct("names", names, info.features)
        estimator.feature_names_in_ = names.astype(object)
    estimator.classes_ = checked.distinct("classes", arrays["classes"], info.classes, True)
    estimator.state_ = _under("state.", arrays)
    checked.state(estimator.state_, info.classes, info.features, estimator.dtype)
    estimator._memory, estimator._streams = {}, Streams.of(0)
    estimator._restore(info, content["settings"], need=(), engine="numpy")
    trained = _with_inputs(estimator, content["protocol"], arrays)
    width = info.features if trained.inputs is None else trained.inputs.width
    X = trained.features(sp.csr_array((1, width), dtype=np.float32))
    if X.shape[1] != info.features:
        raise ValueError(f"{X.shape[1]} features, not {info.features}")
    if estimator._model.corrected is not estimator._model:
        estimator.predict_top_k(X, 1)  # whose scores have to be finite, as the weights are
    return trained


def _info(content: Content) -> Info:
    """Statistics of the training rows; those that this version does not know are left out."""
    names = {entry.name for entry in fields(Info)}
    return sealed.record(Info, {name: content[name] for name in content if name in names})


def _with_inputs(
    estimator: LinearClassifier, protocol: object, arrays: dict[str, np.ndarray]
) -> Trained:
    """The estimator with the transformation of its rows, if it was trained on a file."""
    if protocol is None:  # else their number is that of the factors in the file
        features = estimator.n_features_in_
        if features > MANY:
            what = f"a model of {features:,} features"
            memory.check_features(features, what, "use a machine with more memory")
        return Trained(estimator)
    chosen = sealed.record(Protocol, protocol)
    options.check(chosen, "protocol.")
    labels = estimator.classes_
    inputs = Inputs.of({**_under("inputs.", arrays), "labels": labels})
    protocols.check_inputs(inputs, chosen)
    counts = checked.integers("counts", arrays["counts"], labels.shape, 0, np.iinfo(np.int64).max)
    return Trained(estimator, inputs, chosen, counts)


def _fitted(estimator: LinearClassifier) -> Fitted:
    """What was learnt; a loss that is not a number has none in JSON."""
    losses = [loss if math.isfinite(loss) else None for loss in estimator.loss_curve_]
    return Fitted(estimator.lr_, estimator.n_iter_, losses, int(estimator.n_features_in_))


def _under(prefix: str, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Arrays whose names begin so, without it."""
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }


def _plain(labels: np.ndarray) -> np.ndarray:
    """Labels as an array that needs no pickle."""
    if labels.dtype.kind in "biufU":
        return labels
    if labels.dtype.kind == "O" and all(isinstance(label, str) for label in labels):
        return labels.astype(str)
    raise UserError("labels that are neither numbers nor text cannot be saved")


def _parameters(estimator: LinearClassifier) -> Content:
    """Parameters that files can have; a seed that was no number is left out."""
    parameters = estimator.get_params(deep=False)
    if "method" in parameters:  # where it was left to the number of classes, the one it was
        parameters["method"] = estimator._name(estimator._info.classes)
    if isinstance(parameters.get(EARLY), EarlyStopping):
        rule = parameters[EARLY].get_params()
        parameters[EARLY] = {name: np.asarray(value).item() for name, value in rule.items()}
    if not isinstance(parameters["random_state"], int | None):
        parameters["random_state"] = None
    values = {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in parameters.items()
    }
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in values.items()
    }
