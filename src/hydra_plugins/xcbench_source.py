"""Hydra source of configurations: ``method=NAME`` is the settings of a `Method`, with its defaults.

So are datasets from outside, and what ``module.thing`` names. Hydra takes plugins from the
namespace package ``hydra_plugins`` alone, which is why it stands here.
"""

from __future__ import annotations

from pathlib import Path

from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.object_type import ObjectType
from hydra.plugins.config_source import ConfigResult, ConfigSource
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import OmegaConf

PATH = "xcbench://"


class XcbenchSource(ConfigSource):
    """Methods and datasets, imported when they are asked for."""

    @staticmethod
    def scheme() -> str:
        """Prefix of its place in the search path."""
        return PATH.removesuffix("://")

    def load_config(self, config_path: str) -> ConfigResult:
        """Settings of a method or dataset with their defaults."""
        from xcbench.config import presets
        from xcbench.data import external
        from xcbench.methods import registry

        group, reference = _parts(config_path)
        if group in presets.GROUPS:
            preset = presets.find(group, reference)
            assert preset is not None  # `is_config` said so
            return ConfigResult(
                self.provider, self.full_path(), preset, header={"package": "_global_"}
            )
        if group == "method":
            method = registry.find(reference).thing
            node = OmegaConf.structured(method.schema(name=method.name))
        else:
            node = OmegaConf.structured(external.settings(reference))
        return ConfigResult(self.provider, self.full_path(), node, header={"package": None})

    def is_config(self, config_path: str) -> bool:
        """Whether it has a method or dataset of this name; of a target it is found out later."""
        from xcbench.config import presets

        group, reference = _parts(config_path)
        if group in presets.GROUPS:
            return presets.find(group, reference) is not None
        if group not in ("method", "dataset"):
            return False
        return "." in reference or reference in self.list(group, ObjectType.CONFIG)

    def list(self, config_path: str, results_filter: ObjectType | None) -> list[str]:
        """Names of methods or of datasets from outside."""
        from xcbench import plugins
        from xcbench.config import presets
        from xcbench.data import external
        from xcbench.methods import registry

        group = config_path.strip("/")
        if results_filter == ObjectType.GROUP:
            return []
        if group in presets.GROUPS:
            return presets.names(group)
        if group not in ("method", "dataset"):
            return []
        if group == "method":
            return registry.names()
        return sorted(set(plugins.announced("dataset")) - set(external.catalogue()))

    def is_group(self, config_path: str) -> bool:
        """Whether there are such things at all."""
        from xcbench.config import presets

        group = config_path.strip("/").partition("/")[0]
        return group in ("method", "dataset", *presets.GROUPS)

    def available(self) -> bool:
        """It is always there."""
        return True


class XcbenchSearchPath(SearchPathPlugin):
    """Makes the source known, to our launches alone: every Hydra program here loads this plugin."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Put the source behind the files."""
        from xcbench import options

        places = [str(place.path).removeprefix("file://") for place in search_path.get_path()]
        if options.folder().resolve() in [Path(place).resolve() for place in places]:
            search_path.append("xcbench", PATH)


def _parts(config_path: str) -> tuple[str, str]:
    """Group and name; a preset's name has its paper before it."""
    group, _, name = config_path.strip("/").partition("/")
    return group, name.removesuffix(".yaml")
