"""What tests share: folders to launch in, datasets, reports, and the order of the files."""

from __future__ import annotations

import gc
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

# One thread of BLAS a process, before it is loaded: two pytest workers fill two cores, and threads
# that wait for each other cost half the time of the suite's small products.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest

import toy_files
from file_server import Server, serving
from workspace import NewWorkspace, Workspace

if TYPE_CHECKING:
    from tiny_paper import Place
    from xcbench.core.dataset import Dataset

os.environ["XCBENCH_FETCH"] = "0"  # the suite needs no network; a server on this machine serves
os.environ["NO_PROXY"] = "127.0.0.1"


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
    from xcbench.store import cells
    from xcbench.track import tracking

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
    assert {path.name for path in runs_dir.iterdir()} == {
        "cells",
        "mlflow.db",
        "mlflow.lock",
        "recorded",
    }
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
    from xcbench.report.folder import build

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
        patch.setattr(papers.Paper, "report", tiny_paper.report)
        patch.setitem(sys.modules, "xcbench.papers.tiny.experiments", tiny_paper.module())
        yield folder


@pytest.fixture(scope="module")
def finished(patched: Path) -> Place:
    """A place where all of the tiny paper has run once; tests take copies of it."""
    from tiny_paper import Place

    place = Place(patched)
    assert place.launch() == 0
    return place


@pytest.fixture
def place(finished: Place, tmp_path: Path) -> Place:
    """A copy of it."""
    for name in ("reports", "data"):
        shutil.copytree(finished.path / name, tmp_path / name)
    return type(finished)(tmp_path)


@pytest.fixture
def fresh(patched: Path, tmp_path: Path) -> Place:
    """A place where the tiny paper has not run."""
    from tiny_paper import Place

    shutil.copytree(patched / "data", tmp_path / "data")
    return Place(tmp_path)
