"""Several workers: the same numbers, one readable stream; a dead one costs its cell alone."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from pandas.testing import assert_frame_equal
from test_launches import at_work, until

from workspace import NewWorkspace, Workspace
from xcbench.config.settings import Budget, Evaluation
from xcbench.core.dataset import Split
from xcbench.core.models.linear import LinearModel
from xcbench.core.solvers import Progress, Solver
from xcbench.run import workers
from xcbench.store import cells, results
from xcbench.train import evaluator, training

GRID = (
    *("-m", "mlflow=false", "dataset=digits", "method=ove,umax,implicit,softmax"),
    *("seed=0,1", "budget.epochs=2", "budget.checkpoints=2"),
)


def curves(workspace: Workspace):
    frame = results.frame(cells.load_all(workspace.path / "runs"), curves=True)
    return frame.drop(columns="train_seconds")


@pytest.fixture(scope="module")
def alone(new_workspace: NewWorkspace) -> Workspace:
    """A grid that one process ran, one cell after the other."""
    workspace = new_workspace("one")
    workspace.run(*GRID, "workers=1").succeeded()
    return workspace


def test_two_workers_give_the_numbers_of_one(alone: Workspace, workspace: Workspace) -> None:
    done = workspace.run(*GRID, "workers=2").succeeded()
    assert_frame_equal(curves(alone), curves(workspace), check_exact=True)
    lines = [line for line in done.out.splitlines() if line.startswith("[")]
    assert [line.split()[0] for line in lines] == [f"[{i}/8]" for i in range(1, 9)]
    assert "8 cells: 8 done" in done.out


@pytest.mark.slow
def test_another_launcher_gives_the_same_numbers(alone: Workspace, workspace: Workspace) -> None:
    pytest.importorskip(
        "hydra_plugins.hydra_joblib_launcher", reason="hydra-joblib-launcher is not installed"
    )
    words = (*GRID, "hydra/launcher=joblib", "hydra.launcher.n_jobs=2", "hydra.job.chdir=true")
    done = workspace.run_fresh(*words, "grid=named").succeeded()
    assert "8 cells: 8 done" in done.out, done.text
    assert_frame_equal(curves(alone), curves(workspace), check_exact=True)
    assert len(workspace.frame("grid=named")) == 8


@pytest.mark.slow
def test_a_killed_process_of_another_launcher_is_a_row(workspace: Workspace) -> None:
    pytest.importorskip("hydra_plugins.hydra_joblib_launcher")
    words = ("hydra/launcher=joblib", "hydra.launcher.n_jobs=2", "grid=named", "engine=numpy")
    with workspace.start(*GRID, *words, "method=umax", "budget.epochs=3000") as process:
        until(lambda: len(at_work(process.pid)) >= 2)
        os.kill(at_work(process.pid)[0], signal.SIGKILL)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 1 and "Traceback" not in out + err, out + err
    frame = workspace.frame("grid=named")
    assert frame["status"].tolist() == ["failed", "failed"]
    assert frame["message"].str.startswith("hydra/launcher=joblib left no cell: Terminated").all()


KILLS = """
import os, signal
from pathlib import Path
from xcbench.core.samplers import Others

class KillsOnce(Others):
    def draw(self, rng, rows, y, batch_size):
        if rows.max() >= 3:  # a row that no trial has
            try:
                Path("killed").touch(exist_ok=False)  # by one worker alone
            except FileExistsError:
                pass
            else:
                {ends}
        return super().draw(rng, rows, y, batch_size)
