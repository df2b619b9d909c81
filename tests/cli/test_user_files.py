"""Files of the user, the same for every command: refused with file and line, or read as meant."""

from __future__ import annotations

import json
import re
import resource
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from workspace import NewWorkspace, Outcome, Workspace
from xcbench import SampledSoftmaxClassifier
from xcbench.board import advice
from xcbench.board.advice import Needs
from xcbench.data import labelled_rows
from xcbench.system import memory

GIB = 2**30
NAMES = ("one", "two", "three", "four", "five", "six", "seven", "ünf")
COMMANDS = ("run", "train", "predict", "evaluate", "advise")
BAD = {
    "cut off": (b"3 3 2\n0 0:1\n1 1:1\n", " has 2 rows, its header says 3"),
    "more rows than possible": (b"1000000000000 3 2\n0 0:1\n1 1:1\n", ", line 1: the header"),
    "a row more": (b"2 3 2\n0 0:1\n1 1:1\n0 2:1\n", ", line 4: the header says 2 rows"),
    "a feature beyond D": (b"3 3 2\n0 0:1\n1 7:1\n1 1:1\n", ", line 3: feature '7' is out of"),
    "a label beyond K": (b"2 3 2\n0 0:1\n2 1:1\n", ", line 3: label 2 is out of range"),
    "a table": (b"height,weight,class\n1.5,2.5,a\n2.5,1,b\n", " has no pair feature:value"),
    "latin-1": ("é 1:1\nü 2:1\n".encode("latin-1"), ", line 1: the label '\\xe9' is not UTF-8"),
    "an empty label": (b"a 1:1\nb,,c 2:1\n", ", line 2: 'b,,c' has an empty label"),
    "nothing": (b"", " has no rows"),
}  # fmt: skip


@pytest.fixture(scope="module")
def place(new_workspace: NewWorkspace) -> Workspace:
    """A workspace with models of text labels: of svmlight rows counted from 0 and from 1."""
    workspace = new_workspace("user-files")
    for first in (0, 1):
        rows = [f"{NAMES[i % 8]} {i % 8 + first}:1 {8 + first}:0.5" for i in range(80)]
        (workspace.path / f"rows{first}.svm").write_text("\n".join(rows) + "\n", "utf-8")
        workspace.xcbench("train", f"rows{first}.svm", f"out=model{first}", "epochs=2").succeeded()
    return workspace


def call(place: Workspace, command: str, name: str, *words: str) -> Outcome:
    """A command on a file of the workspace."""
    own = ("dataset=file", f"dataset.train={name}", "dataset.protocol.split=random")
    return place.xcbench(*{
        "run": ("run", *own, "method=ove", "mlflow=false", "budget.epochs=1"),
        "train": ("train", name, "out=new", "epochs=1"),
        "predict": ("predict", "model0", name),
        "evaluate": ("evaluate", "model0", name),
        "advise": ("advise", *own, "seconds=2"),
    }[command], *words)  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", BAD)
def test_a_file_that_is_not_what_it_says_is_refused(
    place: Workspace, command: str, kind: str
) -> None:
    content, says = BAD[kind]
    (place.path / "bad.txt").write_bytes(content)
    call(place, command, "bad.txt").refused(re.escape(f"bad.txt{says}"))


def test_features_that_count_from_0_are_not_taken_for_those_that_count_from_1(
    place: Workspace,
) -> None:
    (place.path / "headed.txt").write_text("1 3 2\n0 0:1\n")
    done = place.xcbench("predict", "model1", "headed.txt")
    assert done.code == 2 and "training rows count from 1" in done.err, done.text
    assert place.xcbench("predict", "model0", "headed.txt").out.startswith("one:")


def test_labels_in_another_encoding_are_those_of_the_same_text_in_utf_8(place: Workspace) -> None:
    text = "".join(f"{'éü'[i % 2]} {i % 2 + 1}:1\n" for i in range(30))
    (place.path / "utf-8.svm").write_text(text, "utf-8")
    (place.path / "latin-1.svm").write_text(text, "latin-1")
    for encoding in ("utf-8", "latin-1"):
        name, model = f"{encoding}.svm", f"out={encoding}"
        words = () if encoding == "utf-8" else (f"encoding={encoding}",)
        trained = place.xcbench("train", name, model, "epochs=30", "test=" + name, *words)
        assert "2 labels" in trained.out and "error 0" in trained.out, trained.text
        assert place.xcbench("evaluate", encoding, name, *words).code == 0
        predicted = place.xcbench("predict", encoding, name, *words)
        assert {line[0] for line in predicted.out.splitlines()} == {"é", "ü"}, predicted.text
    unknown = place.xcbench("train", "latin-1.svm", "encoding=utf-16")
    assert unknown.code == 2 and "encoding=utf-16 is not possible" in unknown.err


