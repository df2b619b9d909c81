"""Launches that end, die or meet one another: no process survives, no cell is run twice."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from pandas.testing import assert_frame_equal
from threadpoolctl import ThreadpoolController, threadpool_info, threadpool_limits

import made_cells
from process_tree import alive, descendants
from workspace import ROOT, Workspace
from xcbench.config.settings import Budget, Config
from xcbench.core.dataset import Dataset
from xcbench.data.settings import DatasetSettings
from xcbench.methods import options
from xcbench.plan.job import Job
from xcbench.run import runner
from xcbench.run.leases import Leases, Queue
from xcbench.store import cells
from xcbench.store.cell import Cell
from xcbench.system import memory, processes, threads

QUICK = ("mlflow=false", "dataset=digits", "method=umax", "engine=numpy", "budget.checkpoints=2")
LONG = ("-m", *QUICK, "budget.epochs=400", "seed=0,1,2")
JOBLIB = ("hydra/launcher=joblib", "hydra.launcher.n_jobs=2")


def until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def at_work(pid: int) -> list[int]:
    """Descendants that have used the processor for more than starting takes."""

    def ticks(child: int) -> int:
        try:
            words = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0
        return int(words[11]) + int(words[12])

    return [child for child in descendants(pid) if ticks(child) > 150]


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("own", ["workers", pytest.param("joblib", marks=pytest.mark.slow)])
def test_workers_end_with_their_parent(workspace: Workspace, own: str) -> None:
    words = ("workers=2",) if own == "workers" else JOBLIB
    with workspace.start(*LONG, *words) as process:
        until(lambda: len(at_work(process.pid)) >= 2)
        children = descendants(process.pid)
        process.kill()
        until(lambda: not any(alive(child) for child in children), 10)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signals_end_a_launch_as_ctrl_c_does(workspace: Workspace, number: signal.Signals) -> None:
    with workspace.start(*LONG, "budget.epochs=20", "seed=range(8)") as process:
        until(lambda: len(workspace.cells()) >= 1)
        process.send_signal(number)
        out, err = process.communicate()
    assert process.returncode == 130, out + err
    assert err == "" and "interrupted: what is finished is saved" in out
    assert not list((workspace.path / "runs" / "claims").iterdir())


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_the_first_worker_leaves_ctrl_c_to_its_parent_from_its_start() -> None:
    code = (
        "import time; from pathlib import Path\n"
        "from xcbench.system.processes import SPAWN, without_signals\n"
        "if __name__ == '__main__':\n"
        "    process = SPAWN.Process(target=time.sleep, args=(0,))\n"
        "    with without_signals():\n        process.start()\n"
        "    lines = Path(f'/proc/{process.pid}/status').read_text().splitlines()\n"
        "    print(next(line.split()[1] for line in lines if line.startswith('SigBlk')))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    blocked = int(done.stdout, 16)
    assert all(blocked >> (number - 1) & 1 for number in processes.SIGNALS), done


def test_a_signal_waits_until_a_worker_has_started() -> None:
    code = (
        "import os, signal, threading, time\n"
        "from xcbench.system.processes import interruptible, without_signals\n"
        "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"  # as BLAS has
        "signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"  # nohup may have run the tests
        "with interruptible():\n"
        "    try:\n"
        "        with without_signals():\n"
        "            os.kill(os.getpid(), signal.SIGHUP); time.sleep(0.3)\n"
        "            print('started', flush=True)\n"
        "        print('went on', flush=True)\n"
        "    except KeyboardInterrupt:\n        print('interrupted', flush=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stdout, done.stderr) == (0, "started\ninterrupted\n", "")


def test_ctrl_c_twice_is_quiet() -> None:
    code = (
        "import time; from xcbench.system.processes import interruptible\n"
        "with interruptible():\n"
        "    try:\n        print('ready', flush=True); time.sleep(60)\n"
        "    except KeyboardInterrupt:\n        print('once', flush=True); time.sleep(60)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    assert process.stdout is not None
    for line in ("ready\n", "once\n"):
        assert process.stdout.readline() == line
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, "", "")


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_kept_command_ends_with_who_keeps_it(tmp_path: Path) -> None:
    code = (
        "import os, time; from xcbench.system.processes import start_kept\n"
        "start_kept(['sh', '-c', 'sleep 300 & sleep 300'], dict(os.environ)); time.sleep(300)"
    )
    process = subprocess.Popen([sys.executable, "-c", code])
    until(lambda: len(descendants(process.pid)) == 4)  # the keeper, the shell, what it started
    children = descendants(process.pid)
    process.kill()
    process.wait()
    until(lambda: not any(alive(child) for child in children), 10)


# ---------------------------------------------------------------- side by side
def test_two_launches_share_the_cells(tmp_path: Path) -> None:
    words = ("-m", *QUICK, "budget.epochs=10", "seed=range(8)")
    both, alone = Workspace(tmp_path / "both"), Workspace(tmp_path / "alone")
    both.path.mkdir()
    alone.path.mkdir()
    with both.start(*words) as first, both.start(*words) as second:
        outs = [process.communicate() for process in (first, second)]
    assert [first.returncode, second.returncode] == [0, 0], outs
    ran = [
        sum(line.startswith("[") and "another launch" not in line for line in out.splitlines())
        for out, _ in outs
    ]
    assert sum(ran) == 8, outs
    assert all(out.count("8 cells: 8 done") for out, _ in outs), outs
    assert alone.run(*words).code == 0
    expected, frame = (place.frame("--curves").drop(columns="train_seconds")
                       for place in (alone, both))  # fmt: skip
    assert_frame_equal(frame, expected, check_exact=True)


def a_job(tmp_path: Path, **budget: float) -> Job:
    cell = made_cells.make(status="failed")
    settings = Config(
        dataset=DatasetSettings(name="digits", reader="digits"),
        method=options.MethodOptions(name="umax"),
        budget=Budget(**budget),
        runs_dir=str(tmp_path),
    )
    return Job(settings, None, cell, "none", "umax", {}, cell.label)  # type: ignore[arg-type]


def test_a_claim_is_exclusive_and_leaves_nothing(tmp_path: Path) -> None:
    mine, other = Leases(tmp_path), Leases(tmp_path)
    assert mine.take("a") == ""
    assert other.take("a") is None and other.take("b") == ""
    mine.release("a")
    assert other.take("a") == ""
    other.release_all()
    assert not list((tmp_path / "claims").iterdir())


@pytest.mark.parametrize("inside", ["take", "release"])
def test_a_claim_is_known_or_gone_when_a_signal_arrives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inside: str
) -> None:
    leases, unlink = Leases(tmp_path), Path.unlink

    def kills() -> str:
        signal.raise_signal(signal.SIGINT)
        return ""

    def late(path: Path) -> None:
        signal.raise_signal(signal.SIGINT)
        unlink(path)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # nohup ignores it
    if inside == "release":
        leases.take("a")
        monkeypatch.setattr(Path, "unlink", late)
    else:
        monkeypatch.setattr(memory, "kills", kills)
    try:
        with pytest.raises(KeyboardInterrupt):
            getattr(leases, inside)("a")
    finally:
        signal.signal(signal.SIGINT, before)
        monkeypatch.undo()
    leases.release_all()
    assert not list((tmp_path / "claims").iterdir())


def test_a_cell_of_another_launch_is_taken_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = a_job(tmp_path)
    other = Leases(tmp_path)
    other.take(job.cell.cell)
    queue = Queue(tmp_path, [job], {})
    assert queue.take() is None and queue.take() is None and len(queue) == 1
    assert capsys.readouterr().out == (
        "1 cell is running in another launch: waiting for the results\n"
    )
    cells.save(tmp_path, replace(job.cell, status="done", started=5.0))
    other.release_all()
    taken = queue.take()
    assert taken is not None and taken[1] is not None and taken[1].status == "done"
    # What was there before the launch is run again.
    assert Queue(tmp_path / "x", [job], {}).take() == ([job], None)


@pytest.mark.parametrize(
    ("classes", "number", "workers", "sizes"),
    [
        (8, 2, 1, [1, 1]),
        (8, 7, 1, [7]),
        (8, 9, 1, [8, 1]),
        (8, 17, 1, [8, 8, 1]),
        (8, 6, 2, [3, 1, 1, 1]),  # one worker does not take what keeps two busy
        (8, 12, 2, [6, 3, 1, 1, 1]),
        (800, 4, 1, [1, 1, 1, 1]),  # weights far from the processor
        (800, 6, 1, [6]),
        (800, 6, 2, [1] * 6),
    ],
)
def test_cells_in_lockstep(
    tmp_path: Path, small: Dataset, classes: int, number: int, workers: int, sizes: list[int]
) -> None:
    """At most eight, no fewer than are faster, and no more than a worker's share."""
    info = replace(small.info, classes=classes, features=100, train=100_000)
    job = replace(a_job(tmp_path), info=info)
    jobs = [
        replace(job, cell=replace(job.cell, cell=f"{seed:016x}"), lockstep="alike")
        for seed in range(number)
    ]
    queue, groups = Queue(tmp_path, jobs, {}, workers), []
    while queue:
        taken = queue.take()
        assert taken is not None
        groups.append(taken[0])
    assert [len(group) for group in groups] == sizes
    assert [job for group in groups for job in group] == jobs


