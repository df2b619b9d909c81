"""What the code of the package never does, and what its data files say; docs/security.md."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import yaml

from workspace import ROOT, SMALL, Workspace
from xcbench.track import mlflow_target

PICKLES = {"pickle", "cPickle", "_pickle", "marshal", "shelve", "dill", "joblib", "cloudpickle"}
SENDS = {"src/xcbench/run/executors/task.py"}  # jobs of a launch to its own nodes
RUNNING = {"eval", "exec", "compile", "__import__"}  # text as code
UNSAFE = {"extractall", "mktemp", "system", "popen", "unsafe_load", "full_load", "read_pickle"}


def trees() -> Iterator[tuple[Path, ast.AST]]:
    for path in sorted((ROOT / "src").rglob("*.py")):
        yield path, ast.parse(path.read_text("utf-8"))


def test_nothing_is_unpickled_and_no_text_is_run_as_code() -> None:
    result = []
    for path, tree in trees():
        for node in ast.walk(tree):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name.partition(".")[0] for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module.partition(".")[0]]
            sends = str(path.relative_to(ROOT)) in SENDS
            bad = PICKLES.intersection(names) if not sends else set()
            if isinstance(node, ast.Call):
                called = node.func
                if isinstance(called, ast.Name):
                    bad |= RUNNING & {called.id}
                elif isinstance(called, ast.Attribute):
                    bad |= UNSAFE & {called.attr}
                    bad |= {"yaml.load"} & {ast.unparse(called)}
                for word in node.keywords:
                    true = isinstance(word.value, ast.Constant) and word.value.value is True
                    bad |= {word.arg} & {"allow_pickle", "shell"} if true and word.arg else set()
            result += [f"{path.relative_to(ROOT)}:{node.lineno}: {name}" for name in bad]
    assert not result


def test_templates_escape_every_name() -> None:
    pages = list((ROOT / "src").rglob("*.html"))
    assert pages
    for path in pages:
        text = path.read_text("utf-8")
        assert "|safe" not in text.replace(" ", "") and "autoescape false" not in text, path


def test_a_download_without_encryption_has_a_checksum() -> None:
    plain = 0
    for path in sorted((ROOT / "conf" / "dataset").glob("*.yaml")):
        settings = yaml.safe_load(path.read_text("utf-8"))
        for download in settings.get("source", {}).get("downloads", []):
            if any(not url.startswith("https://") for url in download["urls"]):
                plain += 1
                assert {*download["files"]} & {*settings["sha256"]}, path.name
    assert plain


def test_mlflow_listens_to_this_machine_sends_nothing_and_hears_no_password(tmp_path: Path) -> None:
    (served,) = [
        ast.unparse(node)
        for path, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.List) and "'--host'" in ast.unparse(node)
    ]
    assert "'--host', '127.0.0.1'" in served
    assert mlflow_target.ENVIRONMENT["MLFLOW_DISABLE_TELEMETRY"] == "true"
    target = mlflow_target.Target.of(tmp_path, "postgresql://me:secret@host/runs")
    assert target.name == "postgresql://host/runs"


def test_a_password_is_in_no_cell(workspace: Workspace) -> None:
    uri = "tracking_uri=postgresql://me:secret@127.0.0.1:9/runs"
    done = workspace.run("dataset=digits", "method=umax", *SMALL[1:], uri, "mlflow=true")
    assert "secret" not in done.text, done.text
    kept = [path for path in (workspace.path / "runs").rglob("*") if path.is_file()]
    assert kept and not [path for path in kept if b"secret" in path.read_bytes()]
