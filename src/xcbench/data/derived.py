"""Problems with many classes, derived from data made for other purposes.

One predicts a word of a message from its other words, as a language model does. The other predicts
an entity of a knowledge graph from another one. Both are small.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from xcbench.core.dataset import Raw
from xcbench.data.lists import bydate, table
from xcbench.data.settings import DatasetSettings as Settings
from xcbench.data.sparse_text import bad_line

SPREAD = 4  # entities a triple, at most; WN18RR has one for two triples
DRAWS = 4  # words that a training message gives; a test message gives one


def words(paths: dict[str, Path], settings: Settings) -> tuple[Raw, Raw]:
    """Predict a word of a 20 Newsgroups message from the others, among the most frequent words.

    Counts have no word order, so the target is drawn at random. It is removed once from the counts;
    further occurrences stay.
    """
    rng = np.random.default_rng(0)
    # The expected shape describes the derived rows, not the raw counts.
    train, test = bydate(paths, replace(settings, expected=type(settings.expected)()))
    assert not isinstance(train.X, np.ndarray) and not isinstance(test.X, np.ndarray)
    total = np.asarray(train.X.sum(axis=0)).ravel()
    frequent = np.argsort(-total, kind="stable")[: settings.expected.labels]
    return (
        _left_out(sp.csr_array(train.X[:, frequent]), DRAWS, rng),
        _left_out(sp.csr_array(test.X[:, frequent]), 1, rng),
    )


def _left_out(counts: sp.csr_array, draws: int, rng: np.random.Generator) -> Raw:
    """Rows without one occurrence of a drawn word, and that word as the label."""
    counted = counts[np.repeat(np.flatnonzero(np.diff(counts.indptr) > 1), draws)]
    start, upto = counted.indptr[:-1], np.cumsum(counted.data, dtype=np.float64)
    before = np.concatenate([[0.0], upto])[start]
    length = upto[counted.indptr[1:] - 1] - before
    place = np.searchsorted(upto, before + np.floor(rng.random(len(start)) * length), side="right")
    labels = counted.indices[place].astype(np.int64)
    counted.data[place] -= 1
    counted.eliminate_zeros()
    return Raw.single(counted, labels, counts.shape[1])


def triples(paths: dict[str, Path], settings: Settings) -> tuple[Raw, Raw]:
    """Predict the tail of a WN18RR triple from its head and relation.

    Features are the relations, then the entities by frequency: the head, and its neighbours in the
    training triples except the triple itself. Files have the number of lines, then lines ``head
    tail relation``.
    """
    train, test = (table(paths[role], 3, first=1) for role in ("train", "test"))
    relations = 1 + int(train[:, 2].max())
    most = SPREAD * (len(train) + len(test))
    for role, part in (("train", train), ("test", test)):
        _check(paths[role], part[:, :2], most, f"{SPREAD} a triple")
        _check(paths[role], part[:, 2:], min(relations, most), "those of the training triples")
    n = 1 + int(max(part[:, :2].max() for part in (train, test)))
    ends = np.concatenate([train[:, :2], train[:, 1::-1]])
    order = np.argsort(-np.bincount(ends[:, 0], minlength=n), kind="stable")
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    edges = sp.csr_array((np.ones(len(ends), np.float32), place[ends].T), (n, n))

    def raw(part: np.ndarray, share: float) -> Raw:
        head, tail, relation = place[part[:, 0]], place[part[:, 1]], part[:, 2]
        rows = np.arange(len(part))
        one = np.ones(len(part), np.float32)
        near = edges[head] - sp.csr_array((share * one, (rows, tail)), (len(part), n))
        near = near + sp.csr_array((one, (rows, head)), near.shape)
        X = sp.csr_array(
            sp.hstack([sp.csr_array((one, (rows, relation)), (len(part), relations)), near > 0])
        )
        X = sp.csr_array(X.astype(np.float32))
        X.eliminate_zeros()
        X.sort_indices()
        return Raw.single(X, tail, n)

    return raw(train, 1.0), raw(test, 0.0)


def _check(path: Path, numbers: np.ndarray, most: int, what: str) -> None:
    """Refuse entities or relations beyond their number."""
    line, column = np.unravel_index(int(np.argmax(numbers)), numbers.shape)
    if numbers[line, column] >= most:
        number = numbers[line, column]
        raise bad_line(path, int(line) + 2, f"{number} is out of range, there are at most {what}")
