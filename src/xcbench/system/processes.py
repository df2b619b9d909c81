"""Signals that stop a launch, and child processes that end with their parent."""

from __future__ import annotations

import atexit
import ctypes
import gc
import multiprocessing
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from types import FrameType

Handler = Callable[[int, FrameType | None], object] | int | None  # as of `signal.signal`

INTERRUPTED = 130  # exit code
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PR_SET_PDEATHSIG = 1  # of Linux
SPAWN = multiprocessing.get_context("spawn")
PATIENCE = 10.0  # seconds for a command to end by itself


def childless() -> bool:
    """Whether this process may start none: a daemon of multiprocessing, such as one of a pool."""
    return multiprocessing.current_process().daemon


def spawned(target: Callable[..., None], *arguments: object) -> tuple[Connection, BaseProcess]:
    """A process that gets an end of a pipe, then these arguments; with the other end."""
    pipe, other = SPAWN.Pipe()
    process = SPAWN.Process(target=target, args=(other, *arguments), daemon=True)
    with without_signals():
        process.start()
    other.close()
    return pipe, process


@contextmanager
def interruptible() -> Iterator[None]:
    """Context in which SIGTERM and SIGHUP act as Ctrl-C; a second one stops at once.

    Signals that are ignored, as by ``nohup``, stay ignored.
    """
    before = _handle_with(_interrupt)
    try:
        yield
    finally:
        if not interrupted():  # else the way out stays quiet
            _restore(before)


def _handle_with(handler: Handler) -> dict[signal.Signals, Handler]:
    """Handle the signals that are not ignored with a function; gives the handlers before."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    before = {
        number: old for number in SIGNALS if (old := signal.getsignal(number)) is not signal.SIG_IGN
    }
    _restore(dict.fromkeys(before, handler))
    return before


def _restore(handlers: dict[signal.Signals, Handler]) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)


def _interrupt(number: int, frame: FrameType | None) -> None:
    _restore(dict.fromkeys(SIGNALS, _leave))
    raise KeyboardInterrupt


def interrupted() -> bool:
    """Whether a signal arrived; a library may turn its exception into another one."""
    return signal.getsignal(signal.SIGINT) is _leave


def _leave(number: int, frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)


@contextmanager
def delayed() -> Iterator[None]:
    """Context, or decorator, in which a signal to this process waits for the end."""
    waiting = list[int]()
    handlers = _handle_with(lambda number, frame: waiting.append(number))
    try:
        yield
    finally:
        _restore(handlers)
        for number in waiting:
            signal.raise_signal(number)


@contextmanager
def without_signals() -> Iterator[None]:
    """Context in which child processes start with Ctrl-C disabled; the parent handles it.

    A signal to this process is delayed until the child has started. Blocking signals is not enough:
    another thread, such as one of BLAS, may receive it, and Python would still raise here.
    """
    resource_tracker.ensure_running()  # its own start, at the first process, would unblock them
    with delayed():
        before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_at_once() -> None:
    """Skip, when this process ends, the search for garbage among all modules: 0.2 to 0.7 s."""
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)


def end_with_parent() -> None:
    """End this process as soon as its parent ends, for any reason."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    end_at_once()
    if sys.platform == "linux":  # also in the middle of compiled code
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    threading.Thread(target=_watch, args=(os.getppid(),), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent and parent != 1:
        time.sleep(1.0)
    os.kill(os.getpid(), signal.SIGKILL)


def start_kept(command: Sequence[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
    """Start a command that ends, with all its processes, when its standard input closes.

    It closes when `end_kept` is called, or when this process ends.
    """
    return subprocess.Popen(
        [sys.executable, "-m", "xcbench.system.processes", *command],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )


def end_kept(keeper: subprocess.Popen[bytes]) -> None:
    """End a command started by `start_kept`."""
    keeper.communicate()


def main() -> None:
    """Run a command for `start_kept`: ``python -m xcbench.system.processes COMMAND …``."""
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
