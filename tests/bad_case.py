"""What a bad input is, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from workspace import SMALL, Outcome

ONE = ("dataset=digits", "method=umax")
BASE = (*ONE, *SMALL, "save_weights=true")  # of the cell that is there before


class NotPossible(Exception):
    """A case that cannot be made on this machine."""


@dataclass(frozen=True)
class Case:
    """A bad input.

    Attributes
    ----------
    group, name : heading and line of the table.
    words : the command line; ``{cell}`` stands for the cell that is there.
    says : regular expression that must be found in what is printed.
    files : content by path.
    program : ``run.py`` or ``xcbench``.
    code : exit code.
    begun : whether cells may have begun to run, so that there is progress on stdout.
    around : what is made before, and unmade afterwards, in the workspace.
    limits : of resources, for the command.
    """

    group: str
    name: str
    words: tuple[str, ...]
    says: str
    files: dict[str, bytes] = field(default_factory=dict)
    program: str = "run.py"
    code: int = 2
    begun: bool = False
    around: Callable[[Path], object] = nullcontext
    limits: tuple[tuple[int, int], ...] = ()

    @property
    def label(self) -> str:
        return f"{self.group}: {self.name}"

    @property
    def runs_dir(self) -> str:
        given = [word.removeprefix("runs_dir=") for word in self.words if "runs_dir=" in word]
        return given[-1] if given else "runs"

    def command(self) -> list[str]:
        """Words as they are given, those that every case has included."""
        if self.program == "xcbench":
            return list(self.words)
        flags = [word for word in self.words if word.startswith("-")]
        rest = [word for word in self.words if not word.startswith("-")]
        keys = {word.split("=")[0] for word in rest}
        common = [word for word in (*SMALL, *ONE) if word.split("=")[0] not in keys]
        return [*flags, *common, *rest]


@dataclass(frozen=True)
class Tried:
    """What came of a case: what was printed, and the cells of its folder before and after."""

    case: Case
    command: str
    done: Outcome
    before: dict[str, tuple[int, int]]
    after: dict[str, tuple[int, int]]


THREE = b"0 1:1\n1 2:1\n2 3:1\n"
