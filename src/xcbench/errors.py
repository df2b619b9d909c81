"""`UserError`, the exception shown to users, and conversion of disk errors to it."""

import difflib
import errno
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


class UserError(Exception):
    """A mistake the user can mend: one sentence that says what is wrong, where, and what to do."""

    def __str__(self) -> str:
        """On one line, whatever it quotes."""
        return " ".join(super().__str__().split())


def suggestion(word: str, possible: Iterable[str]) -> str:
    """End of a sentence that suggests the closest valid name, or an empty string."""
    names = sorted(set(possible))
    group, _, last = word.rpartition(".")
    same = {name.rpartition(".")[2]: name for name in names if name.rpartition(".")[0] == group}
    close = [name for name in names if name.rpartition(".")[2] == word]
    close += [same[name] for name in difflib.get_close_matches(last, same, 1, 0.7)]
    if not same:
        close += difflib.get_close_matches(word, names, 1, 0.7)
    return f"; did you mean {close[0]}" if close else ""


def one_line(error: BaseException) -> str:
    """Message of an exception in one line."""
    return " ".join(str(error).split())


def reason(error: BaseException) -> str:
    """What went wrong, in the operating system's words if it has any; without the file name."""
    if isinstance(error, OSError) and error.errno == errno.ELOOP:
        return "it is a link, which is not followed"
    return (isinstance(error, OSError) and error.strerror) or one_line(error)


@contextmanager
def writing(path: Path, setting: str = "runs_dir") -> Iterator[None]:
    """Context that turns errors of writing into a `UserError` that names the target.

    Python names neither the file nor a remedy if the disk is full.
    """
    try:
        yield
    except OSError as error:
        remedy = "remove it" if error.errno in (errno.ELOOP, errno.EMLINK) else "make room there"
        raise UserError(
            f"{path} cannot be written ({reason(error)}); {remedy}, "
            f"or set another {setting}; what is finished stays"
        ) from None
