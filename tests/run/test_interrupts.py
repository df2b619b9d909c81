"""Signals, kills and other launches at an unlucky moment: nothing is lost, left or misread."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from test_launches import a_job, until

import made_cells
from process_tree import alive
from xcbench.board import launch, limits
from xcbench.board import protocol as board_protocol
from xcbench.cli import clean, verify
from xcbench.cli.command import Request
from xcbench.committed import checksums, csv_tables, results_cache
from xcbench.committed.results_cache import HEAD, ResultsCache
from xcbench.errors import UserError
from xcbench.plan.job import Job
from xcbench.run import merging, workers
from xcbench.run.leases import Leases, Queue
from xcbench.store import cells
from xcbench.store.cell import CURVE_COLUMNS, Cell
from xcbench.system import durable, forks, memory

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C raises, also where nohup runs the tests."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def script(folder: Path, text: str) -> subprocess.Popen[str]:
    """Start a program; its processes import it."""
    path = folder / "program.py"
    path.write_text(text)
    return subprocess.Popen(
        [sys.executable, str(path), str(folder)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # nohup ignores it
    )  # fmt: skip


# ---------------------------------------------------------------- launches
def test_a_launch_that_fails_ends_with_its_recorder(tmp_path: Path) -> None:
    program = script(
        tmp_path,
        "import sys\nfrom pathlib import Path\nfrom xcbench.run import recorder\n"
        "if __name__ == '__main__':\n"
        "    beside = recorder.Recorder(Path(sys.argv[1]), True)\n"
        "    beside._start(beside.outbox)\n"
        "    raise RuntimeError('a bug')\n",
    )
    try:
        _, err = program.communicate(timeout=60)
    finally:
        program.kill()
    assert program.returncode == 1 and "a bug" in err


def test_a_signal_waits_until_all_cells_of_a_group_are_saved(tmp_path: Path, ctrl_c: None) -> None:
    jobs, saved = [a_job(tmp_path)] * 3, []
    with pytest.raises(KeyboardInterrupt):
        for outcome in workers.shared(jobs, [job.cell for job in jobs], time.perf_counter()):
            if not saved:
                signal.raise_signal(signal.SIGINT)
            saved.append(outcome)
    assert len(saved) == 3


def test_a_merge_that_is_interrupted_leaves_no_claim(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ctrl_c: None
) -> None:
    cells.save(tmp_path / "theirs", made_cells.make())

    def kills() -> str:
        signal.raise_signal(signal.SIGINT)
        return ""

    monkeypatch.setattr(memory, "kills", kills)
    with pytest.raises(KeyboardInterrupt):
        list(merging.bring_cells(tmp_path / "theirs", tmp_path / "ours", "ours", False))
    assert not list((tmp_path / "ours" / "claims").iterdir())


def test_a_figure_that_the_system_kills_is_an_error_of_memory() -> None:
    def killed(item: int) -> int:
        os.kill(os.getpid(), signal.SIGKILL)
        return item

    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one core: nothing runs in another process")
    with pytest.raises(MemoryError, match="killed a process"):
        forks.each(killed, range(2))


# ---------------------------------------------------------------- the board's process
ISOLATED = """\
import os, sys, time
from pathlib import Path
from xcbench.board import limits
from xcbench.system.processes import interruptible

def slow():
    path = Path(sys.argv[1]) / "child"
    path.with_name("new").write_text(str(os.getpid()))
    path.with_name("new").rename(path)
    time.sleep(60)
    return 0

with interruptible():
    sys.exit(limits.isolated(slow))
"""


EARLY = """\
import os, signal, sys, time
from xcbench.board import limits
from xcbench.system.processes import interruptible

class Early(limits.FORK.Process):
    def start(self):
        super().start()
        os.kill(os.getpid(), signal.SIGINT)

limits.FORK.Process = Early
with interruptible():
    sys.exit(limits.isolated(lambda: time.sleep(60)))
