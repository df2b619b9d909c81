"""Early ends of a command: a mistake, or a closed output as when it is piped into ``head``."""

import os
import sys
from typing import NoReturn

from xcbench.system.terminal import RED, styled
from xcbench.units import printable

UNREAD = 141  # exit code of a command that a shell ends for this


def end_unread(code: int) -> NoReturn:
    """Exit silently; discard what Python has buffered for the output."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def end_wrong(sentence: str) -> NoReturn:
    """Say what is wrong, and exit with 2."""
    print(f"{styled('error:', RED, sys.stderr)} {printable(sentence)}", file=sys.stderr)
    sys.exit(2)
