"""The reader of dense features and label lists, by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from xcbench.core.dataset import Raw
from xcbench.data.dense_text import dense_text
from xcbench.data.settings import DatasetSettings
from xcbench.errors import UserError

GOOD = {
    "train": "3 2\n0.5 -1e-3\n1 2\n-0.25 7.5e2\n",
    "train_labels": "3 5\n4:1 0:1\n3:1\n\n",
    "test": "1 2\n0 1\n",
    "test_labels": "1 5\n2:1\n",
}


def read(folder: Path, **changed: str) -> tuple[Raw, Raw]:
    paths = {}
    for role, text in {**GOOD, **changed}.items():
        paths[role] = folder / f"{role}.txt"
        paths[role].write_text(text)
    return dense_text(paths, DatasetSettings(name="small", reader="dense_text"))


def test_rows_and_labels(tmp_path: Path) -> None:
    train, test = read(tmp_path)
    assert isinstance(train.X, np.ndarray) and train.X.dtype == np.float32
    np.testing.assert_allclose(train.X, [[0.5, -1e-3], [1, 2], [-0.25, 750]])
    assert list(train.label_start) == [0, 2, 3, 3]
    assert list(train.labels) == [0, 4, 3]  # ascending
    assert (train.n_labels, len(test), list(test.labels)) == (5, 1, [2])


@pytest.mark.parametrize(
    ("role", "text", "said"),
    [
        ("train", "3\n0 1\n0 1\n0 1\n", "line 1: the header"),
        ("train", "3 2\n0 1\n0 1 2\n0 1\n", "line 3: '0 1 2' is not 2 numbers"),
        ("train", "3 2\n0 1\n0 x\n0 1\n", "line 3: '0 x' is not 2 numbers"),
        ("train", "3 2\n0 1\n0 nan\n0 1\n", "line 3: '0 nan' is not 2 numbers"),
        ("train", "3 2\n0 1\n0 1\n", "has 2 rows, its header says 3"),
        ("train", "3 2\n0 1\n0 1\n0 1\n0 1\n", "line 5: the header says 3 rows"),
        ("train_labels", "3 5\n4:1\n3:0.5\n1:1\n", "line 3: label 3 must have the value 1"),
        ("train_labels", "3 5\n4:1\n5:1\n1:1\n", "line 3: feature '5' is out of range"),
        ("train_labels", "2 5\n4:1\n3:1\n", "has 3 rows, the header of"),
        ("test_labels", "1 4\n2:1\n", "different numbers of labels"),
    ],
)
def test_a_mistake_is_one_sentence(tmp_path: Path, role: str, text: str, said: str) -> None:
    with pytest.raises(UserError, match=said.replace("'", ".")) as caught:
        read(tmp_path, **{role: text})
    assert "\n" not in str(caught.value)
