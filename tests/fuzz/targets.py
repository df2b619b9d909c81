"""What is fuzzed: functions of bytes, each with inputs to start from."""

from __future__ import annotations

import copy
import gzip
import io
import json
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import reading
from good_files import ARFF, ARFF_ROWS, DIGITS, DRAWINGS, IMAGES, SVMLIGHT, TEST, TRAIN, npz_bytes
from tracked_cells import a_cell
from xcbench import model_files, sealed
from xcbench.core import statistics
from xcbench.core.dataset import LabelSets, Raw, Split
from xcbench.core.models.compiled import CompiledModel
from xcbench.data import cache as cached
from xcbench.data import dense_text, labelled_rows, new_rows, unpack
from xcbench.data.inputs import Inputs
from xcbench.data.settings import Protocol
from xcbench.errors import UserError
from xcbench.estimators import MarginClassifier, SampledSoftmaxClassifier
from xcbench.run import cells, composing, curve_file, grids, overrides, profile, sweeps

CUT = b"\n====\n"  # between files
FOLDER = Path(tempfile.mkdtemp(prefix="xcbench-fuzz-"))
SPARSE = TRAIN, TEST
DENSE = b"2 3\n1 2.5 -3\n0 0 1e3\n", b"2 2\n0:1\n1:1\n"
COUNTS = b"1 1 1\n2 2 3\n", b"1\n2\n"
CITEULIKE = b"1 0:1\n1 1:1\n1 2:1\n1 3:1\n", b"2 0 1\n2 2 3\n"
TRIPLES = b"2\n0 1 0\n1 2 1\n", b"1\n2 0 0\n"


@dataclass(frozen=True)
class Target:
    """A function that takes bytes, or refuses them with a `UserError`."""

    take: Callable[[bytes], object]
    seeds: tuple[bytes, ...]
    quotes: bool = False  # its sentence may repeat what was typed, character by character


def read(reader: str, roles: tuple[str, ...], content: bytes, **sizes: int) -> None:
    """Read a dataset's files; what is missing at the end is empty."""
    parts = [*content.split(CUT), *[b""] * len(roles)]
    for raw in reading.read(FOLDER, reader, **sizes, **dict(zip(roles, parts, strict=False))):
        assert_sound(raw)


def assert_sound(raw: Raw) -> None:
    """What every later step takes for granted."""
    data = raw.X if isinstance(raw.X, np.ndarray) else raw.X.data
    assert data.dtype == np.float32 and np.isfinite(data).all()
    assert raw.label_start[0] == 0 and raw.label_start[-1] == len(raw.labels)
    assert len(raw.label_start) == raw.X.shape[0] + 1 and (np.diff(raw.label_start) >= 0).all()
    if len(raw.labels):
        assert raw.labels.min() >= 0 and raw.labels.max() < raw.n_labels
    if sp.issparse(raw.X):
        raw.X.check_format(full_check=True)
        ordered = raw.X.copy()  # a derived problem takes its features in another order
        ordered.sort_indices()
        assert ordered.has_canonical_format


def written(name: str, content: bytes) -> Path:
    """A file of this content."""
    path = FOLDER / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def rows_to_predict(content: bytes) -> None:
    """A first byte that says the format, then the file."""
    first = -1 if content[:1] < b"\x80" else 1
    inputs = Inputs(first, 12, np.ones(12), np.ones((12, 0)), np.arange(3))
    X = new_rows.read(written("rows", content[1:]), inputs)
    assert X.shape[1] == 12 and np.isfinite(X.data).all()


def archive(content: bytes) -> None:
    unpack.unpack(written("archive", content), {"a.txt": FOLDER / "out"})


def compressed(content: bytes) -> None:
    labelled_rows.read([written("rows.gz", content)])


OTHER = (None, 0, -1, 7, 1e300, 0.5, True, "", "x", "0" * 16, "é\n", [], {}, [0], {"a": 0}, 10**30)


def edited(good: bytes, content: bytes) -> bytes:
    """A JSON text, or edits of a good one: three bytes each choose a place and what comes there."""
    if content.startswith(b"{"):
        return content
    said = json.loads(good)
    for first in range(0, len(content) - 2, 3):
        places = list(_places(said))
        where, key = places[int.from_bytes(content[first : first + 2]) % len(places)]
        choice = content[first + 2]
        if choice < 32:
            del where[key]
        else:
            where[key] = copy.deepcopy(OTHER[choice % len(OTHER)])
    return json.dumps(said).encode()


