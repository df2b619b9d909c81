"""What the class prior reaches on the papers' datasets, against counts by hand."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hydra import compose

from workspace import ROOT
from xcbench import papers
from xcbench.config import composing
from xcbench.errors import UserError
from xcbench.papers import priors
from xcbench.plan import planning, sweeps

MNIST = [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]  # digits 0 to 9 in training


def test_datasets_are_added_once_and_shown(tmp_path: Path) -> None:
    train, test = [0, 0, 0, 1, 1, 2], [0, 1, 2, 2]
    for name, labels in {"train": train, "test": test}.items():
        text = "".join(f"{label} 1:{n}\n" for n, label in enumerate(labels, 1))
        (tmp_path / f"{name}.txt").write_text(text)
    assert list(priors.section(tmp_path)) == []
    files = [f"dataset.{role}={tmp_path / role}.txt" for role in ("train", "test")]
    with sweeps.hydra({}):
        words = ["dataset=file", *files, "method=umax", f"runs_dir={tmp_path / 'runs'}"]
        jobs = planning.jobs([composing.read(compose("config", overrides=words))])
    for _ in range(2):
        priors.update(tmp_path, jobs)
    (line,) = priors.read(tmp_path).to_dict("records")
    p = (np.bincount(train) + 1 / 3) / 7  # a row more, spread over the classes
    assert (line["dataset"], line["train"], line["classes"]) == ("train", 6, 3)
    assert line["train_log_loss"] == pytest.approx(-np.log(p[train]).mean(), rel=1e-5)
    assert line["test_log_loss"] == pytest.approx(-np.log(p[test]).mean(), rel=1e-5)
    assert line["majority_error"] == 0.75
    (section,) = priors.section(tmp_path)
    assert section.tables[0].rows == [["train", "6", "3", *section.tables[0].rows[0][3:]]]


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda text: "", "cannot be read"),
        (lambda text: text[:-9], "its last line is cut off"),
        (lambda text: text.partition("\n")[2], "has no column 'checksum'"),
        (lambda text: text.replace("majority", "minority"), "no row matches its checksum"),
    ],
)
def test_a_damaged_table_is_one_sentence(
    tmp_path: Path, damage: Callable[[str], str], says: str
) -> None:
    path = tmp_path / priors.FILE
    path.write_text(damage((ROOT / "reports/umax/priors.csv").read_text()))
    with pytest.raises(UserError, match=re.escape(str(path)) + ".*" + says):
        priors.read(tmp_path)


def test_a_changed_digit_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = (ROOT / "reports/umax/priors.csv").read_text()
    assert whole.count("0.92326,") == 1
    (tmp_path / priors.FILE).write_text(whole.replace("0.92326,", "0.92226,"))
    left = priors.read(tmp_path)
    assert len(left) == whole.count("\n") - 2 and 0.92226 not in set(left["majority_error"])
    assert "left out 1 damaged rows; restore the file" in capsys.readouterr().err


@pytest.mark.parametrize("name", papers.NAMES)
def test_every_measured_dataset_is_there(name: str) -> None:
    folder = ROOT / "reports" / name
    rows = pd.read_csv(folder / "runs.csv", dtype={"dataset_digest": str}, low_memory=False)
    rows = rows[(rows["status"] == "done") & ~rows["dataset"].str.endswith("-twin")]
    assert set(rows["dataset_digest"]) <= set(priors.read(folder)["dataset_digest"])
    assert "## Class prior" in (folder / "tables.md").read_text()
    assert "Class prior" in (folder / "index.html").read_text()


@pytest.mark.parametrize("name", ["umax", "ove", "ar"])
def test_mnist_by_its_known_counts(name: str) -> None:
    known = priors.read(ROOT / "reports" / name).set_index("dataset").loc["mnist"]
    p = np.array(MNIST) / 60000
    assert known["train_log_loss"] == pytest.approx(-(p * np.log(p)).sum(), abs=1e-5)
    assert known["majority_error"] == pytest.approx(1 - 1135 / 10000)  # of the ones
