"""Standard output whose reader, such as ``head``, has seen enough."""

import os
import sys
from typing import NoReturn

UNREAD = 141  # exit code of a command that a shell ends for this


def end_unread(code: int) -> NoReturn:
    """End without a word: what Python still holds back for the output goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)
