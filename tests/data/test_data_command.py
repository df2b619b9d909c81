"""``xcbench data``: what is here, fetched and verified."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from catalogue import composed
from file_server import Server
from served_toy import archive, launch, sha
from toy_files import TRAIN
from workspace import Workspace
from xcbench import options


def test_the_list_has_every_dataset(workspace: Workspace) -> None:
    (workspace.path / "data" / "bibtex").mkdir(parents=True)
    (workspace.path / "data" / "bibtex" / "bibtex-test.arff.gz").write_bytes(b"x" * 2048)
    for name in ("eurlex_train.txt", "eurlex_test.txt.xz"):
        (workspace.path / "data" / name).write_bytes(b"x" * 512)
    (workspace.path / "data" / "wiki10" / ".fetching").mkdir(parents=True)
    (workspace.path / "data" / "wiki10" / ".fetching" / "0123.download.part").touch()
    done = workspace.xcbench("data", "list").succeeded()
    rows = {line.split()[0]: re.split(r"\s{2,}", line) for line in done.out.splitlines() if line}
    known = {path.stem for path in (options.folder() / "dataset").glob("*.yaml")}
    assert known <= set(rows)
    assert rows["bibtex"][1:4] == ["part", "data/bibtex", "2.0 KiB"]
    assert rows["eurlex"][1:4] == ["here", "data", "1.0 KiB"]
    assert rows["wiki10"][1:4] == ["part", "data/wiki10", "not known"]
    assert rows["delicious"][1:4] == ["missing", "data/delicious", "3.6 MiB"]
    assert rows["digits"][1:] == ["embedded", "scikit-learn"]
    assert rows["zipf"][1] == "synthetic"
    assert rows["file"][1] == "your own"
    assert rows["wiki-small"][-1].startswith("by hand: ")
    assert "wiki-small: no published file names" in done.out


@pytest.mark.parametrize("path", sorted((options.folder() / "dataset").glob("*.yaml")))
def test_sources_fit_their_datasets(path: Path) -> None:
    settings = composed(f"dataset={path.stem}")
    if not settings.files:
        return
    assert settings.source.page.startswith("http")
    roles = sorted(role for item in settings.source.downloads for role in item.files)
    assert roles == sorted(settings.files) or (not roles and settings.source.note)
    for item in settings.source.downloads:
        assert item.urls and all(re.match(r"https?://[^/]+/\S+$", url) for url in item.urls)


def test_fetch_and_verify(server: Server, workspace: Workspace) -> None:
    words = launch(archive(server))
    done = workspace.xcbench("data", "fetch", "eurlex", *words).succeeded()
    size = f"{len(TRAIN)} bytes"
    assert f"data/toy/a.txt: {size}, no checksum known: its shape is right" in done.out
    done = workspace.xcbench("data", "verify", "eurlex", *words).succeeded()
    assert done.out.splitlines() == [
        f"data/toy/{name}: ok (no checksum known: its shape was checked)"
        for name in ("a.txt", "b.txt")
    ]
    digests = f"dataset.sha256={{train: [{sha(TRAIN)}], test: [{'0' * 64}]}}"
    checked = ("dataset.reader=repository", *words, digests)
    done = workspace.xcbench("data", "verify", "bibtex", *checked)
    assert done.code == 1, done.text
    first, second = done.out.splitlines()
    assert first == "data/toy/a.txt: ok"
    assert second.startswith("data/toy/b.txt: is not the expected file: the SHA-256 of its content")
    # Changed behind our back, with its size and time as before.
    path = workspace.path / "data" / "toy" / "a.txt"
    stat = path.stat()
    path.write_bytes(TRAIN.replace(b"0:3", b"0:x"))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    done = workspace.xcbench("data", "verify", "eurlex", *words)
    assert done.code == 1, done.text
    changed = workspace.xcbench("data", "verify", "bibtex", *checked)
    assert "data/toy/a.txt: is not the expected file" in changed.out, changed.text
    assert re.match(r"data/toy/a.txt: line 2: .*0:x.*\ndata/toy/b.txt: ok \(", done.out)
    path.unlink()
    done = workspace.xcbench("data", "verify", "eurlex", *words)
    assert done.code == 1, done.text
    assert "a.txt: missing; `xcbench data fetch toy`" in done.out
    assert "b.txt: not verified: no checksum known" in done.out


def test_verify_without_files(workspace: Workspace) -> None:
    done = workspace.xcbench("data", "verify")
    assert (done.code, done.err) == (0, ""), done.text
    assert done.out.startswith("not here: 20news, amazon670k, amazoncat, bibtex")
    assert workspace.xcbench("data", "verify", "mnist").code == 1


MISTAKES = {
    ("data",): "list.fetch.verify NAME",
    ("data", "look"): "data look is not possible",
    ("data", "list", "bibtex"): "takes no names",
    ("data", "fetch"): "needs the names",
    ("data", "fetch", "nope"): "unknown dataset 'nope'; available: 20news",
    ("data", "verify", "bibtex", "workers=2"): "data has no setting workers",
    ("data", "list", "dataset.name=a"): "dataset.name=.* applies to one dataset",
    ("data", "verify", "bibtex", "dataset.nope=2"): "nope",
}


@pytest.mark.parametrize("words", MISTAKES, ids=" ".join)
def test_mistakes_are_one_sentence(workspace: Workspace, words: tuple[str, ...]) -> None:
    workspace.xcbench(*words).refused(MISTAKES[words])


def test_a_failure_does_not_cost_the_other_names(server: Server, workspace: Workspace) -> None:
    done = workspace.xcbench("data", "fetch", "wiki-small", "digits")
    assert done.code == 1, done.text
    assert re.fullmatch(
        r"error: wiki-small was not fetched: no published file names .*\n", done.err
    )
    assert "digits: nothing to fetch" in done.out
