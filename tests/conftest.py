"""Launching the product as its users do: commands in a folder of their own."""

from __future__ import annotations

import gc
import io
import multiprocessing
import os
import resource
import runpy
import shutil
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

# One thread of BLAS a process, before it is loaded: two pytest workers fill two cores, and threads
# that wait for each other cost half the time of the suite's small products.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pandas as pd
import pytest

# Nothing of the package is imported here: a command's process imports this file.
import toy_files
from file_server import Server, serving

if TYPE_CHECKING:
    from tiny_paper import Place
    from xcbench.core.dataset import Dataset

ROOT = Path(__file__).resolve().parents[1]
SMALL = ("mlflow=false", "budget.epochs=1", "budget.checkpoints=1")
SECONDS = 180.0
os.environ["XCBENCH_FETCH"] = "0"  # the suite needs no network; a server on this machine serves
os.environ["NO_PROXY"] = "127.0.0.1"
PRELOADED = os.pathsep.join(str(ROOT / part) for part in ("src", "tests"))
Limits = tuple[tuple[int, int], ...]  # of resources, for a command

# A process whose imports are done, to fork the commands from: a launch then takes a fraction of a
# second instead of two. One in an interpreter of its own is `Workspace.run_fresh`.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["preload"])
# To start a process is to ask how every other one ended; an exit code can be read only once, and
# two threads that read at the same time got 255.
FORKING = threading.Lock()


# Each over a minute of processor time: they start first, so that none runs alone at the end.
LONG = ("test_bad_inputs.py", "test_variants.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files first, then those of few tests, whose tests are long."""
    tests = Counter(item.path for item in items)
    items.sort(key=lambda item: (item.path.name not in LONG, tests[item.path]))


def pytest_collection_finish() -> None:
    """Modules stay: a cell collects garbage before it trains, and need not look at them again."""
    gc.collect()
    gc.freeze()


def _as_at_a_terminal() -> None:
    """Signals that whoever runs the tests ignores, as nohup does, end a launch all the same."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        return f"exit code {self.code}\n{self.out}\n{self.err}"


@dataclass(frozen=True)
class Workspace:
    """A folder in which commands run, with nothing of the user's environment."""

    path: Path
    packages: tuple[Path, ...] = ()  # folders of installed packages besides the environment's

    def environment(self, **more: str) -> dict[str, str]:
        own = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("XCBENCH", "HYDRA", "PYTHON", "MLFLOW", "COV_"))
        }
        quiet = {
            "MLFLOW_DISABLE_TELEMETRY": "true",
            "DO_NOT_TRACK": "true",
            "XCBENCH_FETCH": "0",
            "NO_PROXY": "127.0.0.1",
        }
        places = (*self.packages, ROOT / "src")  # not another checkout that is installed
        return {**own, **quiet, "PYTHONPATH": os.pathsep.join(map(str, places)), **more}

    def run(self, *words: str, limits: Limits = ()) -> Outcome:
        """``python run.py``, with limits of resources such as memory."""
        return self._forked(str(ROOT / "run.py"), words, limits)

    def xcbench(self, *words: str) -> Outcome:
        return self._forked("xcbench", words, ())

    def _forked(self, program: str, words: tuple[str, ...], limits: Limits) -> Outcome:
        with TemporaryDirectory() as scratch:
            out, err = Path(scratch) / "out", Path(scratch) / "err"
            settings = (str(self.path), self.environment(), str(out), str(err), limits)
            process = FORKS.Process(target=_program, args=(program, words, *settings))
            with FORKING, pytest.MonkeyPatch.context() as patch:
                patch.setenv("PYTHONPATH", PRELOADED)  # of the server, which starts here
                process.start()
            if not wait([process.sentinel], SECONDS):
                process.kill()
                raise TimeoutError(f"{program} {' '.join(words)}")
            with FORKING:
                process.join()
                code = process.exitcode
            assert code is not None
            return Outcome(code, out.read_text("utf-8"), err.read_text("utf-8"))

    def run_fresh(self, *words: str, **environment: str) -> Outcome:
        """``python run.py`` in an interpreter of its own."""
        done = subprocess.run(
            [sys.executable, str(ROOT / "run.py"), *words],
            cwd=self.path,
            env=self.environment(**environment),
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=SECONDS,
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    def start(self, *words: str) -> subprocess.Popen[str]:
        """A launch that can be interrupted; Ctrl-C reaches it as it does at a terminal."""
        return subprocess.Popen(
            [sys.executable, str(ROOT / "run.py"), *words],
            cwd=self.path,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            preexec_fn=_as_at_a_terminal,
        )

    def frame(self, *words: str) -> pd.DataFrame:
        """What ``xcbench results`` prints."""
        shown = self.xcbench("results", *words)
        assert shown.code == 0, shown.text
        return pd.read_csv(io.StringIO(shown.out))

    def cells(self, runs: str = "runs") -> dict[str, tuple[int, int]]:
        """Finished cells by identity, with what changes when one is written again."""
        found = {}
        for path in (self.path / runs / "cells").glob("[!.]*/cell.json"):
            stat = path.stat()
            found[path.parent.name] = (stat.st_ino, stat.st_mtime_ns)
        return found


def _program(
    program: str,
    words: tuple[str, ...],
    folder: str,
    environment: dict[str, str],
    out: str,
    err: str,
    limits: Limits,
) -> None:
    """A script or module as the main program of a process that was just forked."""
    gc.freeze()  # no collection looks at the big imports again
    for path, descriptor in ((out, 1), (err, 2)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), descriptor)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [program, *words]
    sys.path[:0] = environment["PYTHONPATH"].split(os.pathsep)
    for name, most in limits:
        resource.setrlimit(name, (most, most))
    if program.endswith(".py"):
        runpy.run_path(program, run_name="__main__")
    else:
        runpy.run_module(program, run_name="__main__", alter_sys=True)


