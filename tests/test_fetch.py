"""Fetching the files of datasets, from a server on this machine."""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
import time
import warnings
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir

from conftest import Outcome, Workspace
from xcbench import cli, config, planning
from xcbench.config import Dataset, Download, Source
from xcbench.datasets import download, fetch, files, prepare, unpack
from xcbench.errors import UserError

TRAIN = b"5 4 6\n3,1 0:3 2:4\n5 1:-2\n 3:1\n1,5 0:0.5 3:0.5\n5\n"
TEST = b"4 4 6\n1 0:1\n5,0 1:2\n4 2:2\n2,3,5 0:1 1:1 2:1 3:1\n"
PAGE = b"<!DOCTYPE html><html><title>Google Drive - Virus scan warning</title></html>"
BOTH = {"train": "Toy/a.txt", "test": "Toy/b.txt"}


# ---------------------------------------------------------------- a server
@dataclass
class Served:
    """How a path is answered."""

    body: bytes = b""
    kind: str = "application/octet-stream"
    ranges: bool = True
    length: int | None = None  # announced instead of the true one; -1: none is announced
    cut: int | None = None  # so many bytes are sent
    status: int = 200
    wait: float = 0.0
    shift: int = 0  # a wrong place, in answers to a range


@dataclass
class Server:
    address: str
    paths: dict[str, Served] = field(default_factory=dict)
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    sent: list[tuple[str, int]] = field(default_factory=list)

    def put(self, name: str, body: bytes = b"", **how: object) -> str:
        self.paths[f"/{name}"] = Served(body, **how)  # type: ignore[arg-type]
        return f"{self.address}/{name}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        state: Server = self.server.state  # type: ignore[attr-defined]
        wanted = self.headers.get("Range")
        state.asked.append((self.path, wanted))
        served = state.paths.get(self.path, Served(status=404))
        time.sleep(served.wait)
        body, status = served.body, served.status
        start = int(re.fullmatch(r"bytes=(\d+)-", wanted)[1]) if wanted else 0  # type: ignore[index]
        if wanted and served.ranges:
            status = 206 if start < len(body) else 416
        self.send_response(status)
        if status == 206:
            start += served.shift
            self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
            body = body[start:]
        if status == 416:
            body = b""
        self.send_header("Content-Type", served.kind)
        if served.length != -1:
            self.send_header("Content-Length", str(served.length or len(body)))
        self.end_headers()
        body = body[: served.cut]
        try:
            self.wfile.write(body)
            state.sent.append((self.path, len(body)))
        except OSError:
            pass  # the other side has hung up

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    http.state = Server(f"http://127.0.0.1:{http.server_port}")  # type: ignore[attr-defined]
    threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True).start()
    yield http.state  # type: ignore[attr-defined]
    http.shutdown()
    http.server_close()


@pytest.fixture(autouse=True)
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """A launch of its own for every test."""
    monkeypatch.setattr(download, "_silent", {})
    monkeypatch.setattr(fetch, "_attempted", set())


