"""The commit of the code stands beside every number, or why there is none."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from made_cells import make
from workspace import ROOT, SMALL, Workspace
from xcbench.committed.results_cache import ResultsCache

GIT = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org"]
PRINT = "import json; from xcbench.store import environment as e; print(json.dumps(e.of('numpy')))"
OUTSIDE = "the package runs outside a checkout of xcbench"


def git(folder: Path, *words: str) -> str:
    done = subprocess.run([*GIT, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def committed(folder: Path) -> str:
    """Make a repository of everything in a folder; gives its commit."""
    (folder / ".gitignore").write_text("__pycache__/\n")
    git(folder, "init", "-q")
    git(folder, "add", "-A", "-f", ".")
    git(folder, "commit", "-qm", "all")
    return git(folder, "rev-parse", "HEAD")


def package(place: Path) -> Path:
    """The package's files in another folder."""
    return shutil.copytree(
        ROOT / "src" / "xcbench", place, ignore=shutil.ignore_patterns("__pycache__")
    )


def python(source: Path, *words: str, **more: str) -> str:
    """What Python prints with the package of a folder."""
    environment = {**os.environ, "PYTHONPATH": str(source), "DO_NOT_TRACK": "true", **more}
    done = subprocess.run(
        [sys.executable, *words], cwd=source, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def recorded(source: Path, **more: str) -> tuple[str | None, str | None]:
    """Commit in the environment of a cell, and why there is none."""
    environment = json.loads(python(source, "-c", PRINT, **more))
    return environment["git_commit"], environment.get("git_commit_missing")


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="these files are not a checkout")
def test_a_cell_records_the_commit_of_this_checkout(workspace: Workspace) -> None:
    assert workspace.run("dataset=digits", "method=ove", "engine=numpy", *SMALL).code == 0
    (name,) = workspace.cells()
    content = json.loads((workspace.path / "runs" / "cells" / name / "cell.json").read_text())
    changed = git(ROOT, "status", "--porcelain", "src/xcbench")
    commit = git(ROOT, "rev-parse", "HEAD") + ("-dirty" if changed else "")
    assert content["environment"]["git_commit"] == commit
    shown = workspace.xcbench("show", name)
    mark = "-dirty" if changed else ""
    assert f"{commit[:12]}{mark} (recorded)" in shown.out, shown.text


def test_changed_code_is_marked_and_other_files_are_not(tmp_path: Path) -> None:
    source = tmp_path / "src"
    place = package(source / "xcbench")
    (tmp_path / "README.md").write_text("one")
    commit = committed(tmp_path)
    assert recorded(source) == (commit, None)
    (tmp_path / "README.md").write_text("two")
    other = tmp_path / "other"
    other.mkdir()
    (other / "file").write_text("")
    committed(other)
    assert recorded(source, GIT_DIR=str(other / ".git")) == (commit, None)  # as in a hook
    new = place / "methods" / "new.py"
    new.write_text("")
    assert recorded(source) == (f"{commit}-dirty", None)
    new.unlink()
    with (place / "errors.py").open("a") as file:
        file.write("# changed\n")
    assert recorded(source) == (f"{commit}-dirty", None)
    git(tmp_path, "rm", "-rq", "--cached", "src")  # and so on, until it is not tracked
    git(tmp_path, "commit", "-qm", "without")
    assert recorded(source) == (None, OUTSIDE)


def test_an_installed_package_in_another_project_says_why_it_has_no_commit(
    tmp_path: Path,
) -> None:
    installed = tmp_path / "env" / "site-packages"
    place = package(installed / "xcbench")
    shutil.copytree(ROOT / "conf", place / "conf")  # as in a wheel
    shutil.copytree(ROOT / "src" / "hydra_plugins", installed / "hydra_plugins")
    committed(tmp_path)  # that also tracks what it installed
    launch = (
        "import xcbench; print(xcbench.run(dataset='digits', method='ove', engine='numpy', "
        "mlflow=False, **{'budget.epochs': 1, 'budget.checkpoints': 1})['cell'].item())"
    )
    name = python(installed, "-c", launch).split()[-1]
    content = json.loads((installed / "runs" / "cells" / name / "cell.json").read_text())
    assert content["environment"]["git_commit"] is None
    assert content["environment"]["git_commit_missing"] == OUTSIDE
    assert f"none ({OUTSIDE})" in python(installed, "-m", "xcbench", "show", name)


def test_without_git_a_checkout_says_so(tmp_path: Path) -> None:
    source = tmp_path / "src"
    package(source / "xcbench")
    committed(tmp_path)
    (tmp_path / "empty").mkdir()
    commit, reason = recorded(source, PATH=str(tmp_path / "empty"))
    assert (commit, reason) == (None, "git is missing or cannot read the checkout")


def test_rows_of_committed_tables_have_the_commit_and_where_it_is_from(tmp_path: Path) -> None:
    digits = "0123456789" * 4  # look like a number
    environments = [
        {"git_commit": digits},
        {"git_commit": f"{digits}-dirty"},
        {"git_commit": None, "git_commit_missing": "no git"},
        {"git_commit": None},
        {},
    ]
    cells = [make(seed=seed) for seed in range(5)]
    for cell, environment in zip(cells, environments, strict=True):
        cell.environment = environment
    ResultsCache.of("table", cells).write(tmp_path, "runs")
    rows = ResultsCache.read(tmp_path, "runs").rows.sort_values("seed")
    assert rows["commit"].fillna("").tolist() == ["012345678901", "012345678901-dirty", "", "", ""]
    assert rows["commit_source"].tolist() == [
        *("recorded", "recorded"),
        *("no git", "not recorded", "nothing was measured"),
    ]
