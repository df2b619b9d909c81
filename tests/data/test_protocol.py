"""From raw rows to a problem with one label a row: labels, classes, splits, features."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer

from xcbench.core.dataset import Raw
from xcbench.data import protocol
from xcbench.data.settings import Protocol
from xcbench.errors import UserError
from xcbench.options import check


def raw(rows: list[list[float]], labels: list[list[int]], dense: bool) -> Raw:
    X = np.array(rows, np.float32)
    start = np.cumsum([0, *map(len, labels)])
    flat = np.array([label for labels_of_row in labels for label in labels_of_row], np.int64)
    return Raw(X if dense else sp.csr_array(X), start, flat, 10)


def plain(X) -> list[list[float]]:
    return (X if isinstance(X, np.ndarray) else X.toarray()).tolist()


ROWS = [[3.0, 4.0], [0.0, 0.0], [1.0, 0.0], [0.0, -2.0]]
LABELS = [[7, 2], [], [4], [9, 4, 2]]
TEST_ROWS = [[0.0, 6.0], [8.0, 0.0], [1.0, 1.0], [0.0, 0.0]]
TEST_LABELS = [[4, 3], [5], [], [9]]


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize(
    ("label", "classes", "y", "y_test", "n_classes", "kept"),
    [
        # first: train 7, 4, 9, test 4, 5, 9; smallest: train 2, 4, 2, test 3, 5, 9
        ("first", "train", [1, 0, 2], [0, 2], 3, [0, 3]),
        ("first", "train_and_test", [2, 0, 3], [0, 1, 3], 4, [0, 1, 3]),
        ("smallest", "train_and_test", [0, 2, 0], [1, 3, 4], 5, [0, 1, 3]),
        # The smallest label of test row 0 that is a class of training is 4; 9 is none.
        ("smallest", "train_usable", [0, 1, 0], [1], 2, [0]),
    ],
)
def test_label_rules(dense, label, classes, y, y_test, n_classes, kept):
    train, test, K, _ = protocol.apply(
        raw(ROWS, LABELS, dense), raw(TEST_ROWS, TEST_LABELS, dense), Protocol(label, classes)
    )
    assert train.y.tolist() == y and test.y.tolist() == y_test and n_classes == K
    assert plain(train.X) == [ROWS[0], ROWS[2], ROWS[3]]
    assert plain(test.X) == [TEST_ROWS[i] for i in kept]


@pytest.mark.parametrize("dense", [True, False])
def test_test_rows_of_unseen_classes_are_dropped(dense):
    train, test, K, _ = protocol.apply(
        raw(ROWS, LABELS, dense),
        raw(TEST_ROWS, [[4], [3], [2, 9], []], dense),
        Protocol("smallest", "train"),
    )
    assert (train.y.tolist(), test.y.tolist(), K) == ([0, 1, 0], [1, 0], 2)
    assert plain(test.X) == [TEST_ROWS[0], TEST_ROWS[2]]


@pytest.mark.parametrize("dense", [True, False])
def test_scaling(dense):
    both = (raw(ROWS, LABELS, dense), raw(TEST_ROWS, TEST_LABELS, dense))
    train, test, *_ = protocol.apply(*both, Protocol(divide_by=4))
    assert plain(train.X) == [[0.75, 1.0], [0.25, 0.0], [0.0, -0.5]]
    assert plain(test.X) == [[0.0, 1.5], [2.0, 0.0], [0.0, 0.0]]
    for divide_by in (1.0, 4.0):
        train, test, *_ = protocol.apply(*both, Protocol(divide_by=divide_by, row_norm="l2"))
        np.testing.assert_allclose(plain(train.X), [[0.6, 0.8], [1, 0], [0, -1]], rtol=1e-7)
        assert plain(test.X) == [[0, 1], [1, 0], [0, 0]]
    for split in (train, test):
        assert split.X.dtype == np.float32
    assert plain(both[0].X) == ROWS  # the raw rows are left alone


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("divide_by", [1e-39, 5e-324])
def test_scaling_that_overflows_is_refused(dense, divide_by):
    both = (raw(ROWS, LABELS, dense), raw(TEST_ROWS, TEST_LABELS, dense))
    with pytest.raises(UserError, match="divide_by"):
        protocol.apply(*both, Protocol(divide_by=divide_by))


def test_tiny_and_huge_rows_are_normalised():
    rows = [[3e-42, 4e-42], [3e38, 0.0], [1e20, 1e20]]
    one = raw(rows, [[0], [1], [2]], True)
    train, *_ = protocol.apply(one, one, Protocol(row_norm="l2"))
    np.testing.assert_allclose(np.linalg.norm(train.X, axis=1), 1, rtol=1e-5)


def applied(dense: bool, settings: Protocol):
    """Training and test rows as lists, their classes, and K."""
    both = (raw(ROWS, LABELS, dense), raw(TEST_ROWS, TEST_LABELS, dense))
    train, test, K, _ = protocol.apply(*both, settings)
    return plain(train.X), train.y.tolist(), plain(test.X), test.y.tolist(), K


both_forms = pytest.mark.parametrize("dense", [True, False])


@both_forms
def test_the_rarest_label_is_that_of_fewest_training_rows(dense):
    # Training rows have 2 twice, 4 twice, 7 and 9 once; test row 0 has 4 and the unseen 3.
    X, y, X_test, y_test, K = applied(dense, Protocol("rarest", "train_and_test"))
    assert (y, y_test, K) == ([3, 1, 4], [0, 2, 4], 5)  # 7, 4, 9; 3, 5, 9
    assert (X, X_test) == ([ROWS[i] for i in (0, 2, 3)], [TEST_ROWS[i] for i in (0, 1, 3)])
    both = raw([[1.0]] * 4, [[8, 1], [8], [1], [5]], dense)
    train, *_ = protocol.apply(both, both, Protocol("rarest"))
    assert train.y.tolist() == [0, 2, 0, 1]  # ties: the smaller id


@both_forms
def test_one_row_per_label(dense):
    X, y, X_test, y_test, K = applied(dense, Protocol("each", "train"))
    assert [ROWS[i] for i in (0, 0, 2, 3, 3, 3)] == X
    assert (y, K) == ([2, 0, 1, 3, 1, 0], 4)  # 7 2 | 4 | 9 4 2
    assert (X_test, y_test) == ([TEST_ROWS[0], TEST_ROWS[3]], [1, 3])


@both_forms
def test_rows_without_label_can_be_a_class(dense):
    X, y, X_test, y_test, K = applied(dense, Protocol(classes="train", unlabelled="class"))
    assert (y, K) == ([0, 2, 1, 0], 3)
    assert (X, X_test, y_test) == (ROWS, [TEST_ROWS[2]], [2])


@both_forms
def test_labels_of_few_rows_do_not_count(dense):
    # 2: 2 rows, 4: 3 rows, 9: 2 rows; 3, 5 and 7 one row.
    X, y, X_test, y_test, K = applied(dense, Protocol("each", min_rows=2))
    assert [ROWS[i] for i in (0, 2, 3, 3, 3)] == X
    assert (y, y_test, K) == ([0, 1, 2, 1, 0], [1, 2], 3)
    assert X_test == [TEST_ROWS[0], TEST_ROWS[3]]
    with pytest.raises(UserError, match="number of classes in the training rows: 1"):
        applied(dense, Protocol(min_rows=3))


@both_forms
def test_the_first_features_are_kept_and_empty_rows_go(dense):
    X, y, X_test, _, _ = applied(dense, Protocol(features=1, unlabelled="class"))
    assert (X, X_test) == ([[3], [1]], [[8], [1]]) and y == [0, 1]
    assert applied(dense, Protocol(features=9))[0] == [ROWS[i] for i in (0, 2, 3)]
    X, _, X_test, _, _ = applied(dense, Protocol(featureless="drop", unlabelled="class"))
    assert [ROWS[i] for i in (0, 2, 3)] == X and X_test == TEST_ROWS[:3]


@both_forms
def test_the_first_rows_are_kept(dense):
    X, _, X_test, _, _ = applied(dense, Protocol(rows=2))
    assert (X, X_test) == ([ROWS[0], ROWS[2]], TEST_ROWS[:2])
    assert applied(dense, Protocol(rows=99)) == applied(dense, Protocol())


def numbered(n: int, dense: bool, first: int = 0, labels: int = 3) -> Raw:
    """Rows that say which they are, the labels in turn."""
    return raw([[1.0, float(i)] for i in range(first, n)], [[i % labels] for i in range(first, n)],
               dense)  # fmt: skip


@both_forms
def test_a_random_fraction_of_all_rows_trains(dense):
    both = (numbered(40, dense), numbered(60, dense, 40))

    def drawn(**settings):
        train, test, *_ = protocol.apply(*both, Protocol(split="random", **settings))
        ours, theirs = (np.array(plain(split.X))[:, 1].tolist() for split in (train, test))
        assert sorted([*ours, *theirs]) == list(range(60))
        assert train.y.tolist() == [i % 3 for i in ours]
        assert test.y.tolist() == [i % 3 for i in theirs]
        return ours, theirs

    ours, theirs = drawn()
    assert (len(ours), len(theirs)) == (45, 15)
    assert ours == sorted(ours) and theirs == sorted(theirs) and min(theirs) < 40
    assert drawn() == (ours, theirs) != drawn(split_seed=1)
    assert len(drawn(split_train=0.31)[0]) == 18  # floor(18.6)
    assert len(drawn(split_train=0.35)[0]) == 21
    with pytest.raises(UserError, match="split=random draws a test part"):
        drawn(split_train=1.0)


@pytest.mark.parametrize("per_cent", [7, 14, 28, 29, 55, 56, 57, 58, 75])
@pytest.mark.parametrize("split", ["random", "per_label"])
def test_per_cent_of_a_hundred_rows_are_so_many(split, per_cent):
    """0.29 x 100 is below 29 in binary."""
    labels = 1 if split == "per_label" else 3
    both = numbered(100, True, labels=labels), raw(np.zeros((0, 2)), [], True)
    settings = Protocol(split=split, split_train=per_cent / 100)
    parts = protocol._drawn_split(protocol._joined(*both), settings)
    assert [len(part) for part in parts] == [per_cent, 100 - per_cent]


@pytest.mark.parametrize(
    ("share", "what"), [(0.0, "greater than 0"), (-0.1, "greater than 0"), (1.01, "at most 1")]
)
def test_a_fraction_of_training_rows_is_above_0_and_at_most_1(share, what):
    with pytest.raises(UserError, match=f"split_train={share} is not possible: it must be {what}"):
        check(Protocol(split="random", split_train=share))
    check(Protocol(split="random", split_train=1.0))


@both_forms
def test_a_fraction_of_every_label_trains(dense):
    both = (numbered(60, dense), raw(np.zeros((0, 2)), [], dense))
    seen = []
    for seed in (0, 1):
        train, test, K, _ = protocol.apply(
            *both, Protocol(split="per_label", split_train=0.8, split_seed=seed)
        )
        assert (np.bincount(train.y).tolist(), np.bincount(test.y).tolist()) == ([16] * 3, [4] * 3)
        assert K == 3
        seen.append(plain(test.X))
    assert seen[0] != seen[1]


@both_forms
def test_a_multi_label_row_stands_on_one_side(dense):
    both = raw([[1.0, float(i)] for i in range(50)], [[i % 5, 9] for i in range(50)], dense)
    settings = Protocol("each", split="random", split_train=0.8)
    train, test, *_ = protocol.apply(both, raw(np.zeros((0, 2)), [], dense), settings)
    ours, theirs = ({row[1] for row in plain(split.X)} for split in (train, test))
    assert (len(train), len(test), len(ours), len(theirs)) == (80, 20, 40, 10)
    assert not ours & theirs


def test_original_rows_count_the_same_whatever_their_labels():
    labels = [[0], [0, 1, 2, 3]]
    both = raw([[1.0], [2.0]], labels, True), raw([[3.0]], [[0]], True)
    train, *_ = protocol.apply(*both, Protocol("each"))
    assert train.sets.weight.tolist() == [1.0, *[0.25] * 4]
    rows = train.original_rows()
    assert len(rows) == 2 and rows.sets.weight.tolist() == [1.0, 1.0]


@both_forms
def test_columns_are_divided_by_their_training_maximum(dense):
    rows = [[2.0, -1.0, 0.0, 0.5], [4.0, -3.0, 0.0, 0.0]]
    test_rows = [[8.0, 3.0, 7.0, 0.1]]
    both = (raw(rows, [[0], [1]], dense), raw(test_rows, [[0]], dense))
    for divide_by in (1, 10):
        train, test, *_ = protocol.apply(*both, Protocol(column_scale="max", divide_by=divide_by))
        one = 1 / divide_by
        expected = [[0.5, -1 * one, 0, 1], [1, -3 * one, 0, 0]]
        np.testing.assert_allclose(plain(train.X), expected, rtol=1e-6)
        np.testing.assert_allclose(plain(test.X), [[2, 3 * one, 7 * one, 0.2]], rtol=1e-6)


@both_forms
def test_tfidf_is_that_of_scikit_learn(dense):
    rng = np.random.default_rng(0)
    rows, test_rows = rng.poisson(0.7, (30, 6)), rng.poisson(0.7, (9, 6))
    both = (raw(rows, [[i % 2] for i in range(30)], dense), raw(test_rows, [[0]] * 9, dense))
    for norm in ("none", "l2"):
        oracle = TfidfTransformer(norm=None if norm == "none" else norm).fit(rows)
        train, test, *_ = protocol.apply(*both, Protocol(tfidf=True, row_norm=norm))
        for split, counts in ((train, rows), (test, test_rows)):
            expected = oracle.transform(counts).toarray()
            np.testing.assert_allclose(plain(split.X), expected, rtol=1e-6)


@both_forms
def test_a_constant_feature_comes_last(dense):
    both = (raw(ROWS, LABELS, dense), raw(TEST_ROWS, TEST_LABELS, dense))
    train, test, *_ = protocol.apply(*both, Protocol(row_norm="l2", constant=1.0))
    np.testing.assert_allclose(plain(train.X), [[0.6, 0.8, 1], [1, 0, 1], [0, -1, 1]], rtol=1e-6)
    assert plain(test.X) == [[0, 1, 1], [1, 0, 1], [0, 0, 1]]
    assert train.X.dtype == test.X.dtype == np.float32


# ---------------------------------------------------------------- all labels of a row
@pytest.mark.parametrize("label", ["first", "smallest", "rarest", "each"])
@pytest.mark.parametrize("classes", ["train", "train_and_test", "train_usable"])
def test_label_sets_hold_every_class_of_the_row_that_a_row_is_made_of(label, classes):
    rng = np.random.default_rng(3)
    parts = []
    for first, number in ((0, 40), (40, 30)):  # the only feature of a row is its number
        labels = [
            list(rng.permutation(15 + first // 8)[: rng.integers(1, 5)]) for _ in range(number)
        ]
        X = np.arange(first, first + number, dtype=np.float32)[:, None] + 1
        start = np.concatenate([[0], np.cumsum([len(labels_of_row) for labels_of_row in labels])])
        parts.append((Raw(X, start, np.concatenate(labels), 20), labels))
    train, test, _, dropped = protocol.apply(
        parts[0][0], parts[1][0], Protocol(label=label, classes=classes)
    )
    labels = parts[0][1] + parts[1][1]
    name = {}  # class number → label, learnt from rows with a single label set
    for split in (train, test):
        for i, row in enumerate(split.X[:, 0].astype(int) - 1):
            labels_of_row = split.sets.classes[split.sets.start[i] : split.sets.start[i + 1]]
            assert split.y[i] in labels_of_row
            name.setdefault(row, set()).add(tuple(sorted(labels_of_row)))
    seen = {k for row in range(40) for k in labels[row]}
    if label == "each" and classes != "train_and_test":  # every label of a training row is a class
        order = sorted(seen)
        for row, sets in name.items():
            assert sets == {tuple(sorted(order.index(k) for k in labels[row] if k in seen))}
    offered = sum(map(len, parts[1][1])) if label == "each" else 30
    assert dropped == offered - len(test)
    rows, count = np.unique(test.X, return_counts=True)
    assert test.sets.weight.sum() == pytest.approx(len(rows))
    assert label == "each" or (count == 1).all()


def test_rows_with_one_label_each_have_no_sets():
    X = np.eye(4, dtype=np.float32)
    raw = Raw.single(X, np.array([0, 1, 0, 1]), 2)
    train, test, *_ = protocol.apply(raw, raw, Protocol())
    assert train.sets is None and test.sets is None


@both_forms
def test_the_other_labels_of_a_row_can_be_dropped(dense):
    parts = raw(ROWS, LABELS, dense), raw(TEST_ROWS, TEST_LABELS, dense)
    kept, alone = (protocol.apply(*parts, Protocol(other_labels=it)) for it in ("keep", "drop"))
    assert kept[0].sets is not None and alone[0].sets is None and alone[1].sets is None
    for one, other in zip(kept[:2], alone[:2], strict=True):
        assert plain(one.X) == plain(other.X) and one.y.tolist() == other.y.tolist()
    with pytest.raises(UserError, match="other_labels=drop is not possible with label=each"):
        protocol.apply(*parts, Protocol(label="each", other_labels="drop"))


# ---------------------------------------------------------------- coordinates of an SVD
def test_a_truncated_svd_keeps_the_leading_directions_of_the_training_rows():
    rng = np.random.default_rng(0)
    low = rng.normal(size=(40, 3)) @ np.diag([9.0, 3.0, 1.0]) @ rng.normal(size=(3, 10))
    X, X_test = (low + 1e-3 * rng.normal(size=low.shape)).astype(np.float32), low[:5] + 1
    axes = np.linalg.svd(X.astype(float))[2][:2].T
    for kind in (np.asarray, sp.csr_array):
        both = [Raw.single(kind(part), np.arange(len(part)) % 4, 4) for part in (X, X_test)]
        train, test, *_ = protocol.apply(*both, Protocol(svd=2))
        for result, rows in ((train.X, X), (test.X, X_test)):
            expected = rows @ axes
            sign = np.sign((result * expected).sum(axis=0))
            np.testing.assert_allclose(result, sign * expected, rtol=1e-3, atol=1e-3)


def test_centred_coordinates_are_principal_components():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 6)) * [5, 3, 1, 1, 0.1, 0.1] + 10
    X[rng.random(X.shape) < 0.3] = 0
    axes = np.linalg.svd(X - X.mean(axis=0))[2][:2].T
    for kind in (np.asarray, sp.csr_array):
        both = [Raw.single(kind(part), np.arange(len(part)) % 4, 4) for part in (X, X[:5] + 1)]
        train, test, *_ = protocol.apply(*both, Protocol(svd=2, svd_centred=True))
        for result, rows in ((train.X, X), (test.X, X[:5] + 1)):
            expected = (rows - X.mean(axis=0)) @ axes
            sign = np.sign((train.X * ((X - X.mean(axis=0)) @ axes)).sum(axis=0))
            np.testing.assert_allclose(result, sign * expected, rtol=1e-4, atol=1e-4)
