"""Readers of damaged files: a sound dataset or a refusal in one sentence, whatever the bytes.

What they say to which mistake stands in ``bad_files.py``.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from hypothesis import event, example, given
from hypothesis import strategies as st

from generated_files import (
    arff_file,
    bydate_bytes,
    bydate_files,
    citeulike_bytes,
    idx_files,
    many,
    mutated,
    repository_file,
    rubbish,
    sparse_problem,
    svmlight_file,
)
from good_files import DRAWINGS, idx_bytes, npz_bytes
from reading import COMPRESS, dense, label_lists, read
from xcbench.core.dataset import Raw
from xcbench.data import files, labelled_rows, new_rows
from xcbench.data.inputs import Inputs
from xcbench.errors import UserError


def attempt(folder: Path, reader: str, **options) -> tuple[Raw, Raw] | None:
    """Both parts, sound, or None after a refusal that names a file in one line."""
    try:
        train, test = read(folder, reader, **options)
    except UserError as error:
        assert_sentence(folder, error)
        return None
    event("read")
    assert_sound(train, test)
    return train, test


def assert_sentence(folder: Path, error: UserError) -> None:
    event("refused")
    assert len(str(error).splitlines()) == 1
    assert str(error).isprintable()
    assert str(folder) in str(error)


def assert_sound(*parts: Raw) -> None:
    for raw in parts:
        data = raw.X if isinstance(raw.X, np.ndarray) else raw.X.data
        assert data.dtype == np.float32 and np.isfinite(data).all()
        assert raw.label_start[0] == 0 and raw.label_start[-1] == len(raw.labels)
        assert len(raw.label_start) == raw.X.shape[0] + 1 and (np.diff(raw.label_start) >= 0).all()
        if len(raw.labels):
            assert raw.labels.min() >= 0 and raw.labels.max() < raw.n_labels
        if sp.issparse(raw.X):
            raw.X.check_format(full_check=True)
            assert raw.X.has_canonical_format


def by_hand(content: bytes) -> tuple[list[list[int]], np.ndarray]:
    """The plainest possible reading of a repository file that is known to be sound."""
    lines = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    n_rows, n_features, _ = map(int, lines[0].split())
    labels, X = [], np.zeros((n_rows, n_features), np.float32)
    for i in range(n_rows):
        words = lines[1 + i].split()
        labelled = bool(words) and b":" not in words[0]
        labels.append([int(label) for label in words[0].split(b",")] if labelled else [])
        seen = set()
        for word in words[labelled:]:
            feature, value = word.split(b":")
            assert int(feature) not in seen and math.isfinite(float(value))
            seen.add(int(feature))
            X[i, int(feature)] = float(value)
    assert not any(line.strip() for line in lines[1 + n_rows :])
    return labels, X


@many
@given(content=repository_file().flatmap(lambda made: mutated(made[0])) | rubbish)
@example(content=b"")
@example(content=b"1 1 1\n")
@example(content=b"2 5 5\n0 1:1\n\n1 1:1\n")
def test_repository_parses_correctly_or_refuses(folder, content):
    result = attempt(folder, "repository", train=content, test=b"1 1 1\n0 0:1\n")
    if result and len(content) < 10000 and math.prod(result[0].X.shape) < 10**6:
        labels, X = by_hand(content)
        assert label_lists(result[0]) == labels
        np.testing.assert_array_equal(dense(result[0]), X)


@many
@given(content=arff_file().flatmap(lambda made: mutated(made[0])) | rubbish)
@example(content=b"")
@example(content=b"@data\n{}")
def test_arff_parses_or_refuses(folder, content):
    attempt(folder, "mulan_arff", features=2, train=content, test=content)


@st.composite
def damaged_idx(draw):
    content = {role: idx_bytes(array) for role, array in draw(idx_files())[0].items()}
    role = draw(st.sampled_from(list(content)))
    return {**content, role: draw(mutated(content[role]) | rubbish)}


@many
@given(content=damaged_idx(), labels=st.sampled_from([0, 9]))
def test_idx_parses_or_refuses(folder, content, labels):
    attempt(folder, "idx", labels=labels, **content)


@st.composite
def damaged_bydate(draw):
    content = bydate_bytes(draw(bydate_files())[0])
    role = draw(st.sampled_from(list(content)))
    return {**content, role: draw(mutated(content[role]) | rubbish)}


@many
@given(content=damaged_bydate(), sizes=st.sampled_from([{}, {"features": 9, "labels": 4}]))
def test_bydate_parses_or_refuses(folder, content, sizes):
    attempt(folder, "bydate", **sizes, **content)


@st.composite
def damaged_citeulike(draw):
    _, n_labels, rows, labels = draw(sparse_problem())
    content = citeulike_bytes(rows, labels, n_labels)
    role = draw(st.sampled_from(list(content)))
    return {**content, role: draw(mutated(content[role]) | rubbish)}


@many
@given(content=damaged_citeulike(), features=st.sampled_from([0, 12]))
def test_citeulike_parses_or_refuses(folder, content, features):
    attempt(folder, "citeulike", features=features, **content)


@many
@given(content=mutated(npz_bytes(**DRAWINGS)) | rubbish, labels=st.sampled_from([0, 3]))
@example(content=b"", labels=0)
def test_omniglot_parses_or_refuses(folder, content, labels):
    attempt(folder, "omniglot", labels=labels, train=content)


@many
@given(
    content=svmlight_file().flatmap(lambda made: mutated(made[0]))
    | repository_file().flatmap(lambda made: mutated(made[0]))
    | rubbish
)
@example(content=b"")
def test_own_files_parse_or_are_refused(folder, content):
    attempt(folder, "own", train=content, test=content)
    attempt(folder, "own", train=content, test=b"1 1:1\n2 2:1\n")


@many
@given(content=svmlight_file().flatmap(lambda made: mutated(made[0])) | rubbish)
@example(content=b"")
def test_svmlight_parses_or_refuses(folder, content):
    other = folder / "other.file"
    other.write_bytes(b"1 1:1\n2 2:1\n")
    (folder / "train.file").write_bytes(content)
    try:
        parts = labelled_rows.read([folder / "train.file", other])
    except UserError as error:
        assert_sentence(folder, error)
    else:
        event("read")
        assert_sound(*parts)


@many
@given(content=repository_file().flatmap(lambda made: mutated(made[0])) | rubbish)
@example(content=b"")
@example(content=b"1 " + b"9" * 5000 + b" 3\n0 0:1\n")
def test_rows_to_predict_parse_or_are_refused(folder, content):
    path = folder / "rows.file"
    path.write_bytes(content)
    try:
        X = new_rows.read(path, Inputs(-1, 12, np.ones(12), np.ones((12, 0)), np.arange(3)))
    except UserError as error:
        assert_sentence(folder, error)
    else:
        event("read")
        assert X.shape[1] == 12 and np.isfinite(X.data).all()
        X.check_format(full_check=True)


@many
@given(
    made=repository_file(),
    suffix=st.sampled_from([".xz", ".gz", ".bz2"]),
    data=st.data(),
)
def test_damaged_compression_gives_the_content_or_a_refusal(folder, made, suffix, data):
    content = made[0]
    path = folder / f"packed{suffix}"
    path.write_bytes(data.draw(mutated(COMPRESS[suffix](content))))
    try:
        with files.open_content(path) as handle:
            text = handle.read()
    except UserError as error:
        assert str(path) in str(error) and len(str(error).splitlines()) == 1
    else:
        # A file of no members is empty, one of two members holds both.
        assert text.replace(content, b"") == b""