@pytest.mark.parametrize("encoding", ["", "utf-8"])
def test_a_run_on_text_labels_predicts_them(place: Workspace, encoding: str) -> None:
    words = [f"dataset.encoding={encoding}"] if encoding else []
    runs = f"runs_dir=runs-text{encoding}"
    call(
        place, "run", "rows1.svm", "budget.epochs=30", "save_weights=true", runs, *words
    ).succeeded()
    (cell,) = (place.path / f"runs-text{encoding}" / "cells").glob("[!.]*")
    predicted = place.xcbench("predict", cell.name, "rows1.svm", runs)
    labels = [line.split(":")[0] for line in predicted.out.splitlines()]
    assert labels == [*NAMES] * 10, predicted.text


def test_latin_1_labels_of_a_run(place: Workspace) -> None:
    text = "".join(f"{'éüabcdef'[i % 8]} {i % 8 + 1}:1\n" for i in range(80))
    (place.path / "l.svm").write_text(text, "latin-1")
    words = ("runs_dir=runs-latin", "dataset.encoding=latin-1", "save_weights=true")
    call(place, "run", "l.svm", "budget.epochs=30", *words).succeeded()
    (cell,) = (place.path / "runs-latin" / "cells").glob("[!.]*")
    predicted = place.xcbench("predict", cell.name, "l.svm", words[0], "encoding=latin-1")
    assert [line[0] for line in predicted.out.splitlines()] == [*"éüabcdef"] * 10, predicted.text


def test_a_dataset_that_cannot_be_read_is_said_once_and_stops_the_launch(
    place: Workspace,
) -> None:
    (place.path / "bad.svm").write_text("a 1:1\nb 1;1\n")
    words = ("-m", "dataset=file", "dataset.train=bad.svm", "dataset.test=bad.svm", "mlflow=false")
    done = place.run(*words, "method=all", "seed=0,1", "runs_dir=runs-bad")
    assert done.code == 2 and done.text.count("'1;1' is not a pair") == 1, done.text
    assert not list((place.path / "runs-bad").glob("cells/*"))
    done = call(place, "advise", "bad.svm", "runs_dir=runs-bad")
    assert done.code == 2 and done.text.count("'1;1' is not a pair") == 1, done.text
    assert "seconds" not in done.text and not list((place.path / "runs-bad").glob("cells/*"))


# ---------------------------------------------------------------- far too large numbers
HUGE = "one 1:1\ntwo 1000000000:1\n"
LIMITS = ((resource.RLIMIT_AS, 6 * GIB),)


@pytest.mark.parametrize("headed", [False, True])
@pytest.mark.parametrize("command", ["run", "train"])
def test_a_far_too_large_feature_is_refused_before_anything_is_allocated(
    place: Workspace, command: str, headed: bool
) -> None:
    text = "2 1000000000 2\n0 1:1\n1 2:1\n" if headed else HUGE
    (place.path / "huge.svm").write_text(text)
    own = ("dataset=file", "dataset.train=huge.svm", "dataset.test=huge.svm", "method=ove")
    words = (command, *own) if command == "run" else (command, "huge.svm", "out=huge")
    line, what = (1, "a row of") if headed else (2, "feature")
    needs = "needs about 22.4 GiB of memory, of which .* GiB are available"
    done = place.xcbench(*words, limits=LIMITS)
    done.refused(f"huge.svm, line {line}: {what} 1000000000", needs)


def test_weights_that_do_not_fit_are_refused_before_they_are_allocated(place: Workspace) -> None:
    rows = "".join(f"{i % 1000} {i % 1000 + 1}:1 2000000:1\n" for i in range(3000))  # 7.5 GiB of W
    (place.path / "wide.svm").write_text(rows)
    done = place.xcbench("train", "wide.svm", "method=ove", "out=wide", limits=LIMITS)
    done.refused("method ove on 1,000 classes and 2,000,000 features needs about")


