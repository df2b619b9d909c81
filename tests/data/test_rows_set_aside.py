"""Rows set aside for validation."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from xcbench.core.dataset import Dataset, Info, LabelSets, Split


def test_rows_of_one_article_stay_together_when_some_are_set_aside() -> None:
    labels = [[0, 1], [1, 2, 3], [2], [0, 3], [1, 3]]
    flat = np.array([k for row in labels for k in row])
    article = np.repeat(np.arange(len(labels)), [len(row) for row in labels])
    sets = [labels[a] for a in article]
    start = np.cumsum([0, *map(len, sets)])
    own = LabelSets(start, np.concatenate(sets), 1 / np.array([len(row) for row in sets]))
    X = sp.csr_array(article[:, None].astype(np.float32))
    train = Split(X, flat, own)
    info = Info("articles", "0", False, len(flat), 0, 1, 4, True, 1.0, 1.0, 1.0, 0.5, 0.3, 1.4, 0.7)
    whole = Dataset(info, train, train, np.bincount(flat))
    for seed in range(5):
        held = whole.held_out(0.4, seed)
        assert held.validation is not None
        aside, kept = ({*part.X.toarray().ravel()} for part in (held.validation, held.train))
        assert not aside & kept
        assert len(held.train) + len(held.validation) == len(train)
        assert held.class_counts.sum() == held.info.train == len(held.train)
