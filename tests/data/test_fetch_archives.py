"""Of an archive, the files asked for; of one that means harm, nothing."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path

import pytest

from file_server import Server
from served_toy import BOTH, assert_in_place, refusal, tarred, toy, zipped
from toy_files import TEST, TRAIN
from xcbench.data import fetch, unpack
from xcbench.data.settings import Download

pytestmark = pytest.mark.usefixtures("forgetful")
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
    assert not list((left / ".fetching").iterdir())


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
    members: dict[str, bytes | str] = {"Toy/a.txt": bytes(1 << 24), "Toy/b.txt": TEST}
    settings = toy(Download([server.put("toy.zip", zipped(members))], dict(BOTH)))
    assert "more than 100 times the size" in refusal(settings, tmp_path)
    assert not list((tmp_path / "toy" / ".fetching").iterdir())
    beside: dict[str, bytes | str] = {"other": bytes(1 << 24), **MEMBERS}
    for mode in ("w:gz", "w:xz", "w:bz2"):  # what is not asked for is not read through
        settings = toy(Download([server.put("toy.tar", tarred(beside, mode))], dict(BOTH)))
        assert "unpacks to more than" in refusal(settings, tmp_path)


def test_data_that_shrink_less_are_unpacked(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpack, "SLACK", 0)
    fetch.fetch(toy(Download([server.put("toy.tar", tarred(MEMBERS))], dict(BOTH))), tmp_path)
    assert_in_place(tmp_path)


def test_a_link_is_no_folder_for_what_is_fetched(server: Server, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "a.txt").write_text("of the user")
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / ".fetching").symlink_to(home)
    settings = toy(Download([server.put("toy", zipped(MEMBERS))], dict(BOTH)))
    assert "is a link, which is not followed" in refusal(settings, tmp_path)
    assert [path.read_text() for path in home.iterdir()] == ["of the user"]
