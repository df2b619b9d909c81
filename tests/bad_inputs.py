"""Bad inputs: how each is made, and what the command must say about it.

``python tests/bad_inputs.py`` tries them all and writes ``reports/bad-inputs.md``; with a number
behind it, each reader also gets that many generated files, and the last section is written anew.
"""

from __future__ import annotations

import bz2
import ctypes
import functools
import gzip
import io
import lzma
import os
import re
import resource
import shutil
import sqlite3
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from conftest import ROOT, SMALL, Outcome, Workspace

ONE = ("dataset=digits", "method=umax")
BASE = (*ONE, *SMALL, "save_weights=true")  # of the cell that is there before
GIB = 2**30
COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".xz": functools.partial(lzma.compress, preset=0),
    ".gz": functools.partial(gzip.compress, mtime=0),
    ".bz2": functools.partial(bz2.compress, compresslevel=1),
}


class NotPossible(Exception):
    """A case that cannot be made on this machine."""


@dataclass(frozen=True)
class Case:
    """A bad input.

    Attributes
    ----------
    group, name : heading and line of the table.
    words : the command line; ``{cell}`` stands for the cell that is there.
    says : regular expression that must be found in what is printed.
    files : content by path.
    program : ``run.py`` or ``xcbench``.
    code : exit code.
    begun : whether cells may have begun to run, so that there is progress on stdout.
    around : what is made before, and unmade afterwards, in the workspace.
    limits : of resources, for the command.
    """

    group: str
    name: str
    words: tuple[str, ...]
    says: str
    files: dict[str, bytes] = field(default_factory=dict)
    program: str = "run.py"
    code: int = 2
    begun: bool = False
    around: Callable[[Path], object] = nullcontext
    limits: tuple[tuple[int, int], ...] = ()

    @property
    def label(self) -> str:
        return f"{self.group}: {self.name}"

    @property
    def runs_dir(self) -> str:
        given = [word.removeprefix("runs_dir=") for word in self.words if "runs_dir=" in word]
        return given[-1] if given else "runs"

    def command(self) -> list[str]:
        """Words as they are given, those that every case has included."""
        if self.program == "xcbench":
            return list(self.words)
        flags = [word for word in self.words if word.startswith("-")]
        rest = [word for word in self.words if not word.startswith("-")]
        keys = {word.split("=")[0] for word in rest}
        common = [word for word in (*SMALL, *ONE) if word.split("=")[0] not in keys]
        return [*flags, *common, *rest]


@dataclass(frozen=True)
class Tried:
    """What came of a case: what was printed, and the cells of its folder before and after."""

    case: Case
    command: str
    done: Outcome
    before: dict[str, tuple[int, int]]
    after: dict[str, tuple[int, int]]


# ---------------------------------------------------------------- settings
def settings(name: str, words: tuple[str, ...], says: str, **more) -> Case:
    return Case("Settings", name, words, says, **more)


THREE = b"0 1:1\n1 2:1\n2 3:1\n"
OWN = ("dataset=file", "dataset.train=own.txt", "dataset.test=own.txt")


def own(path: str) -> tuple[str, ...]:
    return ("dataset=file", f"dataset.train={path}", f"dataset.test={path}")


