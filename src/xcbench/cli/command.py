"""Commands of the console script, one module a group.

A command is a function of `Request`; it prints, and returns the exit code.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from xcbench.errors import UserError


@dataclass
class Request:
    """What stands behind the name of a command.

    Attributes
    ----------
    command : its name.
    words : what is not ``name=value``, as many as the command takes.
    settings : the pairs ``name=value``; a command takes out what it knows.
    """

    command: str
    words: list[str]
    settings: dict[str, str]
    curves: bool = False
    format: str = "csv"
    yes: bool = False
    self_contained: bool = False

    def runs_dir(self) -> Path:
        """Take out where the cells are."""
        return Path(self.settings.pop("runs_dir", "runs"))

    def page(self, folder: Path) -> Path:
        """The page of a report, as one file where that is wanted."""
        from xcbench.report import templates

        return templates.self_contained(folder) if self.self_contained else folder / "index.html"

    def refuse_others(self, options: str) -> None:
        """Refuse the settings that were not taken out.

        Raises
        ------
        UserError
            If there are any.
        """
        if self.settings:
            raise UserError(
                f"{self.command} has no setting {', '.join(self.settings)}; it takes {options}"
            )
