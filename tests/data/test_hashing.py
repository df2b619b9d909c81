"""Hashed features: the formula, its mean, and the same rows for every command."""

from __future__ import annotations

import resource
import struct
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction import FeatureHasher

from workspace import NewWorkspace, Workspace
from xcbench import data, model_files
from xcbench.data import hashing, labelled_rows, new_rows
from xcbench.data.inputs import Inputs
from xcbench.data.settings import DatasetSettings, Protocol
from xcbench.options import multiplied

LIMITS = ((resource.RLIMIT_AS, 6 * 2**30),)
FAR = 10**9
ROWS = "".join(f"{i % 8} {1 + i % 8}:1 {50 + i}:0.5 {FAR + i % 8 * 977}:2\n" for i in range(80))


@pytest.fixture(scope="module")
def place(new_workspace: NewWorkspace) -> Workspace:
    workspace = new_workspace("hashing")
    (workspace.path / "rows.svm").write_text(ROWS)
    return workspace


def one_row(features: np.ndarray, values: np.ndarray) -> sp.csr_array:
    """A row whose numbers of features need no array as long."""
    return sp.csr_array((values, features, [0, len(features)]), (1, 2**31 - 1))


# ---------------------------------------------------------------- the formula
@pytest.mark.parametrize("number, code", [(0, 0x2362F9DE), (0x87654321 - 2**32, 0xF55B516B)])
def test_the_hash_is_the_published_one(number: int, code: int) -> None:
    # vectors of MurmurHash3_x86_32 for the bytes 00 00 00 00 and 21 43 65 87
    signed = code - 2**32 if code >= 2**31 else code
    row = hashing.hashed(one_row(np.array([number]), np.ones(1)), 1000)
    assert row.indices.tolist() == [abs(signed) % 1000]
    assert row.data.tolist() == [np.sign(signed)]


@pytest.mark.parametrize("places", [1, 7, 2**10, 2**20])
def test_rows_are_those_of_feature_hasher_on_the_bytes_of_the_numbers(places: int) -> None:
    rng = np.random.default_rng(0)
    features = rng.integers(0, 2**31 - 1, (20, 40)).astype(np.int32)
    values = rng.integers(1, 9, (20, 40)).astype(np.float32)
    start = np.append(40 * np.arange(21), 800)  # the last row is empty
    X = sp.csr_array((values.ravel(), features.ravel(), start), (21, 2**31 - 1))
    before = X.copy()
    named = [
        [(struct.pack("<i", j), v) for j, v in zip(*row, strict=True)]
        for row in zip(features, values, strict=True)
    ]
    expected = FeatureHasher(places, input_type="pair").transform([*named, []])
    result = hashing.hashed(X, places)
    assert result.shape == (21, places) and result.dtype == np.float32
    assert result.has_canonical_format and abs(result - sp.csr_array(expected)).max() == 0
    assert (X.data == before.data).all() and (X.indices == before.indices).all()
    assert (X.indptr == before.indptr).all()


def test_inner_products_are_right_in_the_mean() -> None:
    # the same two rows at other numbers of features, which is another hash function to them
    rng = np.random.default_rng(1)
    numbers, (x, z) = np.arange(30), rng.uniform(0.5, 1.5, (2, 30))
    x[20:], z[:10] = 0, 0  # half of either
    places, draws = 8, 4000
    products = np.empty(draws)
    for draw in range(draws):
        a, b = (hashing.hashed(one_row(numbers + 1000 * draw, v), places) for v in (x, z))
        products[draw] = (a @ b.T).toarray().item()
    exact = float(x @ z)
    # Weinberger et al. 2009, lemma 2
    variance = ((x**2).sum() * (z**2).sum() + exact**2 - 2 * (x**2 * z**2).sum()) / places
    assert abs(products.mean() - exact) < 4 * np.sqrt(variance / draws)
    assert products.var() == pytest.approx(variance, rel=0.15)


def test_powers_are_multiplied_out() -> None:
    for text, result in (("2**20", "1048576"), ("1048576", "1048576"), ("2**4,10**3", "16,1000")):
        assert multiplied(text) == result
    assert multiplied("2**x") == "2**x" and multiplied("1000**1000") == "1000**1000"


# ---------------------------------------------------------------- files
def test_both_formats_and_all_readers_place_features_alike(tmp_path: Path) -> None:
    pairs = ("0:1 7:2", "3:1 999999999:4", "")
    (tmp_path / "headed").write_text(f"3 {FAR} 2\n" + "".join(f"1 {p}\n" for p in pairs))
    (tmp_path / "plain").write_text("".join(f"1 {p}\n" for p in pairs))
    raws = [labelled_rows.read([tmp_path / name], features=16)[0] for name in ("headed", "plain")]
    for first, raw in zip((-1, 0), raws, strict=True):
        assert raw.X.shape == (3, 16)
        assert (raw.X.toarray() == raws[0].X.toarray()).all()
        inputs = Inputs(first, 16, np.ones(16), np.zeros((16, 0)), np.arange(2), hashed=1)
        assert Inputs.of(inputs.arrays()).hashed == 1
        for name in ("headed", "plain"):
            rows = new_rows.read(tmp_path / name, inputs)
            assert (rows.toarray() == raws[0].X.toarray()).all()