SETTINGS = [
    settings("unknown dataset", ("dataset=nope",), "nope.*digits"),
    settings("unknown dataset of a sweep", ("-m", "dataset=digits,nope"), "nope.*digits"),
    settings("unknown method", ("method=nope",), "nope.*umax"),
    settings("unknown name of a method", ("method.name=nope",), "nope.*umax"),
    settings("unknown reader", ("dataset.reader=tsv",), "dataset.reader=tsv is unknown"),
    settings("unknown preset", ("experiment=nope",), "nope"),
    settings("unknown presets swept", ("-m", "experiment=a,b"), "preset|experiment"),
    settings("two presets swept", ("-m", "experiment=first,second", "hydra.searchpath=[file://presets]"), "a preset cannot itself be swept.*one after the other", files={"presets/experiment/second.yaml": b"# @package _global_\ngrid: second\n"}),
    settings("unknown key", ("seeed=1",), "seeed.*xcbench options"),
    settings("unknown group", ("budjet.epochs=1",), "budjet.*xcbench options"),
    settings("added key", ("+foo=1",), "foo"),
    settings("added key of a sweep", ("-m", "+foo=1,2"), "foo"),
    settings("removed group", ("~method",), "method"),
    settings(
        "implicit draws outside the labels",
        ("method=implicit", "method.m=5", "method.sampling=any"),
        "sampling=others",
    ),
    settings("empty group", ("method=null",), "method"),
    settings("key of another method", ("-m", "method=umax,softmax", "method.delta=1,2"), "delta"),
    settings("key of a maker", ("dataset.synthetic.train=300",), "synthetic"),
    settings("reader without numbers", ("dataset.reader=synthetic",), "synthetic"),
    settings("type", ("method.m=many",), "method.m.*many"),
    settings("type of a sweep", ("-m", "method.lr=0.1,abc"), "method.lr.*abc"),
    settings("flag", ("force=maybe",), "force.*maybe"),
    settings("negative rate", ("method.lr=-1",), "method.lr.*greater than 0"),
    settings("rate of zero", ("method.lr=0",), "method.lr.*greater than 0"),
    settings("rate that is no number", ("method.lr=nan",), "method.lr.*finite"),
    settings("infinite rate", ("method.lr=inf",), "method.lr.*finite"),
    settings("one bad rate of a sweep", ("-m", "method.lr=0.1,-1"), "method.lr.*greater than 0"),
    settings("rate of a method without one", ("method=softmax", "method.lr=0.1"), "leave method.lr out"),
    settings("no epochs", ("budget.epochs=0",), "budget.epochs.*greater than 0"),
    settings("epochs that are no number", ("budget.epochs=nan",), "budget.epochs.*finite"),
    settings("choice", ("dtype=float16",), "dtype.*float64"),
    settings("choice of a dataset", ("dataset.missing=perhaps",), "missing.*twin.*error.*skip"),
    settings("5 negative classes of K=3", (*OWN, "method=ove", "method.m=5"), "method.m=5.*has 3 classes, so at most 3", files={"own.txt": THREE}),
    settings("3 other classes of K=3", (*OWN, "method.m=3"), "method.m=3.*has 3 classes, so at most 2", files={"own.txt": THREE}),
    settings("more best classes than there are", ("evaluation.top_k=11",), "evaluation.top_k=11.*10"),
    settings("impossible sampling", ("method.sampling=shared",), "method.sampling.*others"),
    settings("fewer rows than classes", ("dataset=zipf", "dataset.synthetic.classes=100", "dataset.synthetic.train=50"), "100.*50"),
    settings("division that overflows", (*OWN, "dataset.protocol.divide_by=1e-39"), "divide_by=1e-39 overflow.*larger", files={"own.txt": THREE}),
    settings("syntax", ("method.lr=[1",), r"\[1"),
    settings("syntax of a sweep", ("-m", "method.lr=choice(1"), r"choice\(1"),
    settings("no sign", ("seed",), "seed"),
    settings("sweep without -m", ("seed=0,1",), "seed"),
    settings("empty grid", ("-m", "method.lr="), "method.lr"),
    settings("grid of an empty range", ("-m", "seed=range(3,3)"), "the grid is empty"),
    settings("grid of an empty list", ("-m", "seed=[]"), "seed"),
    settings("swept folder", ("-m", "runs_dir=a,b"), "runs_dir cannot be swept"),
    settings("swept weights", ("-m", "save_weights=true,false"), "save_weights cannot be swept"),
    settings("swept flag", ("-m", "plan=true,false"), "plan cannot be swept"),
    settings("grid outside", ("grid=../outside",), "grid=../outside.*letters"),
    settings("grid without a name", ("grid=",), "grid=.*letters"),
    settings("duplicate points of a grid", ("-m", "method.lr=1,1,1.0", "runs_dir=duplicates"), "the grid has 3 points, of which 1 are different", code=0),
]  # fmt: skip
NAMES = [
    Case("Names of own files", name, words, says, files={path: THREE})
    for name, path, words, says in (
        ("a file called like a dataset", "mnist.txt", (), "dataset.name=mnist is a dataset of the catalogue.*choose another"),
        ("the same in capitals", "MNIST.txt", (), "dataset.name=MNIST is a dataset of the catalogue"),
        ("a name given", "own.txt", ("dataset.name=bibtex",), "dataset.name=bibtex is a dataset of the catalogue"),
        ("called like a twin", "eurlex-twin.txt", (), "'-twin' marks synthetic stand-ins; choose another"),
        ("a bar, a blank and a slash", "own.txt", ("dataset.name='a|b /c'",), "dataset.name=.*letters, digits"),
        ("the folder above", "own.txt", ("dataset.name=..",), "dataset.name=.*begins with a letter"),
        ("a line break", "own.txt", (r'dataset.name="a\nb"',), "dataset.name=.*letters, digits"),
        ("300 letters", "own.txt", ("dataset.name=" + "n" * 300,), "at most 80"),
        ("a file that has no name", ".txt", (), "dataset.name= is not possible"),
    )
    for words in ((*own(path), *words),)
]  # fmt: skip
NAMES += [
    Case("Names of own files", "other files under the name of a dataset",
         ("dataset=eurlex", "dataset.name=wiki10"), "dataset.name=wiki10 is a dataset of the catalogue"),
]  # fmt: skip


# ---------------------------------------------------------------- files
def idx_bytes(array: np.ndarray) -> bytes:
    head = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return head + array.tobytes()


