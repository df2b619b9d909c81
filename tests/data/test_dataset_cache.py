"""Prepared datasets are parsed once, and a damaged one again."""

from __future__ import annotations

import hashlib
import mmap
import multiprocessing
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from catalogue import TOY, composed, loaded, refusal
from toy_files import TEST, put
from xcbench.data import cache, files, load, prepare
from xcbench.data.readers import READERS
from xcbench.errors import UserError
from xcbench.system import sealed


def count_reads(monkeypatch, reader: str = "repository") -> list[int]:
    calls: list[int] = []
    original = READERS[reader]

    def counting(paths, settings):
        if paths["train"].name != "train":  # not the sample, by which code is compared
            calls.append(1)
        return original(paths, settings)

    monkeypatch.setitem(READERS, reader, counting)
    return calls


def test_a_prepared_dataset_is_not_parsed_again(data_dir, cache_dir, monkeypatch):
    calls = count_reads(monkeypatch)
    first = prepare(composed(*TOY), data_dir, cache_dir)
    assert prepare(composed(*TOY), data_dir, cache_dir) == first and len(calls) == 1
    prepare(composed(*TOY, "dataset.protocol.divide_by=2"), data_dir, cache_dir)
    assert len(calls) == 2  # another protocol is another dataset


DAMAGE = {
    "cut off": lambda content: content[:-3],
    "empty": lambda content: b"",
    "zeros of the same length": lambda content: bytes(len(content)),
    "other end": lambda content: content[:-4] + b"\xff\xff\xff\x7f",
    "other beginning": lambda content: b"rubbish" + content[7:],
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("part", ["data", "indices", "indptr", "y"])
def test_a_damaged_cache_is_rebuilt(data_dir, cache_dir, monkeypatch, damage, part):
    info, dataset = loaded(composed(*TOY), data_dir, cache_dir)
    wanted = dataset.train.X.toarray()
    del dataset
    path = cache_dir / info.digest / f"train.{part}.npy"
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    calls = count_reads(monkeypatch)
    again, rebuilt = loaded(composed(*TOY), data_dir, cache_dir)
    assert len(calls) == 1 and again == info
    np.testing.assert_array_equal(rebuilt.train.X.toarray(), wanted)
    assert rebuilt.train.y.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"info": {}}'])
def test_a_damaged_description_is_rebuilt(data_dir, cache_dir, content):
    info = prepare(composed(*TOY), data_dir, cache_dir)
    (cache_dir / info.digest / "info.json").write_bytes(content)
    (cache_dir / "files.json").write_bytes(content)
    assert prepare(composed(*TOY), data_dir, cache_dir) == info
    assert load(info, cache_dir).train.y.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("damage", ["removed", *DAMAGE])
def test_a_cache_damaged_after_preparing_is_refused_or_loads(data_dir, cache_dir, damage):
    info = prepare(composed(*TOY), data_dir, cache_dir)
    path = cache_dir / info.digest / "test.y.npy"
    if damage == "removed":
        path.unlink()
    else:
        path.write_bytes(DAMAGE[damage](path.read_bytes()))
    if damage == "other end":
        load(info, cache_dir)  # only `prepare` looks at every byte
    else:
        with pytest.raises(UserError, match="run again to rebuild it"):
            load(info, cache_dir)


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError("No space left on device")])
def test_an_interrupted_save_leaves_nothing(data_dir, cache_dir, monkeypatch, error):
    original, saved = np.save, []

    def interrupted(path, array):
        saved.append(path)
        if len(saved) == 3:
            raise error
        original(path, array)

    with monkeypatch.context() as patch:
        patch.setattr(cache.np, "save", interrupted)
        with pytest.raises((KeyboardInterrupt, UserError)):
            prepare(composed(*TOY), data_dir, cache_dir)
    info, dataset = loaded(composed(*TOY), data_dir, cache_dir)
    assert dataset.train.y.tolist() == [0, 1, 0, 1]
    folders = [path.name for path in cache_dir.iterdir() if path.is_dir()]
    assert folders == [info.digest]


def test_a_cache_that_cannot_be_written_is_refused(data_dir, tmp_path):
    (tmp_path / "file").write_text("in the way")
    message = refusal(composed(*TOY), data_dir, tmp_path / "file")
    assert str(tmp_path / "file") in message and "runs_dir" in message


def mapped(array: np.ndarray) -> bool:
    base = array
    while isinstance(base, np.ndarray):
        base = base.base
    return isinstance(base, mmap.mmap)


@pytest.mark.parametrize(
    "overrides", [TOY, ("dataset=digits",), ("dataset=bibtex",)], ids=["toy", "digits", "twin"]
)
def test_rows_stay_on_disk_until_they_are_used(data_dir, cache_dir, overrides):
    info, dataset = loaded(composed(*overrides), data_dir, cache_dir)
    for split in (dataset.train, dataset.test):
        if info.sparse:
            assert all(mapped(part) for part in (split.X.data, split.X.indices, split.X.indptr))
            assert split.X.indices.dtype == split.X.indptr.dtype == np.int32
        else:
            assert mapped(split.X)
        assert split.X.dtype == np.float32


def prepare_both(arguments) -> tuple[str, list[int]]:
    settings, data_dir, cache_dir = arguments
    info = prepare(settings, data_dir, cache_dir)
    return info.digest, load(info, cache_dir).train.y.tolist()


def test_several_processes_prepare_at_once(data_dir, cache_dir):
    lines = b"".join(b"%d %d:1\n" % (i % 6, i % 4) for i in range(20000))
    put(data_dir, b"20000 4 6\n" + lines, TEST)
    same = (composed(*TOY), data_dir, cache_dir)
    other = (composed(*TOY, "dataset.protocol.row_norm=l2"), data_dir, cache_dir)
    with multiprocessing.get_context("forkserver").Pool(4) as pool:
        result = pool.map(prepare_both, [same, other] * 4, chunksize=1)
    assert result[::2] == [result[0]] * 4 and result[1::2] == [result[1]] * 4
    assert result[0][1] == [i % 6 for i in range(20000)]
    assert not list(cache_dir.glob(".*-*"))


def test_digests_of_many_files_are_remembered_at_once(tmp_path):
    paths = [tmp_path / f"{i}.txt" for i in range(40)]
    for path in paths:
        path.write_text(path.name)
    known = tmp_path / "cache" / "files.json"
    with ThreadPoolExecutor(8) as pool:
        result = list(pool.map(lambda path: files.content_digest(path, known), paths))
    expected = [hashlib.sha256(path.name.encode()).hexdigest() for path in paths]
    assert result == expected
    entries = sealed.loads(known.read_bytes()).values()
    assert sorted(entry["digest"] for entry in entries) == sorted(expected)
