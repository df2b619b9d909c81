"""Readers of file formats: what is written is read back, and a mistake is named.

What they say to which mistake stands in ``bad_files.py``.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generated_files import (
    ARFF_HEAD,
    arff_file,
    bydate_bytes,
    bydate_files,
    citeulike_bytes,
    idx_files,
    many,
    matrix,
    repository_file,
    sparse_problem,
    svmlight_file,
)
from good_files import DRAWINGS, idx_bytes, npz_bytes
from reading import COMPRESS, dense, label_lists, read
from xcbench.errors import UserError


def refusal(folder: Path, reader: str, **options) -> str:
    with pytest.raises(UserError) as caught:
        read(folder, reader, **options)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


# ---------------------------------------------------------------- repository
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


def test_repository_names_the_line_in_a_late_block(folder):
    good = b"0 1:1\n"
    content = b"9000 3 4\n" + good * 8000 + b"0 2:1 2:1\n" + good * 999
    assert "line 8002: feature 2 is given twice" in refusal(
        folder, "repository", train=content, test=b"1 3 4\n" + good
    )
    content = b"9000 3 4\n" + good * 8000 + b"0 7:1\n" + good * 999
    assert "line 8002: feature '7' is out of range" in refusal(
        folder, "repository", train=content, test=b"1 3 4\n" + good
    )


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


def test_arff_label_that_is_given_as_zero_is_none(folder):
    content = ARFF_HEAD + b"{0 0,1 1,2 0}\n{2 1}\n"
    train, _ = read(folder, "mulan_arff", features=2, train=content, test=content)
    assert label_lists(train) == [[], [0]]
    assert train.X.nnz == 1


def test_arff_needs_the_number_of_features(folder):
    message = refusal(folder, "mulan_arff", features=0, train=ARFF_HEAD, test=ARFF_HEAD)
    assert "dataset.expected.features" in message


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
    for role, result in zip(("train", "test"), both, strict=True):
        wanted = np.zeros((len(parts[f"{role}_labels"]), result.X.shape[1]))
        for (document, word), count in parts[role].items():
            wanted[document - 1, word - 1] = count
        np.testing.assert_array_equal(dense(result), wanted)
        assert label_lists(result) == [[label - 1] for label in parts[f"{role}_labels"]]
        assert result.X.nnz == np.count_nonzero(wanted)
        if declared:
            assert (result.X.shape[1], result.n_labels) == (n_words, n_labels)


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
    assert label_lists(train) == [sorted(labels_of_row) for labels_of_row in labels]
    assert train.n_labels == test.n_labels == n_labels
    assert test.X.shape == (0, train.X.shape[1]) and len(test.labels) == 0


# ---------------------------------------------------------------- Omniglot
def test_omniglot_gives_drawers_17_to_20_as_test_part(folder):
    train, test = read(folder, "omniglot", labels=3, train=npz_bytes(**DRAWINGS))
    flat = DRAWINGS["X"].reshape(6, 4)
    assert train.X.toarray().tolist() == flat[::2].tolist()
    assert test.X.toarray().tolist() == flat[1::2].tolist()
    assert label_lists(train) == label_lists(test) == [[0], [1], [2]]


# ---------------------------------------------------------------- the user's own files
@many
@given(made=svmlight_file(), suffix=st.sampled_from(list(COMPRESS)))
def test_own_svmlight_files_are_read_as_written(folder, made, suffix):
    content, X, labels = made
    if not labels:
        return
    packed = COMPRESS[suffix](content)
    if b":" not in content:  # as a table of numbers has none
        said = refusal(folder, "own", suffix=suffix, train=packed, test=packed)
        assert "has no pair feature:value" in said
        return
    for result in read(folder, "own", suffix=suffix, train=packed, test=packed):
        # Features before the first one used, and behind the last, can't be told from none.
        D = result.X.shape[1]
        starts = [X[:, 1:], X] if not X[:, 0].any() else [X]
        assert any(
            np.array_equal(dense(result)[:, : part.shape[1]], part[:, :D]) and not part[:, D:].any()
            for part in starts
        )
        names = sorted({label for labels_of_row in labels for label in labels_of_row})
        assert label_lists(result) == [
            [names.index(label) for label in labels_of_row] for labels_of_row in labels
        ]


@many
@given(made=repository_file())
def test_own_repository_files_are_read_as_such(folder, made):
    content, X, labels, n_labels = made
    for result in read(folder, "own", train=content, test=content):
        np.testing.assert_array_equal(dense(result), X)
        assert (label_lists(result), result.n_labels) == (labels, n_labels)