def npz_bytes(**named: object) -> bytes:
    content = io.BytesIO()
    np.savez_compressed(content, **named)  # type: ignore[arg-type]
    return content.getvalue()


@dataclass(frozen=True)
class Format:
    """A file format: the settings of a dataset of it, and good files."""

    words: tuple[str, ...]
    files: dict[str, bytes]


CHECKED = {
    "eurlex": (),
    "bibtex": ("train", "test"),
    "mnist": ("train", "train_labels", "test", "test_labels"),
    "20news": ("train_labels", "test_labels"),
    "citeulike": ("train", "train_labels"),
    "omniglot": ("train",),
}  # files whose content the catalogue knows


def catalogue(dataset: str, names: dict[str, str], **expected: int) -> tuple[str, ...]:
    """A dataset of the catalogue with other files, checked by nothing but ``expected``."""
    sizes = {"train": 0, "test": 0, "features": 0, "labels": 0, **expected}
    return (
        f"dataset={dataset}",
        "dataset.name=toy",
        f"dataset.files={{{', '.join(f'{role}: {name}' for role, name in names.items())}}}",
        *(f"dataset.sha256.{role}=[]" for role in CHECKED[dataset]),
        f"dataset.expected={{{', '.join(f'{name}: {size}' for name, size in sizes.items())}}}",
        "dataset.folders=[]",
        "dataset.missing=error",
    )


