"""Numbers in files that no machine can hold: a sentence, no traceback."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from xcbench.datasets.dense_text import dense_text
from xcbench.datasets.readers import _idx_array
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
