"""From a dataset's configuration to a prepared problem, through the real configuration files."""

import bz2
import functools
import gzip
import hashlib
import json
import lzma
import mmap
import multiprocessing
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hydra import compose, initialize_config_dir
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import TfidfTransformer

from xcbench import config
from xcbench.config import Protocol
from xcbench.datasets import Info, Missing, cache, files, load, prepare, protocol
from xcbench.datasets.readers import READERS
from xcbench.datasets.value import Raw
from xcbench.errors import UserError

COMPRESS = {"": bytes, ".xz": lzma.compress, ".gz": gzip.compress, ".bz2": bz2.compress}
TRAIN = b"5 4 6\n3,1 0:3 2:4\n5 1:-2\n 3:1\n1,5 0:0.5 3:0.5\n5\n"
TEST = b"4 4 6\n1 0:1\n5,0 1:2\n4 2:2\n2,3,5 0:1 1:1 2:1 3:1\n"
TOY = (
    "dataset=eurlex", "dataset.name=toy", "dataset.folders=[toy]",
    "dataset.files={train: a.txt, test: b.txt}", "dataset.missing=error",
    "dataset.expected={train: 0, test: 0, features: 0, labels: 0}",
)  # fmt: skip


@functools.cache
def composed(*overrides: str) -> config.Dataset:
    config.register()
    with initialize_config_dir(str(config.folder()), version_base=None):
        return config.read(compose("config", list(overrides))).dataset


@pytest.fixture
def data_dir(tmp_path):
    (tmp_path / "data" / "toy").mkdir(parents=True)
    put(tmp_path / "data", TRAIN, TEST)
    return tmp_path / "data"


@pytest.fixture
def cache_dir(tmp_path):
    return tmp_path / "cache"


def put(data_dir: Path, train: bytes, test: bytes, suffix: str = "") -> None:
    (data_dir / "toy" / f"a.txt{suffix}").write_bytes(train)
    (data_dir / "toy" / f"b.txt{suffix}").write_bytes(test)


def refusal(settings: config.Dataset, data_dir: Path, cache_dir: Path) -> str:
    with pytest.raises(UserError) as caught:
        prepare(settings, data_dir, cache_dir)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


def loaded(settings: config.Dataset, data_dir: Path, cache_dir: Path):
    info = prepare(settings, data_dir, cache_dir)
    assert isinstance(info, Info)
    return info, load(info, cache_dir)


# ---------------------------------------------------------------- finding and checking files
def test_a_dataset_is_prepared_and_loaded(data_dir, cache_dir):
    info, dataset = loaded(composed(*TOY), data_dir, cache_dir)
    # Smallest labels are 1, 5, none, 1, 5; 1, 0, 4, 2 in test; the classes are those of train.
    assert (info.name, info.twin, info.sparse) == ("toy", False, True)
    assert (info.train, info.test, info.features, info.classes) == (4, 1, 4, 2)
    assert info.nonzeros_per_row == pytest.approx(5 / 4)
    assert info.mean_square_norm == pytest.approx((25 + 4 + 0.5 + 0) / 4)
    expected = [[3, 0, 4, 0], [0, -2, 0, 0], [0.5, 0, 0, 0.5], [0, 0, 0, 0]]
    assert dataset.train.X.toarray().tolist() == expected
    assert dataset.train.y.tolist() == [0, 1, 0, 1]
    assert dataset.test.X.toarray().tolist() == [[1, 0, 0, 0]]
    assert dataset.test.y.tolist() == [0]
    assert dataset.class_counts.tolist() == [2, 2]


@pytest.mark.parametrize("suffix", [".xz", ".gz", ".bz2"])
def test_compressed_files_are_the_same_data(data_dir, cache_dir, suffix):
    plain = prepare(composed(*TOY), data_dir, cache_dir)
    for path in (data_dir / "toy").iterdir():
        path.unlink()
    put(data_dir, COMPRESS[suffix](TRAIN), COMPRESS[suffix](TEST), suffix)
    assert prepare(composed(*TOY), data_dir, cache_dir) == plain
    info, dataset = loaded(composed(*TOY), data_dir, cache_dir / "other")
    assert info == plain
    assert dataset.train.y.tolist() == [0, 1, 0, 1]


