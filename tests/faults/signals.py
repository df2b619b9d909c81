"""Signals to a launch with two workers at random moments, to its parent or to a worker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np

from faults.process import ROOT, SECONDS, Outcome
from faults.subjects import Subject
from faults.verdicts import UNEXPLAINED, Trial, Verdict, judge

MARK = "XCBENCH_FAULTS_TRIAL"
PATIENCE = 15.0  # seconds in which every process must end
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGSTOP)


def trials(
    scenario: str, subject: Subject, number: int, rng: np.random.Generator
) -> Iterator[Trial]:
    """Each signal to the parent, and kills of a worker, as often, at moments until the end."""
    for index in range(number):
        sent, to_worker = [*((one, False) for one in SIGNALS), (signal.SIGKILL, True)][index % 5]
        share = float(rng.uniform(0.05, 1))
        who = "worker" if to_worker else "parent"
        label = f"{sent.name} to {who} at {share:.2f} of the launch"
        yield Trial(scenario, label, partial(signalled, subject, sent, to_worker, share))


def signalled(
    subject: Subject, sent: signal.Signals, to_worker: bool, share: float, folder: Path
) -> Verdict:
    """Send a signal when a share of the launch's cells is there, and see who stays."""
    subject.place(folder)
    mark = uuid.uuid4().hex
    launched = _launch(subject, folder, mark)
    _wait_until(lambda: _progress(folder) >= share * len(subject.whole), launched)
    workers = [pid for pid in alive(mark) if pid != launched.pid]
    if not to_worker:
        _send(launched.pid, sent)
    elif workers:
        _send(max(workers), sent)
    if sent == signal.SIGSTOP:
        time.sleep(0.5)
        _send(launched.pid, signal.SIGCONT)
    try:
        out, err = launched.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        launched.kill()
        return Verdict(UNEXPLAINED, "the launch hangs")
    finally:
        stay = _stay(mark)
    if stay:
        return Verdict(UNEXPLAINED, f"processes stay: {stay}")
    struck = Outcome(launched.returncode, out, err)
    expected = (0, 1, -sent, 128 + sent, 130)
    if "Traceback" in out + err or launched.returncode not in expected:
        return Verdict(UNEXPLAINED, str(struck))
    verdict = judge(subject, folder)
    return Verdict(verdict.word, f"{struck}\n{verdict.why}")


def _launch(subject: Subject, folder: Path, mark: str) -> subprocess.Popen[str]:
    environment = {**os.environ, MARK: mark, "PYTHONPATH": str(ROOT / "src")}
    return subprocess.Popen(
        [sys.executable, *subject.words, "workers=2"],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    )


def _progress(folder: Path) -> float:
    """Number of finished cells, and a little for each step before the first one."""
    cells = len(list((folder / "runs" / "cells").glob("[!.]*/cell.json")))
    return cells + 0.3 * (folder / "runs").exists() + 0.3 * (folder / "runs" / "grids").exists()


def _wait_until(condition: Callable[[], bool], launched: subprocess.Popen[str]) -> None:
    while launched.poll() is None and not condition():
        time.sleep(0.01)


def _send(pid: int, sent: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, sent)


def _stay(mark: str) -> list[int]:
    """Processes of a trial that do not end; they are killed."""
    deadline = time.monotonic() + PATIENCE
    while (stay := alive(mark)) and time.monotonic() < deadline:
        time.sleep(0.05)
    for pid in stay:
        _send(pid, signal.SIGKILL)
    return stay


def alive(mark: str) -> list[int]:
    """Processes that have the mark of a trial in their environment."""
    result = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"{MARK}={mark}".encode() in (entry / "environ").read_bytes():
                result.append(int(entry.name))
    return result
