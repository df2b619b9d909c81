"""Content and identity of a cell, before it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from xcbench.config.settings import Config
from xcbench.methods import registry
from xcbench.methods.method import Method
from xcbench.options import Content, Options, changed
from xcbench.plugins import PluginRef
from xcbench.store.cell import identity as of_content

T = TypeVar("T")


class Shared:
    """What functions give of settings that many points have in common, each computed once."""

    def __init__(self) -> None:
        self.results: dict[tuple[object, int], tuple[Options, object]] = {}

    def __call__(self, function: Callable[[Options], T], settings: Options) -> T:
        """Result of the function; the settings stay with it, so that no other has their id."""
        key = function, id(settings)
        if key not in self.results:
            self.results[key] = settings, function(settings)
        return cast("T", self.results[key][1])


def identity(settings: Config, name: str, digest: str, engine: str) -> str:
    """Identity of a cell: the hash of its content."""
    return of_content(content(settings, name, digest, engine))


def content(settings: Config, name: str, digest: str, engine: str) -> Content:
    """Content of an identity: data digest, which includes the protocol, method and conditions.

    Parameters
    ----------
    settings : with the rate filled in, if the method has one.
    name, digest : name and digest of the prepared dataset.
    """
    method = registry.method_of(settings.method)
    versions = versions_of(method, registry.outside_sampler(method, settings.method))
    return content_of(settings, name, digest, engine, versions, Shared())


def versions_of(method: Method, sampler: PluginRef | None) -> dict[str, int]:
    """Versions of the code that a cell's numbers come from."""
    versions = {"version": method.version}
    return (
        versions | {"sampler_version": getattr(sampler.thing, "version", 1)}
        if sampler
        else versions
    )


def content_of(
    settings: Config,
    name: str,
    digest: str,
    engine: str,
    versions: dict[str, int],
    shared: Shared,
) -> Content:
    """As `content`, with the versions of its code and what other points share."""
    return {
        "dataset": name,
        "digest": digest,
        "protocol": shared(changed, settings.dataset.protocol),
        "method": changed(settings.method),
        **versions,
        "budget": shared(changed, settings.budget),
        "evaluation": shared(changed, settings.evaluation),
        "seed": settings.seed,
        "dtype": settings.dtype,
        "engine": engine,
    }