def test_folders_are_searched_in_order_and_default_to_the_data_directory(data_dir, cache_dir):
    (data_dir / "a.txt").write_bytes(TRAIN.replace(b"3:1", b"3:2"))
    (data_dir / "b.txt").write_bytes(TEST)
    here = prepare(composed(*TOY, "dataset.folders=[]"), data_dir, cache_dir)
    first = prepare(composed(*TOY, "dataset.folders=[., toy]"), data_dir, cache_dir)
    second = prepare(composed(*TOY, "dataset.folders=[toy, .]"), data_dir, cache_dir)
    assert here.digest == first.digest != second.digest


def test_a_wrong_checksum_is_explained(data_dir, cache_dir):
    found = hashlib.sha256(TRAIN).hexdigest()
    settings = replace(composed(*TOY), sha256={"train": ["ab" * 32, "cd" * 32]})
    message = refusal(settings, data_dir, cache_dir)
    for part in (str(data_dir / "toy" / "a.txt"), found, "ab" * 32, "cd" * 32, "again"):
        assert part in message


def test_one_of_several_checksums_is_enough(data_dir, cache_dir):
    right = hashlib.sha256(TRAIN).hexdigest()
    settings = replace(composed(*TOY), sha256={"train": ["ab" * 32, right]})
    # The check is no part of the content: the digest stays.
    unchecked = prepare(composed(*TOY), data_dir, cache_dir)
    assert prepare(settings, data_dir, cache_dir) == unchecked


def test_changed_content_is_another_dataset(data_dir, cache_dir):
    first = prepare(composed(*TOY), data_dir, cache_dir)
    put(data_dir, TRAIN.replace(b"0:3", b"0:30"), TEST)
    second = prepare(composed(*TOY), data_dir, cache_dir)
    assert first.digest != second.digest
    assert load(second, cache_dir).train.X[0, 0] == 30


def test_one_class_in_training_is_refused_though_test_has_another(data_dir, cache_dir):
    put(data_dir, b"2 4 6\n1 0:1\n1 2:1\n", TEST)
    message = refusal(
        composed(*TOY, "dataset.protocol.classes=train_and_test"), data_dir, cache_dir
    )
    assert "the classes in the training rows are 1" in message


def test_windows_line_ends_change_nothing(data_dir, cache_dir):
    one = load(prepare(composed(*TOY), data_dir, cache_dir), cache_dir)
    put(data_dir, b"\xef\xbb\xbf" + TRAIN.replace(b"\n", b"\r\n"), TEST.rstrip())
    two = load(prepare(composed(*TOY), data_dir, cache_dir), cache_dir)
    assert (one.train.X != two.train.X).nnz == 0 and (one.test.X != two.test.X).nnz == 0
    assert one.train.y.tolist() == two.train.y.tolist()


@pytest.mark.parametrize("name", ["train", "test", "features", "labels"])
def test_another_version_of_the_data_is_refused(data_dir, cache_dir, name):
    message = refusal(composed(*TOY, f"dataset.expected.{name}=77"), data_dir, cache_dir)
    assert f"dataset.expected.{name} is 77" in message and str(data_dir / "toy") in message


@pytest.mark.parametrize(
    ("overrides", "says"),
    [
        (["dataset.reader=tsv", "dataset.missing=twin", "dataset.folders=[no]"], "is unknown"),
        (["dataset.reader=synthetic", "dataset.synthetic=null"], "needs dataset.synthetic"),
        (["dataset.reader=idx"], "needs dataset.files.train_labels"),
    ],
)
def test_impossible_settings_are_refused(data_dir, cache_dir, overrides, says):
    assert says in refusal(composed(*TOY, *overrides), data_dir, cache_dir)


def test_a_reader_without_its_files_is_refused(data_dir, cache_dir):
    settings = replace(composed(*TOY), files={"train": "a.txt"})
    assert "needs dataset.files.test" in refusal(settings, data_dir, cache_dir)