def zipped(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore")  # a name may come twice
        for name, content in members.items():
            archive.writestr(name.rstrip("*"), content)
    return out.getvalue()


def tarred(members: dict[str, bytes | str], mode: str = "w:gz") -> bytes:
    """Files; a string is the target of a link."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            if isinstance(content, str):
                entry.type, entry.linkname = tarfile.SYMTYPE, content
                archive.addfile(entry)
            else:
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def toy(*downloads: Download, checked: bool = False, **more: object) -> Dataset:
    """A dataset of two small files in the repository's format."""
    settings = Dataset(
        name="toy",
        reader="repository",
        folders=["toy"],
        files={"train": "a.txt", "test": "b.txt"},
        sha256={"train": [sha(TRAIN)], "test": [sha(TEST)]} if checked else {},
        source=Source(page="http://toy", downloads=list(downloads)),
        expected=config.Expected(train=5, test=4, features=4, labels=6),
    )
    return replace(settings, **more)  # type: ignore[arg-type]


def archive(server: Server, **how: object) -> Download:
    """The two files in a zip archive that a server has."""
    url = server.put("toy.zip", zipped({"Toy/a.txt": TRAIN, "Toy/b.txt": TEST}), **how)
    return Download(urls=[url], files=dict(BOTH))


def plain(server: Server) -> list[Download]:
    """The two files, each by itself."""
    return [
        Download(urls=[server.put(name, body)], files={role: ""})
        for role, name, body in (("train", "a.txt", TRAIN), ("test", "b.txt", TEST))
    ]


def refusal(settings: Dataset, data_dir: Path, limit: int | None = None) -> str:
    with pytest.raises(UserError) as caught:
        fetch.fetch(settings, data_dir, limit)
    sentence = str(caught.value)
    assert sentence.startswith("toy was not fetched: ")
    assert "\n" not in sentence
    assert nothing_in_place(data_dir)
    return sentence


def nothing_in_place(data_dir: Path) -> bool:
    """Whether no file lies where data are looked for."""
    folder = data_dir / "toy"
    return not any(path.is_file() for path in folder.glob("*") if path.name != ".fetching.lock")


def kept(data_dir: Path) -> list[int]:
    """Sizes of what an interrupted download left."""
    return [path.stat().st_size for path in (data_dir / "toy" / ".fetching").glob("*.part")]


def assert_in_place(data_dir: Path) -> None:
    assert (data_dir / "toy" / "a.txt").read_bytes() == TRAIN
    assert (data_dir / "toy" / "b.txt").read_bytes() == TEST
    assert not (data_dir / "toy" / ".fetching").exists()


# ---------------------------------------------------------------- what arrives
def test_files_arrive_and_are_not_asked_for_again(server: Server, tmp_path: Path) -> None:
    settings = toy(*plain(server), checked=True)
    assert [path.name for path in fetch.fetch(settings, tmp_path)] == ["a.txt", "b.txt"]
    assert_in_place(tmp_path)
    asked = len(server.asked)
    assert fetch.fetch(settings, tmp_path) == []
    assert len(server.asked) == asked


def test_only_what_is_missing_is_fetched(server: Server, tmp_path: Path) -> None:
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "a.txt").write_bytes(TRAIN)
    assert [path.name for path in fetch.fetch(toy(*plain(server)), tmp_path)] == ["b.txt"]
    assert {path for path, _ in server.asked} == {"/b.txt"}
    (tmp_path / "toy" / "a.txt").unlink()
    (path,) = fetch.fetch(toy(archive(server)), tmp_path)
    assert path.name == "a.txt"
    assert_in_place(tmp_path)


def test_compressed_files_get_the_ending_that_says_so(server: Server, tmp_path: Path) -> None:
    first, second = plain(server)
    server.put("a.txt", gzip.compress(TRAIN))
    settings = toy(first, second, checked=True)
    assert [path.name for path in fetch.fetch(settings, tmp_path)] == ["a.txt.gz", "b.txt"]
    assert files.fresh_digest(tmp_path / "toy" / "a.txt.gz") == sha(TRAIN)


MEMBERS = {"Toy/a.txt": TRAIN, "Toy/b.txt": TEST, "Toy/c.txt": b"not asked for"}
DEEPER = {f"data/{name}": content for name, content in MEMBERS.items()}


@pytest.mark.parametrize("checked", [False, True])
@pytest.mark.parametrize(
    "body",
    [zipped(MEMBERS), tarred(MEMBERS), tarred(MEMBERS, "w"), zipped(DEEPER), tarred(DEEPER)],
    ids=["zip", "tgz", "tar", "zip, deeper", "tgz, deeper"],
)
def test_archives_give_the_members_asked_for(
    server: Server, tmp_path: Path, body: bytes, checked: bool
) -> None:
    settings = toy(Download([server.put("toy", body)], dict(BOTH)), checked=checked)
    fetch.fetch(settings, tmp_path)
    assert_in_place(tmp_path)
    assert sorted(path.name for path in (tmp_path / "toy").iterdir()) == [
        ".fetching.lock",
        "a.txt",
        "b.txt",
    ]


# ---------------------------------------------------------------- what is refused
@pytest.mark.parametrize(
    "page", [{"body": PAGE}, {"body": b"\n <HTML>"}, {"body": b"sorry", "kind": "text/html; a=b"}]
)
def test_a_web_page_is_no_data(server: Server, tmp_path: Path, page: dict[str, object]) -> None:
    url = server.put("uc", **page)
    settings = toy(Download([url], dict(BOTH)))
    assert f"{url} answers with a web page" in refusal(settings, tmp_path)
    assert not (tmp_path / "toy").exists()
    # The next address is tried.
    settings.source.downloads[0].urls += archive(server).urls
    fetch.fetch(settings, tmp_path)
    assert_in_place(tmp_path)


