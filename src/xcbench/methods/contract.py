"""Contract checks: every method and sampler is tried on a few numbers before anything runs.

Built-in ones are checked too; an error is one sentence.
"""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from omegaconf import OmegaConf

from xcbench.core.dataset import Dataset, Info, Split
from xcbench.core.models.linear import LinearModel
from xcbench.core.objectives import Objective
from xcbench.core.samplers import Sampler
from xcbench.core.solvers import Solver
from xcbench.errors import UserError
from xcbench.methods.method import Method, default_rate
from xcbench.methods.options import MethodOptions, StochasticOptions
from xcbench.plugins import PluginRef, failure

B, S = 3, 2  # samples and drawn classes of a trial
TRIAL = f"a trial of {B} samples and {S} drawn classes"
FUNCTIONS = (
    *("objective", "default_rate", "has_rate", "impossible", "lacks", "memory"),
    *("solver", "sampler"),
)
PIECES = {"value": (B,), "grad": (B, 1 + S), "local state": (B,)}


def definition(plugin: PluginRef) -> None:
    """Refuse a method with a missing part or a part of the wrong type.

    Raises
    ------
    UserError
        Names the part.
    """
    method, who = plugin.thing, f"method {plugin.label}"
    if not isinstance(method, Method):
        raise UserError(f"{who} is {_kind(method)}, it must be an xcbench.methods.method.Method")
    if not isinstance(method.name, str) or not method.name.isidentifier():
        raise UserError(f"{who}: its name is {method.name!r}, it must be a word")
    if not (isinstance(method.schema, type) and issubclass(method.schema, MethodOptions)):
        raise UserError(
            f"{who}: its schema is {_kind(method.schema)}, it must be SampledOptions, "
            "or a dataclass derived from it"
        )
    if not isinstance(method.version, int):
        raise UserError(f"{who}: its version is {method.version!r}, it must be a whole number")
    pieces = {name: vars(method)[name] for name in FUNCTIONS}
    for piece, thing in pieces.items():
        if not callable(thing):
            raise UserError(f"{who}: its {piece} is {_kind(thing)}, it must be a function")
    _schema(method.schema, who)


def _schema(schema: type, who: str) -> None:
    """A setting must be a field with an annotation and a type that configuration files have."""
    assert is_dataclass(schema)
    names = {entry.name for entry in fields(schema)}
    lost = [name for name in vars(schema).get("__annotations__", {}) if name not in names]
    if lost:
        raise UserError(f"{who}: put @dataclass before its settings; {lost[0]} is no field of them")
    try:
        OmegaConf.structured(schema)
    except Exception as error:
        raise UserError(f"{who}: its settings are not possible: {failure(error)}") from None


def method(method: Method, settings: MethodOptions, info: Info) -> None:
    """Refuse a method whose numbers are wrong; ``settings.lr`` must be set.

    Raises
    ------
    UserError
        Names the method and the part that is wrong.
    """
    who = f"method {method.name}"
    try:
        solver = method.solver(settings, info)
        objective = method.objective(settings, info)
    except Exception as error:
        raise UserError(f"{who} cannot be built: {failure(error)}") from error
    if solver is not None:
        if not isinstance(solver, Solver):
            raise UserError(
                f"{who}: its solver is {_kind(solver)}, it must be an xcbench.core.solvers.Solver"
            )
    elif not isinstance(settings, StochasticOptions):
        raise UserError(
            f"{who}: its schema is {type(settings).__name__}, which has no minibatches; derive it "
            "from SampledOptions, or give the method a solver"
        )
    elif not isinstance(objective, Objective):
        raise UserError(
            f"{who}: its objective(settings, info) gives {_kind(objective)}, "
            "it must be LogOdds, Pairwise or another Objective"
        )
    else:
        _objective(who, objective, method.exact_gradient)


def _objective(who: str, objective: Objective, exact_gradient: bool) -> None:
    scores = np.random.default_rng(0).normal(size=(B, 1 + S))

    def call(scores: np.ndarray) -> tuple[np.ndarray, ...]:
        local = np.full(B, objective.start)
        with np.errstate(all="ignore"):
            return objective(scores, 0.5, local, 0.1, np.ones(B))

    try:
        bound, result = objective.is_bound, call(scores)
    except Exception as error:
        raise UserError(f"{who}: its objective failed on {TRIAL}: {failure(error)}") from error
    if not isinstance(bound, bool | np.bool_):
        raise UserError(f"{who}: its objective's is_bound is {bound!r}, it must be true or false")
    if not isinstance(result, tuple) or len(result) != len(PIECES):
        raise UserError(
            f"{who}: its objective gives {_kind(result)}, it must give three things: "
            f"{', '.join(PIECES)}"
        )
    for (piece, shape), numbers in zip(PIECES.items(), result, strict=True):
        if np.shape(numbers) != shape:
            raise UserError(
                f"{who}: its {piece} has the shape {np.shape(numbers)} on {TRIAL}, "
                f"it must be {shape}"
            )
        if not np.issubdtype(np.asarray(numbers).dtype, np.number) or not np.all(
            np.isfinite(numbers)
        ):
            raise UserError(f"{who}: its {piece} has numbers that are not finite, on {TRIAL}")
    if exact_gradient:
        _gradient(who, scores, result[1], lambda scores: call(scores)[0])