def test_estimators_refuse_what_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    X = sp.csr_array((np.ones(2), ([0, 1], [0, 10**9 - 1])), (2, 10**9))
    monkeypatch.setattr(memory, "available", lambda: 8.0 * GIB)
    with pytest.raises(ValueError, match=r"X with 1,000,000,000 features needs about 22\.4 GiB"):
        SampledSoftmaxClassifier("ove", random_state=0).fit(X, ["a", "b"])
    monkeypatch.setattr(memory, "available", lambda: 5e5)
    with pytest.raises(
        ValueError, match="method ove on 10 classes and 20,000 features needs about"
    ):
        SampledSoftmaxClassifier("ove", random_state=0).fit(np.eye(10, 20_000), [*"abcdefghij"])


def test_a_feature_that_fits_is_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.svm"
    path.write_text("a 1:1\nb 1000000:2\n")
    (raw,) = labelled_rows.read([path])
    assert raw.X.shape == (2, 1_000_000)


# ---------------------------------------------------------------- advice
def test_advice_has_a_grid_of_its_own_and_a_line_a_method(place: Workspace) -> None:
    done = call(place, "advise", "rows1.svm", "runs_dir=runs-advise", "seconds=4").succeeded()
    (grid,) = (place.path / "runs-advise" / "grids").glob("*.json")
    assert grid.name == "advise.json" and json.loads(grid.read_text())["cells"]
    lines = done.out.splitlines()
    table = [line for line in lines if line.startswith("|")]
    tried = [line.split(" …")[0] for line in lines if " … " in line]
    assert 1 <= len(tried) == len(set(tried)) == len(table) - 2 + done.out.count("no result"), (
        done.text
    )
    assert not [line for line in lines if line.startswith("[") or "grid=" in line], done.text
    assert "use " in done.out and "next: xcbench run dataset=file" in done.out


def test_advice_for_data_of_three_classes(place: Workspace) -> None:
    """The methods' default number of negatives is larger."""
    rows = "".join(f"{'abc'[i % 3]} {i % 3 + 1}:1\n" for i in range(90))
    (place.path / "three.svm").write_text(rows)
    done = call(
        place, "advise", "three.svm", "runs_dir=runs-three", "seconds=1", "mib=1"
    ).succeeded()
    assert "no result" not in done.out.splitlines()[0], done.text
    (command,) = (line for line in done.out.splitlines() if line.startswith("next: "))
    words = command.removeprefix("next: xcbench ").split()
    place.xcbench(*words, "mlflow=false", "runs_dir=runs-next").succeeded()


def test_the_grain_of_the_clock_does_not_choose_a_method() -> None:
    entries = pd.DataFrame(
        [("fast", 0.985, 0.0), ("good", 1.0, 0.01), ("slow", 1.0, 3.0), ("bad", 0.5, 0.0)],
        columns=["method", "accuracy", "train_seconds"],
    ).assign(test_log_loss=1.0, model_mib=1.0, row_seconds=1e-6)
    best = advice.choice(entries, Needs(), resolution=0.1)
    assert best is not None and best["method"] == "good"
    measured = entries.assign(train_seconds=[0.5, 2.0, 3.0, 0.1])
    best = advice.choice(measured, Needs(), resolution=0.1)
    assert best is not None and best["method"] == "fast"  # about as good, in a quarter of the time


@pytest.mark.parametrize("command", ["run", "train"])
def test_rows_without_a_label_beside_the_label_that_they_would_get(
    place: Workspace, command: str
) -> None:
    (place.path / "signs.svm").write_text("1 1:1\n-1 2:1\n 3:1\n" * 10)
    prefix = "dataset.protocol" if command == "run" else "protocol"
    done = call(place, command, "signs.svm", f"{prefix}.unlabelled=class")
    assert "calls rows without a label -1, which is a label of the file" in done.err, done.text
    assert done.code == 2


def test_a_label_that_a_row_has_twice_counts_once(tmp_path: Path) -> None:
    paths = [tmp_path / "once.svm", tmp_path / "twice.svm"]
    for path, labels in zip(paths, ("b,a", "b,a,b"), strict=True):
        path.write_text(f"{labels} 1:1\na 2:1\n")
    once, twice = (labelled_rows.read([path], "utf-8", None)[0] for path in paths)
    assert once.labels.tolist() == twice.labels.tolist() == [1, 0, 0]
    assert once.label_start.tolist() == twice.label_start.tolist() == [0, 2, 3]
