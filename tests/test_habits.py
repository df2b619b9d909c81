"""What whoever carries on relies on: the workflow, the hooks, the templates, the pages."""

from __future__ import annotations

import ast
import os
import re
import tomllib
from typing import Any

import pytest
import yaml

import edits
from workspace import ROOT

CHANGES = (ROOT / "docs" / "changes.md").read_text("utf-8")


def read(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text("utf-8"))


def test_the_workflow_runs_what_anybody_can_run_on_the_oldest_and_newest_python() -> None:
    job = read(".github/workflows/ci.yml")["jobs"]["checks"]
    assert [step["run"] for step in job["steps"] if "run" in step] == [".ci/run"]
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    versions = [it.split(" :: ")[-1] for it in project["classifiers"] if " 3." in it]
    assert job["strategy"]["matrix"]["python"] == [versions[0], versions[-1]]
    assert project["requires-python"] == f">={versions[0]}"
    targets = re.findall(r"^make (\S+)$", (ROOT / ".ci" / "run").read_text("utf-8"), re.M)
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert targets and all(re.search(rf"^{target}:", makefile, re.M) for target in targets)


def test_the_hooks_are_the_linters_of_make_lint() -> None:
    (repository,) = read(".pre-commit-config.yaml")["repos"]
    entries = {hook["entry"].removeprefix(".venv/bin/") for hook in repository["hooks"]}
    recipe = (ROOT / "Makefile").read_text("utf-8").split("\nlint:")[1].split("\n\n")[0]
    linters = {
        line.strip().removeprefix("$(BIN)/").removesuffix(" .") for line in recipe.splitlines()[1:]
    }
    assert linters < entries and "python tests/size.py" in entries


def test_the_templates_ask_for_command_versions_and_cell() -> None:
    for name in ("wrong-number", "bug"):
        fields = read(f".github/ISSUE_TEMPLATE/{name}.yml")["body"]
        asked = {field["id"]: field.get("validations", {}).get("required") for field in fields}
        assert asked["command"] and asked["versions"] and "cell" in asked
    pull = (ROOT / ".github" / "pull_request_template.md").read_text("utf-8")
    assert all(words in pull for words in ("command:", "versions", "identity of a cell"))


def test_every_path_on_the_way_of_a_change_exists() -> None:
    named = re.findall(r"`((?:src|conf|tests|docs|reports)/[^`]*|[\w.]+\.(?:yaml|cff))`", CHANGES)
    paths = [path for path in named if "NAME" not in path and path != "experiments.yaml"]
    assert len(paths) > 8
    assert [path for path in paths if not (ROOT / path).exists()] == []
    assert len(re.findall(r"^## A ", CHANGES, re.M)) == 5


def test_the_changelog_is_short() -> None:
    assert len((ROOT / "CHANGELOG.md").read_text("utf-8").splitlines()) <= 80


@pytest.mark.parametrize("edit", edits.EDITS, ids=lambda edit: edit.what)
def test_every_edit_whose_effect_is_shown_is_one_of_todays_code(edit: edits.Edit) -> None:
    text = (ROOT / edit.path).read_text("utf-8")
    assert text.count(edit.old) == 1
    if edit.path.endswith(".py"):
        same = ast.dump(ast.parse(text)) == ast.dump(ast.parse(text.replace(edit.old, edit.new)))
        assert not (same and edit.changes)
