"""Shapes and published numbers on the real files; these tests run where XCBENCH_DATA is set."""

from __future__ import annotations

import os
import subprocess
import sys
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from catalogue import composed, loaded
from xcbench.core.dataset import Info, Raw
from xcbench.data import files, prepare, protocol
from xcbench.data.readers import READERS
from xcbench.data.settings import Protocol

RUN = Path(__file__).parents[2] / "run.py"


DATA = os.environ.get("XCBENCH_DATA", "")

pytestmark = pytest.mark.skipif(
    not DATA, reason="XCBENCH_DATA is not set: shapes, counts and losses of the real files"
)


# ---------------------------------------------------------------- shapes and counts
@pytest.fixture(scope="module")
def real_data() -> Path:
    """Folder of the real files."""
    return Path(DATA)


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


SLOW = ("mnist features=780", "citeulike label=each")


@pytest.mark.parametrize(
    "case", [pytest.param(it, marks=[pytest.mark.slow] if it in SLOW else []) for it in SHAPES]
)
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
def articles(real_data: Path) -> Raw:
    settings = composed("dataset=citeulike")
    paths = {
        role: files.find(real_data, settings.folders, name) for role, name in settings.files.items()
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


# ---------------------------------------------------------------- losses and errors
def last_row(tmp_path, *overrides):
    command = [sys.executable, RUN, f"runs_dir={tmp_path}", "mlflow=false", *overrides]
    subprocess.run([*command, "dataset.missing=error"], check=True, capture_output=True)
    results = [sys.executable, "-m", "xcbench", "results", f"runs_dir={tmp_path}"]
    out = subprocess.run(results, check=True, capture_output=True, text=True).stdout
    return pd.read_csv(StringIO(out)).iloc[0]


@pytest.mark.slow
def test_exact_softmax_with_l2(tmp_path):
    """The optimum on Mulan's split (one-vs-each paper, Table 2: 0.622 and 2.793 on another)."""
    row = last_row(tmp_path, "method=softmax", "method.l2=1", "dataset=bibtex")
    assert row["status"] == "done"
    assert row["test_error"] == pytest.approx(0.6167, abs=5e-4)
    assert row["test_log_loss"] == pytest.approx(2.7548, abs=5e-4)


@pytest.mark.slow
def test_implicit_steps_bear_a_rate_that_umax_does_not(tmp_path):
    """Rows of 70 words make a rate of 0.1 far too long a step for U-max, not for implicit steps."""
    losses = {
        name: last_row(tmp_path / name, "dataset=bibtex", f"method={name}", "budget.epochs=2",
                       "budget.checkpoints=1", "method.lr=0.1")["train_log_loss"]
        for name in ("implicit", "umax")
    }  # fmt: skip
    assert losses["implicit"] < losses["umax"]