NewWorkspace = Callable[[str], Workspace]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


@pytest.fixture(scope="session")
def new_workspace(tmp_path_factory: pytest.TempPathFactory) -> NewWorkspace:
    """Workspaces that outlive one test."""
    return lambda name: Workspace(tmp_path_factory.mktemp(name))


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """A folder of datasets with the toy dataset in it."""
    (tmp_path / "data" / "toy").mkdir(parents=True)
    toy_files.put(tmp_path / "data", toy_files.TRAIN, toy_files.TEST)
    return tmp_path / "data"


@pytest.fixture
def cache_dir(tmp_path: Path) -> Path:
    """Where datasets are prepared."""
    return tmp_path / "cache"


@pytest.fixture
def server() -> Iterator[Server]:
    """A server of files, without any at first."""
    with serving() as started:
        yield started


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """A launch of its own for a test that fetches."""
    monkeypatch.setattr("xcbench.data.download._silent", {})
    monkeypatch.setattr("xcbench.data.fetch._attempted", set())


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Dense: the handwritten digits of scikit-learn, prepared."""
    from xcbench import data
    from xcbench.data.settings import DatasetSettings, Expected, Protocol

    settings = DatasetSettings(
        name="digits",
        reader="digits",
        expected=Expected(test=360),
        protocol=Protocol(divide_by=16),
    )
    where = tmp_path_factory.mktemp("cache")
    info = data.prepare(settings, Path("nowhere"), where)
    return data.load(info, where)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Sparse: 300 rows, 40 features, 8 classes."""
    from xcbench import data
    from xcbench.data.settings import DatasetSettings, SyntheticSettings

    spec = SyntheticSettings(train=300, test=100, features=40, classes=8, nonzeros=6, signal=0.3)
    settings = DatasetSettings(name="small", reader="synthetic", synthetic=spec)
    where = tmp_path_factory.mktemp("cache")
    info = data.prepare(settings, Path("nowhere"), where)
    return data.load(info, where)


@pytest.fixture(scope="session")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of runs with a blank and a space in its name, tracked from another folder."""
    from tracked_cells import some_cells
    from xcbench.run import cells, tracking

    runs_dir = tmp_path_factory.mktemp("tracked") / "my runs"
    for cell in some_cells():
        cells.save(runs_dir, cell)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    before = os.getcwd()
    os.chdir(elsewhere)
    try:
        assert tracking.track(runs_dir, cells.load_all(runs_dir)) == 4
    finally:
        os.chdir(before)
    assert not list(elsewhere.iterdir())
    assert {path.name for path in runs_dir.iterdir()} == {"cells", "mlflow.db", "mlflow.lock"}
    assert [path.name for path in runs_dir.parent.iterdir()] == ["my runs"]
    return runs_dir


@pytest.fixture
def runs_dir(pristine: Path, tmp_path: Path) -> Path:
    """A copy of the tracked folder to play with."""
    return Path(shutil.copytree(pristine, tmp_path / "runs"))


@pytest.fixture(scope="module")
def installed(new_workspace: NewWorkspace) -> Workspace:
    """A place where the examples of docs/extending.md are installed as packages."""
    from plugin_examples import install

    path = new_workspace("installed").path
    install(path / "packages")
    return Workspace(path, (path / "packages",))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for generated files: hypothesis wants none that is made for one test."""
    return tmp_path_factory.mktemp("readers")


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of cells with made-up curves; tests take copies of it."""
    from made_cells import grid
    from xcbench.report import build

    out = tmp_path_factory.mktemp("reports") / "smoke"
    build(grid(), out, "Smoke & mirrors")
    return out


@pytest.fixture(scope="module")
def patched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The tiny paper among the papers of this process."""
    import tiny_paper
    from xcbench import options, papers

    folder = tmp_path_factory.mktemp("tiny")
    conf = tiny_paper.write(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(options, "folder", lambda: conf)
        patch.setattr(papers, "NAMES", (*papers.NAMES, "tiny"))
        patch.setitem(sys.modules, "xcbench.papers.tiny", tiny_paper.module())
        yield folder


@pytest.fixture
def fresh(patched: Path, tmp_path: Path) -> Place:
    """A place where the tiny paper has not run."""
    from tiny_paper import Place

    shutil.copytree(patched / "data", tmp_path / "data")
    return Place(tmp_path)
