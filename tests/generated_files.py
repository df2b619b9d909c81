"""Files that hypothesis makes: valid ones of every format, damaged ones, and rubbish."""

from __future__ import annotations

import os

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

EXAMPLES = int(os.environ.get("XCBENCH_EXAMPLES", "60"))
many = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))


def matrix(rows: list[dict[int, float]], n_features: int) -> np.ndarray:
    X = np.zeros((len(rows), n_features), np.float32)
    for i, row in enumerate(rows):
        for feature, value in row.items():
            X[i, feature] = value
    return X


number = st.floats(width=32, allow_nan=False, allow_infinity=False)
ARFF_HEAD = b"@relation t\n@attribute a {0,1}\n@attribute b {0,1}\n@attribute c {0,1}\n@data\n"
NASTY = [b"nan", b"-inf", b"1e39", b"-1", b"1e999", b"99999999999999999999", b"9" * 400, b"0x1"]
NASTY += [b"1_0", b"\xef\xbb\xbf", b"\0", b"\r", b"\x85", b"\x1b[31m", b"1.0:2", b"1:2:3", b"\n\n"]
NASTY += [
    b"<!DOCTYPE html>\n<html>",
    b"2147483648",
    b",",
    b"{",
    b"}",
    b":",
    b"@data",
    b"%",
    b"9" * 5000,
]


@st.composite
def mutated(draw, content: bytes) -> bytes:
    """Flip a byte, cut off, cut out, double, or put something nasty in."""
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, max(0, len(content) - 1)))
        kind = draw(st.sampled_from(["flip", "truncate", "cut", "double", "nasty", "replace"]))
        stop = min(len(content), at + draw(st.integers(1, 8)))
        if kind == "flip" and content:
            content = (
                content[:at]
                + bytes([content[at] ^ (1 << draw(st.integers(0, 7)))])
                + content[at + 1 :]
            )
        elif kind == "truncate":
            content = content[:at]
        elif kind == "cut":
            content = content[:at] + content[stop:]
        elif kind == "double":
            content = content[:stop] + content[at:]
        else:
            end = stop if kind == "replace" else at
            content = content[:at] + draw(st.sampled_from(NASTY)) + content[end:]
    return content


@st.composite
def sparse_problem(draw):
    """Sizes, rows of features, and label lists without repetition."""
    n_features, n_labels = draw(st.integers(1, 12)), draw(st.integers(1, 8))
    row = st.dictionaries(st.integers(0, n_features - 1), number, max_size=6)
    labels = st.lists(st.integers(0, n_labels - 1), unique=True, max_size=4)
    pairs = draw(st.lists(st.tuples(row, labels), min_size=1, max_size=6))
    return n_features, n_labels, [pair[0] for pair in pairs], [pair[1] for pair in pairs]


@st.composite
def repository_file(draw):
    n_features, n_labels, rows, labels = draw(sparse_problem())
    end = draw(st.sampled_from([b"\n", b"\r\n", b" \n", b"\t\r\n"]))
    gap = draw(st.sampled_from([b" ", b"  ", b" \t"]))
    lines = [b"%d %d %d" % (len(rows), n_features, n_labels)]
    for row, labels_of_row in zip(rows, labels, strict=True):
        pairs = gap.join(b"%d:%s" % (f, repr(v).encode()) for f, v in row.items())
        head = ",".join(map(str, labels_of_row)).encode()
        lines.append(head + b" " + pairs if head or draw(st.booleans()) else pairs)
    text = end.join(lines) + end * draw(st.integers(1, 3))
    if draw(st.booleans()) and (rows[-1] or labels[-1]):
        text = text.rstrip()
    bom = draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
    return bom + text, matrix(rows, n_features), labels, n_labels