def test_a_page_does_not_cost_what_was_kept(server: Server, tmp_path: Path) -> None:
    item = archive(server, cut=100)
    refusal(toy(item), tmp_path)
    assert kept(tmp_path) == [100]
    server.put("toy.zip", PAGE, ranges=False)
    assert "web page" in refusal(toy(item), tmp_path)
    assert kept(tmp_path) == [100]


def test_what_is_cut_off_goes_on_where_it_stopped(server: Server, tmp_path: Path) -> None:
    item = archive(server, cut=100)
    size = len(server.paths["/toy.zip"].body)
    sentence = refusal(toy(item), tmp_path)
    assert f"broke off after 100 of {size} bytes" in sentence
    assert "goes on from there" in sentence
    assert kept(tmp_path) == [100]
    server.paths["/toy.zip"].cut = None
    fetch.fetch(toy(item), tmp_path)
    assert_in_place(tmp_path)
    assert server.asked[-1] == ("/toy.zip", "bytes=100-")
    assert server.sent[-1] == ("/toy.zip", size - 100)


@pytest.mark.parametrize("how", [{"ranges": False}, {"shift": 3}, {"body": b""}])
def test_a_server_that_cannot_go_on_starts_anew(
    server: Server, tmp_path: Path, how: dict[str, object]
) -> None:
    item = archive(server, cut=100)
    refusal(toy(item), tmp_path)
    served = server.paths["/toy.zip"]
    server.paths["/toy.zip"] = replace(served, cut=None, **how)  # type: ignore[arg-type]
    if not how.get("body", b"x"):  # the file is shorter than what is here: 416
        short = zipped({"Toy/a.txt": TRAIN})[:90]
        server.paths["/toy.zip"].body = short
        assert "neither a zip nor a tar" in refusal(toy(item), tmp_path)
        assert server.asked[-1] == ("/toy.zip", None)
        return
    fetch.fetch(toy(item), tmp_path)
    assert_in_place(tmp_path)


def test_a_length_that_is_not_announced_is_no_obstacle(server: Server, tmp_path: Path) -> None:
    item = archive(server, length=-1)
    assert "a size that is not announced" in refusal(toy(item), tmp_path, 10**9)
    fetch.fetch(toy(item), tmp_path)
    assert_in_place(tmp_path)
    shutil.rmtree(tmp_path / "toy")
    fetch.fetch(toy(replace(item, bytes=1000)), tmp_path, 10**9)  # but known to us
    assert_in_place(tmp_path)


def test_missing_and_broken_addresses(server: Server, tmp_path: Path) -> None:
    gone = f"{server.address}/gone.zip"
    sentence = refusal(toy(Download([gone, "ftp://x/y", "no address"], dict(BOTH))), tmp_path)
    assert f"{gone} answers 404" in sentence
    assert "ftp://x/y cannot be asked for" in sentence
    assert "'no address'" in sentence
    assert "it has no address" in refusal(toy(Download([], dict(BOTH))), tmp_path)
    sentence = refusal(toy(Download([gone], {"train": ""})), tmp_path)
    assert "nothing is known to hold b.txt; it is found at http://toy" in sentence
    by_hand = toy(source=Source(note="ask the authors"))
    assert refusal(by_hand, tmp_path) == "toy was not fetched: ask the authors"
    outside = toy(archive(server), files={"train": "../a.txt", "test": "b.txt"})
    assert "without folders" in refusal(outside, tmp_path)


def test_a_wrong_checksum_is_refused_and_the_next_address_tried(
    server: Server, tmp_path: Path
) -> None:
    first, second = plain(server)
    wrong = server.put("wrong.txt", TRAIN.replace(b"0:3", b"0:4"))
    settings = toy(replace(first, urls=[wrong]), second, checked=True)
    sentence = refusal(settings, tmp_path)
    assert wrong in sentence and "SHA-256" in sentence and sha(TRAIN) in sentence
    assert not list((tmp_path / "toy" / ".fetching").iterdir())
    settings.source.downloads[0].urls += first.urls
    fetch.fetch(settings, tmp_path)
    assert_in_place(tmp_path)


