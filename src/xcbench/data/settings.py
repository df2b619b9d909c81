"""Settings of a dataset: its source, expected shape and protocol."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from omegaconf import MISSING

from xcbench.options import option


@dataclass
class Expected:
    """Shape a raw file must have; 0 leaves a number open."""

    train: int = option(0, "training rows")
    test: int = option(0, "test rows")
    features: int = option(0, "features")
    labels: int = option(0, "labels, before the protocol picks classes")


@dataclass
class Protocol:
    """How raw rows become a problem with one label a row; part of a cell's identity."""

    label: str = option(
        "smallest",
        "label of a multi-label row: first in the file, smallest id, the one with the fewest "
        "training rows (ties: smallest id); `each`: one row per label",
        choices=("first", "smallest", "rarest", "each"),
    )
    classes: str = option(
        "train_and_test",
        "which rows define the classes; `train` drops test rows of other classes; "
        "`train_usable` picks a test row's label among the training classes; `declared` makes "
        "every label a class",
        choices=("train", "train_and_test", "train_usable", "declared"),
    )
    other_labels: str = option(
        "keep",
        "the labels of a row that are not chosen: kept for what knows label sets, or dropped, so "
        "that every method sees one label a row",
        choices=("keep", "drop"),
    )
    divide_by: float = option(1.0, "constant that divides every feature", above=0)
    row_norm: str = option("none", "normalisation of every row", choices=("none", "l2"))
    unlabelled: str = option(
        "drop", "rows without any label: dropped, or one more class", choices=("drop", "class")
    )
    min_rows: int = option(
        1, "ignore labels of fewer rows (training and test together)", at_least=1
    )
    features: int = option(
        0,
        "keep the first so many features and drop rows that have none of them; 0: all",
        at_least=0,
    )
    rows: int = option(0, "keep the first so many training and test rows; 0: all", at_least=0)
    featureless: str = option(
        "keep", "rows without any feature: kept, or dropped", choices=("keep", "drop")
    )
    split: str = option(
        "given",
        "training and test rows: as given; a random fraction of all rows; or that fraction of "
        "each label's rows",
        choices=("given", "random", "per_label"),
    )
    split_train: float = option(0.75, "fraction of training rows", above=0, at_most=1)
    split_seed: int = option(0, "seed of the drawn split", at_least=0)
    tfidf: bool = option(False, "multiply by idf = log((1 + rows) / (1 + rows with it)) + 1")
    column_scale: str = option(
        "none", "divide every feature by its largest training value", choices=("none", "max")
    )
    constant: float = option(
        0.0, "value of a feature appended to every row, 0: none", at_least=-1e9, at_most=1e9
    )
    svd: int = option(
        0,
        "replace the features by so many coordinates of a truncated SVD of the training rows; "
        "0: none",
        at_least=0,
    )
    svd_centred: bool = option(
        False, "subtract the mean of the training rows first: principal components, for svd"
    )


@dataclass
class SyntheticSettings:
    """A dataset drawn from a planted linear model (`xcbench.data.synthetic`)."""

    train: int = option(10000, "training rows", at_least=1)
    test: int = option(2000, "test rows", at_least=1)
    features: int = option(2000, "features", at_least=2)
    classes: int = option(1000, "classes", at_least=2)
    nonzeros: float = option(30.0, "mean non-zero features per row", at_least=1)
    class_exponent: float = option(1.0, "class k has frequency ∝ k^-exponent", at_least=0)
    feature_exponent: float = option(0.8, "feature j has popularity ∝ j^-exponent", at_least=0)
    signal: float = option(
        0.2, "share of a row's tokens from its class's own features", above=0, at_most=1
    )
    seed: int = option(0, "seed of the generator", at_least=0)


@dataclass
class CategoriesSettings:
    """Samples of one of K values, without features (`xcbench.data.categories`)."""

    train: int = option(1000000, "training samples", at_least=1)
    test: int = option(10000, "test samples", at_least=1)
    classes: int = option(10000, "values", at_least=2)
    seed: int = option(0, "seed of the generator", at_least=0)


@dataclass
class BlobsSettings:
    """Gaussian classes in the plane, around a circle (`xcbench.data.blobs`)."""

    train: int = option(200, "training rows", at_least=1)
    test: int = option(1000, "test rows", at_least=1)
    classes: int = option(5, "classes", at_least=2)
    radius: float = option(1.2, "distance of the centres of the classes from 0", at_least=0)
    spread: float = option(0.5, "standard deviation of a class along either axis", above=0)
    seed: int = option(0, "seed of the generator", at_least=0)


@dataclass
class Download:
    """One file to fetch: a data file itself, or an archive of several."""

    urls: list[str] = option([], "addresses of the same file, tried in order")
    files: dict[str, str] = option(
        {}, "role → member of the archive; empty: what is fetched is the file itself"
    )
    bytes: int = option(0, "size of what is fetched, 0: not known", at_least=0)


@dataclass
class Source:
    """Where the files come from; part of no identity."""

    page: str = option("", "where a person finds them")
    downloads: list[Download] = option(
        [], "what to fetch: a list of {urls: [URL, …], files: {role: member}, bytes: SIZE}"
    )
    note: str = option("", "what has to be done by hand")


@dataclass
class DatasetSettings:
    """Where a dataset comes from and how it is used."""

    name: str = option(MISSING, "name in tables and figures")
    reader: str = option(MISSING, "file format, or maker of the data")
    folders: list[str] = option([], "folders under data_dir to look in, in order")
    files: dict[str, str] = option({}, "role → file name, also with .xz, .gz or .bz2 behind it")
    sha256: dict[str, list[str]] = option({}, "role → accepted SHA-256 of the uncompressed file")
    source: Source = field(default_factory=Source)
    expected: Expected = field(default_factory=Expected)
    protocol: Protocol = field(default_factory=Protocol)
    synthetic: SyntheticSettings | None = None
    categories: CategoriesSettings | None = None
    blobs: BlobsSettings | None = None
    missing: str = option(
        "twin",
        "without the files: run on the synthetic twin, refuse, or record the cell as skipped",
        choices=("twin", "error", "skip"),
    )
    train: str = option("", "path of your own training file, for dataset=file")
    test: str = option("", "path of your own test file, for dataset=file")
    encoding: str = option("utf-8", "encoding of the labels of your own files, such as latin-1")
    features: int | None = option(
        None,
        "hash the features of your own files to so many places, such as 2**20; null: none",
        at_least=1,
        at_most=10**9,
    )

    def __post_init__(self) -> None:
        """Take files of the user's own as they are given, by default under the first one's name."""
        paths = {"train": self.train, "test": self.test}
        if self.reader == "own":
            self.files = {
                role: str(Path(path).expanduser().absolute())
                for role, path in paths.items()
                if path
            }
            stem = Path(self.train).name.split(".")[0]
            self.name = self.name or re.sub(r"[^\w+-]+", "-", stem)