# ---------------------------------------------------------------- missing files and twins
def test_missing_files_can_be_an_error(tmp_path, cache_dir):
    message = refusal(composed("dataset=bibtex", "dataset.missing=error"), tmp_path, cache_dir)
    for part in ("bibtex-train.arff", "bibtex-test.arff", str(tmp_path / "bibtex"), "data_dir"):
        assert part in message


def test_missing_files_can_be_skipped(tmp_path, cache_dir):
    missing = prepare(composed("dataset=mnist", "dataset.missing=skip"), tmp_path, cache_dir)
    assert isinstance(missing, Missing)
    assert missing.name == "mnist" and missing.digest == "missing"
    assert missing.reason.startswith("not run: data") and "train-images" in missing.reason


def test_a_dataset_without_twin_says_so(tmp_path, cache_dir):
    settings = replace(composed(*TOY, "dataset.missing=twin"), synthetic=None)
    assert "no synthetic twin" in refusal(settings, tmp_path, cache_dir)


@pytest.mark.parametrize("name", ["bibtex", "delicious", "eurlex", "mnist"])
def test_a_twin_has_the_declared_shape(tmp_path, cache_dir, name):
    settings = composed(f"dataset={name}")
    assert settings.missing == "twin" and settings.synthetic
    info, dataset = loaded(settings, tmp_path, cache_dir)
    assert info.name == f"{name}-twin" and info.twin
    declared = settings.synthetic
    assert (info.train, info.test) == (declared.train, declared.test)
    assert (info.features, info.classes) == (declared.features, declared.classes)
    assert dataset.train.X.shape == (declared.train, declared.features)
    assert dataset.test.X.shape == (declared.test, declared.features)
    assert info.nonzeros_per_row == pytest.approx(declared.nonzeros, rel=0.02)
    assert dataset.class_counts.min() >= 1 and len(dataset.class_counts) == declared.classes
    # The twin has the shape of the real problem.
    if name != "delicious":  # whose rows without label go
        for size in ("train", "test", "features"):
            assert getattr(settings.expected, size) == getattr(declared, size)


def test_a_synthetic_dataset_is_no_twin(tmp_path, cache_dir):
    info, dataset = loaded(composed("dataset=zipf"), tmp_path, cache_dir)
    assert (info.name, info.twin) == ("zipf", False)
    norms = np.sqrt(dataset.train.X.power(2).sum(axis=1))
    np.testing.assert_allclose(norms, 1, rtol=1e-6)


# ---------------------------------------------------------------- protocols
def raw(rows: list[list[float]], labels: list[list[int]], dense: bool) -> Raw:
    X = np.array(rows, np.float32)
    start = np.cumsum([0, *map(len, labels)])
    flat = np.array([label for own in labels for label in own], np.int64)
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
    with pytest.raises(UserError, match="the classes in the training rows are 1"):
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
    assert len(drawn(split_train=0.35)[0]) == 21  # 60 x 0.35, though not in binary
    with pytest.raises(UserError, match="split=random draws a test part"):
        drawn(split_train=1.0)


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


@both_forms
def test_columns_are_divided_by_their_training_maximum(dense):
    rows = [[2.0, -1.0, 0.0, 5.0], [4.0, -3.0, 0.0, 0.0]]
    test_rows = [[8.0, 3.0, 7.0, 1.0]]
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


# ---------------------------------------------------------------- the cache
def count_reads(monkeypatch, reader: str = "repository") -> list[int]:
    calls: list[int] = []
    original = READERS[reader]

    def counting(*arguments):
        calls.append(1)
        return original(*arguments)

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
        found = pool.map(prepare_both, [same, other] * 4, chunksize=1)
    assert found[::2] == [found[0]] * 4 and found[1::2] == [found[1]] * 4
    assert found[0][1] == [i % 6 for i in range(20000)]
    assert not list(cache_dir.glob(".*-*"))


