"""Rows set aside for validation."""

from __future__ import annotations

from itertools import product

import numpy as np
import scipy.sparse as sp

from workspace import Workspace
from xcbench.core.dataset import Dataset, Info, LabelSets, Split


def test_rows_of_one_article_stay_together_when_some_are_set_aside() -> None:
    labels = [[0, 1], [1, 2, 3], [2], [0, 3], [1, 3]] * 2 + [[0, 4]]
    lonely = len(labels) - 1  # the article of a class that no other has
    flat = np.array([k for row in labels for k in row])
    article = np.repeat(np.arange(len(labels)), [len(row) for row in labels])
    sets = [labels[a] for a in article]
    start = np.cumsum([0, *map(len, sets)])
    own = LabelSets(start, np.concatenate(sets), 1 / np.array([len(row) for row in sets]))
    X = sp.csr_array(article[:, None].astype(np.float32))
    train = Split(X, flat, own)
    info = Info("articles", "0", False, len(flat), 0, 1, 5, True, 1.0, 1.0, 1.0, 0.5, 0.3, 1.4, 0.7)
    whole = Dataset(info, train, train, np.bincount(flat))
    aside = {}
    for seed, seen in product(range(9), (False, True)):
        held = whole.held_out(0.4, seed, seen)
        assert held.validation is not None
        drawn, kept = ({*part.X.toarray().ravel()} for part in (held.validation, held.train))
        assert not drawn & kept
        assert len(held.train) + len(held.validation) == len(train)
        assert held.class_counts.sum() == held.info.train == len(held.train)
        aside[seed, seen] = drawn
    assert any(lonely in aside[seed, False] for seed in range(9))
    assert all(aside[seed, True] == aside[seed, False] - {lonely} for seed in range(9))


def test_rows_whose_class_would_not_be_trained_train() -> None:
    y = np.repeat(np.arange(40), [1, 2, 3, 4] * 10)
    rows = Split(np.arange(len(y), dtype=np.float32)[:, None], y)
    for seed in range(5):
        drawn, rest = rows.divided(0.5, seed)
        aside, train = rows.divided(0.5, seed, seen=True)
        lonely = ~np.isin(drawn.y, rest.y)
        assert lonely.any() and np.isin(aside.y, train.y).all()
        np.testing.assert_array_equal(aside.X, drawn.X[~lonely])
        assert len(aside) + len(train) == len(rows)


def test_a_row_a_class_leaves_nothing_to_set_aside(workspace: Workspace) -> None:
    rows = workspace.path / "rows.txt"
    rows.write_text("".join(f"{label} 1:{label + 1}\n" for label in range(9)), "utf-8")
    words = (f"dataset.train={rows}", f"dataset.test={rows}", "evaluation.validation=0.3")
    command = ("dataset=file", "method=ove", "mlflow=false", *words)
    ended = workspace.run(*command, "evaluation.validation_from=train_seen")
    assert ended.code == 1 and "sets no training row of rows aside" in ended.out
    workspace.run(*command, "evaluation.validation_from=train").succeeded()
