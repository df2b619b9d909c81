"""Which methods there are, and whether their settings are possible.

Ours are the `Method` values in the files beside this one and under ``baselines/``; others come
from outside (`xcbench.plugins`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from xcbench import methods, plugins
from xcbench.core import samplers
from xcbench.core.dataset import Info
from xcbench.errors import UserError
from xcbench.methods import baselines, contract
from xcbench.methods.method import Method, stochastic
from xcbench.methods.options import MethodOptions, SampledOptions, StochasticOptions
from xcbench.plugins import Found

_by_target: dict[str, Found] = {}  # methods that this process found by their target, by name
_tried: dict[tuple[int, str, Info], Method] = {}  # what passed; the methods are kept for their ids


@cache
def own() -> dict[str, Method]:
    """Our methods by name."""
    found = {}
    for package in (methods, baselines):
        for module in iter_modules(package.__path__, f"{package.__name__}."):
            for thing in vars(import_module(module.name)).values():
                if isinstance(thing, Method):
                    found[thing.name] = thing
    return dict(sorted(found.items()))


def names() -> list[str]:
    """Names of our methods, and of those that packages announce."""
    return [*own(), *sorted(set(plugins.announced("method")) - set(own()))]


def find(reference: str) -> Found:
    """Find the method of a name or a target.

    Raises
    ------
    UserError
        If there is none, its name is taken, or a piece of it is missing.
    """
    if reference in own():
        return Found(own()[reference], reference)
    found = plugins.find("method", reference)
    contract.definition(found)
    name = found.thing.name
    if not plugins.is_target(reference):
        if name != reference:
            raise UserError(f"method {found.label} calls itself '{name}'; both must be the same")
        return found
    if name in own():
        raise UserError(f"method {found.label} calls itself '{name}', which is one of ours")
    others = [_by_target.get(name, found)]
    if name in plugins.announced("method"):
        others.append(plugins.find("method", name))
    for other in others:
        if other.thing is not found.thing:
            raise UserError(f"methods {found.label} and {other.label} are both called '{name}'")
    return _by_target.setdefault(name, found)


def entry(settings: MethodOptions) -> Method:
    """Give the method that settings are for."""
    method: Method = found(settings).thing
    return method


def found(settings: MethodOptions) -> Found:
    """Find the method that settings are for, and where it comes from.

    Raises
    ------
    UserError
        If there is no such method.
    """
    name = settings.name
    if name not in _by_target and name not in names():
        raise UserError(f"method.name={name} is unknown; methods: {', '.join(names())}")
    if name in own():
        plugins.refuse_clash("method", name)
    there = _by_target.get(name) or find(name)
    if not isinstance(settings, there.thing.schema):
        raise UserError(f"method.name={name} is not possible here; choose it by method={name}")
    return there


def check(settings: MethodOptions, info: Info) -> None:
    """Refuse settings that are impossible for a method or a dataset, in one sentence."""
    method = entry(settings)
    if not (info.features or settings.bias):
        raise UserError(
            f"method.bias=false leaves nothing to fit on {info.name}, which has no features; "
            "set method.bias=true"
        )
    if method.needs_features and not info.features:
        raise UserError(
            f"method {method.name} separates classes by features, and {info.name} has none; "
            "leave the method out (prior has the frequencies of the classes)"
        )
    if isinstance(settings, SampledOptions):
        if stochastic(settings):
            _check_classes(settings, info)
        _check_ridge(settings)
    reason = method.impossible(settings)
    if reason:
        raise UserError(reason)
    if isinstance(settings, StochasticOptions):
        _check_step(method, settings)
    _try(method, settings, info)


def _try(method: Method, settings: MethodOptions, info: Info) -> None:
    """Try a method's pieces once for all rates that are set."""
    key = id(method), repr(replace(settings, lr=settings.lr and 1.0)), info
    if key in _tried:
        return
    if settings.lr is None and method.has_rate(settings):
        settings = replace(settings, lr=contract.rate(method, settings, info))
    contract.method(method, settings, info)
    _tried[key] = method


def check_sampling(settings: MethodOptions) -> Found | None:
    """Refuse a way of drawing classes that the method does not allow; find one from outside.

    Raises
    ------
    UserError
        If the method does not allow it, or it cannot be loaded.
    """
    if not isinstance(settings, SampledOptions):
        return None
    allowed = [*entry(settings).samplings, *entry(settings).noises]
    if settings.sampling in allowed:
        plugins.refuse_clash("sampler", settings.sampling)
        return None
    taken = {*samplers.OWN, *samplers.NOISES}
    if "others" in allowed and settings.sampling not in taken:
        allowed += sorted(set(plugins.announced("sampler")) - taken)
        if settings.sampling in allowed or plugins.is_target(settings.sampling):
            return plugins.find("sampler", settings.sampling)
    raise UserError(
        f"method.sampling={settings.sampling} is not possible for {settings.name}: "
        f"choose one of {', '.join(allowed)}"
    )


def _check_step(method: Method, settings: StochasticOptions) -> None:
    """Whether the method's weights can move so."""
    if settings.step not in method.steps:
        raise UserError(
            f"method.step={settings.step} is not possible for {settings.name}: "
            f"choose one of {', '.join(method.steps)}"
        )
    if settings.root_decay and settings.step != "adagrad":
        raise UserError(
            f"method.root_decay={settings.root_decay:g} is for method.step=adagrad; set that, or "
            "leave method.root_decay out"
        )
    on_drawn = isinstance(settings, SampledOptions) and settings.ridge_on == "drawn"
    if settings.step != "sgd" and on_drawn:
        raise UserError(
            f"method.ridge_on=drawn is for method.step=sgd; with method.step={settings.step} the "
            "ridge acts on all weights that have a gradient; set method.ridge_on=all"
        )


def _check_ridge(settings: SampledOptions) -> None:
    """Whether the probability that a step visits a class is known, where the ridge needs it."""
    if settings.ridge_on == "drawn" and not stochastic(settings):
        raise UserError(
            "method.ridge_on=drawn is for steps on drawn classes; set method.solver=minibatch, or "
            "method.ridge_on=all"
        )
    known = settings.n == 1 and settings.sampling in ("others", "all")
    if settings.ridge_on == "drawn" and not known:
        raise UserError(
            "method.ridge_on=drawn needs the probability that a step visits a class, known for one "
            "observation and other classes; set method.n=1 and method.sampling=others or all"
        )


def _check_classes(settings: SampledOptions, info: Info) -> None:
    """Whether there are as many classes as are to be drawn."""
    outside = check_sampling(settings)
    if outside:
        any_weights = "frequency" in entry(settings).samplings
        contract.sampler(
            outside, info, settings.m, settings.n, "" if any_weights else settings.name
        )
        return
    most = info.classes - 1 if settings.sampling == "others" else info.classes
    if settings.sampling == "tree" and not info.features:
        raise UserError(
            f"method.sampling=tree draws classes by features, and {info.name} has none; "
            "set method.sampling=frequency"
        )
    if settings.sampling != "all" and settings.m > most:
        raise UserError(
            f"method.m={settings.m} classes cannot be drawn on {info.name} with "
            f"method.sampling={settings.sampling}: it has {info.classes} classes, so at most {most}"
        )
