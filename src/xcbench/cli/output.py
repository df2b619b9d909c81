"""Closed standard output, as when it is piped into ``head``."""

import os
import sys
from typing import NoReturn

UNREAD = 141  # exit code of a command that a shell ends for this


def end_unread(code: int) -> NoReturn:
    """Exit silently; discard what Python has buffered for the output."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)
