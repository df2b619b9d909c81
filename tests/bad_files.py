"""Bad files of every format, and compressed ones."""

from __future__ import annotations

import bz2
import functools
import gzip
import lzma
import re
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from bad_case import Case
from good_files import (
    ARFF,
    DIGITS,
    DRAWINGS,
    FORMATS,
    IMAGES,
    SPLIT,
    idx_bytes,
    npz_bytes,
)
from toy_files import TEST, TRAIN

COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".xz": functools.partial(lzma.compress, preset=0),
    ".gz": functools.partial(gzip.compress, mtime=0),
    ".bz2": functools.partial(bz2.compress, compresslevel=1),
}
HTML = b"<!DOCTYPE html>\n<html></html>\n"
PNG = b"\x89PNG\r\n\x1a\n\0\0"
HEADER = b"2 3 4\n"


def drawings(**changed: object) -> bytes:
    return npz_bytes(**{**DRAWINGS, **changed})


# What is put in place of a good file, the line the sentence must name (0: none, and -1: not even
# the file), what it must say.
FILES: dict[str, list[tuple[dict[str, bytes], int, str]]] = {
    "repository": [
        ({"a.txt": b""}, 1, "three numbers"),
        ({"a.txt": HTML}, 1, "<!DOCTYPE html>"),
        ({"b.txt": HTML}, 1, "<!DOCTYPE html>"),
        ({"a.txt": PNG}, 1, "three numbers"),
        ({"b.txt": b"\x7fELF\0\0"}, 1, "three numbers"),
        ({"a.txt": b"\xff\xfe2\0 \0003\0"}, 1, "three numbers"),
        ({"a.txt": b"2 3\n0 1:1\n1 1:1\n"}, 1, "three numbers"),
        ({"a.txt": b"-2 3 4\n"}, 1, "three numbers"),
        ({"a.txt": b"99999999999 5 5\n0 1:1\n"}, 1, "99999999999 5 5"),
        ({"a.txt": b"1 99999999999 5\n0 1:1\n"}, 1, "2147483647"),
        ({"a.txt": b"1 5 " + b"9" * 5000 + b"\n0 1:1\n"}, 1, "2147483647"),
        ({"a.txt": b"1 5 " + b"9" * 900 + b"\n0 1:1\n"}, 1, "2147483647"),
        ({"a.txt": b"0 5 5\n"}, 1, "between 1 and"),
        ({"a.txt": b"1 0 5\n0\n"}, 1, "between 1 and"),
        ({"a.txt": TRAIN[:-3]}, 0, "has 4 rows, its header says 5"),
        ({"a.txt": HEADER + b"0 1:1\n"}, 0, "has 1 rows, its header says 2"),
        ({"a.txt": HEADER + b"0 1:1\n1 1:1\n2 1:1\n"}, 4, "one more"),
        ({"a.txt": HEADER + b"0 1:1\n1 1:1\n\nrubbish"}, 5, "one more"),
        ({"a.txt": HEADER + b"0 1:1\n1 3:1\n"}, 3, "feature '3' is out of range"),
        ({"a.txt": HEADER + b"0 1:1\n1 99999999999999999999:1\n"}, 3, "out of range"),
        ({"a.txt": HEADER + b"0 1:1\n1 " + b"9" * 400 + b":1\n"}, 3, "out of range"),
        ({"a.txt": HEADER + b"0 1:1\n1 -1:1\n"}, 3, "'-1:1' is not a pair"),
        ({"a.txt": HEADER + b"0 1:1\n1 1.0:1\n"}, 3, "'1.0:1' is not a pair"),
        ({"a.txt": HEADER + b"0 1:1\n1 1:\n"}, 3, "'1:' is not a pair"),
        ({"a.txt": HEADER + b"0 1:1\n1 1:1 2\n"}, 3, "'2' is not a pair"),
        ({"a.txt": HEADER + b"0 1:1\n1 1:1:1\n"}, 3, "'1:1:1' is not a pair"),
        ({"a.txt": HEADER + b"0 1:1\n1 1:1_0\n"}, 3, "'1:1_0' is not a pair"),
        ({"a.txt": HEADER + b"0 1:1\n1 1:nan\n"}, 3, "'1:nan' is not a pair"),
        ({"a.txt": HEADER + b"0 1:inf\n1 1:1\n"}, 2, "'1:inf' is not a pair"),
        ({"a.txt": HEADER + b"0 1:1\n1 1:1e39\n"}, 3, "'1:1e39' is too large"),
        ({"a.txt": HEADER + b"0 1:1\n1 1:-1e999\n"}, 3, "too large"),
        ({"a.txt": HEADER + b"0 1:1\n1 1:1 2:1 1:2\n"}, 3, "feature 1 is given twice"),
        ({"a.txt": HEADER + b"0 1:1\n4 1:1\n"}, 3, "label 4 is out of range"),
        ({"a.txt": HEADER + b"0 1:1\n" + b"9" * 5000 + b" 1:1\n"}, 3, "not a list of labels"),
        ({"a.txt": HEADER + b"0 1:1\n-1 1:1\n"}, 3, "'-1' is not a list of labels"),
        ({"a.txt": HEADER + b"0 1:1\n1,,2 1:1\n"}, 3, "'1,,2' is not a list of labels"),
        ({"a.txt": HEADER + b"0 1:1\n1.0 1:1\n"}, 3, "'1.0' is not a list of labels"),
        ({"a.txt": HEADER + b"0 1:1\n1\t1\n"}, 3, "not a pair"),
        ({"a.txt": HEADER + b"0 1:1\n1 1:1\r2:1\x1b\n"}, 3, r"'2:1\x1b' is not a pair"),
        ({"b.txt": TEST.replace(b"4 4 6", b"4 5 6")}, -1, "have 4 features and 6 labels"),
        ({"b.txt": TEST.replace(b"4 4 6", b"4 4 7")}, -1, "test rows 4 and 7"),
        ({"a.txt": b"2 4 6\n1 0:1\n1 2:1\n"}, -1, "toy: number of classes in the training rows: 1"),
        ({"a.txt": b"2 4 6\n 0:1\n 2:1\n"}, -1, "toy: number of classes in the training rows: 0"),
        ({"b.txt": b"1 4 6\n0 1:1\n"}, -1, "toy: no test row has a label that is a class"),
        ({"b.txt": b"1 4 6\n 1:1\n"}, -1, "toy: no test row has a label that is a class"),
    ],
    "svmlight": [
        ({"a.txt": b"1 1:1\none,,two 1:1\n"}, 2, "'one,,two' has an empty label"),
        ({"a.txt": b"1 1:1\n\xe9t\xe9 1:1\n"}, 2, r"'\xe9t\xe9' is not UTF-8; name the encoding"),
        ({"a.txt": "1 1:1\né 1:1\n".encode("utf-16")}, 1, "is not UTF-8"),
        ({"a.txt": b"1 1:1\na\0 1:1\n"}, 2, "has a control character"),
        ({"a.txt": b"1 1:1\n" + b"a" * 2000 + b" 1:1\n"}, 2, "has over 1000 characters"),
        ({"a.txt": b"1:1 2:1\n"}, -1, "line 1: '1:1 2:1' does not begin with a label"),
        ({"a.txt": b" 1:1 2:1\n"}, -1, "number of classes in the training rows: 0"),
        ({"a.txt": b"class,height,weight\n1,2.5,3\n2,3.5,1\n"}, 0, "has no pair feature:value, it begins with 'class,height,weight'"),
        ({"a.txt": b"class height\n1 2.5\n"}, 1, "'height' is not a pair"),
        ({"a.txt": HTML}, 1, "is not a pair"),
        ({"a.txt": PNG}, 1, "is not UTF-8"),
        ({"a.txt": b"1 1:1\n2 2\n"}, 2, "'2' is not a pair"),
        ({"a.txt": b"1 1:1\n2 2:"}, 2, "'2:' is not a pair"),
        ({"a.txt": b"1 1:1\n\n# remark\n2 qid:3 1:1\n"}, 4, "'qid:3' is not a pair"),
        ({"a.txt": b"1 1:1\n2 1:nan\n"}, 2, "'1:nan' is not a pair"),
        ({"a.txt": b"1 1:1\n2 1:inf\n"}, 2, "'1:inf' is not a pair"),
        ({"a.txt": b"1 1:1\n2 1:1e39\n"}, 2, "too large"),
        ({"a.txt": b"1 1:1\n2 3:1 3:1\n"}, 2, "feature 3 is given twice"),
        ({"a.txt": b"1 1:1\n2 -3:1\n"}, 2, "'-3:1' is not a pair"),
        ({"a.txt": b"1 1:1\n2 99999999999:1\n"}, 2, "out of range"),
        ({"a.txt": b"1 1:1\n2, 1:1\n"}, 2, "has an empty label"),
        ({"a.txt": b"2 3 4\n0 1:1\n9 1:1\n", "b.txt": HEADER}, 3, "label 9 is out of range"),
        ({"a.txt": b"2 3 0\n0 1:1\n", "b.txt": HEADER}, 1, "is not possible"),
        ({"a.txt": TRAIN}, 0, "begins with a header 'N D K'"),
        ({"a.txt": b""}, 0, "has no rows"),
        ({"a.txt": b"1 1:1\n1 2:1\n"}, -1, "number of classes in the training rows: 1"),
        ({"b.txt": b"7 1:1\n"}, -1, "no test row has a label that is a class"),
    ],
    "ARFF": [
        ({"a.arff": ARFF + rows}, line, says)
        for rows, line, says in [
            (b"{0 1}\n1,0,1\n", 8, "ARFF row is written"),
            (b"{0 1}\n{0 1,2 1\n", 8, "ARFF row is written"),
            (b"{0 1},{2}\n", 7, "ARFF row is written"),
            (b"{0 1,,2 1}\n", 7, "ARFF row is written"),
            (b"{0 1,2 1,}\n", 7, "ARFF row is written"),
            (b"{0:1}\n", 7, "ARFF row is written"),
            (b"{0}\n", 7, "ARFF row is written"),
            (b"{0 1 2}\n", 7, "ARFF row is written"),
            (b"{-1 1}\n", 7, "ARFF row is written"),
            (HTML, 7, "ARFF row is written"),
            (b"{0 1}\n\n% remark\n{0 nan}\n", 10, "'0:nan'"),
            (b"{0 inf}\n", 7, "'0:inf'"),
            (b"\n\n{0 1}\n{4 1}\n", 10, "feature '4' is out of range"),
            (b"\n\n{0 1}\n{0 1,2 1,0 1}\n", 10, "feature 0 is given twice"),
            (b"\n\n{0 1}\n{0 1,2 1,2 0}\n", 10, "feature 2 is given twice"),
            (b"\n{0 1}\n{0 1,2 2}\n", 9, "label 2 has the value 2"),
            (b"\n{0 1}\n{0 1,2 1e39}\n", 9, "too large"),
            (b"{0 1,2 1}\n{1 1,2 1}\n", -1, "number of classes in the training rows: 1"),
            (b"", -1, "number of classes in the training rows: 0"),
        ]
    ]
    + [
        ({"a.arff": HTML}, 0, "no @data line"),
        ({"a.arff": PNG}, 0, "no @data line"),
        ({"a.arff": ARFF[:60]}, 0, "no @data line"),
        ({"b.arff": ARFF.replace(b"@attribute b", b"@attribute z")}, 0, "different attributes"),
        ({"b.arff": ARFF + b"{0 1}\n"}, -1, "no test row has a label that is a class"),
    ],
    "idx": [
        ({"X": b""}, 0, "not an idx file"),
        ({"X": b"\0\0\x08"}, 0, "not an idx file"),
        ({"X": HTML}, 0, "not an idx file"),
        ({"X": PNG}, 0, "not an idx file"),
        ({"X": DIGITS}, 0, "2 axes or more"),
        ({"y": IMAGES}, 0, "1 axes or more"),
        ({"X": b"\0\0\x08\0A"}, 0, "not an idx file"),
        ({"X": b"\0\0\x08\xff" + struct.pack(">255I", *[1] * 255) + b"A"}, 0, "not an idx file"),
        ({"X": IMAGES[:9]}, 0, "cut off in its header"),
        ({"X": IMAGES[:-1]}, 0, "holds 11 bytes, its header says 12"),
        ({"X": IMAGES + b"\0"}, 0, "holds 13 bytes"),
        ({"X": b"\0\0\x08\x03" + struct.pack(">3I", 2**31, 2**31, 4)}, 0, "holds 0 bytes"),
        ({"X": idx_bytes(np.zeros((0, 2, 2), np.uint8))}, 0, "has 0 images"),
        ({"y": idx_bytes(np.array([0, 1], np.uint8))}, 0, "2 labels; get both again"),
        ({"y": idx_bytes(np.array([0, 3, 1], np.uint8))}, 0, "label 3 of image 1"),
        ({"y": idx_bytes(np.zeros(3, np.uint8))}, -1, "number of classes in the training rows: 1"),
    ],
    "bydate": [
        ({"X": b"1 1 2\n1 2\n"}, 2, "expected 3 whole numbers, not '1 2'"),
        ({"X": b"1 1 2\n\n1 2 3\n"}, 2, "3 whole numbers"),
        ({"X": b"1 1 nan\n"}, 1, "'1 1 nan'"),
        ({"X": b"1 1 inf\n"}, 1, "'1 1 inf'"),
        ({"X": b"1 1 -1\n"}, 1, "'1 1 -1'"),
        ({"X": b"1 1 1e39\n"}, 1, "3 whole numbers"),
        ({"X": b""}, 1, "3 whole numbers"),
        ({"X": HTML}, 1, "<!DOCTYPE html>"),
        ({"y": PNG}, 1, "a whole number"),
        ({"X": b"1 1 " + b"9" * 999}, 1, "3 whole numbers"),
        ({"X": b"1 1 1\n2 1 1\n3 1 1\n"}, 3, "document 3 is out of range"),
        ({"X": b"1 1 1\n0 1 1\n"}, 2, "document 0 is out of range"),
        ({"X": b"1 1 1\n1 5 1\n"}, 2, "word 5 is out of range"),
        ({"X": b"1 1 1\n1 0 1\n"}, 2, "word 0 is out of range"),
        ({"X": b"2 3 1\n1 3 1\n2 3 2\n"}, 3, "word 3 of document 2 is given twice"),
        ({"y": b"1\n3\n"}, 2, "label 3 is out of range"),
        ({"y": b"1\n0\n"}, 2, "label 0 is out of range"),
        ({"y": b"1\ntwo\n"}, 2, "expected a whole number, not 'two'"),
        ({"y": b"1\n1\n"}, -1, "number of classes in the training rows: 1"),
    ],
    "citeulike": [
        ({"words": b"1 0:1\n2 0:1\n"}, 2, "has 1 entries after it"),
        ({"words": b"1 0:1\n\n"}, 2, "the line begins with"),
        ({"words": b""}, 0, "has no line"),
        ({"words": HTML}, 1, "the line begins with"),
        ({"tags": PNG}, 1, "the line begins with"),
        ({"words": b"1 0:1\n1 0:nan\n"}, 2, "'0:nan' is not a pair"),
        ({"words": b"1 0:1\n1 0:inf\n"}, 2, "'0:inf' is not a pair"),
        ({"words": b"1 0:1\n1 7:1\n"}, 2, "feature '7' is out of range"),
        ({"words": b"1 0:1\n2 1:1 1:1\n"}, 2, "feature 1 is given twice"),
        ({"tags": b"1 0\n1 0 1\n"}, 2, "begins with '1' and has 2 entries after it"),
        ({"tags": b"1 0\n1 4\n"}, 2, "article 4 is out of range"),
        ({"tags": b"1 0\n1 -1\n"}, 2, "'-1' is not a list of articles"),
        ({"tags": b"1 0\n2 1 1\n"}, 2, "given twice"),
        ({"tags": b"1 0\n1 " + b"9" * 999}, 2, "not a list of articles"),
        ({"tags": b"4 0 1 2 3\n"}, -1, "number of classes in the training rows: 1"),
    ],
    "omniglot": [
        ({"all.npz": b""}, 0, "it is damaged or not this file"),
        ({"all.npz": HTML}, 0, "it is damaged or not this file"),
        ({"all.npz": npz_bytes(X=np.ones(3, int))}, 0, "no array 'y' can be read"),
        ({"all.npz": b"PK\x03\x04rubbish"}, 0, "it is damaged or not this file"),
        ({"all.npz": npz_bytes(**DRAWINGS)[:-40]}, 0, "it is damaged or not this file"),
        ({"all.npz": drawings(y=np.array([0, 0, 1, 1, 2, 3]))}, 0, "label 3 of image 5 is out of"),
        ({"all.npz": drawings(y=np.array([0, 0, -1, 1, 2, 2]))}, 0, "label -1 of image 2"),
        ({"all.npz": drawings(y=np.array([0.0, 0, 1, 1, 2, np.nan]))}, 0, "'y' of float64"),
        ({"all.npz": drawings(X=np.full((6, 2, 2), np.inf))}, 0, "'X' of float64"),
        ({"all.npz": drawings(y=np.array([0, 0, 1]))}, 0, "(3,)"),
        ({"all.npz": drawings(y=np.array(3))}, 0, "'y' of int64"),
        ({"all.npz": drawings(X=np.zeros((0, 2, 2), np.uint8))}, 0, "(0, 2, 2)"),
        ({"all.npz": drawings(drawer=np.array([object()] * 6))}, 0, "allow_pickle"),
        ({"all.npz": drawings(drawer=None)}, 0, "allow_pickle"),
        ({"all.npz": drawings(y=np.zeros(6, int))}, -1, "number of classes in the training rows: 1"),
        ({"all.npz": drawings(drawer=np.ones(6, int))}, -1, "no test row has a label"),
    ],
}  # fmt: skip
REMEDY = r"mend |get .*(again|other|belong)|get a file|cut off or not this one|must be in the same|only a first line"