def test_without_checksums_the_shape_decides(server: Server, tmp_path: Path) -> None:
    item = archive(server)
    other = config.Expected(train=6)
    sentence = refusal(toy(item, expected=other), tmp_path)
    assert "dataset.expected.train is 6, but 5 found" in sentence
    assert not (tmp_path / "toy" / ".fetching").exists()
    server.put("toy.zip", zipped({"Toy/a.txt": TRAIN[:-5], "Toy/b.txt": TEST}))
    assert "its header says 5" in refusal(toy(item), tmp_path)


# ---------------------------------------------------------------- archives that mean harm
HARMFUL = {
    "../ in a zip": (zipped({"../Toy/a.txt": TRAIN, "Toy/b.txt": TEST}), "no files Toy/a.txt"),
    "absolute": (tarred({"/Toy/a.txt": TRAIN, "Toy/b.txt": TEST}), "no files Toy/a.txt"),
    "../ in a tar": (tarred({"x/../Toy/a.txt": TRAIN, "Toy/b.txt": TEST}), "no files Toy/a.txt"),
    "link in a tar": (tarred({"Toy/a.txt": "/etc/passwd", "Toy/b.txt": TEST}), "a.txt is a link"),
    "folder": (zipped({"Toy/a.txt/": b"", "Toy/b.txt": TEST}), "a.txt is a link or a folder"),
    "lacks one": (zipped({"Toy/a.txt": TRAIN}), "no files Toy/b.txt"),
    "twice": (zipped({"Toy/a.txt": TRAIN, "Toy/a.txt*": TEST}), "2 files Toy/a.txt"),
    "damaged zip": (zipped(MEMBERS).replace(TRAIN[:0] + b"Toy/a", b"Tox/a", 1), "damaged"),
    "damaged tgz": (tarred(MEMBERS)[:-30], "damaged|neither"),
    "no archive": (b"0:1 2:3\n" * 20, "neither a zip nor a tar"),
}


@pytest.mark.parametrize("name", HARMFUL)
def test_archives_that_mean_harm(server: Server, tmp_path: Path, name: str) -> None:
    body, mention = HARMFUL[name]
    before = tmp_path / "before"
    before.mkdir()
    settings = toy(Download([server.put("toy.bin", body)], dict(BOTH)))
    assert re.search(mention, refusal(settings, tmp_path))
    (left,) = [path for path in tmp_path.iterdir() if path.is_dir() and path != before]
    assert left.name == "toy"
    assert not list((left / ".fetching").glob("*.download"))


