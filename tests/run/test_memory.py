"""Memory that a cell needs, that there is, and that there was not."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from test_launches import QUICK, a_job

from workspace import Workspace
from xcbench.core.dataset import Dataset
from xcbench.methods.umax import UmaxOptions
from xcbench.plan import planning
from xcbench.plan.job import Job
from xcbench.run import runner
from xcbench.run.leases import Queue
from xcbench.store import cells
from xcbench.store.cell import Cell
from xcbench.system import memory
from xcbench.units import GIB


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a system of our making says of its memory."""
    proc, own = tmp_path / "proc", tmp_path / "proc" / "self"
    (proc / "sys/kernel/random").mkdir(parents=True)
    own.mkdir()
    (proc / "sys/kernel/random/boot_id").write_text("b00t\n")
    (proc / "vmstat").write_text("nr_free_pages 5\noom_kill 3\n")
    (proc / "meminfo").write_text("MemTotal: 9000 kB\nMemAvailable:    4096 kB\n")
    (own / "cgroup").write_text("4:memory:/a/b\n0::/c\n")
    monkeypatch.setattr(memory, "SYSTEM", proc)
    monkeypatch.setattr(memory, "PROCESS", own)
    monkeypatch.setattr(memory, "GROUPS", tmp_path / "groups")
    return tmp_path


@pytest.mark.parametrize(
    ("folder", "files", "available"),
    [
        ("memory/a/b", {}, 4096 << 10),
        ("memory/a", {"memory.limit_in_bytes": "900", "memory.usage_in_bytes": "500"}, 400),
        ("c", {"memory.max": "max", "memory.current": "500"}, 4096 << 10),
        ("c", {"memory.max": "900", "memory.current": "500",
               "memory.stat": "anon 7\ninactive_file 50\n"}, 450),
    ],
)  # fmt: skip
def test_available_memory(
    system: Path, folder: str, files: dict[str, str], available: float
) -> None:
    (system / "groups" / folder).mkdir(parents=True)
    for name, text in files.items():
        (system / "groups" / folder / name).write_text(text)
    assert memory.available() == available


@pytest.mark.parametrize(("most", "status"), [(None, "skipped"), (4.0, "tried")])
def test_a_cell_beyond_the_available_memory_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: float | None, status: str
) -> None:
    monkeypatch.setattr(runner, "memory_estimate", lambda job, models: 3 * GIB)
    monkeypatch.setattr(memory, "available", lambda: 2.0 * GIB)
    monkeypatch.setattr(
        runner, "_train", lambda jobs, cells, watch: [replace(cells[0], status="tried")]
    )
    (cell,) = runner.run([a_job(tmp_path, memory=most)])
    assert cell.status == status
    if status == "skipped":
        assert cell.message == (
            "needs about 3 GiB, of which 2 GiB are available; budget.memory=3 tries it anyway"
        )


@pytest.mark.parametrize("kills", [3, 4])
def test_a_cell_that_the_system_killed_is_recorded_and_one_that_a_person_killed_runs(
    system: Path, kills: int
) -> None:
    job = a_job(system)
    pid = os.fork()
    if pid == 0:
        Queue(system, [job], {}).take()
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)
    (system / "proc" / "vmstat").write_text(f"oom_kill {kills}\n")
    queue = Queue(system, [job], {})
    taken = queue.take()
    assert taken is not None
    if kills == 3:
        assert taken == ([job], None)
    else:
        assert taken[1] is not None
        saved = cells.load(system, job.cell.cell)
        assert saved is not None and saved.status == taken[1].status == "failed"
        assert saved.message == "out of memory: the system killed the process while it ran"
    queue.leases.release_all()
    assert not list((system / "claims").iterdir())


def test_lockstep_counts_its_lanes(
    tmp_path: Path, small: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five cells fit one by one, but not together: four more models, and eight lanes."""
    job = replace(a_job(tmp_path), info=replace(small.info, classes=1000, features=1000))
    job = replace(job, settings=replace(job.settings, method=UmaxOptions(name="umax")))
    alone, together = planning.memory_estimate(job), planning.memory_estimate(job, 5)
    assert together - alone == pytest.approx((4 + 8) * 1000 * 1000 * 4)
    monkeypatch.setattr(memory, "available", lambda: (alone + together) / 2)
    trained: list[int] = []

    def train(jobs: list[Job], cells: list[Cell], watch: object) -> list[Cell]:
        trained.append(len(jobs))
        return cells

    monkeypatch.setattr(runner, "_train", train)
    monkeypatch.setattr(runner.reevaluation, "due", lambda job: None)
    runner.run([job] * 5)
    assert trained == [1] * 5


def test_a_cell_without_memory_is_not_tried_again_unless_forced(workspace: Workspace) -> None:
    words = (*QUICK, "budget.epochs=0.1")
    assert workspace.run(*words).code == 0
    (path,) = workspace.path.glob("runs/cells/*/cell.json")
    (cell,) = cells.load_all(workspace.path / "runs")
    cells.save(workspace.path / "runs", replace(cell, status="failed", message=memory.KILLED))
    before = path.stat().st_mtime_ns
    again = workspace.run(*words)
    assert again.code == 1 and "force=true" in again.out, again.text
    assert path.stat().st_mtime_ns == before
    assert workspace.run(*words, "force=true", "budget.memory=50").code == 0
    assert json.loads(path.read_text())["status"] == "done"