def file_case(
    group: str, form: str, number: int, content: dict[str, bytes], line: int, says: str
) -> Case:
    """A dataset of a format with these files in place of good ones."""
    made = FORMATS[form]
    home = f"data/{group.split()[0].lower()}-{number}"
    words = [word.replace("{data}", home) for word in made.words]
    words += SPLIT if form == "omniglot" else ()
    if form != "svmlight":
        words.append(f"data_dir={home}")
    changed = next(iter(content))
    where = re.escape(f"{home}/{changed}") + (f", line {line}:" if line > 0 else "")
    says = re.escape(says) if line < 0 else rf"{where}.*{re.escape(says)}"
    kept = {path: text for path, text in made.files.items() if path != Path(changed).stem}
    files = {f"{home}/{path}": text for path, text in {**kept, **made.files, **content}.items()}
    if changed not in made.files:  # compressed
        del files[f"{home}/{Path(changed).stem}"]
    shown = content[changed].removeprefix(ARFF)
    name = f"{number}. {changed}: {ascii(shown[:44])[1:]}{' …' if len(shown) > 44 else ''}"
    return Case(group, name, tuple(words), says, files)


LONG = b"3000 9 9\n" + b"".join(b"%d %d:1.%d\n" % (i % 9, i % 7, i) for i in range(3000))


def damaged(suffix: str) -> dict[str, bytes]:
    """A compressed file, damaged in several ways."""
    packed = COMPRESS[suffix](LONG)
    middle = len(packed) // 2
    return {
        "cut off": packed[:middle],
        "end missing": packed[:-9],
        "plain text": LONG,
        "rubbish inside": packed[:middle] + b"rubbish!" + packed[middle + 8 :],
        "another compression": COMPRESS[".gz" if suffix == ".xz" else ".xz"](LONG),
    }


BAD_FILES = [
    file_case(group, group, number, *row)
    for group, rows in FILES.items()
    for number, row in enumerate(rows, start=1)
] + [
    replace(
        file_case("Compressed files", "repository", 10 * i + j, {f"a.txt{suffix}": content}, 0, "cannot be read"),
        name=f"a.txt{suffix}: {how}",
    )
    for i, suffix in enumerate(COMPRESS)
    for j, (how, content) in enumerate(damaged(suffix).items())
]  # fmt: skip
