"""The two files of a toy dataset, in the repository's format."""

from __future__ import annotations

from pathlib import Path

TRAIN = b"5 4 6\n3,1 0:3 2:4\n5 1:-2\n 3:1\n1,5 0:0.5 3:0.5\n5\n"
TEST = b"4 4 6\n1 0:1\n5,0 1:2\n4 2:2\n2,3,5 0:1 1:1 2:1 3:1\n"


def put(data_dir: Path, train: bytes, test: bytes, suffix: str = "") -> None:
    (data_dir / "toy" / f"a.txt{suffix}").write_bytes(train)
    (data_dir / "toy" / f"b.txt{suffix}").write_bytes(test)
