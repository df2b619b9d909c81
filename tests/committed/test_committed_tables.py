"""The tables that are committed for a paper: one that is not as it was written is refused."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from workspace import ROOT, Workspace
from xcbench.errors import UserError

REPORTS = ROOT / "reports"
TABLES = ("replication.csv", "claims.csv", "summary.json")
ROWS = ("runs.csv", "runs-curves.csv", "runs-code.jsonl")
Damage = Callable[[str], str]


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    """What is committed for a paper, without its page and figures."""
    folder = tmp_path / "reports" / "ove"
    folder.mkdir(parents=True)
    for name in (*TABLES, *ROWS):
        shutil.copy(REPORTS / "ove" / name, folder)
    return folder.parent


def collected(reports: Path) -> None:
    """What `xcbench replication` does."""
    from xcbench.cli.command import Request
    from xcbench.cli.paper import collect

    collect(Request("replication", [], {"reports_dir": str(reports)}))


def half(text: str) -> str:
    """Cut within a line."""
    return text[: len(text) // 2]


def half_of_the_lines(text: str) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(lines[: len(lines) // 2])


def last_twice(text: str) -> str:
    return text + text.splitlines(keepends=True)[-1]


def of_ove(path: Path, start: str) -> list[str]:
    return [line for line in path.read_text("utf-8").splitlines() if line.startswith(start)]


def forged(old: str, new: str) -> Damage:
    def change(text: str) -> str:
        assert old in text
        return text.replace(old, new, 1)

    return change


EVERY: list[Damage] = [half, half_of_the_lines, last_twice, lambda text: "", lambda text: "\n"]
EVERY += [lambda text: text.splitlines(keepends=True)[0], lambda text: "\0" * 99, lambda text: "é"]
FORGED = [
    ("replication.csv", forged("python run.py -m", "python run.py -m  ")),
    ("claims.csv", forged("python", "pythom")),
    ("replication.csv", forged(",deviates,", ",reproduced,")),
    ("replication.csv", forged(",paper,size", ",paper,fitted")),
    ("replication.csv", forged("not run: data", "reproduced")),
    ("replication.csv", forged(",reproduced,", ",=cmd(),")),
    ("replication.csv", forged("ove,Table 1,MNIST", "umax,Table 1,MNIST")),
    ("replication.csv", forged(",784,784,", ",785,785,")),
    ("replication.csv", forged(",784,784,,1,", ",784,784,,many,")),
    ("claims.csv", forged("does not hold", "holds")),
    ("claims.csv", forged(",holds,", ",all hold,")),
    ("summary.json", forged("1", "2")),
    ("runs.csv", lambda text: text.replace("done", "gone", 1)),
    ("runs.csv", lambda text: text.replace(",status,", ",state,", 1)),
]


def test_whole_tables_give_what_is_committed(reports: Path) -> None:
    collected(reports)
    ours, theirs = (of_ove(folder / "replication.csv", "ove,") for folder in (reports, REPORTS))
    assert len(ours) == 71 and ours == theirs
    line, *_ = of_ove(reports / "README.md", "| One-vs-each")  # results; then claims
    with open(REPORTS / "ove" / "runs.csv", newline="") as file:
        seconds = sum(float(row["train_seconds"] or 0) for row in csv.DictReader(file))
    assert line.split()[-2:] == [f"{seconds / 3600:.1f}", "|"]


@pytest.mark.parametrize("name", ["replication.csv", "claims.csv", "runs.csv", "summary.json"])
@pytest.mark.parametrize("damage", EVERY)
def test_a_damaged_table_is_refused(reports: Path, name: str, damage: Damage) -> None:
    refused(reports, name, damage)


@pytest.mark.parametrize(("name", "damage"), FORGED)
def test_a_forged_table_is_refused(reports: Path, name: str, damage: Damage) -> None:
    refused(reports, name, damage)


@pytest.mark.parametrize("name", [*TABLES, "runs.csv"])
def test_a_table_that_is_gone_is_missed(reports: Path, name: str) -> None:
    (reports / "ove" / name).unlink()
    with pytest.raises(UserError, match="ove/"):
        collected(reports)


@pytest.mark.parametrize("left", ["", "header"])
def test_rows_that_are_gone_with_their_curves_are_missed(reports: Path, left: str) -> None:
    for name in ROWS:
        path = reports / "ove" / name
        header = path.read_text("utf-8").partition("\n")[0] + "\n"
        path.write_text(header) if left else path.unlink()
    with pytest.raises(UserError, match="ove/runs"):
        collected(reports)


def refused(reports: Path, name: str, damage: Damage) -> None:
    path = reports / "ove" / name
    path.write_text(damage(path.read_text("utf-8")), "utf-8")
    with pytest.raises(UserError) as caught:
        collected(reports)
    said = str(caught.value)
    assert (
        str(path.parent) in said and "xcbench paper ove" in said
    ) or "its cells run again" in said
    assert not (reports / "index.html").exists()


@pytest.mark.slow
def test_a_refusal_is_one_line(workspace: Workspace) -> None:
    folder = workspace.path / "reports" / "memoir"
    folder.mkdir(parents=True)
    (folder / "runs.csv").write_text("")
    done = workspace.xcbench("replication")
    assert (done.code, done.err.count("\n")) == (2, 1), done.text
    assert "Traceback" not in done.text