TRAIN = b"5 4 6\n3,1 0:3 2:4\n5 1:-2\n 3:1\n1,5 0:0.5 3:0.5\n5\n"
TEST = b"4 4 6\n1 0:1\n5,0 1:2\n4 2:2\n2,3,5 0:1 1:1 2:1 3:1\n"
SVMLIGHT = b"2 1:3 3:4 # remark\n-1,2 2:-2\n\n# remark\n2 1:0.5\n"
ARFF = b"@relation t\n@attribute a {0,1}\n@attribute b {0,1}\n@attribute c {0,1}\n@attribute d {0,1}\n@data\n"
ARFF_ROWS = b"{0 1,2 1}\n{1 1,3 1}\n"
IMAGES = idx_bytes(np.arange(12, dtype=np.uint8).reshape(3, 2, 2))
DIGITS = idx_bytes(np.array([0, 1, 2], np.uint8))
DRAWINGS = {
    "X": np.arange(24, dtype=np.uint8).reshape(6, 2, 2),
    "y": np.array([0, 0, 1, 1, 2, 2], np.int16),
    "drawer": np.array([1, 17, 16, 20, 2, 18], np.uint8),
}
FORMATS = {
    "repository": Format(
        catalogue("eurlex", {"train": "a.txt", "test": "b.txt"}),
        {"a.txt": TRAIN, "b.txt": TEST},
    ),
    "svmlight": Format(
        ("dataset=file", "dataset.train={data}/a.txt", "dataset.test={data}/b.txt"),
        {"a.txt": SVMLIGHT, "b.txt": b"-1 4:1\n2 1:2\n"},
    ),
    "ARFF": Format(
        catalogue("bibtex", {"train": "a.arff", "test": "b.arff"}, features=2),
        {"a.arff": ARFF + ARFF_ROWS, "b.arff": ARFF + ARFF_ROWS},
    ),
    "idx": Format(
        catalogue("mnist", {"train": "X", "train_labels": "y", "test": "X2", "test_labels": "y2"}, labels=3),
        {"X": IMAGES, "y": DIGITS, "X2": IMAGES, "y2": DIGITS},
    ),
    "bydate": Format(
        catalogue("20news", {"train": "X", "train_labels": "y", "test": "X2", "test_labels": "y2"}, features=4, labels=2),
        {"X": b"1 1 1\n", "y": b"1\n2\n", "X2": b"1 1 1\n", "y2": b"1\n2\n"},
    ),
    "citeulike": Format(
        catalogue("citeulike", {"train": "words", "train_labels": "tags"}, features=4),
        {"words": b"1 0:1\n1 1:1\n1 2:1\n1 3:1\n", "tags": b"2 0 1\n2 2 3\n"},
    ),
    "omniglot": Format(
        catalogue("omniglot", {"train": "all.npz"}, labels=3),
        {"all.npz": npz_bytes(**DRAWINGS)},
    ),
}  # fmt: skip
SPLIT = ("dataset.protocol.split=given",)
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
        ({"a.txt": HEADER + b"0 1:1\n1\t1:1\n"}, 3, "not a pair"),
        ({"a.txt": HEADER + b"0 1:1\n1 1:1\r2:1\x1b\n"}, 3, r"'2:1\x1b' is not a pair"),
        ({"b.txt": TEST.replace(b"4 4 6", b"4 5 6")}, -1, "have 4 features and 6 labels"),
        ({"b.txt": TEST.replace(b"4 4 6", b"4 4 7")}, -1, "test rows 4 and 7"),
        ({"a.txt": b"2 4 6\n1 0:1\n1 2:1\n"}, -1, "toy: the classes in the training rows are 1"),
        ({"a.txt": b"2 4 6\n 0:1\n 2:1\n"}, -1, "toy: the classes in the training rows are 0"),
        ({"b.txt": b"1 4 6\n0 1:1\n"}, -1, "toy: no test row has a label that is a class"),
        ({"b.txt": b"1 4 6\n 1:1\n"}, -1, "toy: no test row has a label that is a class"),
    ],
    "svmlight": [
        ({"a.txt": b"1 1:1\none 1:1\n"}, 2, "'one 1:1' does not begin with a label"),
        ({"a.txt": b"1 1:1\n1.5 1:1\n"}, 2, "does not begin with a label"),
        ({"a.txt": b"1:1 2:1\n"}, 1, "does not begin with a label"),
        ({"a.txt": HTML}, 1, "'N D K'"),
        ({"a.txt": PNG}, 1, "does not begin with a label"),
        ({"a.txt": b"1 1:1\n2 2\n"}, 2, "'2' is not a pair"),
        ({"a.txt": b"1 1:1\n2 2:"}, 2, "'2:' is not a pair"),
        ({"a.txt": b"1 1:1\n\n# remark\n2 qid:3 1:1\n"}, 4, "'qid:3' is not a pair"),
        ({"a.txt": b"1 1:1\n2 1:nan\n"}, 2, "'1:nan' is not a pair"),
        ({"a.txt": b"1 1:1\n2 1:inf\n"}, 2, "'1:inf' is not a pair"),
        ({"a.txt": b"1 1:1\n2 1:1e39\n"}, 2, "too large"),
        ({"a.txt": b"1 1:1\n2 3:1 3:1\n"}, 2, "feature 3 is given twice"),
        ({"a.txt": b"1 1:1\n2 -3:1\n"}, 2, "'-3:1' is not a pair"),
        ({"a.txt": b"1 1:1\n2 99999999999:1\n"}, 2, "out of range"),
        ({"a.txt": b"1 1:1\n2, 1:1\n"}, 2, "does not begin with a label"),
        ({"a.txt": b"2 3 4\n0 1:1\n9 1:1\n", "b.txt": HEADER}, 3, "label 9 is out of range"),
        ({"a.txt": b"2 3 0\n0 1:1\n", "b.txt": HEADER}, 1, "is not possible"),
        ({"a.txt": TRAIN}, 0, "begins with a header 'N D K'"),
        ({"a.txt": b""}, 0, "has no rows"),
        ({"a.txt": b"1 1:1\n1 2:1\n"}, -1, "the classes in the training rows are 1"),
        ({"b.txt": b"7 1:1\n"}, -1, "no test row has a label that is a class"),
    ],
    "ARFF": [
        ({"a.arff": ARFF + rows}, line, says)
        for rows, line, says in [
            (b"{0 1}\n1,0,1\n", 8, "stands in braces"),
            (b"{0 1}\n{0 1,2 1\n", 8, "stands in braces"),
            (b"{0 1},{2}\n", 7, "stands in braces"),
            (b"{0 1,,2 1}\n", 7, "stands in braces"),
            (b"{0 1,2 1,}\n", 7, "stands in braces"),
            (b"{0:1}\n", 7, "stands in braces"),
            (b"{0}\n", 7, "stands in braces"),
            (b"{0 1 2}\n", 7, "stands in braces"),
            (b"{-1 1}\n", 7, "stands in braces"),
            (HTML, 7, "stands in braces"),
            (b"{0 1}\n\n% remark\n{0 nan}\n", 10, "'0:nan'"),
            (b"{0 inf}\n", 7, "'0:inf'"),
            (b"\n\n{0 1}\n{4 1}\n", 10, "feature '4' is out of range"),
            (b"\n\n{0 1}\n{0 1,2 1,0 1}\n", 10, "feature 0 is given twice"),
            (b"\n\n{0 1}\n{0 1,2 1,2 0}\n", 10, "feature 2 is given twice"),
            (b"\n{0 1}\n{0 1,2 2}\n", 9, "label 2 has the value 2"),
            (b"\n{0 1}\n{0 1,2 1e39}\n", 9, "too large"),
            (b"{0 1,2 1}\n{1 1,2 1}\n", -1, "the classes in the training rows are 1"),
            (b"", -1, "the classes in the training rows are 0"),
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
        ({"y": idx_bytes(np.zeros(3, np.uint8))}, -1, "the classes in the training rows are 1"),
    ],
    "bydate": [
        ({"X": b"1 1 2\n1 2\n"}, 2, "here must stand 3 whole numbers, not '1 2'"),
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
        ({"y": b"1\ntwo\n"}, 2, "here must stand a whole number, not 'two'"),
        ({"y": b"1\n1\n"}, -1, "the classes in the training rows are 1"),
    ],
    "citeulike": [
        ({"words": b"1 0:1\n2 0:1\n"}, 2, "and 1 follow"),
        ({"words": b"1 0:1\n\n"}, 2, "begins with the number"),
        ({"words": b""}, 0, "has no line"),
        ({"words": HTML}, 1, "begins with the number"),
        ({"tags": PNG}, 1, "begins with the number"),
        ({"words": b"1 0:1\n1 0:nan\n"}, 2, "'0:nan' is not a pair"),
        ({"words": b"1 0:1\n1 0:inf\n"}, 2, "'0:inf' is not a pair"),
        ({"words": b"1 0:1\n1 7:1\n"}, 2, "feature '7' is out of range"),
        ({"words": b"1 0:1\n2 1:1 1:1\n"}, 2, "feature 1 is given twice"),
        ({"tags": b"1 0\n1 0 1\n"}, 2, "and 2 follow"),
        ({"tags": b"1 0\n1 4\n"}, 2, "article 4 is out of range"),
        ({"tags": b"1 0\n1 -1\n"}, 2, "'-1' is not a list of articles"),
        ({"tags": b"1 0\n2 1 1\n"}, 2, "given twice"),
        ({"tags": b"1 0\n1 " + b"9" * 999}, 2, "not a list of articles"),
        ({"tags": b"4 0 1 2 3\n"}, -1, "the classes in the training rows are 1"),
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
        ({"all.npz": drawings(y=np.zeros(6, int))}, -1, "the classes in the training rows are 1"),
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


def rubbish(words: tuple[str, ...], path: str) -> Case:
    return Case("Files of datasets", f"{path.rpartition('/')[2]} is another file", words,
                rf"{path} is not the expected file: the SHA-256.*get the file again",
                {path: HTML, path.replace("train", "test"): HTML})  # fmt: skip


HUGE = b"0 1:1\n1 2147483646:1\n"
DATASETS = [
    rubbish(("dataset=bibtex", "data_dir=html"), "html/bibtex/bibtex-train.arff"),
    Case("Files of datasets", "files that are not there", ("dataset=eurlex", "dataset.missing=error"),
         "eurlex_train.txt, eurlex_test.txt not found in.*put the files there"),
    Case("Files of datasets", "another version", ("dataset=eurlex", "data_dir=other"),
         "dataset.expected.train is 15539, but 5 found; this is another version",
         {"other/eurlex_train.txt": TRAIN, "other/eurlex_test.txt": TEST}),
    Case("Files of datasets", "name too long to be looked up",
         ("dataset=eurlex", "dataset.name=toy", "dataset.files.test=" + "x" * 300), "x cannot be looked up"),
    Case("Own files", "no file", ("dataset=file",), "needs dataset.train=PATH"),
    Case("Own files", "no test file", ("dataset=file", "dataset.train=own.txt"),
         "needs dataset.test=PATH; or draw.*split=random", {"own.txt": THREE}),
    Case("Own files", "not there", own("nowhere.txt"), "there is no file .*/nowhere.txt; correct the path"),
    Case("Own files", "a folder", own("."), "there is no file .*; correct the path"),
    Case("Own files", "files for a dataset of the catalogue",
         ("dataset=bibtex", "dataset.train=own.txt"), "add dataset=file", {"own.txt": THREE}),
    Case("Own files", "feature 2147483646, with 6 GiB of memory", own("huge.txt"),
         "huge: out of memory while its rows are prepared.*number of a feature", {"huge.txt": HUGE},
         limits=((resource.RLIMIT_AS, 6 * GIB),)),
    *(Case("Rows for `xcbench predict`", f"rows-{number}.txt: {ascii(content[:44])[1:]}",
           ("predict", "{cell}", f"rows-{number}.txt"), rf"rows-{number}.txt{says}",
           {f"rows-{number}.txt": content}, "xcbench")
      for number, (content, says) in enumerate([
          (b"", " has no rows; give"),
          (b"2 64 10\n1 0:1\n", " has 1 rows, its header says 2"),
          (b"2 65 10\n1 0:1\n1 2:1\n", ", line 1: the header says 65 features.*trained on 64; give"),
          (b"1 " + b"9" * 5000 + b" 3\n0 0:1\n", ", line 1: '9999.* is not a pair.*; mend"),
          (b"1 0:1\n1,2 64:1\n", ", line 2: feature '64' is out of range.*; mend"),
          (b"0:1\n0:1 nonsense\n", ", line 2: 'nonsense' is not a pair.*; mend"),
          (b"0:1\n3 0:nan\n", ", line 2: '0:nan' is not a pair.*; mend"),
          (b"0:1\nspam 0:1\n", ", line 2: 'spam' is neither.*; mend"),
          (HTML, ", line 1: '<!DOCTYPE' is neither.*; mend"),
          (b"0:1 0:2\n", ", line 1: feature 0 is given twice; mend"),
          (b"0:1e99\n", ", line 1: '0:1e99' is too large.*; mend"),
          (b"\0\1\2 \xff\n", ", line 1: .* is neither.*; mend"),
          (PNG, ", line 1: .* is neither.*; mend"),
      ], start=1)),
]  # fmt: skip


# ---------------------------------------------------------------- cells, folders, disks, MLflow
def cell_files(folder: Path, runs: str) -> Path:
    """Folder of the one cell that is under a copy of the finished run."""
    shutil.copytree(folder / "runs", folder / runs)
    (cell,) = (folder / runs / "cells").iterdir()
    return cell


def changed_cell(runs: str, change: Callable[[Path], object]) -> Callable[[Path], object]:
    """Copy of the finished run with its cell damaged."""

    @contextmanager
    def around(folder: Path) -> Iterator[None]:
        change(cell_files(folder, runs))
        yield

    return around


def truncate(name: str, size: int) -> Callable[[Path], object]:
    def change(cell: Path) -> None:
        os.truncate(cell / name, size if size > 0 else (cell / name).stat().st_size + size)

    return change


def without_last_row(cell: Path) -> None:
    path = cell / "curve.csv"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))


