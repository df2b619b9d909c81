"""Commands of the console script, one module a group.

A command is a function that takes a `Request`, prints, and returns the exit code.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from xcbench.errors import UserError
from xcbench.options import EMPTY


def flag(name: str, text: str) -> bool:
    """Value of a setting that is true or false.

    Raises
    ------
    UserError
        If it is neither.
    """
    if text.lower() not in ("true", "false"):
        raise UserError(f"{name}={text} is not possible: it must be true or false")
    return text.lower() == "true"


def number(name: str, text: str, least: int = 1, most: int = 999_999_999) -> int:
    """Value of a setting that is a whole number in a range.

    Raises
    ------
    UserError
        If it is not one.
    """
    if not re.fullmatch("[0-9]{1,9}", text) or not least <= int(text) <= most:
        raise UserError(
            f"{name}={text} is not possible: it must be a whole number from {least:,} to {most:,}"
        )
    return int(text)


def several(settings: dict[str, str], name: str, possible: Sequence[str]) -> list[str]:
    """Take a setting that names one or several of these, separated by commas; none without it.

    Raises
    ------
    UserError
        If one of them is none of these, as in ``name=``.
    """
    values = [*dict.fromkeys(settings.pop(name).split(","))] if name in settings else []
    for value in values:
        if value not in possible:
            names = ", ".join(possible)
            raise UserError(f"{name}={value} is not possible: it is one of {names}, or several")
    return values


@dataclass
class Request:
    """Arguments of a command.

    Attributes
    ----------
    command : name of the command.
    words : positional arguments, as many as the command takes.
    settings : pairs ``name=value``; a command removes those that it uses.
    """

    command: str
    words: list[str]
    settings: dict[str, str]
    curves: bool = False
    format: str = "csv"
    yes: bool = False
    self_contained: bool = False

    def runs_dir(self) -> Path:
        """Remove and return the folder of the cells."""
        return Path(self.settings.pop("runs_dir", "runs"))

    def checkpoint(self) -> str:
        """Remove and return the rule for the checkpoint that stands for a cell."""
        from xcbench.store import checkpoints

        return checkpoints.check(self.settings.pop(checkpoints.COLUMN, checkpoints.BEST))

    def out(self) -> str:
        """Remove and return the file that a table goes to; "" for standard output.

        Raises
        ------
        UserError
            If its name is empty, or that of a folder.
        """
        name = self.settings.pop("out", None)
        if name is not None and not name.strip():
            raise UserError(f"out={name} is not possible: {EMPTY}")
        if name and Path(name).is_dir():
            raise UserError(f"{name} cannot be written: it is a folder; name a file")
        return name or ""

    def page(self, folder: Path) -> Path:
        """Path of a report's page, as one self-contained file on request."""
        from xcbench.show import templates

        return templates.self_contained(folder) if self.self_contained else folder / "index.html"

    def refuse_others(self, options: str) -> None:
        """Refuse settings that the command did not use.

        Raises
        ------
        UserError
            If any are left.
        """
        if self.settings:
            raise UserError(
                f"{self.command} has no setting {', '.join(self.settings)}; it takes {options}"
            )
