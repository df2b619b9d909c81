"""Which methods there are, and whether their settings are possible.

Ours are the values ``method`` in the files of their names, in this folder and under
``baselines/``; others come from outside (`xcbench.plugins`).
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
from xcbench.methods.options import AUTO, MethodOptions, SampledOptions, StochasticOptions
from xcbench.plugins import PluginRef

_by_target: dict[str, PluginRef] = {}  # methods that this process found by their target, by name
_tried: dict[tuple[int, str, Info], Method] = {}  # what passed; the methods are kept for their ids


@cache
def builtin() -> dict[str, Method]:
    """Our methods by name."""
    return {name: method for name, (_, method) in _defined().items()}


@cache
def _defined() -> dict[str, tuple[str, Method]]:
    """Our methods by name, each with the module that defines it."""
    ours: dict[str, tuple[str, Method]] = {}
    for package in (methods, baselines):
        for module in iter_modules(package.__path__, f"{package.__name__}."):
            method = vars(import_module(module.name)).get("method")
            if isinstance(method, Method):
                ours[method.name] = (module.name, method)
    return dict(sorted(ours.items()))


def module(reference: str) -> str:
    """Name of the module that defines a method of a name or a target; it is not imported."""
    ours = _defined().get(reference)
    return ours[0] if ours else plugins.module("method", reference)


def names() -> list[str]:
    """Names of our methods, and of those that packages announce."""
    return [*builtin(), *sorted(set(plugins.announced("method")) - set(builtin()))]


def find(reference: str) -> PluginRef:
    """Find the method of a name or a target.

    Raises
    ------
    UserError
        If there is none, its name is taken, or a piece of it is missing.
    """
    if reference in builtin():
        return PluginRef(builtin()[reference], reference)
    plugin = plugins.find("method", reference, tuple(builtin()))
    contract.definition(plugin)
    name = plugin.thing.name
    if not plugins.is_target(reference):
        if name != reference:
            raise UserError(f"method {plugin.label} calls itself '{name}'; both must be the same")
        return plugin
    if name in builtin():
        raise UserError(
            f"method {plugin.label} has the name '{name}' of a method of xcbench; rename it"
        )
    others = [_by_target.get(name, plugin)]
    if name in plugins.announced("method"):
        others.append(plugins.find("method", name))
    for other in others:
        if other.thing is not plugin.thing:
            raise UserError(f"methods {plugin.label} and {other.label} are both called '{name}'")
    return _by_target.setdefault(name, plugin)


def method_of(settings: MethodOptions) -> Method:
    """Give the method that settings are for."""
    method: Method = plugin_of(settings).thing
    return method


def plugin_of(settings: MethodOptions) -> PluginRef:
    """Find the method that settings are for, and where it comes from.

    Raises
    ------
    UserError
        If there is no such method.
    """
    name = settings.name
    if name not in _by_target and name not in names():
        raise UserError(f"method.name={name} is unknown; methods: {', '.join(names())}")
    if name in builtin():
        plugins.refuse_clash("method", name)
    plugin = _by_target.get(name) or find(name)
    if not isinstance(settings, plugin.thing.schema):
        raise UserError(f"method.name={name} is not possible here; choose it by method={name}")
    return plugin


def check(method: Method, settings: MethodOptions, info: Info) -> None:
    """Refuse settings that are impossible for a method or a dataset, in one sentence."""
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
            _check_classes(method, settings, info)
        _check_l2(settings)
    if settings.l2 and isinstance(method, baselines.Baseline):
        raise UserError(
            f"method.l2 is not possible for {settings.name}, which has options of its own"
        )
    reason = method.impossible(settings)
    if reason:
        raise UserError(reason)
    if isinstance(settings, StochasticOptions):
        _check_optimizer(method, settings)
    _try(method, settings, info)


def _try(method: Method, settings: MethodOptions, info: Info) -> None:
    """Try a method's pieces once for all rates that are set."""
    ruled = settings.lr in (None, AUTO)
    key = id(method), repr(replace(settings, lr=None if ruled else 1.0)), info
    if key in _tried:
        return
    if ruled and method.has_rate(settings):
        settings = replace(settings, lr=contract.rate(method, settings, info))
    contract.method(method, settings, info)
    _tried[key] = method