def cut_grid(cell: Path) -> None:
    os.truncate(cell.parents[1] / "grids" / "last.json", 9)


LIBC = ctypes.CDLL(None, use_errno=True)


@contextmanager
def mounted(where: Path, size: str, read_only: bool = False) -> Iterator[None]:
    """A small disk in memory; only a privileged user may."""
    where.mkdir()
    flags = 1 if read_only else 0
    if not hasattr(LIBC, "mount") or LIBC.mount(
        b"tmpfs", os.fsencode(where), b"tmpfs", flags, f"size={size}".encode()
    ):
        where.rmdir()
        raise NotPossible("mounting a small disk needs privileges")
    try:
        yield
    finally:
        LIBC.umount2(os.fsencode(where), 2)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    with mounted(folder / "readonly", "64k", read_only=True):
        yield


def full_disk(name: str, kilobytes: int, finished: bool = True) -> Callable[[Path], object]:
    """A disk that holds a finished run and has so much left."""

    @contextmanager
    def around(folder: Path) -> Iterator[None]:
        with mounted(folder / name, "4m"):
            if finished:
                shutil.copytree(folder / "runs", folder / name / "runs")
            with (folder / name / "fill").open("wb", buffering=0) as fill:
                with suppress(OSError):
                    while True:
                        fill.write(bytes(4096))
                fill.truncate(fill.tell() - 1024 * kilobytes)
            yield

    return around


