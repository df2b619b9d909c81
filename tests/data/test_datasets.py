"""From a dataset's configuration to a prepared problem, through the real configuration files."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from catalogue import TOY, composed, loaded, refusal
from reading import COMPRESS
from toy_files import TEST, TRAIN, put
from xcbench.data import Missing, load, prepare
from xcbench.data.settings import DatasetSettings, Protocol


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
    result = hashlib.sha256(TRAIN).hexdigest()
    settings = replace(composed(*TOY), sha256={"train": ["ab" * 32, "cd" * 32]})
    message = refusal(settings, data_dir, cache_dir)
    for part in (str(data_dir / "toy" / "a.txt"), result, "ab" * 32, "cd" * 32, "again"):
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
    assert "number of classes in the training rows: 1" in message


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


# ---------------------------------------------------------------- a dataset that a library brings
def test_digits_are_those_of_scikit_learn(tmp_path, cache_dir):
    info, dataset = loaded(composed("dataset=digits"), tmp_path, cache_dir)
    X, y = load_digits(return_X_y=True)
    assert (info.train, info.test, info.features, info.classes) == (1437, 360, 64, 10)
    np.testing.assert_array_equal(np.concatenate([dataset.train.X, dataset.test.X]), X / 16)
    np.testing.assert_array_equal(np.concatenate([dataset.train.y, dataset.test.y]), y)
    assert info.nonzeros_per_row == pytest.approx((X[:1437] != 0).sum() / 1437)


# ---------------------------------------------------------------- the user's own files
OWN = b"2 1:3 3:4 # remark\n-1,2 2:-2\n\n# remark\n2 1:0.5\n"
OWN_TEST = b"-1 4:1\n2 1:2\n"


def own_settings(path: Path, *overrides: str) -> DatasetSettings:
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
    settings = DatasetSettings(name="", reader="own", protocol=Protocol(classes="train"), **paths)
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


def test_the_shape_has_the_highest_accuracy_if_labels_allow_no_more(tmp_path, cache_dir):
    info = prepare(composed("dataset=digits"), tmp_path, cache_dir)
    assert "accuracy_ceiling" not in info.shape()
    assert replace(info, accuracy_ceiling=0.25).shape()["accuracy_ceiling"] == 0.25