def _gradient(who: str, scores: np.ndarray, grad: np.ndarray, value: Any) -> None:
    step = 1e-5
    for column in range(scores.shape[1]):
        aside = step * (np.arange(scores.shape[1]) == column)
        central = (value(scores + aside) - value(scores - aside)) / (2 * step)
        if not np.allclose(grad[:, column], central, rtol=1e-3, atol=1e-4):
            worst = np.argmax(np.abs(grad[:, column] - central))
            whose = "the true class" if column == 0 else "a drawn class"
            raise UserError(
                f"{who}: its grad is not the gradient of its value: in the score of {whose} it is "
                f"{grad[worst, column]:.4g}, finite differences of the value give "
                f"{central[worst]:.4g}"
            )


def rate(method: Method, settings: MethodOptions, info: Info) -> float:
    """Default rate of a method, a positive number.

    Raises
    ------
    UserError
        If it is not a positive number.
    """
    try:
        default = float(default_rate(method, settings, info))
    except Exception as error:
        raise UserError(
            f"method {method.name}: its default_rate failed: {failure(error)}"
        ) from error
    if not (math.isfinite(default) and default > 0):
        raise UserError(f"method {method.name}: its default_rate is {default}, it must be positive")
    return default


def sampler(
    plugin: PluginRef, info: Info, negatives: int, batch_size: int, uniform_for: str = ""
) -> None:
    """Refuse a sampler whose draws are not classes.

    Parameters
    ----------
    uniform_for : the method, if it assumes uniform draws.

    Raises
    ------
    UserError
        Names the sampler and what is wrong.
    """
    n_classes = info.classes
    who, few = f"sampler {plugin.label}", _few(info)
    if not callable(plugin.thing):
        raise UserError(f"{who} is {_kind(plugin.thing)}, it must be a class or function")
    try:
        instance = plugin.thing(n_classes, negatives)
        if not isinstance(instance, Sampler):
            raise UserError(
                f"{who} is {_kind(instance)}, it must be an xcbench.core.samplers.Sampler"
            )
        model = LinearModel(n_classes, info.features, True, "float32")
        result = (
            instance.fitted(few)
            .seen(model)
            .draw(np.random.default_rng(0), np.arange(B), few.train.y, batch_size)
        )
    except UserError:
        raise
    except Exception as error:
        raise UserError(
            f"{who} failed on a trial with {n_classes} classes, {negatives} negatives: "
            f"{failure(error)}"
        ) from error
    if not isinstance(result, tuple) or len(result) != 2:
        raise UserError(f"{who} draws {_kind(result)}, it must give classes and log-weights")
    classes, log_weight = result
    if classes is None:
        return
    _classes(who, classes, n_classes)
    _log_weights(who, log_weight, np.shape(classes))
    if uniform_for and np.unique(log_weight).size > 1:
        raise UserError(
            f"{who} weighs classes differently, but method {uniform_for} takes all draws as "
            "uniform; choose another of the two"
        )


def _classes(who: str, classes: np.ndarray, n_classes: int) -> None:
    """Whether drawn classes are so many rows of classes that there are."""
    shape = np.shape(classes)
    if len(shape) != 2 or shape[0] != B or shape[1] < 1:
        raise UserError(
            f"{who}: its classes have the shape {shape}, they must have a row for each of the "
            f"{B} samples"
        )
    if not np.can_cast(np.asarray(classes).dtype, np.int64):
        raise UserError(f"{who}: its classes are {np.asarray(classes).dtype}, they must be int64")
    if np.min(classes) < 0 or np.max(classes) >= n_classes:
        strange = np.min(classes) if np.min(classes) < 0 else np.max(classes)
        raise UserError(f"{who}: it draws class {strange}, there are classes 0 to {n_classes - 1}")


def _log_weights(who: str, log_weight: float | np.ndarray, shape: tuple[int, ...]) -> None:
    """Whether log-weights are a number, or one for each class, and finite."""
    number = isinstance(log_weight, float | int)
    if not number and not (isinstance(log_weight, np.ndarray) and log_weight.shape == shape):
        raise UserError(
            f"{who}: its log-weights are {_kind(log_weight)} of the shape {np.shape(log_weight)}, "
            f"they must be a number or an array of the shape {shape}"
        )
    if np.isnan(log_weight).any() or np.isposinf(log_weight).any():
        raise UserError(f"{who}: its log-weights must be finite, or minus infinity")


def _few(info: Info) -> Dataset:
    """A dataset of B rows of ones, with the classes and features of another."""
    X: Any = np.ones((B, info.features), np.float32)
    y = np.arange(B) % info.classes
    rows = Split(sp.csr_array(X) if info.sparse else X, y)
    return Dataset(info, rows, rows, np.bincount(y, minlength=info.classes))


def _kind(thing: object) -> str:
    if isinstance(thing, tuple):
        return f"a tuple of {len(thing)}"
    return "nothing" if thing is None else f"a {type(thing).__name__}"
