"""`xcbench new`: what it writes works at once, and what it refuses to write."""

from __future__ import annotations

import re

import pytest

from plugin_examples import RUN, announce
from workspace import Workspace


def test_what_new_writes_works(workspace: Workspace) -> None:
    done = workspace.xcbench("new", "method", "mine").succeeded()
    assert "package xcbench-mine, with the method mine\n" in done.out
    package = Workspace(workspace.path / "mine")
    tested = package.module("pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist").succeeded()
    assert "2 passed" in tested.out, tested.text
    packages = workspace.path / "mine" / "src"
    project = (workspace.path / "mine" / "pyproject.toml").read_text()
    assert 'mine = "mine:method"' in project
    announce(packages, "xcbench_mine", "methods", "mine = mine:method")
    with_it = Workspace(workspace.path, (packages,))
    swept = with_it.run("-m", "method=umax,mine", *RUN).succeeded()
    assert "2 cells: 2 done" in swept.out, swept.text
    workspace.xcbench("new", "method", "mine").refused("mine is there already")


@pytest.mark.parametrize(
    "name", ["3x", "a-b", "class", "umax", "json", "Mine", "../mine", "softplus", "settings"]
)
def test_new_refuses_other_names(workspace: Workspace, name: str) -> None:
    workspace.xcbench("new", "method", name).refused(re.escape(name))
    assert not list(workspace.path.iterdir())
