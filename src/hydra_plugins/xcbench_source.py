"""Hydra sources of configurations: files of finite measure, and settings of methods and datasets.

``method=NAME`` is the settings of a `Method`, with its defaults. So are datasets from outside, and
what ``module.thing`` names. Hydra takes plugins from the namespace package ``hydra_plugins`` alone,
which is why they stand here.
"""

from __future__ import annotations

import re
from pathlib import Path

from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.object_type import ObjectType
from hydra.plugins.config_source import ConfigResult, ConfigSource
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import OmegaConf

PATH, FILES = "xcbench://", "xcbench-files://"


class FilesSource(ConfigSource):
    """YAML files of a folder, each measured before it is read, and parsed once for all points."""

    @staticmethod
    def scheme() -> str:
        """Prefix of its place in the search path."""
        return FILES.removesuffix("://")

    def load_config(self, config_path: str) -> ConfigResult:
        """Content of a file, which a first line ``# @package NAME`` may put elsewhere."""
        from xcbench.system import yaml_files

        path = self._file(config_path)
        content = yaml_files.load(path)
        package = re.match(r"\s*#\s*@package\s+(\S+)", path.read_text("utf-8"))
        header = {"package": package[1] if package else None}
        return ConfigResult(self.provider, self.full_path(), content, header=header)

    def is_group(self, config_path: str) -> bool:
        """Whether it is a folder."""
        return Path(self.path, config_path).is_dir()

    def is_config(self, config_path: str) -> bool:
        """Whether it is a file."""
        return self._file(config_path).is_file()

    def available(self) -> bool:
        """Whether the folder is there."""
        return self.is_group("")

    def list(self, config_path: str, results_filter: ObjectType | None) -> list[str]:
        """Names of the files in a folder, or of its folders."""
        entries = [*Path(self.path, config_path).iterdir()]
        groups = {entry.name for entry in entries if entry.is_dir()}
        files = {entry.stem for entry in entries if entry.suffix == ".yaml"}
        chosen = {ObjectType.GROUP: groups, ObjectType.CONFIG: files, None: groups | files}
        return sorted(chosen.get(results_filter, files))

    def _file(self, config_path: str) -> Path:
        return Path(self.path, config_path.removesuffix(".yaml") + ".yaml")


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
    """Takes the sources, in our launches alone: every Hydra program here loads this plugin."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Read our folder as `FilesSource`, and put the other source behind it."""
        from xcbench import options

        ours = options.folder().resolve()
        places = [
            place
            for place in search_path.get_path()
            if Path(str(place.path).removeprefix("file://")).resolve() == ours
        ]
        for place in places:
            place.path = f"{FILES}{ours}"
        if places:
            search_path.append("xcbench", PATH)


def _parts(config_path: str) -> tuple[str, str]:
    """Group and name; a preset's name has its paper before it."""
    group, _, name = config_path.strip("/").partition("/")
    return group, name.removesuffix(".yaml")