def test_an_interrupt_that_a_library_swallows_ends_the_launch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def swallowing(
        jobs: list[Job], cells: list[Cell], watch: Callable[[float], None]
    ) -> list[Cell]:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:  # as numpy.fromfile does in the middle of its checks
            raise TypeError("expected str, not BufferedReader") from None
        return cells

    monkeypatch.setattr(runner, "memory_estimate", lambda job, models: 0.0)
    monkeypatch.setattr(runner, "_train", swallowing)
    before = {number: signal.getsignal(number) for number in processes.SIGNALS}
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where nohup runs the tests
    try:
        with pytest.raises(KeyboardInterrupt), processes.interruptible():
            runner.run([a_job(tmp_path)])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_each_cell_has_one_thread_and_libraries_are_looked_for_after_imports_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside, searches = [], []

    def look(jobs: list[Job], cells: list[Cell], watch: Callable[[float], None]) -> list[Cell]:
        inside.append({library["num_threads"] for library in threadpool_info()})
        return cells

    def search() -> ThreadpoolController:
        searches.append(len(inside))
        return ThreadpoolController()

    monkeypatch.setattr(runner, "memory_estimate", lambda job, models: 0.0)
    monkeypatch.setattr(runner, "_train", look)
    monkeypatch.setattr(threads, "ThreadpoolController", search)
    threads._libraries.cache_clear()  # what tests before this one have found
    with threadpool_limits(2):
        for imported in ("xcbench_a", "xcbench_a", "xcbench_b"):
            monkeypatch.setitem(sys.modules, imported, ModuleType(imported))
            runner.run([a_job(tmp_path)])
            assert {library["num_threads"] for library in threadpool_info()} == {2}
    assert inside == [{1}] * 3
    assert searches == [0, 2]


def test_interrupts_are_handled_in_the_main_program_alone() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with processes.interruptible():
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize("command", [["run.py"], ["-m", "xcbench", "results"]])
def test_ctrl_c_while_modules_are_imported_leaves_quietly(command: list[str]) -> None:
    """Something imported raises what Ctrl-C raises."""
    code = "import builtins, runpy, sys\nown = builtins.__import__\n"
    code += "def stopped(name, *rest, **more):\n"
    code += "    if name == 'hydra' or name == 'pandas': raise KeyboardInterrupt\n"
    code += "    return own(name, *rest, **more)\nbuiltins.__import__ = stopped\n"
    script = command[0] if command[0].endswith(".py") else ""
    code += f"sys.argv = {[command[0], *command[2:], 'dataset=digits']!r}\n"
    start = f"run_path({script!r}" if script else "run_module('xcbench.__main__'"
    code += f"runpy.{start}, run_name='__main__')\n"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "")