def _places(node: Any) -> Iterator[tuple[Any, Any]]:
    yield {"": node}, ""
    for key in list(node if isinstance(node, dict) else range(len(node))):
        yield node, key
        if isinstance(node[key], dict | list):
            yield from list(_places(node[key]))[1:]


def cell(content: bytes) -> None:
    """``cell.json`` with a checksum of its own, and the curve with the one it should have."""
    text, _, curve = content.partition(CUT)
    text = edited(good_cell(), text)
    where = FOLDER / "cells" / ("0" * 16)
    written(f"cells/{where.name}/curve.csv", curve)
    said = parsed(text)
    if isinstance(said, dict):
        files = {**said.get("files", {})} if isinstance(said.get("files"), dict) else {}
        said["files"] = {**files, "curve.csv": sealed.digest(curve)}
    written(f"cells/{where.name}/cell.json", resealed(text, said))
    list(cells.load_all(FOLDER))
    cells.load(FOLDER, where.name)


def model(content: bytes) -> None:
    """``model.json`` with a checksum of its own, beside arrays of a good model."""
    text = edited(good_model(), content)
    folder = FOLDER / "model"
    written("model/model.json", resealed(text, parsed(text)))
    model_files.load(folder).estimator.predict(np.zeros((1, 3), np.float32))


@cache
def good_model() -> bytes:
    X = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1]], np.float32)
    estimator = SampledSoftmaxClassifier(random_state=0)
    model_files.save(FOLDER / "model", model_files.Trained(estimator.fit(X, [0, 1, 2])))
    return (FOLDER / "model" / "model.json").read_bytes()


NUMBERS = (0, 1, -1, -5, 2**30, 2**62, -(2**63), np.nan, np.inf, 1e18, 0.5, 3)
KINDS = (
    "float32",
    "float64",
    "float16",
    "int32",
    "int64",
    "uint8",
    "bool",
    "U3",
    "complex128",
    "S2",
)


