"""Readers of text files of whole numbers: 20 Newsgroups, citeulike.

All lines are checked at once; only if that fails, line by line, to report where.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from xcbench.core.dataset import Raw
from xcbench.data.files import open_content
from xcbench.data.settings import DatasetSettings as Settings
from xcbench.data.sparse_text import BOM, LARGEST, bad_line, shown, sparse_rows
from xcbench.errors import UserError


def bydate(paths: dict[str, Path], settings: Settings) -> tuple[Raw, Raw]:
    """20 Newsgroups in its MATLAB form: lines ``document word count``, and a label a document.

    Documents, words and labels are counted from 1.
    """
    labels = {role: table(paths[f"{role}_labels"], 1)[:, 0] for role in ("train", "test")}
    counts = {role: table(paths[role], 3) for role in labels}
    expected = settings.expected
    n_labels = expected.labels or max(int(y.max(initial=1)) for y in labels.values())
    n_words = expected.features or max(int(c[:, 1].max(initial=1)) for c in counts.values())
    parts = []
    for role, y in labels.items():
        _check_range(paths[f"{role}_labels"], y, n_labels, "label")
        _check_range(paths[role], counts[role][:, 0], len(y), "document")
        _check_range(paths[role], counts[role][:, 1], n_words, "word")
        X = _count_matrix(paths[role], counts[role], (len(y), n_words))
        parts.append(Raw.single(X, y - 1, n_labels))
    return parts[0], parts[1]


def table(path: Path, columns: int, first: int = 0) -> np.ndarray:
    """Lines of whole numbers as an array, from the line ``first`` on."""
    line = rb"[ \t]*+" + rb"[ \t]++".join([rb"\d{1,15}"] * columns) + rb"[ \t]*+"
    with open_content(path) as handle:
        for _ in range(first):
            handle.readline()
        text = handle.read().removeprefix(BOM).replace(b"\r\n", b"\n").rstrip(b"\n")
    if not re.fullmatch(rb"(?:" + line + rb"\n)*+" + line, text):
        for number, text_line in enumerate(text.split(b"\n"), start=first + 1):
            if not re.fullmatch(line, text_line):
                what = "a whole number" if columns == 1 else f"{columns} whole numbers"
                raise bad_line(path, number, f"expected {what}, not {shown(text_line)}")
    return np.array(text.split(), np.int64).reshape(-1, columns)


def _check_range(path: Path, values: np.ndarray, largest: int, what: str) -> None:
    """Values counted from 1 must lie between 1 and the largest, which fits 32 bits."""
    wrong = np.flatnonzero((values < 1) | (values > min(largest, LARGEST)))
    if len(wrong):
        raise bad_line(
            path,
            wrong[0] + 1,
            f"{what} {values[wrong[0]]} is out of range, "
            f"they are counted from 1 to {min(largest, LARGEST)}",
        )


def _count_matrix(path: Path, table: np.ndarray, shape: tuple[int, int]) -> sp.csr_array:
    order = np.lexsort((table[:, 1], table[:, 0]))
    row, column, count = table[order].T
    twice = np.flatnonzero((row[1:] == row[:-1]) & (column[1:] == column[:-1]))
    if len(twice):
        at = twice[0] + 1
        raise bad_line(
            path, order[at] + 1, f"word {column[at]} of document {row[at]} is given twice"
        )
    start = np.searchsorted(row, np.arange(1, shape[0] + 2))
    X = sp.csr_array((count.astype(np.float32), (column - 1).astype(np.int32), start), shape)
    X.eliminate_zeros()
    return X


def citeulike(paths: dict[str, Path], settings: Settings) -> tuple[Raw, Raw]:
    """Articles with words and tags: ``mult.dat`` and ``tag-item.dat``, numbered from 0.

    The word file has a line ``number w:c w:c ...`` for each article, the tag file a line ``number
    article article ...`` for each tag. All articles are training rows, since there is no split.
    """
    most = settings.expected.features or LARGEST
    with open_content(paths["train"]) as handle:
        X, _ = sparse_rows(_counted_lines(handle, paths["train"], pairs=True), most, paths["train"])
    if not X.shape[0]:
        raise UserError(f"{paths['train']} has no line; get the file again")
    if not settings.expected.features:
        used = 1 + int(X.indices.max(initial=0))
        X = sp.csr_array((X.data, X.indices, X.indptr), (X.shape[0], used))
    label_start, labels, n_labels = _tags(paths["train_labels"], X.shape[0])
    everything = Raw(X, label_start, labels, n_labels)
    return everything, everything.take(np.zeros(len(everything), bool))


def _counted_lines(lines: Iterator[bytes], path: Path, pairs: bool) -> Iterator[tuple[int, bytes]]:
    """What follows the number at the start of every line, which says how many follow."""
    for number, line in enumerate(lines, start=1):
        head, *rest = line.removeprefix(BOM).strip().split(b" ", 1)
        tail = rest[0] if rest else b""
        follow = tail.count(b":") if pairs else len(tail.split())
        if not re.fullmatch(rb"\d{1,15}", head) or int(head) != follow:
            raise bad_line(
                path,
                number,
                f"the line begins with {shown(head)} and has {follow} entries after it; "
                "the first number must be their count",
            )
        yield number, tail


def _tags(path: Path, n_articles: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Start of every article's tags, the tags in ascending order, and their number."""
    tags: list[np.ndarray] = []  # articles of each
    with open_content(path) as handle:
        for number, text in _counted_lines(handle, path, pairs=False):
            words = text.split()
            if not all(word.isdigit() and len(word) < 16 for word in words):
                raise bad_line(path, number, f"{shown(text)} is not a list of articles")
            articles = np.array(words, np.int64)
            if articles.max(initial=0) >= n_articles:
                raise bad_line(
                    path,
                    number,
                    f"article {articles.max()} is out of range, "
                    f"there are {n_articles} articles counted from 0",
                )
            if len(np.unique(articles)) < len(articles):
                raise bad_line(path, number, "an article is given twice")
            tags.append(articles)
    tag = np.repeat(np.arange(len(tags)), np.array([*map(len, tags)], np.int64))
    flat = np.concatenate([*tags, np.zeros(0, np.int64)])
    order = np.argsort(flat, kind="stable")
    start = np.searchsorted(flat[order], np.arange(n_articles + 1))
    return start, tag[order], len(tags)