"""


@pytest.mark.parametrize(
    ("ends", "how"),
    [
        ("os.kill(os.getpid(), signal.SIGKILL)", "killed by signal 9; out of memory?"),
        ("os._exit(0)", "exit code 0"),
    ],
    ids=["killed", "exited"],
)
def test_a_dead_worker_costs_its_cell_alone(workspace: Workspace, ends: str, how: str) -> None:
    (workspace.path / "kills.py").write_text(KILLS.replace("{ends}", ends))
    words = (*GRID, "method=umax,implicit", "method.sampler=kills.KillsOnce", "workers=2")
    done = workspace.run(*words, "engine=numpy")
    assert done.code == 1 and "Traceback" not in done.err, done.text
    frame = workspace.frame()
    assert frame["status"].value_counts().to_dict() == {"done": 3, "failed": 1}
    message = frame.loc[frame["status"] == "failed", "message"].iloc[0]
    assert message == f"worker died: {how}"
    again = workspace.run(*words, "engine=numpy").succeeded()
    assert "3 of them were there already" in again.out, again.text


def test_interrupted_workers_leave_what_is_finished(tmp_path: Path) -> None:
    command = [sys.executable, Path(__file__).parents[2] / "run.py", *GRID, "workers=2"]
    launch = subprocess.Popen(
        [*command, "budget.epochs=40"], cwd=tmp_path, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    while not list(tmp_path.glob("runs/cells/[!.]*/cell.json")) and launch.poll() is None:
        time.sleep(0.02)
    os.killpg(launch.pid, signal.SIGINT)  # as a terminal does: parent and workers
    out, err = launch.communicate(timeout=60)
    assert launch.returncode == 130, out + err
    assert "interrupted: what is finished is saved" in out and "Traceback" not in err
    assert len(list(tmp_path.glob("runs/cells/[!.]*/cell.json"))) >= 1


class Slow(Solver):
    """A solver that takes 20 ms a stop."""

    is_bound = True

    def fit(self, dataset, model, streams, stops):
        yield Progress(0, 0, 0.0)
        for i, stop in enumerate(stops, start=1):
            time.sleep(0.02)
            yield Progress(i, i, stop, objective=float(i))


@pytest.mark.parametrize("seconds", [None, 0.1])
def test_a_budget_of_seconds_ends_a_cell_between_checkpoints(seconds, monkeypatch):
    class Data:
        train = test = Split(np.zeros((4, 2)), np.zeros(4, int))
        validation = None

        def first(self, share):
            return self

    measured = {"log_loss": 1.0, "error": 0.5}
    monkeypatch.setattr(evaluator, "evaluate", lambda *arguments, **asked: measured)
    budget = Budget(epochs=10, checkpoints=5, seconds=seconds)
    model = LinearModel(2, 2, True, "float32")
    (trace,) = training.run([training.Lane(Slow(), model)], Data(), 0, budget, Evaluation())
    if seconds is None:
        assert trace.status == "done" and trace.curve["epoch"].tolist() == [0, 2, 4, 6, 8, 10]
        assert trace.curve["bound"].tolist()[1:] == [-1, -2, -3, -4, -5]
    else:
        assert trace.status == "timeout" and trace.curve["epoch"].iloc[-1] < 2
        assert trace.train_seconds >= 0.1
        steps = trace.curve["iteration"].iloc[-1]
        assert trace.curve["bound"].iloc[-1] == pytest.approx(-np.arange(1, steps + 1).mean())


def test_a_worker_ends_in_silence_when_its_launch_was_killed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Killed before it read what the worker had sent: the system resets the connection."""
    monkeypatch.setattr(workers, "end_with_parent", lambda: None)
    worker, launch = multiprocessing.Pipe()
    worker.send("what nobody reads")
    launch.close()
    with pytest.raises(ConnectionResetError):
        worker.recv()
    worker, launch = multiprocessing.Pipe()
    worker.send("what nobody reads")
    launch.close()
    workers._serve(worker)


def test_a_daemon_which_may_have_no_processes_runs_all_cells_itself(tmp_path: Path) -> None:
    """As of ``multiprocessing.Pool``."""
    code = (
        "import multiprocessing, xcbench\n"
        "def run(folder):\n"
        "    grid = {'dataset': 'blobs', 'method': 'ove', 'lr': 0.1, 'seed': [0, 1]}\n"
        "    options = {'workers': 2, 'mlflow': False, 'verbose': 0, 'budget__epochs': 1,\n"
        "               'method__negatives': 4}\n"
        "    return list(xcbench.run(**grid, **options, runs_dir=folder)['status'])\n"
        "with multiprocessing.get_context('fork').Pool(1) as pool:\n"
        f"    print(pool.map(run, [{str(tmp_path)!r}]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.stdout.strip() == "[['done', 'done']]", done.stderr