def rubbish_store(folder: Path) -> object:
    shutil.copytree(folder / "runs", folder / "rubbish-store")
    (folder / "rubbish-store" / "mlflow.db").write_bytes(b"rubbish " * 999)
    return nullcontext()


@contextmanager
def locked_store(folder: Path) -> Iterator[None]:
    """A store that another program holds."""
    shutil.copytree(folder / "runs", folder / "locked-store")
    store = folder / "locked-store" / "mlflow.db"
    with closing(sqlite3.connect(store, isolation_level=None)) as holder:
        holder.execute("CREATE TABLE t (x)")
        holder.execute("BEGIN EXCLUSIVE")
        yield


def a_file(folder: Path) -> object:
    (folder / "file").write_text("")
    return nullcontext()


NEXT = ("seed=1,2", "mlflow=true")
MACHINE = [
    Case("Folders and disks", "folder below a file", ("runs_dir=file/runs",), "cache file/runs/cache cannot be used.*set runs_dir", around=a_file),
    Case("Folders and disks", "folder below a file, of a sweep", ("-m", "runs_dir=file/runs", "seed=0,1"), "file/runs", around=a_file),
    Case("Folders and disks", "runs/ that cannot be written", ("runs_dir=readonly/runs",), "readonly/runs.*Read-only.*set runs_dir", around=read_only),
    Case("Folders and disks", "full disk, data not prepared yet", ("runs_dir=full-1/runs",), "full-1/runs/cache cannot be used.*make room there, or set runs_dir", around=full_disk("full-1", 100, finished=False)),
    Case("Folders and disks", "full disk, nothing left for a cell", ("seed=1", "runs_dir=full-2/runs"), "full-2/runs/grids/last.json cannot be written .No space left on device.; make room there, or set another runs_dir; what is finished stays", around=full_disk("full-2", 0)),
    Case("Folders and disks", "full disk, room for the beginning of a cell", ("seed=1", "runs_dir=full-3/runs"), "full-3/runs/cells/.* cannot be written .No space left on device.; make room", around=full_disk("full-3", 4), begun=True),
    Case("Folders and disks", "files may have 1,000 bytes", ("seed=1",), "runs/cells/.* cannot be written .File too large.; make room", limits=((resource.RLIMIT_FSIZE, 1000),), begun=True),
    Case("Folders and disks", "the same, of a sweep", ("-m", "seed=1,2"), "a file cannot be written .File too large.; make room where runs_dir is", limits=((resource.RLIMIT_FSIZE, 1000),)),
    Case("Folders and disks", "full disk for a report", ("report", "reports_dir=full-4"), "full-4/last cannot be written .No space left on device.; make room there, or set another reports_dir", program="xcbench", around=full_disk("full-4", 0)),
    Case("Cells", "cell.json cut off", ("runs_dir=cut-1",), "cut-1/cells/.* cannot be read.*delete the folder to run the cell again", around=changed_cell("cut-1", truncate("cell.json", 100))),
    Case("Cells", "the same, looked at", ("results", "runs_dir=cut-2"), "cut-2/cells/.*delete the folder", program="xcbench", around=changed_cell("cut-2", truncate("cell.json", 100))),
    Case("Cells", "curve.csv without its last row", ("results", "runs_dir=cut-3"), "cut-3/cells/.*curve.csv is cut off or changed.*delete the folder", program="xcbench", around=changed_cell("cut-3", without_last_row)),
    Case("Cells", "curve.csv without its last digits", ("results", "runs_dir=cut-4"), "curve.csv is cut off or changed.*delete the folder", program="xcbench", around=changed_cell("cut-4", truncate("curve.csv", -4))),
    Case("Cells", "curve.csv cut off, launched again", ("runs_dir=cut-5",), "curve.csv is cut off or changed.*delete the folder", around=changed_cell("cut-5", without_last_row)),
    Case("Cells", "weights.npz cut off", ("predict", "{cell}", "own.txt", "runs_dir=cut-6"), "cut-6/cells/.*weights.npz cannot be read.*save_weights=true force=true", {"own.txt": b"0:1\n"}, program="xcbench", around=changed_cell("cut-6", truncate("weights.npz", -99))),
    Case("Cells", "list of a launch cut off", ("results", "grid=last", "runs_dir=cut-7"), "cut-7/grids/last.json cannot be read.*launch the grid again", program="xcbench", around=changed_cell("cut-7", cut_grid)),
    Case("MLflow", "store of rubbish", ("-m", *NEXT, "runs_dir=rubbish-store"), "warning: .*mlflow.db cannot be used.*not a database.*cells are safe and `xcbench track` rebuilds", code=0, begun=True, around=rubbish_store),
    Case("MLflow", "store that is locked", ("-m", *NEXT, "runs_dir=locked-store"), "warning: .*mlflow.db cannot be used.*locked.*cells are safe and `xcbench track` rebuilds", code=0, begun=True, around=locked_store),
    Case("Looking at results", "unknown command", ("resluts",), "resluts.*results", program="xcbench"),
    Case("Looking at results", "unknown column", ("results", "nope=1"), "nope.*method", program="xcbench"),
    Case("Looking at results", "unknown launch", ("results", "grid=nope"), "nope.*last", program="xcbench"),
    Case("Looking at results", "unknown format", ("results", "--format", "xml"), "xml.*csv", program="xcbench"),
    Case("Looking at results", "unknown flag", ("results", "--curvse"), "--curvse", program="xcbench"),
    Case("Looking at results", "no filter", ("results", "umax"), "umax", program="xcbench"),
    Case("Looking at results", "report outside", ("report", "name=../../outside"), "name=../../outside is not possible.*letters", program="xcbench"),
]  # fmt: skip
CASES = [*SETTINGS, *NAMES, *BAD_FILES, *DATASETS, *MACHINE]


