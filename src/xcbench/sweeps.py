"""From overrides to configurations: a sweep is composed once for each choice of groups.

Composing takes Hydra a tenth of a second; points that differ in plain values only are made by
setting these values.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields

from hydra import compose, initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from xcbench import config
from xcbench.config import Config
from xcbench.errors import UserError

PLAIN = {entry.name for entry in fields(Config) if entry.metadata}  # options in no group
Point = Sequence[str]


class Composer:
    """Configurations of points, each a list of overrides.

    Parameters
    ----------
    compose : what composes a point in full.
    """

    def __init__(self, compose: Callable[[list[str]], DictConfig]) -> None:
        self.compose = compose
        self.parser = OverridesParser.create()
        self.known: dict[tuple[str, ...], DictConfig] = {}

    def read(self, point: Point) -> Config:
        """Checked configuration of a point.

        Raises
        ------
        UserError
            If a value is of a wrong type or out of range.
        """
        parsed = self.parser.parse_overrides(list(point))
        values = [override for override in parsed if _is_value(override)]
        choices = [override for override in parsed if not _is_value(override)]
        key = *(str(item.input_line) for item in choices), *(value.key_or_group for value in values)
        if key not in self.known:
            self.known[key] = config.typed(self.compose(list(point)))
        made = copy.deepcopy(self.known[key])
        for value in values:
            try:
                OmegaConf.update(made, value.key_or_group, value.value())
            except OmegaConfBaseException as error:
                reason = str(error).splitlines()[0]
                raise UserError(f"{value.input_line} is not possible: {reason}") from None
        return config.resolved(made)


def _is_value(override: Override) -> bool:
    """Whether it sets one number or word, and chooses nothing."""
    key = override.key_or_group
    plain = key in PLAIN or ("." in key and "/" not in key and not key.startswith("hydra."))
    simple = isinstance(override.value(), bool | int | float | str | None)
    return plain and simple and override.package is None and override.is_add() is False


def points(swept: Mapping[str, str]) -> Iterator[list[str]]:
    """All combinations of what is swept: ``{"seed": "0,1"}`` gives two points.

    The first name varies slowest, as in Hydra's own sweeps.
    """
    parsed = OverridesParser.create().parse_overrides([f"{k}={v}" for k, v in swept.items()])
    choices = [
        [f"{item.key_or_group}={value}" for value in item.sweep_string_iterator()]
        if item.is_sweep_override()
        else [f"{item.key_or_group}={item.get_value_element_as_str()}"]
        for item in parsed
    ]
    return (list(point) for point in itertools.product(*choices))


@contextmanager
def hydra() -> Iterator[None]:
    """Composing outside of a launch.

    Raises
    ------
    UserError
        If something cannot be composed.
    """
    from xcbench.app import explain

    config.register()
    try:
        with initialize_config_dir(version_base="1.3", config_dir=str(config.folder().resolve())):
            yield
    except (HydraException, OmegaConfBaseException) as error:
        raise UserError(explain(error)) from None


def of_experiment(name: str, overrides: Mapping[str, str]) -> list[Config]:
    """Configurations of an experiment, inside `hydra`.

    Parameters
    ----------
    name : of the file below ``conf/experiment/``.
    overrides : of what the experiment sweeps, the values that are wanted among its own (none of
        them may be left); else settings of all its points.
    """
    chosen = f"experiment={name}"
    whole = compose("config", overrides=[chosen], return_hydra_config=True)
    swept = {key: str(value) for key, value in (whole.hydra.sweeper.params or {}).items()}
    composer = Composer(lambda point: compose("config", overrides=[chosen, *point]))
    wanted = {key: _words(overrides[key]) for key in swept if key in overrides}
    rest = {key: value for key, value in overrides.items() if key not in swept}
    for key, values in wanted.items():
        left = [word for word in _words(swept[key]) if word in values]
        if not left:
            return []
        swept[key] = ",".join(left)
    return [composer.read(point) for point in points({**swept, **rest})]


def _words(values: str) -> list[str]:
    return [word.strip() for word in values.split(",")]
