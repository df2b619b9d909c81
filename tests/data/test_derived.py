"""Problems derived from other data: a word of a message, an entity of a triple."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from xcbench.data.derived import triples, words
from xcbench.data.settings import DatasetSettings, Expected


def test_a_word_is_taken_away_once_and_is_the_label(tmp_path: Path) -> None:
    counts = [(1, 1, 2), (1, 2, 1), (2, 1, 1), (2, 3, 4), (3, 2, 1)]  # document, word, count
    text = "".join(f"{d} {w} {c}\n" for d, w, c in counts)
    paths = {role: tmp_path / role for role in ("train", "test")}
    paths |= {f"{role}_labels": tmp_path / f"{role}.label" for role in ("train", "test")}
    for role in ("train", "test"):
        paths[role].write_text(text)
        paths[f"{role}_labels"].write_text("1\n2\n1\n")
    settings = DatasetSettings("w", "words", expected=Expected(labels=3))
    train, test = words(paths, settings)
    # By frequency: word 3 (4 times), word 1 (3), word 2 (2). The third message has one word alone.
    whole = np.array([[0, 2, 1], [4, 1, 0]])
    assert len(train) == 2 * 4 and len(test) == 2
    for part, draws in ((train, 4), (test, 1)):
        back = part.X.toarray()
        back[np.arange(len(part)), part.labels] += 1
        assert (back == np.repeat(whole, draws, axis=0)).all()


def test_a_triple_has_its_relation_its_head_and_other_neighbours(tmp_path: Path) -> None:
    paths = {role: tmp_path / role for role in ("train", "test")}
    paths["train"].write_text("3\n0 1 0\n0 2 1\n3 0 0\n")  # head tail relation
    paths["test"].write_text("1\n0 3 1\n")
    train, test = triples(paths, DatasetSettings("t", "triples"))
    # Entity 0 is in three triples, the others in one: its number is 0, theirs 1, 2, 3.
    assert train.labels.tolist() == [1, 2, 0]
    relation, entity = np.split(train.X.toarray().astype(int), [2], axis=1)
    assert relation.tolist() == [[1, 0], [0, 1], [1, 0]]
    assert entity.tolist() == [[1, 0, 1, 1], [1, 1, 0, 1], [0, 0, 0, 1]]
    assert test.X.toarray().astype(int).tolist() == [[0, 1, 1, 1, 1, 1]]