def test_the_identity_of_data_depends_on_the_number_and_else_stays(tmp_path: Path) -> None:
    path = tmp_path / "rows.svm"
    path.write_text("a 1:1\nb 2:1\n" * 5)
    digests = []
    for features in (None, 8, 16):
        settings = DatasetSettings(
            "", "own", train=str(path), test=str(path), features=features,
            protocol=Protocol(classes="train"), missing="error",
        )  # fmt: skip
        digests.append(data.prepare(settings, tmp_path, tmp_path / "cache").digest)
    assert len({*digests}) == 3
    assert digests[0] == "11de541436511f89"  # as before there was the option


# ---------------------------------------------------------------- commands
def test_a_feature_of_a_thousand_million_trains_and_is_remembered(place: Workspace) -> None:
    (place.path / "two.svm").write_text(f"one 1:1\ntwo {FAR}:1\n")
    refused = place.xcbench("train", "two.svm", "out=two", limits=LIMITS)
    assert refused.code == 2 and "features=1048576" in refused.err, refused.text
    words = ("two.svm", "out=two", "features=2**20", "test=two.svm")
    done = place.xcbench("train", *words, limits=LIMITS).succeeded()
    assert "1,048,576 features, 2 labels" in done.out, done.text
    assert "error 0\n" in done.out and "unseen" not in done.out, done.text
    assert model_files.load(place.path / "two").inputs.hashed == 1
    predicted = place.xcbench("predict", "two", "two.svm", limits=LIMITS)
    assert [line.split(":")[0] for line in predicted.out.splitlines()] == ["one", "two"]
    measured = place.xcbench("evaluate", "two", "two.svm", limits=LIMITS).succeeded()
    assert measured.out.strip() in done.out, measured.text


def test_train_and_run_see_the_rows_that_feature_hasher_makes(place: Workspace) -> None:
    hasher, lines = FeatureHasher(64, input_type="pair"), ["80 64 8\n"]
    for label, *pairs in map(str.split, ROWS.splitlines()):
        row = [(struct.pack("<i", int(j)), float(v)) for j, v in (it.split(":") for it in pairs)]
        X = hasher.transform([row])
        X.sort_indices()
        lines.append(" ".join([label, *map("{}:{:g}".format, X.indices, X.data)]) + "\n")
    (place.path / "given.txt").write_text("".join(lines))
    outputs = {}
    for name, words in (("rows.svm", ("features=64",)), ("given.txt", ())):
        how = ("method=ove", "epochs=3", "engine=numpy", f"out=of-{name}", f"test={name}", *words)
        done = place.xcbench("train", name, *how).succeeded()
        measured = place.xcbench("evaluate", f"of-{name}", name)
        assert measured.out.strip() in done.out, measured.text
        runs = f"runs_dir=runs-{name}"
        own = ("dataset=file", f"dataset.train={name}", f"dataset.test={name}", "method=ove")
        how = ("engine=numpy", "budget.epochs=3", "mlflow=false", "save_weights=true", runs)
        done = place.run(*own, *how, *(f"dataset.{word}" for word in words)).succeeded()
        (cell,) = (place.path / f"runs-{name}" / "cells").glob("[!.]*")
        outputs[name] = (
            place.xcbench("predict", f"of-{name}", name, "k=4").out,
            measured.out,
            place.xcbench("predict", cell.name, name, "k=4", runs).out,
        )
        assert [len(text.splitlines()) for text in outputs[name]] == [80, 4, 80]
    assert outputs["rows.svm"] == outputs["given.txt"]


@pytest.mark.parametrize("value", ["0", "-3", "abc", "", "999999999", "2**40"])
def test_impossible_numbers_are_refused_in_a_line(place: Workspace, value: str) -> None:
    own = ("dataset=file", "dataset.train=rows.svm", "dataset.test=rows.svm")
    for done in (
        place.xcbench("train", "rows.svm", "out=bad", f"features={value}", limits=LIMITS),
        place.run(*own, "runs_dir=bad", f"dataset.features={value}", limits=LIMITS),
        place.xcbench("advise", *own, "runs_dir=bad", f"features={value}", limits=LIMITS),
    ):
        assert done.code == 2 and done.err.count("\n") == 1 and "features=" in done.err, done.text
