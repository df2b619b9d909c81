"""Presets of the papers, as Hydra's groups variant, rates and experiment.

They stand in ``conf/paper/NAME.yaml``, or in ``experiments.yaml`` in a paper's own folder.
``variants`` are settings of a paper, with those of a dataset or a method below ``datasets`` and
``methods``; ``rates`` are its learning rates. ``experiments`` name the variant and the rates that
they take, what they set and ``sweep``. ``every_variant`` and ``every_experiment`` hold for all.
What ``extends`` an entry has the settings of that one, too. ``variant=umax/code``,
``rates=umax/table2`` and ``experiment=umax/figure2`` each choose one entry.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from xcbench import options
from xcbench.errors import UserError
from xcbench.options import Content
from xcbench.system import yaml_files

INSIDE = Path(__file__).parents[1] / "papers"
PARTS = {"variant": "variants", "rates": "rates", "experiment": "experiments"}
BELOW = {"variant_dataset": "datasets", "variant_method": "methods"}
CHOSEN = ("variant", "rates")  # by an experiment
GROUPS = (*PARTS, *BELOW)


def names(group: str, paper: str = "") -> list[str]:
    """Choices of a group, such as ``umax/figure2``; for one paper, without its name."""
    prefix = f"{paper}/" if paper else ""
    return sorted(name.removeprefix(prefix) for name, _ in _entries(group, paper))


def find(group: str, name: str) -> DictConfig | None:
    """A preset as Hydra has it, for the top level of a configuration; None if there is none."""
    raw = entry(group, name)
    if raw is None:
        return None
    launch = _launch(raw) if group == "experiment" else {}
    return OmegaConf.create({**launch, **settings(group, name, raw)})


def entry(group: str, name: str) -> Content | None:
    """All that a file says of a preset; None if there is none."""
    paper, _, preset = name.partition("/")
    entries = _entries(group, paper) if preset else ()
    return next((raw for key, raw in entries if key == name), None)


def settings(group: str, name: str, raw: Content) -> Content:
    """What an entry sets itself, without what it chooses, sweeps, or has for a dataset alone."""
    experiment = group == "experiment"
    separate = ("sweep", *CHOSEN) if experiment else (*BELOW.values(),)
    grid = {"grid": name.replace("/", "-")} if experiment else {}
    return {**grid, **{key: value for key, value in raw.items() if key not in separate}}


def chosen(experiment: Content) -> dict[str, str]:
    """Groups that an experiment chooses, but for its dataset and method."""
    return {group: experiment[group] for group in CHOSEN if experiment.get(group)}


def _launch(experiment: Content) -> Content:
    """An experiment as Hydra has it: groups that it chooses, values that it sweeps.

    Of what it sweeps the first dataset and method are chosen, for settings that only they have.
    """
    swept = {
        key: ",".join(map(str, values)) if isinstance(values, list) else values
        for key, values in experiment["sweep"].items()
    }
    first = {group: swept[group].partition(",")[0] for group in ("dataset", "method")}
    groups = {**chosen(experiment), **first}
    return {
        "defaults": [*({f"override /{it}": choice} for it, choice in groups.items()), "_self_"],
        "hydra": {"mode": "MULTIRUN", "sweeper": {"params": swept}},
    }


def files() -> dict[str, Path]:
    """Files of presets by paper."""
    given = {path.stem: path for path in (options.folder() / "paper").glob("*.yaml")}
    return {path.parent.name: path for path in INSIDE.glob("*/experiments.yaml")} | given


@cache
def _content(path: Path, changed: int) -> dict[str, dict[str, Content]]:
    """Entries of a file by part, in full; read again when it has changed."""
    content = yaml_files.plain(path)
    return {
        part: {
            str(name): _in_full(path, content[part], name, content.get(f"every_{group}", {}))
            for name in content.get(part, {})
        }
        for group, part in PARTS.items()
    }


def _in_full(path: Path, entries: dict[str, Content], name: str, every: Content) -> Content:
    """An entry with what every one has, and with what the one that it extends has."""
    entry = dict(entries[name])
    extended = entry.pop("extends", None)
    below = entries.get(extended, {"extends": ""}) if extended else {}
    if "extends" in below:
        raise UserError(f"{path}: {name} extends {extended}, which is no entry or extends another")
    return over(over(every, below), entry)


def over(below: object, above: object) -> Any:
    """Settings over others, as Hydra merges them."""
    if not (isinstance(below, dict) and isinstance(above, dict)):
        return above
    return {**below, **{key: over(below.get(key), value) for key, value in above.items()}}


def _entries(group: str, paper: str) -> Iterator[tuple[str, Content]]:
    """Presets of a group with their names; of one paper, or of all without its name."""
    for owner, path in sorted(files().items()):
        if paper not in ("", owner):  # parsing one takes a tenth of a second
            continue
        parts = _content(path, path.stat().st_mtime_ns)
        for name, entry in parts[PARTS.get(group, "variants")].items():
            if group in PARTS:
                yield f"{owner}/{name}", entry
            else:
                for preset, below in entry.get(BELOW[group], {}).items():
                    yield f"{owner}/{name}/{preset}", below
