"""From overrides to configurations: a sweep is composed once for each choice of groups.

Hydra takes a tenth of a second to compose. Points that differ only in plain values are made by
setting these values. Points of an experiment need no Hydra at all (`config.layers`).
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import Field, dataclass, fields
from functools import cache, cached_property

from hydra import compose, initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override, OverrideType
from hydra.errors import HydraException, MissingConfigException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from xcbench import options
from xcbench.config import composing, hydra_messages, layers, presets
from xcbench.config.settings import Config
from xcbench.errors import UserError
from xcbench.methods import registry
from xcbench.options import Content, Options
from xcbench.store.profile import LAUNCH
from xcbench.units import printable

PARTS = {entry.name: entry for entry in fields(Config)}
PLAIN = {entry.name for entry in fields(Config) if entry.metadata}  # options in no group
Point = Sequence[str]


@dataclass(frozen=True)
class _Base:
    """What a choice of groups gives, with the values of one of its points or none.

    Attributes
    ----------
    content : the configuration in plain values, ``${...}`` as it stands.
    schema : of the options of its method.
    """

    content: Content
    schema: type

    @classmethod
    def of(cls, composed: DictConfig) -> _Base:
        """What Hydra composed; raises where something is no option."""
        content = OmegaConf.to_container(composing.typed(composed), resolve=False)
        assert isinstance(content, dict)
        schema = OmegaConf.get_type(composed.method)
        assert schema is not None
        return cls({name: content[name] for name in PARTS}, schema)

    @classmethod
    def laid(cls, content: Content) -> _Base:
        """What `layers.lay` gives."""
        return cls(content, registry.builtin()[content["method"]["name"]].schema)

    @cached_property
    def refers(self) -> dict[str, tuple[str, ...]]:
        """The parts that each part of `Config` refers to by ``${...}``, itself the first."""
        direct = {name: _references(self.content[name]) for name in PARTS}
        refers: dict[str, tuple[str, ...]] = {name: (name,) for name in PARTS}
        for _ in PARTS:
            refers = {
                name: tuple(dict.fromkeys(itertools.chain(others, *(direct[it] for it in others))))
                for name, others in refers.items()
            }
        return refers

    @cached_property
    def words(self) -> dict[str, str]:
        """The content of each part."""
        return {name: repr(part) for name, part in self.content.items()}

    def typed(self, name: str, others: Sequence[str]) -> DictConfig:
        """A part with the type of every option, among others as they stand."""
        content = {other: self.content[other] for other in others}
        typed = OmegaConf.merge(_types(name, self.schema), content)
        assert isinstance(typed, DictConfig)
        OmegaConf.set_struct(typed, True)
        return typed


@cache
def _types(name: str, schema: object) -> DictConfig:
    """Types of a part; of a method, those of its own options."""
    options = {name: OmegaConf.structured(schema)} if name == "method" else {}
    types = OmegaConf.merge(composing.schema_of(name), options)
    assert isinstance(types, DictConfig)
    return types


class Composer:
    """Configurations of points, each a list of overrides.

    Points share equal parts: a part of `Config`, such as its method, is made and checked once for
    all points with the same values in it.

    Parameters
    ----------
    compose : function that composes a point in full.
    """

    def __init__(self, compose: Callable[[list[str]], DictConfig]) -> None:
        self.compose = compose
        self.parser = OverridesParser.create()
        self.words: dict[str, Override] = {}
        self.bases: dict[tuple[str, ...], _Base] = {}
        self.typed: dict[tuple[object, ...], DictConfig] = {}
        self.parts: dict[tuple[object, ...], Options] = {}

    def read(self, point: Point) -> Config:
        """Checked configuration of a point.

        Raises
        ------
        UserError
            If a value is of a wrong type or out of range.
        """
        parsed = [self._parsed(word) for word in point]
        values = [override for override in parsed if _is_value(override)]
        choices = [override for override in parsed if not _is_value(override)]
        key = *(str(item.input_line) for item in choices), *(value.key_or_group for value in values)
        if key not in self.bases:
            self.bases[key] = _Base.of(self.compose(list(point)))
        return self._with(self.bases[key], values)

    def _with(self, base: _Base, values: Sequence[Override]) -> Config:
        return Config(**{name: self._part(name, base, values) for name in PARTS})

    def _part(self, name: str, base: _Base, values: Sequence[Override]) -> Options:
        """A part of a configuration, made and checked once for all points that have it."""
        others = base.refers[name]
        relevant = [value for value in values if _head(value) in others]
        if any("${" in str(value.input_line) for value in relevant):
            others, relevant = (name, *(PARTS.keys() - {name})), list(values)
        names = tuple(value.key_or_group for value in relevant)
        key = (
            name,
            base.schema if name == "method" else None,
            names,
            *(base.words[other] for other in others),
        )
        given = *key, *(str(value.input_line) for value in relevant)
        if given not in self.parts:
            if key not in self.typed:
                self.typed[key] = base.typed(name, others)
            self.parts[given] = _read(self.typed[key], PARTS[name], relevant)
        return self.parts[given]

    def read_all(self, points: Sequence[Point]) -> tuple[list[Config], dict[str, list[Point]]]:
        """Checked configurations of the valid points, and the invalid ones by error.

        A name that does not exist is an error of the whole sweep.
        """
        from xcbench.config.refused_points import COMPOSING, explain, raised_by_hydra

        configurations = []
        problems: dict[str, list[Point]] = defaultdict(list)
        for point in points:
            try:
                configurations.append(self.read(point))
            except MissingConfigException:
                raise
            except COMPOSING as error:
                if not raised_by_hydra(error):
                    raise
                problems[explain(error)].append(point)
            except (UserError, HydraException, OmegaConfBaseException) as error:
                problems[explain(error)].append(point)
        return configurations, problems

    def possible(self, points: Sequence[Point]) -> tuple[list[Config], dict[str, list[Point]]]:
        """As `read_all`; reports which points are skipped.

        Raises
        ------
        UserError
            If no point is valid.
        """
        configurations, problems = self.read_all(points)
        for reason, skipped in problems.items():
            if not configurations:
                raise UserError(f"{printable(reason)}; in {printable(' '.join(skipped[0]))}")
            more = f" and {len(skipped) - 1} more points" if len(skipped) > 1 else ""
            print(f"skipped: {' '.join(skipped[0])}{more}: {reason}", flush=True)
        return configurations, problems

    def _parsed(self, word: str) -> Override:
        if word not in self.words:
            self.words[word] = self.parser.parse_overrides([word])[0]
        return self.words[word]


def _read(typed: DictConfig, part: Field[object], values: Sequence[Override]) -> Options:
    """Checked part with these values; as all set the same names, none is left of those before."""
    for value in values:
        try:
            OmegaConf.update(typed, value.key_or_group, value.value())
        except (OmegaConfBaseException, OverflowError) as error:
            reason = hydra_messages.value_problem(str(error).splitlines()[0])
            raise UserError(f"{value.input_line} is not possible: {reason}") from None
    return composing.part(typed, part)


def _head(value: Override) -> str:
    return value.key_or_group.partition(".")[0]


def _references(node: Options) -> set[str]:
    """Parts that the interpolations below a node name."""
    if isinstance(node, dict):
        return set().union(*map(_references, node.values()))
    if isinstance(node, list):
        return set().union(*map(_references, node))
    return set(PARTS) & set(re.findall(r"\w+", node)) if "${" in str(node) else set()


def _is_value(override: Override) -> bool:
    """Whether it sets a number, a word or a list, and chooses nothing."""
    key = override.key_or_group
    plain = key in PLAIN or ("." in key and "/" not in key and not key.startswith("hydra."))
    simple = isinstance(override.value(), bool | int | float | str | list | None)
    return plain and simple and override.package is None and override.type == OverrideType.CHANGE


class ExperimentComposer(Composer):
    """Configurations of points that choose an experiment, inside `hydra`, as `layers` lays them.

    A point with a mistake is left to Hydra, which says what is wrong.
    """

    def __init__(self) -> None:
        super().__init__(lambda point: compose("config", overrides=point))
        self.laid: dict[tuple[tuple[str, str], ...], _Base | None] = {}

    def read(self, point: Point) -> Config:
        """Checked configuration of a point; raises what `Composer.read` does."""
        parsed = [self._parsed(word) for word in point]
        values = [override for override in parsed if _is_value(override)]
        choices = [override for override in parsed if not _is_value(override)]
        if all(map(_is_choice, choices)):
            with suppress(UserError, HydraException, OmegaConfBaseException):
                base = self._laid(*((it.key_or_group, str(it.value())) for it in choices))
                if base:
                    return self._with(base, values)
        return super().read(point)

    def _laid(self, *choices: tuple[str, str]) -> _Base | None:
        if choices not in self.laid:
            content = layers.lay(dict(choices))
            self.laid[choices] = _Base.laid(content) if content else None
        return self.laid[choices]


def _is_choice(override: Override) -> bool:
    """Whether it chooses an entry of a group by its name."""
    named = isinstance(override.value(), str) and override.package is None
    return named and override.type == OverrideType.CHANGE


def points(swept: Mapping[str, str]) -> Iterator[list[str]]:
    """All combinations of swept values: ``{"seed": "0,1"}`` gives two points.

    The first name varies slowest, as in Hydra's own sweeps.
    """
    parser = OverridesParser.create()
    return combinations(parser.parse_overrides([f"{k}={v}" for k, v in swept.items()]))


def combinations(overrides: Iterable[Override]) -> Iterator[list[str]]:
    """All combinations of the values of overrides; the last one of a name counts.

    Raises
    ------
    HydraException
        If values are swept that nobody listed, such as an interval.
    """
    choices: dict[str, list[str]] = {}
    for override in overrides:
        key = override.get_key_element()
        if not override.is_sweep_override():
            choices[key] = [f"{key}={override.get_value_element_as_str()}"]
        elif override.is_discrete_sweep():
            choices[key] = [f"{key}={value}" for value in override.sweep_string_iterator()]
        else:
            raise HydraException(f"{override.input_line} is no list of values to sweep")
    return (list(point) for point in itertools.product(*choices.values()))


NOTHING: Mapping[str, str] = {}


@contextmanager
def hydra(overrides: Mapping[str, str] = NOTHING) -> Iterator[None]:
    """Context for composing outside of a launch.

    Parameters
    ----------
    overrides : the user's overrides.

    Raises
    ------
    UserError
        If composing fails.
    """
    from xcbench.config.refused_points import COMPOSING, explain, raised_by_hydra

    composing.register()
    try:
        with initialize_config_dir(version_base="1.3", config_dir=str(options.folder().resolve())):
            yield
    except (HydraException, OmegaConfBaseException) as error:
        raise UserError(explain(error)) from None
    except COMPOSING as error:
        if not raised_by_hydra(error):
            raise
        words = " ".join(f"{key}={value}" for key, value in overrides.items())
        raise UserError(f"{words} is not possible: {explain(error)}") from None


@dataclass(frozen=True)
class Sweep:
    """Points of an experiment.

    Attributes
    ----------
    swept : names of swept settings.
    """

    swept: tuple[str, ...]
    configurations: list[Config]


@LAUNCH.during("compose")
def of_experiment(
    name: str, overrides: Mapping[str, str], composer: Composer | None = None
) -> Sweep:
    """Configurations of an experiment, inside `hydra`.

    Parameters
    ----------
    name : name of the experiment, such as ``umax/figure2``.
    overrides : for a swept setting, the wanted values among those of the experiment (possibly none
        of them); for others, a setting of all its points.
    composer : of other experiments, too, whose parts are shared.
    """
    chosen = f"experiment={name}"
    composer = composer or ExperimentComposer()
    preset = presets.find("experiment", name)
    if preset is None:
        preset = compose("config", overrides=[chosen], return_hydra_config=True)
    params = preset.hydra.sweeper.params or {}
    swept = {str(key): "null" if it is None else str(it) for key, it in params.items()}
    for key in swept.keys() & overrides.keys():
        selected = values(key, overrides[key])
        left = [text for value, text in values(key, swept[key]).items() if value in selected]
        if not left:
            return Sweep(tuple(swept), [])
        swept[key] = ",".join(left)
    rest = {key: value for key, value in overrides.items() if key not in swept}
    every = points({**swept, **rest})
    return Sweep(tuple(swept), [composer.read([chosen, *point]) for point in every])


def values(key: str, text: str) -> dict[object, str]:
    """Values of a sweep, with the words that say them: 1 and 1.0 are the same."""
    override = OverridesParser.create().parse_overrides([f"{key}={text}"])[0]
    if not override.is_sweep_override():
        return {override.value(): override.get_value_element_as_str()}
    return dict(zip(override.sweep_iterator(), override.sweep_string_iterator(), strict=True))
