"""A release as its users get it: wheel and sdist, installed where nothing else is."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import xcbench
from workspace import ROOT

pytestmark = pytest.mark.slow
GRID = "method=ove,umax,implicit dataset=digits method.lr=0.01,0.1 budget.epochs=2 grid=demo"


def run(folder: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """A command with nothing of this checkout in its environment."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "XCBENCH", "VIRTUAL_ENV"))
    }
    quiet = {"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true", "XCBENCH_FETCH": "0"}
    return subprocess.run(
        [str(word) for word in words],
        cwd=folder,
        env={**environment, **quiet},
        capture_output=True,
        text=True,
        timeout=900,
    )


def installed(folder: Path, *packages: str | Path) -> Path:
    """A new environment with packages; gives the folder of its programs."""
    assert run(folder.parent, sys.executable, "-m", "venv", folder).returncode == 0
    done = run(folder.parent, folder / "bin" / "pip", "install", "--quiet", *packages)
    if re.search("No matching distribution|Failed to establish|NewConnectionError", done.stderr):
        pytest.skip("no package index can be reached")
    assert done.returncode == 0, done.stderr
    return folder / "bin"


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist, and the wheel that is built from it, of the tracked files."""
    folder = tmp_path_factory.mktemp("release")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            target = folder / "source" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((ROOT / name).read_bytes())
    programs = installed(folder / "builder", "build")
    done = run(folder, programs / "python", "-m", "build", "--outdir", "dist", "source")
    assert done.returncode == 0, done.stderr
    return folder / "dist"


def test_both_have_the_version_of_the_code_and_what_it_needs(dist: Path) -> None:
    (wheel,), (sdist,) = dist.glob("*.whl"), dist.glob("*.tar.gz")
    for path in (wheel, sdist):
        assert path.name.startswith(f"xcbench-{xcbench.__version__}")
    names = {*zipfile.ZipFile(wheel).namelist()}
    for name in ("conf/config.yaml", "papers/umax/printed.csv", "show/base.html", "py.typed"):
        assert f"xcbench/{name}" in names
    assert not any(name.startswith("tests/") for name in names)
    with tarfile.open(sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert {"Makefile", "run.py", "README.md", "tests/test_release.py"} <= inside


def test_the_wheel_works_without_a_checkout(dist: Path, tmp_path: Path) -> None:
    (wheel,) = dist.glob("*.whl")
    programs = installed(tmp_path / "empty", wheel)
    work = tmp_path / "work"
    work.mkdir()

    def xcbench_says(*words: str) -> str:
        done = run(work, programs / "xcbench", *words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert xcbench_says("--version").split()[-1] == xcbench.__version__
    assert re.search(r"^eurlex +missing", xcbench_says("data", "list"), re.M)
    table = xcbench_says("run", "-m", *GRID.split())
    assert len(re.findall(r"^digits +(?:implicit|ove|umax) .* done$", table, re.M)) == 3
    xcbench_says("report", "grid=demo", "name=demo")
    assert (work / "reports" / "demo" / "index.html").exists()
    assert len(xcbench_says("results", "--format", "json", "grid=demo")) > 1000
    assert "nothing was run" in xcbench_says("paper", "ove", "plan=true")
    assert "778 printed numbers" in xcbench_says("replication")
    page = (work / "reports" / "index.html").read_text("utf-8")
    assert "../docs" not in page  # which are not here
    (work / "rows.txt").write_text("".join(f"{i % 3} {i % 3}:1 3:{i}\n" for i in range(60)))
    xcbench_says("train", "rows.txt", "out=model", "epochs=2")
    assert xcbench_says("predict", "model", "rows.txt").count("\n") >= 60
    where = run(work, programs / "python", "-c", "import xcbench; print(xcbench.__file__)")
    assert str(tmp_path / "empty") in where.stdout
