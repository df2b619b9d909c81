"""The protocol of the board, as ``conf/experiment/board.yaml`` has it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from xcbench import options
from xcbench.config.settings import Config
from xcbench.errors import writing
from xcbench.methods import registry
from xcbench.plan import sweeps
from xcbench.show import templates
from xcbench.system import durable, yaml_files

PARTS = ("tuning", "runs")
NAME = "board"
PENALTIES = ("strength", "C", "alpha", "rate")  # options of methods, or their rate
RERUNS = 30  # cells that a check runs again


@dataclass(frozen=True)
class Task:
    """A dataset with the rule that turns its rows into a problem.

    Attributes
    ----------
    words : overrides of its cells.
    drawn : whether each seed draws its split, as the dataset has none.
    every_label : whether a prediction of any label of a row is correct.
    seconds : time limits of its cells by part, if they differ from the protocol's.
    """

    name: str
    words: tuple[str, ...]
    drawn: bool = False
    every_label: bool = False
    seconds: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Protocol:
    """Conditions shared by all methods; the file explains each entry."""

    trials: int
    search_seed: int
    seeds: int
    rate_decades: float
    decay: tuple[float, float]
    option_decades: float
    seconds: Mapping[str, float]
    patience: float
    labels: tuple[str, ...]
    first_defaults: bool = False
    tasks: tuple[Task, ...] = field(default=())

    def cells(self, part: str) -> int:
        """Number of cells of a method on a task."""
        return self.trials if part == "tuning" else self.seeds

    def cap(self, task: Task, part: str) -> float:
        """Processor seconds that a cell may take."""
        return task.seconds.get(part, self.seconds[part])

    def limit(self, task: Task, part: str) -> float:
        """Processor seconds after which all cells of a method on a task are killed."""
        return self.patience * self.cells(part) * self.cap(task, part)


def read() -> Protocol:
    """Read the protocol from the file."""
    path = options.folder() / "experiment" / f"{NAME}.yaml"
    content: Any = OmegaConf.to_container(yaml_files.load(path))
    entries = content["experiment"]
    tasks = tuple(
        Task(name, tuple(task.pop("words")), **task) for name, task in entries.pop("tasks").items()
    )
    lists = {name: tuple(entries[name]) for name in ("decay", "labels")}
    return Protocol(**{**entries, **lists}, tasks=tasks)


class Conditions:
    """Configurations of the board's cells, inside `sweeps.hydra`."""

    def __init__(self, protocol: Protocol, overrides: Mapping[str, str]) -> None:
        self.protocol = protocol
        self.overrides = [f"{name}={value}" for name, value in overrides.items()]
        self.composer = sweeps.ExperimentComposer()

    def of(self, task: Task, method: str, part: str, seed: int) -> Config:
        """A cell at the method's default settings."""
        words = self._words(task, method, part, seed)
        settings = self.composer.read([f"experiment={NAME}", *words, *self.overrides])
        if self.protocol.first_defaults:
            settings = replace(settings, method=options.as_at_first(settings.method))
        return settings

    def _words(self, task: Task, method: str, part: str, seed: int) -> Iterator[str]:
        yield from (f"method={method}", *task.words, f"seed={seed}", "mlflow=false")
        yield f"budget.seconds={self.protocol.cap(task, part)}"
        if task.drawn:
            yield f"dataset.protocol.split_seed={seed}"


def write(folder: Path) -> None:
    """Write the protocol as Markdown, from the present file."""
    path = options.folder() / "experiment" / f"{NAME}.yaml"
    text = templates.render(
        "board/protocol.md",
        protocol=read(),
        conditions=OmegaConf.to_container(yaml_files.load(path)),
        methods=[*registry.builtin()],
        penalties=PENALTIES,
        reruns=RERUNS,
    )
    with writing(folder, "reports_dir"):
        durable.write(folder / "PROTOCOL.md", text)