# ---------------------------------------------------------------- trying them
def prepare(workspace: Workspace) -> str:
    """Run the cell that is there before, and return its identity."""
    done = workspace.run(*BASE)
    assert done.code == 0, done.text
    (cell,) = workspace.cells()
    return cell


def good(workspace: Workspace, form: str) -> Outcome:
    """The good files of a format, in the command that bad ones are tried with."""
    case = file_case(f"good-{form}", form, 0, FORMATS[form].files, -1, "")
    write(workspace, case)
    return workspace.run(*case.command(), f"runs_dir=good-{form}")


def write(workspace: Workspace, case: Case) -> None:
    for name, content in case.files.items():
        path = workspace.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def attempt(workspace: Workspace, case: Case, cell: str) -> Tried:
    """Make a bad input, run its command, and look at the cells."""
    words = [word.replace("{cell}", cell) for word in case.command()]
    write(workspace, case)
    with case.around(workspace.path):  # type: ignore[attr-defined]
        before = workspace.cells(case.runs_dir)
        if case.program == "xcbench":
            done = workspace.xcbench(*words)
        else:
            done = workspace.run(*words, limits=case.limits)
        after = workspace.cells(case.runs_dir)
    program = "xcbench" if case.program == "xcbench" else "python run.py"
    return Tried(case, f"{program} {' '.join(words)}", done, before, after)