def test_digests_of_many_files_are_remembered_at_once(tmp_path):
    paths = [tmp_path / f"{i}.txt" for i in range(40)]
    for path in paths:
        path.write_text(path.name)
    known = tmp_path / "cache" / "files.json"
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda path: files.content_digest(path, known), paths))
    expected = [hashlib.sha256(path.name.encode()).hexdigest() for path in paths]
    assert found == expected
    assert sorted(json.loads(known.read_text()).values()) == sorted(expected)


# ---------------------------------------------------------------- real data
def test_digits_are_those_of_scikit_learn(tmp_path, cache_dir):
    info, dataset = loaded(composed("dataset=digits"), tmp_path, cache_dir)
    X, y = load_digits(return_X_y=True)
    assert (info.train, info.test, info.features, info.classes) == (1437, 360, 64, 10)
    np.testing.assert_array_equal(np.concatenate([dataset.train.X, dataset.test.X]), X / 16)
    np.testing.assert_array_equal(np.concatenate([dataset.train.y, dataset.test.y]), y)
    assert info.nonzeros_per_row == pytest.approx((X[:1437] != 0).sum() / 1437)


@pytest.fixture
def real_data():
    folder = os.environ.get("XCBENCH_DATA")
    if not folder:
        pytest.skip("XCBENCH_DATA is not set: no folder with the real data files")
    return Path(folder)


def test_bibtex_has_the_published_shape(real_data, cache_dir):
    settings = composed("dataset=bibtex", "dataset.missing=error")
    info, dataset = loaded(settings, real_data, cache_dir)
    assert (info.train, info.test, info.features, info.classes) == (4880, 2515, 1836, 148)
    assert set(dataset.train.X.data.tolist()) == {1.0}
    assert (dataset.class_counts > 0).sum() == 146
    settings = composed("dataset=bibtex", "dataset.missing=error", "dataset.protocol.classes=train")
    info = prepare(settings, real_data, cache_dir)
    assert (info.train, info.test, info.features, info.classes) == (4880, 2512, 1836, 146)


def test_mnist_has_the_published_shape(real_data, cache_dir):
    info, dataset = loaded(composed("dataset=mnist", "dataset.missing=error"), real_data, cache_dir)
    assert (info.train, info.test, info.features, info.classes) == (60000, 10000, 784, 10)
    # Published: pixels / 255 of the training images have mean 0.1307, standard deviation 0.3081.
    assert dataset.train.X.mean(dtype=float) == pytest.approx(0.1307, abs=5e-5)
    assert dataset.train.X.std(dtype=float) == pytest.approx(0.3081, abs=5e-5)
    assert dataset.class_counts.tolist() == [
        5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949,
    ]  # fmt: skip
    assert dataset.train.y[:10].tolist() == [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]


# What the papers and the data's README count, and what the drawn splits give.
SHAPES = {
    "delicious": (12910, 3160, 500, 352),
    "delicious classes=train_and_test": (12910, 3181, 500, 371),
    "delicious unlabelled=class": (12920, 3164, 500, 353),
    # U-max's stored runs: 12,068 of 16,091 rows with a label, about 350 classes; 5,546 of 7,395.
    "delicious split=random": (12068, 3999, 500, 347),
    # A&R's rule, from its published code; that paper prints 2,413 and 148, from no rule found.
    "bibtex classes=train_usable": (4880, 2513, 1836, 146),
    "delicious classes=train_usable": (12910, 3177, 500, 352),
    "bibtex split=random classes=train": (5546, 1848, 1836, 147),
    "mnist features=780": (60000, 10000, 780, 10),
    "20news": (11269, 7505, 61188, 20),
    "omniglot": (25968, 6492, 784, 1623),
    "omniglot split=given": (25968, 6492, 784, 1623),
    # 80 % of 25,944 articles; rows of the other 20 % whose class has no training row are dropped.
    "citeulike": (20755, 4139, 20000, 6346),
    "citeulike label=rarest": (20755, 1313, 20000, 18283),
    "citeulike label=each": (232659, 50972, 20000, 46353),
    "citeulike label=each min_rows=5": (180382, 44806, 20000, 8310),
}


