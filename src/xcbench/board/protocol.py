"""The protocol of the board, as ``conf/experiment/board.yaml`` has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from xcbench import options
from xcbench.config.settings import Config
from xcbench.errors import writing
from xcbench.methods import registry
from xcbench.methods.options import StochasticOptions
from xcbench.options import Content
from xcbench.plan import sweeps
from xcbench.show import templates
from xcbench.system import durable, yaml_files

PARTS = ("tuning", "runs")
NAME = "board"
CELLS = "cells"  # folder of the measured rows, in it one folder a task
REFERENCE = "softmax"  # exact, at its optimum
LINES = ("prior", "class_sums")  # what needs no training: drawn as lines, not ranked
PENALTIES = ("strength", "C", "alpha", "rate")  # options of methods, or their rate
UNTIMED = ("budget.times=[]", "budget.patience=null")  # passes alone end such a training
LATE = 1.25  # times a checkpoint's seconds at which it still counts: looks at the clock are apart
Words = tuple[str, ...]


@dataclass(frozen=True)
class Task:
    """A dataset with the rule that turns its rows into a problem.

    Attributes
    ----------
    name : its dataset, or ``DATASET-WHAT``.
    words : overrides of its cells.
    every_label : whether a prediction of any label of a row is correct.
    held_out : whether ranks on the other tasks are to predict those on this one.
    slower : factor of the protocol's seconds.
    """

    name: str
    words: Words
    every_label: bool = False
    held_out: bool = False
    slower: float = 1.0


@dataclass(frozen=True)
class Protocol:
    """Conditions shared by all methods; the file explains each entry."""

    trials: int
    rungs: tuple[float, ...]
    longest: float
    kept: int
    trial: Words
    pace: tuple[float, ...]
    speed: Words
    filled: float
    schedule: str
    studies: int
    seeds: int
    over: float
    rate_decades: float
    decay: tuple[float, float]
    option_decades: float
    reference_decay: tuple[float, ...]
    reference_seconds: float
    overtime: float
    at: tuple[float, ...]
    labels: Words
    variants: Mapping[str, Words]
    seconds: float  # of a final cell
    tasks: Mapping[str, Task]  # by name

    @property
    def methods(self) -> dict[str, Words]:
        """Overrides by the name of every method: those of the registry, and the variants."""
        return {**{name: (f"method={name}",) for name in registry.names()}, **self.variants}

    def survivors(self, rung: int) -> int:
        """Trials on a rung of a search: on the next one the best third."""
        return max(1, self.trials // self.kept**rung)


def dataset(task: str) -> str:
    """The dataset that the name of a task begins with."""
    return task.partition("-")[0]


def read() -> Protocol:
    """Read the protocol from the file."""
    file = content()
    entries, seconds = file["experiment"], file["budget"]["seconds"]
    tasks = {
        name: Task(name, tuple(task.pop("words")), **task)
        for name, task in entries.pop("tasks").items()
    }
    variants = {name: tuple(words) for name, words in entries.pop("variants").items()}
    values: Any = {name: tuple(it) if isinstance(it, list) else it for name, it in entries.items()}
    return Protocol(**values, seconds=seconds, tasks=tasks, variants=variants)


def content() -> Content:
    """The file as it is."""
    return yaml_files.plain(options.folder() / "experiment" / f"{NAME}.yaml")


class Conditions:
    """Configurations of the board's cells, inside `sweeps.hydra`."""

    def __init__(self, protocol: Protocol, overrides: Mapping[str, str]) -> None:
        self.protocol = protocol
        self.overrides = [f"{name}={value}" for name, value in overrides.items()]
        self.composer = sweeps.ExperimentComposer()
        self.composed = cache(self._compose)  # once for all seeds and seconds: it takes long

    def _compose(self, task: Task, method: str, words: Words) -> Config:
        chosen = [*self.protocol.methods[method], *task.words, "mlflow=false", *words]
        return self.composer.read([f"experiment={NAME}", *chosen, *self.overrides])

    def of(self, task: Task, method: str, seed: int, *words: str) -> Config:
        """A cell at the method's default settings, but for the schedule of plain steps."""
        cell = replace(self.composed(task, method, words), seed=seed)
        if isinstance(cell.method, StochasticOptions) and cell.method.optimizer == "sgd":
            return replace(cell, method=replace(cell.method, lr_schedule=self.protocol.schedule))
        return cell

    def pace(self, task: Task, method: str, seconds: float) -> Config:
        """A trial that measures how many passes a method makes in a second."""
        words = (*self.protocol.trial, *self.protocol.speed)
        return within(seconds, self.of(task, method, 0, *words))

    def trial(self, task: Task, method: str, study: int, seconds: float) -> Config:
        """A trial of a search, of which the study is the seed."""
        return within(seconds, self.of(task, method, study, *self.protocol.trial))

    def final(self, task: Task, method: str, seed: int, *words: str) -> Config:
        """A final cell."""
        seconds = self.protocol.seconds * task.slower
        return within(seconds, self.of(task, method, seed, *words))

    def untimed(self, task: Task, method: str, seed: int) -> Config:
        """A cell that trains to its end, however long that takes."""
        return self.of(task, method, seed, "budget.seconds=null", *UNTIMED)


def within(seconds: float, cell: Config) -> Config:
    """A cell with other seconds of training, at most."""
    return replace(cell, budget=replace(cell.budget, seconds=float(seconds)))


def write(folder: Path) -> None:
    """Write the protocol as Markdown, from the present file."""
    text = templates.render(
        "board/protocol.md",
        protocol=read(),
        conditions=content(),
        methods=[*registry.builtin()],
        reference=REFERENCE,
        lines=LINES,
        late=LATE,
        penalties=PENALTIES,
    )
    with writing(folder, "reports_dir"):
        durable.write(folder / "PROTOCOL.md", text)