@contextmanager
def attempts(workspace: Workspace) -> Iterator[dict[str, Future[Tried]]]:
    """All cases, two at a time."""
    cell = prepare(workspace)
    with ThreadPoolExecutor(2) as pool:
        tried = {case.label: pool.submit(attempt, workspace, case, cell) for case in CASES}
        yield tried
        for future in tried.values():
            future.cancel()


# ---------------------------------------------------------------- the table
REPORT = ROOT / "reports" / "bad-inputs.md"
GENERATED = "## Generated files"
HEAD = """\
# Bad inputs

What the command line says to mistakes: every case of `tests/bad_inputs.py`, run and written by `python tests/bad_inputs.py`; `tests/test_bad_inputs.py` checks each.
Not shown in commands: `{common}`. A finished cell is there in every case; it stays as it was, and no other appears where the exit code is not 0.

{numbers}
"""


def code(text: str) -> str:
    """Text as it is, in a cell of a table."""
    text = re.sub(r"[&<>|`*_\[\]\\]", lambda found: f"&#{ord(found[0])};", text.strip())
    return "<code>" + text.replace("\n", "<br>") + "</code>"


def short(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[: most - 2] + " …"


def table(results: list[Tried], home: Path) -> Iterator[str]:
    """Lines of the table, a heading and the settings that its lines share a group."""
    group = ""
    for tried in results:
        case = tried.case
        form = "repository" if case.group == "Compressed files" else case.group
        shared = (
            [*FORMATS[form].words, *(SPLIT if form == "omniglot" else ())]
            if form in FORMATS
            else []
        )
        if case.group != group:
            group = case.group
            yield f"\n## {group}\n"
            if shared:
                settings_of_all = " ".join(shared).replace("{data}", "FOLDER")
                yield f"`python run.py {settings_of_all}{'' if form == 'svmlight' else ' data_dir=FOLDER'}`, with a file that holds:\n"
            yield "| input | " + ("" if shared else "command | ") + "exit code | printed |"
            yield "|---|---|---|" if shared else "|---|---|---|---|"
        program = "xcbench" if case.program == "xcbench" else "python run.py"
        command = "" if shared else code(" ".join([program, *map(short, case.words)])) + " | "
        printed = tried.done.err if case.code else tried.done.out + tried.done.err
        printed = printed.replace(f"{home}/", "").replace(str(home), ".")
        yield f"| {code(case.name)} | {command}{tried.done.code} | {code(printed)} |"


def generated(examples: int) -> str:
    """Give every reader so many generated files, and say what came of it."""
    words = [*("-m", "pytest", "tests/test_readers.py", "-q", "--hypothesis-show-statistics")]
    words += ["-p", "no:cacheprovider", "-k", "or_refuses or are_refused and parse or or_a_refusal"]
    done = subprocess.run(
        [sys.executable, *words], cwd=ROOT, env={**os.environ, "XCBENCH_EXAMPLES": str(examples)},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    lines = [
        f"`python tests/bad_inputs.py {examples}`: files made by hypothesis (valid ones with bytes "
        "flipped, cut out, doubled, inserted or cut off; random lines in the format's signs; random "
        "bytes). Anything but a sound dataset or a sentence with the file's name fails.\n",
        "| test | files | failed | refused | seconds |",
        "|---|---|---|---|---|",
    ]
    for part in done.stdout.split("tests/test_readers.py::")[1:]:
        found = re.search(r"generate phase \(([\d.]+) seconds\)", part)
        counts = re.search(r"(\d+) passing, (\d+) failing, and (\d+) invalid", part)
        if found and counts:
            refused = re.search(r"([\d.]+)%, refused", part)
            share = f"{float(refused[1]):.0f} %" if refused else ""
            name = part.partition(":")[0]
            lines.append(
                f"| `{name}` | {int(counts[1]):,} | {counts[2]} | {share} | {float(found[1]):.0f} |"
            )
    return "\n".join(lines) + "\n"


def main() -> None:
    with TemporaryDirectory() as folder, attempts(Workspace(Path(folder).resolve())) as tried:
        results, left_out = [], []
        for label, future in tried.items():
            try:
                results.append(future.result())
            except NotPossible as reason:
                left_out.append(f"{label} ({reason})")
        lines = list(table(results, Path(folder).resolve()))
    numbers = f"{len(results)} cases; {sum('Traceback' in result.done.text for result in results)} tracebacks."
    if left_out:
        numbers += f" Not possible where this was written: {'; '.join(left_out)}."
    old = REPORT.read_text("utf-8").partition(GENERATED)[2].lstrip() if REPORT.exists() else ""
    last = generated(int(sys.argv[1])) if len(sys.argv) > 1 else old
    head = HEAD.format(common=" ".join([*ONE, *SMALL]), numbers=numbers)
    REPORT.write_text("\n".join([head + "\n".join(lines), f"\n{GENERATED}\n", last]), "utf-8")


if __name__ == "__main__":
    main()