"""


@LINUX
def test_an_interrupt_while_the_process_of_the_cells_starts_ends_both(tmp_path: Path) -> None:
    program = script(tmp_path, EARLY)
    assert program.wait(20) == limits.INTERRUPTED


@LINUX
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_the_process_of_the_cells_ends_with_the_board(
    tmp_path: Path, number: signal.Signals
) -> None:
    program = script(tmp_path, ISOLATED)
    until(lambda: (tmp_path / "child").exists())
    child = int((tmp_path / "child").read_text())
    program.send_signal(number)  # to the board alone
    program.wait(20)
    until(lambda: not alive(child), 10)
    assert program.returncode == (-9 if number == signal.SIGKILL else limits.INTERRUPTED)


def executed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> tuple[int, list[Cell | None]]:
    """Exit code and cells of two jobs, the first of which a signal ends while it runs."""
    jobs = [replace(a_job(tmp_path), cell=made_cells.make(seed=seed)) for seed in (0, 1)]

    def within(limit: float, todo: list[Job]) -> int:
        queue = Queue(tmp_path, todo, {})
        while queue:
            taken = queue.take()
            assert taken is not None
            ((job, *_), cell) = taken
            if job.cell.cell == jobs[0].cell.cell and cell is None:
                os.kill(os.getpid(), number)
            cells.save(tmp_path, job.cell)
            queue.leases.release(job.cell.cell)
        return 0

    monkeypatch.setattr(limits, "within", within)
    code = launch.Launch(board_protocol.read(), tmp_path, {})._execute(jobs)
    assert not list((tmp_path / "claims").iterdir())
    return code, [cells.usable(tmp_path, job.cell.cell) for job in jobs]


def test_who_kills_the_process_of_cells_says_nothing_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    code, (first, second) = executed(tmp_path, monkeypatch, signal.SIGKILL)
    assert code == 128 + signal.SIGKILL and first is None and second is None
    assert "was killed by signal 9" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("number", "why"), [(signal.SIGKILL, memory.KILLED), (signal.SIGUSR2, "killed by signal 12")]
)
def test_a_cell_says_why_its_process_died_and_the_others_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, why: str
) -> None:
    if number == signal.SIGKILL:  # as the count of the system would say
        monkeypatch.setattr(memory, "killed_since", bool)
    code, (first, second) = executed(tmp_path, monkeypatch, number)
    assert code == 0 and first is not None and second is not None
    assert first.status == "failed" and why in str(first.message)
    assert second.status == "done"


def test_an_error_in_the_process_of_cells_is_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    def full() -> int:
        raise UserError("no space is left")

    assert limits.isolated(full) == 2
    assert capfd.readouterr().err == "error: no space is left\n"


# ---------------------------------------------------------------- files of other launches
def tables(end: float) -> ResultsCache:
    """Rows and curves of ten cells."""
    names = [f"{number:016x}" for number in range(10)]
    curves = pd.DataFrame(
        [
            {"cell": name, **dict.fromkeys(CURVE_COLUMNS, at + end)}
            for name in names
            for at in (0, 1)
        ]
    )
    rows = pd.DataFrame([{**dict.fromkeys(HEAD, "x"), "cell": name} for name in names])
    rows = rows.assign(status="done", lr=0.1, seed=0)
    rows[csv_tables.CURVE_CHECKSUM] = rows["cell"].map(checksums.of_curves(curves))
    return ResultsCache(rows, curves)


def test_tables_that_another_launch_writes_meanwhile_are_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results_cache.update(tmp_path, "runs", lambda _: tables(0.0))
    with monkeypatch.context() as before_the_moves:
        before_the_moves.setattr(durable, "finish", lambda pending: None)
        results_cache.update(tmp_path, "runs", lambda _: tables(0.5))
    read = csv_tables.read

    def slow(*arguments: object) -> object:
        rows = read(*arguments)  # type: ignore[arg-type]
        durable.finish(tmp_path / ".runs-new")
        return rows

    monkeypatch.setattr(csv_tables, "read", slow)
    cache = ResultsCache.read(tmp_path, "runs")
    assert cache.has_curve.all() and len(cache.rows) == 10
    assert cache.curves[CURVE_COLUMNS[0]].max() == 1.5


def test_a_row_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    once = tables(0.0)
    twice = ResultsCache(pd.concat([once.rows, once.rows[:1]], ignore_index=True), once.curves)
    twice.write(tmp_path, "runs")
    with pytest.raises(UserError, match="has a row twice"):
        ResultsCache.read(tmp_path, "runs")


def written_again(runs: Path, status: str = "done") -> None:
    """Another launch saves the cell."""
    cells.save(runs, replace(made_cells.make(status=status), started=9.0))


@pytest.mark.parametrize("meanwhile", ["ended", "runs"])
def test_clean_leaves_what_another_launch_runs_while_it_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    meanwhile: str,
) -> None:  # fmt: skip
    cell, other = made_cells.make(status="failed"), Leases(tmp_path)
    cells.mark(tmp_path)
    cells.save(tmp_path, cell)

    def confirmed(question: str) -> bool:
        if meanwhile == "runs":
            other.take(cell.cell)
        else:
            written_again(tmp_path)
        return True

    monkeypatch.setattr(clean, "confirmed", confirmed)
    request = Request("clean", [], {"runs_dir": str(tmp_path), "status": "failed"})
    assert clean.clean(request) == 0
    other.release_all()
    assert cells.usable(tmp_path, cell.cell) is not None
    assert "removed 0 cells\n1 cell stayed" in capsys.readouterr().out


@pytest.mark.parametrize("yes", [False, True])
def test_verify_leaves_what_another_launch_writes_while_it_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, yes: bool
) -> None:
    cell, described = made_cells.make(), cells.described
    cells.mark(tmp_path)
    cells.save(tmp_path, cell)

    def confirmed(question: str) -> bool:
        written_again(tmp_path)
        return True

    def exchanged(where: Path) -> object:
        content = described(where)
        monkeypatch.setattr(cells, "described", described)
        changed = cell.curve.assign(train_error=0.123)
        cells.save(tmp_path, replace(cell, started=9.0, curve=changed))
        return content

    if yes:  # the folder is exchanged between its files
        monkeypatch.setattr(cells, "described", exchanged)
    else:  # damaged, and written again while it asks
        (cells.folder(tmp_path, cell.cell) / cells.CURVE).write_text("damaged")
        monkeypatch.setattr(verify, "confirmed", confirmed)
        monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    verify.verify(Request("verify", [], {"runs_dir": str(tmp_path)}, yes=yes))
    assert cells.usable(tmp_path, cell.cell) is not None
    assert not list(tmp_path.glob("quarantine/*/*"))


def test_a_record_of_code_goes_into_the_folder_that_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell, write = made_cells.make(), durable.write
    cells.save(tmp_path, cell)

    def late(path: Path, content: bytes) -> None:
        monkeypatch.setattr(durable, "write", write)
        changed = cell.curve.assign(train_error=0.123)
        cells.save(tmp_path, replace(cell, started=9.0, curve=changed))
        write(path, content)

    monkeypatch.setattr(durable, "write", late)
    cells.renew_code(tmp_path, cell, {"a": 1})
    now = cells.load(tmp_path, cell.cell)
    assert now is not None and now.started == 9.0 and now.code != {"a": 1}
    cells.renew_code(tmp_path, now, {"a": 1})
    renewed = cells.load(tmp_path, cell.cell)
    assert renewed is not None and renewed.code == {"a": 1}


def test_what_a_kill_leaves_of_a_record_of_code_is_swept(tmp_path: Path) -> None:
    cell = made_cells.make()
    cells.save(tmp_path, cell)
    files = sorted(path.name for path in cells.folder(tmp_path, cell.cell).iterdir())
    pid = os.fork()
    if not pid:
        os.replace = lambda *rest, **more: os.kill(os.getpid(), signal.SIGKILL)
        try:
            cells.renew_code(tmp_path, cell, {"a": 1})
        finally:
            os._exit(1)
    assert os.waitpid(pid, 0)[1] == signal.SIGKILL
    assert sorted(path.name for path in cells.folder(tmp_path, cell.cell).iterdir()) == files
    (left,) = (tmp_path / "cells").glob(".*xcbench-*")
    os.utime(left, (0, 0))
    cells.sweep_leftovers(tmp_path)
    assert not left.exists()
