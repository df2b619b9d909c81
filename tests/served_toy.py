"""The toy dataset on a server, and what of it is in place."""

from __future__ import annotations

import hashlib
import io
import tarfile
import warnings
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from file_server import Server
from toy_files import TEST, TRAIN
from xcbench.data import fetch
from xcbench.data.settings import DatasetSettings, Download, Expected, Source, SyntheticSettings
from xcbench.errors import UserError

BOTH = {"train": "Toy/a.txt", "test": "Toy/b.txt"}


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


def toy(*downloads: Download, checked: bool = False, **more: object) -> DatasetSettings:
    """A dataset of two small files in the repository's format."""
    settings = DatasetSettings(
        name="toy",
        reader="repository",
        folders=["toy"],
        files={"train": "a.txt", "test": "b.txt"},
        sha256={"train": [sha(TRAIN)], "test": [sha(TEST)]} if checked else {},
        source=Source(page="http://toy", downloads=list(downloads)),
        expected=Expected(train=5, test=4, features=4, labels=6),
    )
    return replace(settings, **more)  # type: ignore[arg-type]


SMALL_TWIN = SyntheticSettings(train=40, test=20, features=10, classes=4, nonzeros=3)


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


def refusal(settings: DatasetSettings, data_dir: Path, limit: int | None = None) -> str:
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
