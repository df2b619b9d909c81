"""Fetching the files of datasets, from a server on this machine."""

from __future__ import annotations

import errno
import gzip
import os
import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest

from file_server import Handler, Server, closed_port
from served_toy import (
    BOTH,
    SMALL_TWIN,
    archive,
    assert_in_place,
    kept,
    plain,
    refusal,
    sha,
    toy,
    zipped,
)
from toy_files import TEST, TRAIN
from xcbench.data import download, fetch, files, prepare, unpack
from xcbench.data.settings import Download, Expected, Protocol, Source
from xcbench.errors import UserError

pytestmark = pytest.mark.usefixtures("forgetful")
PAGE = b"<!DOCTYPE html><html><title>Google Drive - Virus scan warning</title></html>"


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
    assert "continues from there" in sentence
    assert kept(tmp_path) == [100]
    server.paths["/toy.zip"].cut = None
    fetch.fetch(toy(item), tmp_path)
    assert_in_place(tmp_path)
    assert server.asked[-1] == ("/toy.zip", "bytes=100-")
    assert ("/toy.zip", size - 100) in server.sent  # its threads may note it in another order


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


def test_more_than_the_catalogue_says_is_stopped(server: Server, tmp_path: Path) -> None:
    urls = [
        server.put("endless", TRAIN * 99, length=-1),  # announces nothing
        server.put("larger", TRAIN * 99),
    ]
    for url in urls:
        item = Download([url], {"train": ""}, bytes=len(TRAIN))
        beside = Download([server.put("b.txt", TEST)], {"test": ""}, bytes=len(TEST))
        assert f"the expected file has {len(TRAIN):,}" in refusal(toy(item, beside), tmp_path)
        assert not list(tmp_path.rglob("*.part")) and not list(tmp_path.rglob("*.download"))


def test_missing_and_broken_addresses(server: Server, tmp_path: Path) -> None:
    gone = f"{server.address}/gone.zip"
    sentence = refusal(toy(Download([gone, "ftp://x/y", "no address"], dict(BOTH))), tmp_path)
    assert f"{gone} answers 404" in sentence
    assert "ftp://x/y cannot be requested" in sentence
    assert "'no address'" in sentence
    assert "no download address is known" in refusal(toy(Download([], dict(BOTH))), tmp_path)
    sentence = refusal(toy(Download([gone], {"train": ""})), tmp_path)
    assert "no source is known for b.txt; it is found at http://toy" in sentence
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
    other = Expected(train=6)
    sentence = refusal(toy(item, expected=other), tmp_path)
    assert "dataset.expected.train is 6, but 5 found" in sentence
    assert not (tmp_path / "toy" / ".fetching").exists()
    server.put("toy.zip", zipped({"Toy/a.txt": TRAIN[:-5], "Toy/b.txt": TEST}))
    assert "its header says 5" in refusal(toy(item), tmp_path)


# ---------------------------------------------------------------- places that cannot be written
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
        protocol = Protocol(constant=rate)
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
    server: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
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
    assert "\r" not in capsys.readouterr().out  # progress is for a terminal
