"""The one exception that is meant for people, and how a disk's errors become one."""

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


class UserError(Exception):
    """A mistake the user can mend: one sentence that says what is wrong, where, and what to do."""

    def __str__(self) -> str:
        """On one line, whatever it quotes."""
        return " ".join(super().__str__().split())


def suggestion(word: str, possible: Iterable[str]) -> str:
    """The known name that is likely meant, as the end of a sentence; or nothing."""
    names = sorted(set(possible))
    last = [name for name in names if name.rpartition(".")[2] == word]
    close = last or difflib.get_close_matches(word, names, 1, 0.7)
    return f"; did you mean {close[0]}" if close else ""


def one_line(error: BaseException) -> str:
    """What an exception says, however many lines it takes."""
    return " ".join(str(error).split())


def reason(error: BaseException) -> str:
    """What went wrong, in the system's own words where it has some: these name no file."""
    return getattr(error, "strerror", None) or one_line(error)


@contextmanager
def writing(path: Path, setting: str = "runs_dir") -> Iterator[None]:
    """Turn what goes wrong while something is written into a sentence that names it.

    Python says neither file nor remedy when a disk is full.
    """
    try:
        yield
    except OSError as error:
        raise UserError(
            f"{path} cannot be written ({reason(error)}); make room there, "
            f"or set another {setting}; what is finished stays"
        ) from None
