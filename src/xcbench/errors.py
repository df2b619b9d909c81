"""The one exception that is meant for people, and how a disk's errors become one."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class UserError(Exception):
    """A mistake the user can mend: one sentence that says what is wrong, where, and what to do."""


@contextmanager
def writing(path: Path, setting: str = "runs_dir") -> Iterator[None]:
    """Turn what goes wrong while something is written into a sentence that names it.

    Python says neither file nor remedy when a disk is full.
    """
    try:
        yield
    except OSError as error:
        raise UserError(
            f"{path} cannot be written ({error.strerror or error}); make room there, "
            f"or set another {setting}; what is finished stays"
        ) from None