@pytest.mark.parametrize("case", SHAPES)
def test_real_data_have_the_known_shape(real_data, cache_dir, case):
    name, *settings = case.split()
    overrides = [f"dataset.protocol.{setting}" for setting in settings]
    settings_of_case = composed(f"dataset={name}", "dataset.missing=error", *overrides)
    info = prepare(settings_of_case, real_data, cache_dir)
    assert isinstance(info, Info)
    assert (info.train, info.test, info.features, info.classes) == SHAPES[case]
    if not settings:  # the twin has the shape of the real problem
        twin = composed(f"dataset={name}").synthetic
        assert (twin.train, twin.test, twin.features, twin.classes) == SHAPES[case]
        assert twin.nonzeros == pytest.approx(info.nonzeros_per_row, rel=0.05)


@pytest.fixture(scope="module")
def articles():
    folder = os.environ.get("XCBENCH_DATA")
    if not folder:
        pytest.skip("XCBENCH_DATA is not set: no folder with the real data files")
    settings = composed("dataset=citeulike")
    paths = {
        role: files.find(Path(folder), settings.folders, name)
        for role, name in settings.files.items()
    }
    return READERS["citeulike"](paths, settings)[0]


@pytest.mark.parametrize(
    ("label", "min_rows", "n_rows", "n_classes"),
    [
        ("smallest", 1, 25944, 7350),
        # 22,205 if the 31 articles without words count for what is rare.
        ("rarest", 1, 25944, 22206),
        ("each", 1, 290548, 52919),
        # 21,427 and 13,883 tags, but the three articles of one of them have no words.
        ("each", 2, 259055, 21426),
        ("each", 3, 243984, 13882),
        ("each", 5, 225193, 8311),
        ("each", 10, 198843, 4222),
    ],
)
def test_citeulike_counts_over_all_rows(articles, label, min_rows, n_rows, n_classes):
    # All rows as both parts, so that every label counts twice.
    settings = Protocol(label, "train", min_rows=2 * min_rows, featureless="drop")
    train, _, K, _ = protocol.apply(articles, articles, settings)
    assert (len(train), K) == (n_rows, n_classes)


def test_no_article_of_citeulike_stands_on_both_sides(articles):
    mark = sp.csr_array(np.arange(1.0, len(articles) + 1)[:, None], dtype=np.float32)
    numbered = Raw(mark, articles.label_start, articles.labels, articles.n_labels)
    settings = composed("dataset=citeulike", "dataset.protocol.label=each").protocol
    train, test, *_ = protocol.apply(
        numbered, numbered.take(np.zeros(len(articles), bool)), settings
    )
    assert not set(train.X.data) & set(test.X.data)
    assert len(set(train.X.data)) > 20000 and len(set(test.X.data)) > 5000


def test_citeulike_states_what_its_split_costs(real_data, cache_dir):
    info, _ = loaded(composed("dataset=citeulike"), real_data, cache_dir)
    assert (info.test, info.test_dropped, info.accuracy_ceiling) == (4139, 1050, 1.0)
    pairs = ["dataset.protocol.label=each", "dataset.protocol.min_rows=5"]
    info, _ = loaded(composed("dataset=citeulike", *pairs), real_data, cache_dir)
    assert info.test_dropped < 100  # of a tag's five articles or more, one trains almost always
    assert 0.08 < info.accuracy_ceiling < 0.15  # about ten tags an article


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
        start = np.concatenate([[0], np.cumsum([len(own) for own in labels])])
        parts.append((Raw(X, start, np.concatenate(labels), 20), labels))
    train, test, _, dropped = protocol.apply(
        parts[0][0], parts[1][0], Protocol(label=label, classes=classes)
    )
    labels = parts[0][1] + parts[1][1]
    name = {}  # class number → label, learnt from rows with a single label set
    for split in (train, test):
        for i, row in enumerate(split.X[:, 0].astype(int) - 1):
            own = split.sets.classes[split.sets.start[i] : split.sets.start[i + 1]]
            assert split.y[i] in own
            name.setdefault(row, set()).add(tuple(sorted(own)))
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


# ---------------------------------------------------------------- the user's own files
OWN = b"2 1:3 3:4 # remark\n-1,2 2:-2\n\n# remark\n2 1:0.5\n"
OWN_TEST = b"-1 4:1\n2 1:2\n"