def test_a_link_in_a_zip(server: Server, tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        entry = zipfile.ZipInfo("Toy/a.txt")
        entry.external_attr = 0o120777 << 16
        made.writestr(entry, "/etc/passwd")
        made.writestr("Toy/b.txt", TEST)
    settings = toy(Download([server.put("toy.zip", out.getvalue())], dict(BOTH)))
    assert "a.txt is a link" in refusal(settings, tmp_path)


def test_a_bomb_is_not_unpacked(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpack, "SLACK", 0)
    body = zipped({"Toy/a.txt": bytes(1 << 24), "Toy/b.txt": TEST})
    settings = toy(Download([server.put("toy.zip", body)], dict(BOTH)))
    assert "more than 100 times the size" in refusal(settings, tmp_path)


def test_a_full_disk_is_one_sentence(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(unpack, "_copy_all", full)
    sentence = refusal(toy(archive(server)), tmp_path)
    assert "No space left on device" in sentence and str(tmp_path / "toy") in sentence


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_an_unwritable_folder_is_one_sentence(server: Server, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir(mode=0o500)
    assert "Permission denied" in refusal(toy(archive(server)), tmp_path / "data")


def test_a_file_in_the_way_is_one_sentence(server: Server, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    with pytest.raises(UserError, match=r"data.*(cannot be written|cannot be looked up)"):
        fetch.fetch(toy(archive(server)), tmp_path / "data")


# ---------------------------------------------------------------- hosts that are away
def closed_port() -> str:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        return f"http://127.0.0.1:{http.server_port}"


def test_a_refused_connection_leaves_nothing(tmp_path: Path) -> None:
    settings = toy(Download([f"{closed_port()}/toy.zip"], dict(BOTH)))
    assert "cannot be reached (Connection refused)" in refusal(settings, tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_silent_host_is_asked_once(
    server: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(download, "TIMEOUT", (0.3, 0.3))
    one, two = plain(server)
    for served in server.paths.values():
        served.wait = 1.5
    started = time.monotonic()
    for rate in (0.0, 1.0, 2.0):  # protocols of one launch
        protocol = config.Protocol(constant=rate)
        settings = toy(one, two, missing="twin", protocol=protocol, synthetic=SMALL_TWIN)
        info = prepare(settings, tmp_path, tmp_path / "cache", fetching=True)
        assert info.name == "toy-twin"
    other = toy(one, two, folders=["other"], missing="twin", synthetic=SMALL_TWIN)
    prepare(other, tmp_path, tmp_path / "cache", fetching=True)
    assert len(server.asked) == 1
    assert time.monotonic() - started < 30
    out = capsys.readouterr().out
    assert out.count("toy was not fetched: ") == 2  # of each dataset it is said once
    assert out.count("cannot be reached (no answer within 0.3 s)") == 2


SMALL_TWIN = config.Synthetic(train=40, test=20, features=10, classes=4, nonzeros=3)


def test_a_server_that_falls_silent_midway(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "TIMEOUT", (1.0, 0.4))
    item = archive(server)

    def stall(handler: Handler) -> None:
        body = server.paths[handler.path].body
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body[:100])
        time.sleep(1.2)

    monkeypatch.setattr(Handler, "do_GET", stall)
    assert "sent nothing for 0.4 s" in refusal(toy(item), tmp_path)
    assert kept(tmp_path) == [100]


def test_a_server_that_trickles_is_given_up(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "TIMEOUT", (1.0, 0.5))
    item = archive(server)

    def trickle(handler: Handler) -> None:
        body = server.paths[handler.path].body
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        try:
            for at in range(len(body)):
                handler.wfile.write(body[at : at + 1])
                time.sleep(0.05)
        except OSError:
            pass

    monkeypatch.setattr(Handler, "do_GET", trickle)
    assert "sends less than 1024 bytes a second" in refusal(toy(item), tmp_path)


# ---------------------------------------------------------------- in a run
def test_a_run_fetches_small_files_only(
    server: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    item = archive(server, length=200 * 2**20)
    fetch.attempt(toy(item), tmp_path)
    out = capsys.readouterr().out
    assert "it has 200.0 MiB, a run fetches at most 100.0 MiB" in out
    assert "`xcbench data fetch toy` fetches it" in out
    assert not list(tmp_path.iterdir())
    size = len(server.paths["/toy.zip"].body)
    server.paths["/toy.zip"].length = None
    assert "at most" in refusal(toy(item), tmp_path, size - 1)
    fetch.fetch(toy(item), tmp_path, size)
    assert_in_place(tmp_path)
    shutil.rmtree(tmp_path / "toy")
    fetch.fetch(toy(item), tmp_path)
    assert_in_place(tmp_path)


@pytest.mark.parametrize(
    "missing, fetching, name",
    [("twin", True, "toy"), ("error", True, "toy"), ("skip", True, ""), ("twin", False, "")],
)
def test_when_a_run_fetches(
    server: Server, tmp_path: Path, missing: str, fetching: bool, name: str
) -> None:
    settings = toy(archive(server), missing=missing, synthetic=SMALL_TWIN)
    info = prepare(settings, tmp_path, tmp_path / "cache", fetching)
    assert bool(server.asked) == bool(name)
    assert (info.name == "toy" and hasattr(info, "twin") and not info.twin) == bool(name)


def launch(*downloads: Download) -> tuple[str, ...]:
    """Words that make the toy of a catalogue's dataset."""
    items = []
    for item in downloads:
        urls = ", ".join(map(repr, item.urls))
        members = ", ".join(f"{role}: {member}" for role, member in item.files.items())
        items.append(f"{{urls: [{urls}], files: {{{members}}}}}")
    return (
        "dataset.name=toy",
        "dataset.folders=[toy]",
        "dataset.files={train: a.txt, test: b.txt}",
        "dataset.expected={train: 5, test: 4, features: 4, labels: 6}",
        f"dataset.source.downloads=[{', '.join(items)}]",
    )


RUN = (
    "dataset=eurlex",
    "method=ove",
    "method.m=1",
    "mlflow=false",
    "budget.epochs=1",
    "budget.checkpoints=1",
)


def test_a_run_on_fetched_files(server: Server, workspace: Workspace) -> None:
    words = (*RUN, *launch(archive(server)))
    planned = workspace.run(*words, "plan=true", "fetch=true", "dataset.synthetic.train=900")
    assert planned.code == 0, planned.text
    assert not server.asked  # neither by a plan,
    off = workspace.run(*words, "dataset.missing=error")
    assert off.code == 2, off.text
    assert "`xcbench data fetch toy`" in off.err
    assert not server.asked  # nor where XCBENCH_FETCH=0
    done = workspace.run(*words, "fetch=true", "dataset.missing=error")
    assert done.code == 0, done.text
    assert re.search(r"^fetching toy, \d+ bytes$", done.out, re.MULTILINE)
    assert "1 cells: 1 done" in done.out
    assert_in_place(workspace.path / "data")
    assert list(workspace.frame()["dataset"]) == ["toy"]
    # Where the files came from is no part of what a cell is.
    again = workspace.run(*words[:-1], "fetch=true")
    assert "nothing was run" in again.out, again.text
    (cell,) = workspace.cells()
    shown = workspace.xcbench("show", cell)
    assert "source" not in shown.out, shown.text


def test_a_run_goes_on_without(workspace: Workspace) -> None:
    words = (*RUN, *launch(Download([f"{closed_port()}/toy.zip"], dict(BOTH))), "fetch=true")
    small = ("dataset.synthetic.train=900", "-m", "dataset.protocol.rows=0,50")
    done = workspace.run(*words, *small)
    assert done.code == 0, done.text
    assert done.out.count("toy was not fetched: 127.0.0.1") == 1
    assert "Connection refused" in done.out
    assert "RUNNING ON ITS SYNTHETIC TWIN" in done.out
    assert done.out.index("Connection refused") < done.out.index("SYNTHETIC TWIN")
    refused = workspace.run(*words, "dataset.missing=error")
    assert refused.code == 2
    assert refused.err.count("\n") == 1


@pytest.mark.parametrize("value, expected", [("0", False), ("false", False), ("1", True)])
def test_the_environment_switches_fetching_off(
    monkeypatch: pytest.MonkeyPatch, value: str, expected: bool
) -> None:
    monkeypatch.setenv("XCBENCH_FETCH", value)
    assert composed().fetch is expected
    monkeypatch.delenv("XCBENCH_FETCH")
    assert composed().fetch is True
    assert composed("fetch=false").fetch is False


def composed(*overrides: str) -> config.Config:
    config.register()
    with initialize_config_dir(str(config.folder()), version_base=None):
        return config.read(compose("config", list(overrides)))


def test_a_source_makes_no_identity(tmp_path: Path) -> None:
    same = set()
    for overrides in (
        (),
        ("dataset.source.page=x", "dataset.source.note=y", "fetch=true"),
        ("dataset.source.downloads=[{urls: [x], files: {train: a}, bytes: 3}]",),
    ):
        settings = composed("dataset=digits", f"runs_dir={tmp_path}", *overrides)
        (job,) = planning.jobs([settings])
        same.add((job.cell.cell, job.cell.dataset_digest))
        assert "source" not in str(job.cell)
    assert len(same) == 1


# ---------------------------------------------------------------- several processes
def test_two_processes_fetch_once(server: Server, workspace: Workspace) -> None:
    words = ("data", "fetch", "eurlex", *launch(archive(server, wait=1.0)))
    outcomes: list[Outcome] = []
    threads = [
        threading.Thread(target=lambda: outcomes.append(workspace.xcbench(*words)))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [done.code for done in outcomes] == [0, 0], outcomes
    assert_in_place(workspace.path / "data")
    assert len(server.asked) == 3  # each asks for the size, one for the content
    first, second = sorted(outcomes, key=lambda done: "waiting" in done.out)
    assert "a.txt" in first.out
    assert "another process is fetching it" in second.out
    assert "its files are here" in second.out


def test_interrupted_and_continued(server: Server, workspace: Workspace) -> None:
    body = zipped({"Toy/a.txt": TRAIN, "Toy/b.txt": TEST, "noise": os.urandom(1 << 20)})
    url = server.put("toy.zip", body)
    words = ["data", "fetch", "eurlex", *launch(Download([url], dict(BOTH)))]
    half, stalled = len(body) // 2, threading.Event()

    def stall(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        try:
            handler.wfile.write(body[:half])
            handler.wfile.flush()
            stalled.wait(20)
        except OSError:
            pass

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Handler, "do_GET", stall)
        process = subprocess.Popen(
            [sys.executable, "-m", "xcbench", *words],
            cwd=workspace.path,
            env=workspace.environment(PYTHONPATH=str(Path(cli.__file__).parents[1])),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        try:
            wait_until(lambda: sum(kept(workspace.path / "data")) > half // 2)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
            stalled.set()
    assert (process.returncode, err) == (130, "")
    assert "`xcbench data fetch eurlex` goes on from it" in out
    assert nothing_in_place(workspace.path / "data")
    (size,) = kept(workspace.path / "data")
    done = workspace.xcbench(*words)
    assert done.code == 0, done.text
    assert_in_place(workspace.path / "data")
    assert server.asked[-1] == ("/toy.zip", f"bytes={size}-")


def wait_until(true: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.05)


# ---------------------------------------------------------------- the command
def test_the_list_has_every_dataset(workspace: Workspace) -> None:
    (workspace.path / "data" / "bibtex").mkdir(parents=True)
    (workspace.path / "data" / "bibtex" / "bibtex-test.arff.gz").write_bytes(b"x" * 2048)
    for name in ("eurlex_train.txt", "eurlex_test.txt.xz"):
        (workspace.path / "data" / name).write_bytes(b"x" * 512)
    (workspace.path / "data" / "wiki10" / ".fetching").mkdir(parents=True)
    (workspace.path / "data" / "wiki10" / ".fetching" / "0123.download.part").touch()
    done = workspace.xcbench("data", "list")
    assert done.code == 0, done.text
    rows = {line.split()[0]: re.split(r"\s{2,}", line) for line in done.out.splitlines() if line}
    known = {path.stem for path in (config.folder() / "dataset").glob("*.yaml")}
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


@pytest.mark.parametrize("path", sorted((config.folder() / "dataset").glob("*.yaml")))
def test_sources_fit_their_datasets(path: Path) -> None:
    settings = composed(f"dataset={path.stem}").dataset
    if not settings.files:
        return
    assert settings.source.page.startswith("http")
    roles = sorted(role for item in settings.source.downloads for role in item.files)
    assert roles == sorted(settings.files) or (not roles and settings.source.note)
    for item in settings.source.downloads:
        assert item.urls and all(re.match(r"https?://[^/]+/\S+$", url) for url in item.urls)


def test_fetch_and_verify(server: Server, workspace: Workspace) -> None:
    words = launch(archive(server))
    done = workspace.xcbench("data", "fetch", "eurlex", *words)
    assert done.code == 0, done.text
    size = f"{len(TRAIN)} bytes"
    assert f"data/toy/a.txt: {size}, no checksum known: its shape is right" in done.out
    done = workspace.xcbench("data", "verify", "eurlex", *words)
    assert done.code == 0, done.text
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
    ("data", "verify", "bibtex", "workers=2"): "workers is not a setting",
    ("data", "list", "dataset.name=a"): "dataset.name=.* holds for one dataset",
    ("data", "verify", "bibtex", "dataset.nope=2"): "nope",
}


@pytest.mark.parametrize("words", MISTAKES, ids=" ".join)
def test_mistakes_are_one_sentence(workspace: Workspace, words: tuple[str, ...]) -> None:
    done = workspace.xcbench(*words)
    assert done.code == 2, done.text
    assert re.fullmatch(f"error: .*{MISTAKES[words]}.*\n", done.err), done.text


def test_a_failure_does_not_cost_the_other_names(server: Server, workspace: Workspace) -> None:
    done = workspace.xcbench("data", "fetch", "wiki-small", "digits")
    assert done.code == 1, done.text
    assert re.fullmatch(
        r"error: wiki-small was not fetched: no published file names .*\n", done.err
    )
    assert "digits: nothing to fetch" in done.out