@st.composite
def arff_file(draw):
    n_features, n_labels, rows, labels = draw(sparse_problem())
    end = draw(st.sampled_from([b"\n", b"\r\n"]))
    upper = draw(st.booleans())
    lines = [b"% made up", b"@relation toy", b""]
    for j in range(n_features + n_labels):
        lines.append(b"%s a%d {0,1}" % (b"@ATTRIBUTE" if upper else b" @attribute", j))
    lines.append(b"@DATA" if upper else b"@data")
    for row, labels_of_row in zip(rows, labels, strict=True):
        pairs = [b"%d %s" % (f, repr(v).encode()) for f, v in row.items()]
        pairs += [b"%d 1" % (n_features + label) for label in labels_of_row]
        lines += draw(st.sampled_from([[], [b""], [b"% a remark"]]))
        lines.append(b"{" + draw(st.sampled_from([b",", b" , "])).join(pairs) + b"}")
    text = end.join(lines) + end * draw(st.integers(0, 2))
    bom = draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
    return (
        bom + text,
        matrix(rows, n_features),
        [sorted(labels_of_row) for labels_of_row in labels],
        n_labels,
    )


@st.composite
def idx_files(draw):
    height, width, n_labels = (
        draw(st.integers(1, 4)),
        draw(st.integers(1, 4)),
        draw(st.integers(1, 9)),
    )
    made = {}
    for role in ("train", "test"):
        n = draw(st.integers(1, 5))
        made[role] = draw(arrays(np.uint8, (n, height, width)))
        made[f"{role}_labels"] = draw(arrays(np.uint8, n, elements=st.integers(0, n_labels - 1)))
    return made, n_labels


@st.composite
def bydate_files(draw):
    """Words a document as pairs (document, word), all counted from 1, and labels."""
    n_words, n_labels = draw(st.integers(1, 9)), draw(st.integers(1, 4))
    made = {}
    for role in ("train", "test"):
        labels = draw(st.lists(st.integers(1, n_labels), min_size=1, max_size=5))
        places = st.tuples(st.integers(1, len(labels)), st.integers(1, n_words))
        made[role] = draw(st.dictionaries(places, st.integers(0, 99), min_size=1, max_size=9))
        made[f"{role}_labels"] = labels
    return made, n_words, n_labels


def bydate_bytes(made, end=b"\n") -> dict[str, bytes]:
    content = {}
    for role, part in made.items():
        if isinstance(part, dict):
            lines = [b"%d %d %d" % (*place, count) for place, count in part.items()]
        else:
            lines = [b"%d" % label for label in part]
        content[role] = end.join(lines) + end
    return content


def citeulike_bytes(rows, labels, n_labels, end=b"\n") -> dict[str, bytes]:
    words = [
        b" ".join([b"%d" % len(row), *(b"%d:%s" % (f, repr(v).encode()) for f, v in row.items())])
        for row in rows
    ]
    tags = []
    for label in range(n_labels):
        having = [b"%d" % i for i, labels_of_row in enumerate(labels) if label in labels_of_row]
        tags.append(b" ".join([b"%d" % len(having), *having]))
    return {"train": end.join(words) + end, "train_labels": end.join(tags) + end}


@st.composite
def svmlight_file(draw):
    n_features, _, rows, labels = draw(sparse_problem())
    first, shift = draw(st.integers(0, 1)), draw(st.integers(-5, 5))
    end = draw(st.sampled_from([b"\n", b"\r\n", b" # remark\n", b"\n\n# remark\n"]))
    lines = []
    for row, labels_of_row in zip(rows, labels, strict=True):
        pairs = b" ".join(b"%d:%s" % (f + first, repr(v).encode()) for f, v in row.items())
        if labels_of_row or pairs:
            lines.append(
                b",".join(b"%d" % (label + shift) for label in labels_of_row) + b" " + pairs
            )
    X = matrix(
        [row for row, labels_of_row in zip(rows, labels, strict=True) if row or labels_of_row],
        n_features,
    )
    kept = [
        labels_of_row
        for row, labels_of_row in zip(rows, labels, strict=True)
        if row or labels_of_row
    ]
    return end.join(lines) + end, X, kept


rubbish = st.one_of(
    st.binary(max_size=200),
    st.text(max_size=100).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.text("0123456789:,. \n-+eE", max_size=150).map(str.encode),
    st.text("01:, \n", max_size=60).map(lambda text: b"3 2 2\n" + text.encode()),
    st.text("01 ,{}\n%", max_size=60).map(lambda text: ARFF_HEAD + text.encode()),
    st.binary(max_size=60).map(lambda content: b"\0\0\x08" + content),
    st.lists(st.sampled_from(NASTY), max_size=9).map(b" ".join),
)  # fmt: skip