def own_settings(path: Path, *overrides: str) -> config.Dataset:
    return composed("dataset=file", f"dataset.train={path / 'mine.txt'}",
                    f"dataset.test={path / 'mine-test.txt'}", *overrides)  # fmt: skip


def test_own_files_in_svmlight_format(tmp_path, cache_dir):
    (tmp_path / "mine.txt").write_bytes(OWN)
    (tmp_path / "mine-test.txt").write_bytes(OWN_TEST)
    info, dataset = loaded(own_settings(tmp_path), tmp_path / "no", cache_dir)
    assert (info.name, info.twin, info.features, info.classes) == ("mine", False, 4, 2)
    assert dataset.train.X.toarray().tolist() == [[3, 0, 4, 0], [0, -2, 0, 0], [0.5, 0, 0, 0]]
    assert (dataset.train.y.tolist(), dataset.test.y.tolist()) == ([1, 0, 1], [0, 1])
    assert dataset.test.X.toarray().tolist() == [[0, 0, 0, 1], [2, 0, 0, 0]]
    info, dataset = loaded(own_settings(tmp_path, "dataset.name=other"), tmp_path, cache_dir)
    assert info.name == "other"
    # A feature 0 in either file: all are counted from 0.
    (tmp_path / "mine-test.txt").write_bytes(OWN_TEST + b"2 0:1\n")
    info, dataset = loaded(own_settings(tmp_path), tmp_path, cache_dir)
    assert info.features == 5 and dataset.train.X.toarray()[0].tolist() == [0, 3, 0, 4, 0]


def test_the_name_of_a_file_becomes_one_that_tables_can_bear(tmp_path, cache_dir):
    path = tmp_path / "my data | 2.txt"
    path.write_bytes(OWN)
    paths = {"train": str(path), "test": str(path)}
    settings = config.Dataset(name="", reader="own", protocol=Protocol(classes="train"), **paths)
    assert prepare(settings, tmp_path, cache_dir).name == "my-data-2"


def test_own_files_in_repository_format(data_dir, cache_dir):
    toy = data_dir / "toy"
    paths = (f"dataset.train={toy / 'a.txt'}", f"dataset.test={toy / 'b.txt'}")
    settings = composed("dataset=file", *paths, "dataset.name=toy")
    info, dataset = loaded(settings, data_dir, cache_dir)
    known, wanted = loaded(composed(*TOY), data_dir, cache_dir)
    assert (info.name, info.shape()) == (known.name, known.shape())
    np.testing.assert_array_equal(dataset.train.X.toarray(), wanted.train.X.toarray())
    assert dataset.train.y.tolist() == wanted.train.y.tolist()


def test_own_test_rows_can_be_drawn(tmp_path, cache_dir):
    (tmp_path / "mine.txt").write_bytes(OWN * 10)
    path = tmp_path / "mine.txt"
    settings = composed("dataset=file", f"dataset.train={path}", "dataset.protocol.split=random")
    info = prepare(settings, tmp_path, cache_dir)
    assert (info.train, info.test) == (22, 8)


def test_a_truncated_svd_keeps_the_leading_directions_of_the_training_rows():
    rng = np.random.default_rng(0)
    low = rng.normal(size=(40, 3)) @ np.diag([9.0, 3.0, 1.0]) @ rng.normal(size=(3, 10))
    X, X_test = (low + 1e-3 * rng.normal(size=low.shape)).astype(np.float32), low[:5] + 1
    axes = np.linalg.svd(X.astype(float))[2][:2].T
    for kind in (np.asarray, sp.csr_array):
        both = [Raw.single(kind(part), np.arange(len(part)) % 4, 4) for part in (X, X_test)]
        train, test, *_ = protocol.apply(*both, Protocol(svd=2))
        for found, rows in ((train.X, X), (test.X, X_test)):
            expected = rows @ axes
            sign = np.sign((found * expected).sum(axis=0))
            np.testing.assert_allclose(found, sign * expected, rtol=1e-3, atol=1e-3)
