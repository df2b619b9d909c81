"""Signals that end a launch, and processes that end with the one that started them."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from types import FrameType

INTERRUPTED = 130  # exit code
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PR_SET_PDEATHSIG = 1  # of Linux
PATIENCE = 10.0  # seconds for a command to end by itself


@contextmanager
def interruptible() -> Iterator[None]:
    """Let SIGTERM and SIGHUP do what Ctrl-C does: stop in order; a second one stops at once.

    What the process was told to ignore, as by ``nohup``, stays ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, _interrupt)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is not _leave:  # else the way out stays quiet
            for number, handler in before.items():
                signal.signal(number, handler)


def _interrupt(number: int, frame: FrameType | None) -> None:
    for each in SIGNALS:
        signal.signal(each, _leave)
    raise KeyboardInterrupt


def _leave(number: int, frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)


@contextmanager
def without_signals() -> Iterator[None]:
    """Let a process that starts here leave it to its parent what Ctrl-C means."""
    resource_tracker.ensure_running()  # its own start, at the first process, would unblock them
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_with_parent() -> None:
    """End this process as soon as the one that started it has ended, however that happened."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    if sys.platform == "linux":  # also in the middle of compiled code
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    threading.Thread(target=_watch, args=(os.getppid(),), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent and parent != 1:
        time.sleep(1.0)
    os.kill(os.getpid(), signal.SIGKILL)


def start_kept(command: Sequence[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
    """Start a command that ends, with all its processes, when its standard input does.

    That is when `end_kept` is called, or when this process ends in any way.
    """
    return subprocess.Popen(
        [sys.executable, "-m", "xcbench.run.processes", *command],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )


def end_kept(keeper: subprocess.Popen[bytes]) -> None:
    """End a command that was started so."""
    assert keeper.stdin is not None
    keeper.stdin.close()
    keeper.wait()


def main() -> None:
    """Keep a command: ``python -m xcbench.run.processes COMMAND …``."""
    child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, start_new_session=True)
    while child.poll() is None and not select.select([sys.stdin], [], [], 0.2)[0]:
        pass
    code = child.poll()
    with suppress(ProcessLookupError, subprocess.TimeoutExpired):
        os.killpg(child.pid, signal.SIGTERM)
        child.wait(PATIENCE)
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    sys.exit(code or 0)


if __name__ == "__main__":
    main()
