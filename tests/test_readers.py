"""Readers of file formats: what is written is read back, and rubbish is refused in one sentence.

What they say to which mistake stands in ``bad_files.py``.
"""

from __future__ import annotations

import bz2
import functools
import gzip
import lzma
import math
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import event, example, given
from hypothesis import strategies as st

from bad_files import DRAWINGS, idx_bytes, npz_bytes
from generated_files import (
    ARFF_HEAD,
    arff_file,
    bydate_bytes,
    bydate_files,
    citeulike_bytes,
    idx_files,
    many,
    matrix,
    mutated,
    repository_file,
    rubbish,
    sparse_problem,
    svmlight_file,
)
from xcbench.core.dataset import Raw
from xcbench.data import files, new_rows, svmlight
from xcbench.data.inputs import Inputs
from xcbench.data.readers import READERS
from xcbench.data.settings import DatasetSettings, Expected
from xcbench.errors import UserError

COMPRESS = {
    "": bytes,
    ".xz": functools.partial(lzma.compress, preset=0),
    ".gz": gzip.compress,
    ".bz2": functools.partial(bz2.compress, compresslevel=1),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("readers")


def read(folder: Path, reader: str, *, suffix="", features=0, labels=0, **content: bytes):
    """Write the files of a dataset and read them; a warning counts as a failure."""
    paths = {role: folder / f"{role}.file{suffix}" for role in content}
    for role, path in paths.items():
        path.write_bytes(content[role])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return READERS[reader](
            paths,
            DatasetSettings(name="toy", reader=reader, expected=Expected(0, 0, features, labels)),
        )


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


def refusal(folder: Path, reader: str, **options) -> str:
    with pytest.raises(UserError) as caught:
        read(folder, reader, **options)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


def dense(raw: Raw) -> np.ndarray:
    return raw.X if isinstance(raw.X, np.ndarray) else raw.X.toarray()


def label_lists(raw: Raw) -> list[list[int]]:
    return [part.tolist() for part in np.split(raw.labels, raw.label_start[1:-1])]


# ---------------------------------------------------------------- repository
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
@given(made=repository_file(), suffix=st.sampled_from(list(COMPRESS)))
def test_repository_reads_what_was_written(folder, made, suffix):
    content, X, labels, n_labels = made
    packed = COMPRESS[suffix](content)
    for raw in read(folder, "repository", suffix=suffix, train=packed, test=packed):
        np.testing.assert_array_equal(dense(raw), X)
        assert raw.X.nnz == np.count_nonzero(X)
        assert label_lists(raw) == labels
        assert raw.n_labels == n_labels


@many
@given(content=repository_file().flatmap(lambda made: mutated(made[0])) | rubbish)
@example(content=b"")
@example(content=b"1 1 1\n")
@example(content=b"2 5 5\n0 1:1\n\n1 1:1\n")
def test_repository_parses_correctly_or_refuses(folder, content):
    found = attempt(folder, "repository", train=content, test=b"1 1 1\n0 0:1\n")
    if found and len(content) < 10000 and math.prod(found[0].X.shape) < 10**6:
        labels, X = by_hand(content)
        assert label_lists(found[0]) == labels
        np.testing.assert_array_equal(dense(found[0]), X)


def test_repository_names_the_line_in_a_late_block(folder):
    good = b"0 1:1\n"
    content = b"9000 3 4\n" + good * 8000 + b"0 2:1 2:1\n" + good * 999
    assert "line 8002: feature 2 is given twice" in refusal(folder, "repository", train=content)
    content = b"9000 3 4\n" + good * 8000 + b"0 7:1\n" + good * 999
    assert "line 8002: feature '7' is out of range" in refusal(folder, "repository", train=content)


def test_equal_features_of_neighbouring_rows_are_no_duplicates(folder):
    content = b"5 4 1\n0 3:1\n\n0 3:1\n0 3:1\n\n"
    train, _ = read(folder, "repository", train=content, test=content)
    assert dense(train)[:, 3].tolist() == [1, 0, 1, 1, 0]


# ---------------------------------------------------------------- ARFF
@many
@given(made=arff_file(), suffix=st.sampled_from(list(COMPRESS)))
def test_arff_reads_what_was_written(folder, made, suffix):
    content, X, labels, n_labels = made
    packed = COMPRESS[suffix](content)
    both = read(folder, "mulan_arff", suffix=suffix, features=X.shape[1], train=packed, test=packed)
    for raw in both:
        np.testing.assert_array_equal(dense(raw), X)
        assert label_lists(raw) == labels
        assert raw.n_labels == n_labels


@many
@given(content=arff_file().flatmap(lambda made: mutated(made[0])) | rubbish)
@example(content=b"")
@example(content=b"@data\n{}")
def test_arff_parses_or_refuses(folder, content):
    attempt(folder, "mulan_arff", features=2, train=content, test=content)


def test_arff_label_that_is_given_as_zero_is_none(folder):
    content = ARFF_HEAD + b"{0 0,1 1,2 0}\n{2 1}\n"
    train, _ = read(folder, "mulan_arff", features=2, train=content, test=content)
    assert label_lists(train) == [[], [0]]
    assert train.X.nnz == 1


def test_arff_needs_its_header_and_the_number_of_features(folder):
    assert "no @data line" in refusal(folder, "mulan_arff", features=2, train=b"<html>\n", test=b"")
    message = refusal(folder, "mulan_arff", features=0, train=ARFF_HEAD, test=ARFF_HEAD)
    assert "dataset.expected.features" in message


def test_arff_parts_must_declare_the_same_attributes(folder):
    other = ARFF_HEAD.replace(b"@attribute b", b"@attribute z") + b"{0 1}\n"
    message = refusal(folder, "mulan_arff", features=2, train=ARFF_HEAD + b"{0 1}\n", test=other)
    assert "train.file" in message and "test.file" in message and "attributes" in message


# ---------------------------------------------------------------- idx
@many
@given(made=idx_files(), suffix=st.sampled_from(list(COMPRESS)), declared=st.booleans())
def test_idx_reads_what_was_written(folder, made, suffix, declared):
    parts, n_labels = made
    packed = {role: COMPRESS[suffix](idx_bytes(array)) for role, array in parts.items()}
    both = read(folder, "idx", suffix=suffix, labels=n_labels if declared else 0, **packed)
    for role, raw in zip(("train", "test"), both, strict=True):
        rows = [image.ravel().tolist() for image in parts[role]]
        assert raw.X.dtype == np.float32 and raw.X.tolist() == rows
        assert label_lists(raw) == [[label] for label in parts[f"{role}_labels"].tolist()]
        largest = max(parts["train_labels"].max(), parts["test_labels"].max())
        assert raw.n_labels == (n_labels if declared else largest + 1)


@st.composite
def damaged_idx(draw):
    content = {role: idx_bytes(array) for role, array in draw(idx_files())[0].items()}
    role = draw(st.sampled_from(list(content)))
    return {**content, role: draw(mutated(content[role]) | rubbish)}


@many
@given(content=damaged_idx(), labels=st.sampled_from([0, 9]))
def test_idx_parses_or_refuses(folder, content, labels):
    attempt(folder, "idx", labels=labels, **content)


# ---------------------------------------------------------------- 20 Newsgroups
@many
@given(
    made=bydate_files(),
    suffix=st.sampled_from(list(COMPRESS)),
    end=st.sampled_from([b"\n", b"\r\n", b" \n"]),
    declared=st.booleans(),
)
def test_bydate_reads_what_was_written(folder, made, suffix, end, declared):
    parts, n_words, n_labels = made
    packed = {role: COMPRESS[suffix](text) for role, text in bydate_bytes(parts, end).items()}
    sizes = {"features": n_words, "labels": n_labels} if declared else {}
    both = read(folder, "bydate", suffix=suffix, **sizes, **packed)
    for role, found in zip(("train", "test"), both, strict=True):
        wanted = np.zeros((len(parts[f"{role}_labels"]), found.X.shape[1]))
        for (document, word), count in parts[role].items():
            wanted[document - 1, word - 1] = count
        np.testing.assert_array_equal(dense(found), wanted)
        assert label_lists(found) == [[label - 1] for label in parts[f"{role}_labels"]]
        assert found.X.nnz == np.count_nonzero(wanted)
        if declared:
            assert (found.X.shape[1], found.n_labels) == (n_words, n_labels)


@st.composite
def damaged_bydate(draw):
    content = bydate_bytes(draw(bydate_files())[0])
    role = draw(st.sampled_from(list(content)))
    return {**content, role: draw(mutated(content[role]) | rubbish)}


@many
@given(content=damaged_bydate(), sizes=st.sampled_from([{}, {"features": 9, "labels": 4}]))
def test_bydate_parses_or_refuses(folder, content, sizes):
    attempt(folder, "bydate", **sizes, **content)


# ---------------------------------------------------------------- citeulike
@many
@given(
    problem=sparse_problem(),
    suffix=st.sampled_from(list(COMPRESS)),
    end=st.sampled_from([b"\n", b"\r\n"]),
    declared=st.booleans(),
)
def test_citeulike_reads_what_was_written(folder, problem, suffix, end, declared):
    n_features, n_labels, rows, labels = problem
    content = citeulike_bytes(rows, labels, n_labels, end)
    packed = {role: COMPRESS[suffix](text) for role, text in content.items()}
    sizes = {"features": n_features} if declared else {}
    train, test = read(folder, "citeulike", suffix=suffix, **sizes, **packed)
    wanted = matrix(rows, n_features)
    np.testing.assert_array_equal(dense(train), wanted[:, : train.X.shape[1]])
    assert not wanted[:, train.X.shape[1] :].any()
    assert label_lists(train) == [sorted(own) for own in labels]
    assert train.n_labels == test.n_labels == n_labels
    assert test.X.shape == (0, train.X.shape[1]) and len(test.labels) == 0


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


# ---------------------------------------------------------------- Omniglot
def test_omniglot_gives_drawers_17_to_20_as_test_part(folder):
    train, test = read(folder, "omniglot", labels=3, train=npz_bytes(**DRAWINGS))
    flat = DRAWINGS["X"].reshape(6, 4)
    assert train.X.toarray().tolist() == flat[::2].tolist()
    assert test.X.toarray().tolist() == flat[1::2].tolist()
    assert label_lists(train) == label_lists(test) == [[0], [1], [2]]


@many
@given(content=mutated(npz_bytes(**DRAWINGS)) | rubbish, labels=st.sampled_from([0, 3]))
@example(content=b"", labels=0)
def test_omniglot_parses_or_refuses(folder, content, labels):
    attempt(folder, "omniglot", labels=labels, train=content)


# ---------------------------------------------------------------- the user's own files
@many
@given(made=svmlight_file(), suffix=st.sampled_from(list(COMPRESS)))
def test_own_svmlight_files_are_read_as_written(folder, made, suffix):
    content, X, labels = made
    if not labels:
        return
    packed = COMPRESS[suffix](content)
    for found in read(folder, "own", suffix=suffix, train=packed, test=packed):
        # Features before the first one used, and behind the last, can't be told from none.
        D = found.X.shape[1]
        starts = [X[:, 1:], X] if not X[:, 0].any() else [X]
        assert any(
            np.array_equal(dense(found)[:, : part.shape[1]], part[:, :D]) and not part[:, D:].any()
            for part in starts
        )
        names = sorted({label for own in labels for label in own})
        assert label_lists(found) == [[names.index(label) for label in own] for own in labels]


@many
@given(made=repository_file())
def test_own_repository_files_are_read_as_such(folder, made):
    content, X, labels, n_labels = made
    for found in read(folder, "own", train=content, test=content):
        np.testing.assert_array_equal(dense(found), X)
        assert (label_lists(found), found.n_labels) == (labels, n_labels)


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
        parts = svmlight.read([folder / "train.file", other])
    except UserError as error:
        assert_sentence(folder, error)
    else:
        event("read")
        assert_sound(*parts)


# ---------------------------------------------------------------- rows to predict
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


# ---------------------------------------------------------------- compression
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
            found = handle.read()
    except UserError as error:
        assert str(path) in str(error) and len(str(error).splitlines()) == 1
    else:
        # A file of no members is empty, one of two members holds both.
        assert found.replace(content, b"") == b""
