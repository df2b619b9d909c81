"""Files and numbers in files that no machine can hold: a sentence, no traceback."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from reading import COMPRESS
from xcbench.data import files
from xcbench.data.dense_text import dense_text
from xcbench.data.drawings import omniglot
from xcbench.data.readers import _idx_array
from xcbench.errors import UserError


@pytest.mark.parametrize("shape", [(0, 2**32 - 1, 2**32 - 1), (2**32 - 1, 2**32 - 1, 2**32 - 1)])
def test_shape_of_an_idx_file(tmp_path: Path, shape: tuple[int, ...]) -> None:
    path = tmp_path / "images"
    path.write_bytes(b"\0\0\x08\x03" + struct.pack(">3I", *shape))
    with pytest.raises(UserError, match="its header says"):
        _idx_array(path, range(2, 5))


def test_header_of_a_dense_file(tmp_path: Path) -> None:
    paths = {}
    for role in ("train", "train_labels", "test", "test_labels"):
        paths[role] = tmp_path / role
        paths[role].write_text(f"{2**31 - 1} {2**31 - 1}\n1 2\n")
    with pytest.raises(UserError, match=r"line 1: 2147483647 rows .* do not fit into memory"):
        dense_text(paths, None)  # type: ignore[arg-type]


@pytest.mark.parametrize("suffix", [".xz", ".gz", ".bz2"])
def test_compressed_file_that_grows_beyond_measure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    monkeypatch.setattr(files, "FLOOR", 1 << 20)
    bomb, allowed = tmp_path / f"bomb{suffix}", tmp_path / f"allowed{suffix}"
    bomb.write_bytes(COMPRESS[suffix](bytes(1 << 23)))
    allowed.write_bytes(COMPRESS[suffix](b"12\n" * 333_000))  # below the floor, whatever its ratio
    for read in (files.fresh_digest, _lines):
        with pytest.raises(UserError, match=r"bomb.* unpacks to more than .*; get the file again"):
            read(bomb)
    assert _lines(allowed) == [b"12\n"] * 333_000


def _lines(path: Path) -> list[bytes]:
    with files.open_content(path) as handle:
        return list(handle)


def test_arrays_that_grow_beyond_measure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "FLOOR", 1 << 20)
    path = tmp_path / "drawings.npz"
    np.savez_compressed(path, X=np.zeros((1 << 11, 1 << 12), np.uint8))
    with pytest.raises(UserError, match=r"unpack to 8\.0 MiB"):
        omniglot({"train": path}, None)  # type: ignore[arg-type]