def changed(content: bytes, good: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Arrays with edits: four bytes each choose an array, what to do with it, where and by what."""
    arrays = dict(good)
    for first in range(0, len(content) - 3, 4):
        which, what, where, value = content[first : first + 4]
        name = sorted(good)[which % len(good)]
        array = arrays.get(name, good[name])
        if what < 128 and array.size:  # a number in a place
            array = array.copy()
            edit = np.errstate(all="ignore")
            with suppress(OverflowError, ValueError, TypeError), edit:
                array.ravel()[where % array.size] = NUMBERS[value % len(NUMBERS)]
        elif what < 160:
            array = array.ravel()[: where % (array.size + 1)]
        elif what < 180:
            array = np.resize(array, [(0, 1, 2, 7)[value % 4]] * (where % 4))
        elif what < 220:
            with suppress(ValueError, TypeError), np.errstate(all="ignore"):
                array = array.astype(KINDS[value % len(KINDS)])
        elif what < 240:
            array = np.flip(array) if array.ndim else np.array(value)
        else:
            arrays.pop(name, None)
            continue
        arrays[name] = array
    return arrays


@cache
def good_arrays() -> dict[str, tuple[Path, dict[str, np.ndarray], dict[str, Any]]]:
    """Models of every kind of weights: their folder, arrays, and description."""
    X = np.eye(12, 5, dtype=np.float32) + np.eye(12, 5, -5, np.float32)
    raw, y = sp.csr_array(X), np.arange(12) % 4
    kinds = {
        "linear": SampledSoftmaxClassifier("umax", random_state=0, epochs=2),
        "tree": SampledSoftmaxClassifier("negative_sampling", random_state=0, epochs=2),
        "memoir": MarginClassifier("memoir_l2", random_state=0, epochs=2),
        "pd_sparse": MarginClassifier("pd_sparse", random_state=0),
        "margins": MarginClassifier("svm_ovr", random_state=0),
    }
    good = {}
    for name, estimator in kinds.items():
        inputs = Inputs(1, 5, np.ones(5), np.ones((5, 0)), np.arange(4))
        trained = model_files.Trained(estimator.fit(raw, y), inputs, Protocol(), np.full(4, 3))
        where = FOLDER / f"model-{name}"
        model_files.save(where, trained)
        described = json.loads((where / "model.json").read_bytes())
        good[name] = (where, dict(np.load(where / "arrays.npz")), described)
    return good


def model_arrays(content: bytes) -> None:
    """A first byte that says which model, then edits of its arrays; checksums fit."""
    where, good, described = [*good_arrays().values()][content[0] % 5 if content else 0]
    np.savez(where / "arrays.npz", **changed(content[1:], good))  # type: ignore[arg-type]
    digest = sealed.file_digest(where / "arrays.npz")
    written(
        f"{where.name}/model.json", resealed(b"", {**described, "files": {"arrays.npz": digest}})
    )
    trained = model_files.load(where)
    best, values = trained.estimator.predict_top_k(trained.features(sp.csr_array(np.eye(5))), 2)
    assert len(best) == 5 and not np.isnan(values).any()


@cache
def good_dataset() -> tuple[Path, dict[str, np.ndarray], dict[str, Any]]:
    """A prepared dataset, sparse and of several labels: its folder, arrays, and description."""
    X = sp.csr_array(np.eye(9, 4, dtype=np.float32) + np.eye(9, 4, -4, np.float32))
    sets = LabelSets(np.arange(0, 19, 2), np.tile([0, 1, 2], 6), np.ones(9))
    split = Split(X, np.arange(9) % 3, sets)
    info = statistics.describe("data", "0" * 16, False, split, split, 3)
    where = FOLDER / "cache" / info.digest
    cached.save(where, info, split, split, {"digest": "", "numbers": None})
    arrays = {path.stem: np.load(path) for path in where.glob("*.npy")}
    return where, arrays, json.loads((where / "info.json").read_bytes())


def dataset(content: bytes) -> None:
    """Edits of the arrays of a prepared dataset, whose checksums fit: taken, or prepared anew."""
    where, good, described = good_dataset()
    for path in where.glob("*.npy"):
        path.unlink()
    for name, array in changed(content, good).items():
        np.save(where / f"{name}.npy", array)
    checksums = {path.name: zlib.crc32(path.read_bytes()) for path in where.glob("*.npy")}
    written(f"cache/{where.name}/info.json", resealed(b"", {**described, "checksums": checksums}))
    info = cached.info(where)
    if info is None:
        raise UserError("it is prepared anew")
    problem = cached.load(where, info)
    for split in (problem.train, problem.test):
        assert isinstance(split.X, sp.csr_array) and split.sets is not None
        split.X.check_format(full_check=True)
        assert np.isfinite(split.X.data).all() and 0 <= split.y.min() <= split.y.max() < 3
        split.labels(3).check_format(full_check=True)
        model = CompiledModel(3, 4, True, "float32")
        model.add(model.take(split.X, np.arange(9)), split.y[:, None], np.ones((9, 1)))
        model.summarise(split)


def parsed(text: bytes) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def resealed(text: bytes, said: object) -> bytes:
    """With a fitting checksum where that can be had: else nothing behind it is ever reached."""
    if isinstance(said, dict):
        said.pop(sealed.CHECKSUM, None)
        with suppress(ValueError, RecursionError):
            return sealed.dumps(said).encode()
    return text


def curve(content: bytes) -> None:
    with suppress(ValueError):  # what `cells.load` expects of it
        curve_file.parse(content)


def grid(content: bytes) -> None:
    grids.read(written("grid.json", resealed(content, parsed(content))))


def launches(content: bytes) -> None:
    written("launches/a.json", resealed(content, parsed(content)))
    profile.read(FOLDER)


def command_line(content: bytes) -> None:
    """Words of a launch, one a line."""
    words = content.decode("utf-8", "replace").split("\n")
    overrides.for_hydra(words)


NAMES = ("seed", "method.lr", "method.l2", "budget.epochs", "budget.checkpoints", "dtype")
NAMES += ("method.negatives", "method.batch_size", "dataset.protocol.rows", "evaluation.metrics")


@cache
def composer() -> sweeps.Composer:
    from hydra import compose

    composing.register()
    opened = sweeps.hydra()
    opened.__enter__()
    return sweeps.Composer(lambda words: compose("config", overrides=words))


def configuration(content: bytes) -> None:
    """A first byte that says which option, then its value."""
    name = NAMES[content[0] % len(NAMES)] if content else NAMES[0]
    value = content[1:].decode("utf-8", "replace").replace("\n", " ")
    composer().possible([["dataset=digits", "method=umax", f"{name}={value}"]])


def zipped() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as bundle:
        bundle.writestr("x/a.txt", "1 1:1\n")
    return out.getvalue()


def tarred() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as bundle:
        entry = tarfile.TarInfo("x/a.txt")
        entry.size = 6
        bundle.addfile(entry, io.BytesIO(b"1 1:1\n"))
    return out.getvalue()


@cache
def good_cell() -> bytes:
    saved = a_cell(0, cell="0" * 16, config={"method": {"name": "ove", "lr": 0.1}})
    cells.save(FOLDER, saved)
    return (FOLDER / "cells" / saved.cell / "cell.json").read_bytes()


def of_reader(reader: str, good: tuple[bytes, ...], roles: str, **sizes: int) -> Target:
    take = partial(read, reader, tuple(roles.split()), **sizes)
    return Target(lambda content: take(content), (CUT.join(good),))


FOUR = "train train_labels test test_labels"
IMAGED = (IMAGES, DIGITS, IMAGES, DIGITS)


@cache
def all_of_them() -> dict[str, Target]:
    """Targets by name; some of them make the inputs to start from."""
    grid_text = sealed.dumps({"cells": ["0" * 16]}).encode()
    launch = {name: 0 for name in profile.COLUMNS} | {"grid": "last", "started": "2026-11-23"}
    return {
        "repository": of_reader("repository", SPARSE, "train test"),
        "svmlight": of_reader("svmlight", (SVMLIGHT, b"-1 4:1\n2 1:2\n"), "train test"),
        "own": of_reader("own", (SVMLIGHT, b"-1 4:1\n2 1:2\n"), "train test"),
        "arff": of_reader("mulan_arff", (ARFF + ARFF_ROWS,) * 2, "train test", features=2),
        "idx": of_reader("idx", IMAGED, FOUR, labels=3),
        "dense_text": of_reader("dense_text", DENSE * 2, FOUR, features=3, labels=2),
        "bydate": of_reader("bydate", COUNTS * 2, FOUR, features=4, labels=2),
        "words": of_reader("words", COUNTS * 2, FOUR, features=4, labels=2),
        "triples": of_reader("triples", TRIPLES, "train test"),
        "citeulike": of_reader("citeulike", CITEULIKE, "train train_labels", features=4),
        "omniglot": of_reader("omniglot", (npz_bytes(**DRAWINGS),), "train", labels=3),
        "labelled_rows": Target(
            lambda content: assert_sound(*labelled_rows.read([written("rows", content)])),
            (b"sport,news 3:0.5 7:1\n", TRAIN),
        ),
        "dense_rows": Target(
            lambda content: dense_text.rows(written("rows", content)), (b"2 2\n1 2\n3 4\n",)
        ),
        "rows_to_predict": Target(rows_to_predict, (b"\0" + TRAIN, b"\xff1 1:1\n")),
        "archive": Target(archive, (zipped(), tarred())),
        "compressed": Target(compressed, (gzip.compress(b"1 1:1\n"),)),
        "cell": Target(cell, (CUT + b"iteration,train_seconds\n0,0.5\n", good_cell())),
        "curve": Target(curve, (b"iteration,train_seconds\n0,0.5\n1,\n",)),
        "model": Target(model, (b"\0\0\0", good_model())),
        "model_arrays": Target(model_arrays, tuple(bytes([k]) for k in range(5))),
        "dataset": Target(dataset, (b"", b"\0\0\0\4")),
        "grid": Target(grid, (grid_text,)),
        "launches": Target(launches, (sealed.dumps(launch).encode(),)),
        "command_line": Target(
            command_line, (b"-m\nseed=0,1\nmethod.lr=0.1", b"only.ove.lr=1"), True
        ),
        "configuration": Target(configuration, (b"\x000", b"\x010.1", b"\x05float64"), True),
    }


def accepts(target: Target, content: bytes) -> bool:
    """Whether an input is taken; any exception but a sentence goes through."""
    try:
        target.take(content)
    except UserError as error:
        assert len(str(error).splitlines()) == 1
        assert target.quotes or str(error).isprintable(), str(error)
        return False
    return True