def outside_sampler(method: Method, settings: MethodOptions) -> PluginRef | None:
    """Refuse a way of drawing classes that the method does not allow; find one from outside.

    Raises
    ------
    UserError
        If the method does not allow it, or it cannot be loaded.
    """
    if not isinstance(settings, SampledOptions):
        return None
    allowed = [*method.samplers, *method.noises]
    if settings.sampler in allowed:
        plugins.refuse_clash("sampler", settings.sampler)
        return None
    taken = {*samplers.NAMES}
    if "others" in allowed and settings.sampler not in taken:
        allowed += sorted(set(plugins.announced("sampler")) - taken)
        if settings.sampler in allowed or plugins.is_target(settings.sampler):
            return plugins.find("sampler", settings.sampler)
    raise UserError(
        f"method.sampler={settings.sampler} is not possible for {settings.name}: "
        f"choose one of {', '.join(allowed)}"
    )


def _check_optimizer(method: Method, settings: StochasticOptions) -> None:
    """Whether the method's weights can move so."""
    if settings.optimizer not in method.optimizers:
        raise UserError(
            f"method.optimizer={settings.optimizer} is not possible for {settings.name}: "
            f"choose one of {', '.join(method.optimizers)}"
        )
    if settings.lr_root_decay and settings.optimizer != "adagrad":
        raise UserError(
            f"method.lr_root_decay={settings.lr_root_decay:g} is for method.optimizer=adagrad; "
            "set that, or leave method.lr_root_decay out"
        )
    if settings.optimizer != "sgd" and settings.lr_schedule != "geometric":
        raise UserError(
            f"method.lr_schedule={settings.lr_schedule} is for method.optimizer=sgd; set that, or "
            "leave method.lr_schedule out"
        )
    on_drawn = isinstance(settings, SampledOptions) and settings.l2_on == "drawn"
    if settings.optimizer != "sgd" and on_drawn:
        raise UserError(
            "method.l2_on=drawn is for method.optimizer=sgd; with "
            f"method.optimizer={settings.optimizer} the penalty acts on all weights that have a "
            "gradient; set method.l2_on=all"
        )


def _check_l2(settings: SampledOptions) -> None:
    """Whether the probability of a visit to a class is known, where the l2 penalty needs it."""
    if settings.l2_on == "drawn" and not stochastic(settings):
        raise UserError(
            "method.l2_on=drawn is for steps on drawn classes; set method.solver=minibatch, or "
            "method.l2_on=all"
        )
    exact = settings.batch_size == 1 and settings.sampler in ("others", "all")
    if settings.l2_on == "drawn" and not exact:
        raise UserError(
            "method.l2_on=drawn needs the probability that a step visits a class, known for one "
            "sample and other classes; set method.batch_size=1 and method.sampler=others "
            "or all"
        )


def _check_classes(method: Method, settings: SampledOptions, info: Info) -> None:
    """Whether there are as many classes as are to be drawn."""
    sampler = outside_sampler(method, settings)
    if sampler:
        any_weights = "frequency" in method.samplers
        contract.sampler(
            sampler,
            info,
            settings.negatives,
            settings.batch_size,
            "" if any_weights else settings.name,
        )
        return
    most = info.classes - 1 if settings.sampler == "others" else info.classes
    if settings.sampler in ("tree", "clusters") and not info.features:
        raise UserError(
            f"method.sampler={settings.sampler} draws classes by features, and {info.name} has "
            "none; set method.sampler=frequency"
        )
    if settings.sampler == "in_batch":
        if settings.batch_size == 1:
            raise UserError(
                "method.sampler=in_batch takes the labels of the other rows of a minibatch; "
                "set method.batch_size to 2 or more"
            )
        return
    if settings.sampler != "all" and settings.negatives > most:
        raise UserError(
            f"method.negatives={settings.negatives} classes cannot be drawn on {info.name} with "
            f"method.sampler={settings.sampler}: it has {info.classes} classes, so at most {most}"
        )
