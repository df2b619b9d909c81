"""What a terminal shows: colours by convention, a bar below the lines, the table of a sweep."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from made_cells import make
from xcbench import SampledSoftmaxClassifier, model_files, papers
from xcbench.cli import main, summary, usage
from xcbench.core.dataset import Dataset
from xcbench.data.inputs import Inputs
from xcbench.data.settings import Protocol
from xcbench.model_files import Trained
from xcbench.run.progress import Progress, result
from xcbench.store import cells
from xcbench.system.terminal import RED, afresh, filled, guard, styled


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colours_are_for_terminals_that_want_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert styled("error:", RED, Terminal()) == "\033[31merror:\033[0m"
    assert styled("error:", RED, io.StringIO()) == "error:"
    monkeypatch.setenv("NO_COLOR", "1")
    assert styled("error:", RED, Terminal()) == "error:"
    monkeypatch.setenv("NO_COLOR", "")  # set but empty: as if it were not
    monkeypatch.setenv("TERM", "dumb")
    assert styled("error:", RED, Terminal()) == "error:"


def test_a_bar_is_full_at_the_end_alone() -> None:
    assert [filled(share).count("█") for share in (0.0, 0.5, 0.999, 1.0)] == [0, 10, 19, 20]
    assert {len(filled(share)) for share in (0.0, 0.3, 1.0, 1.1)} == {20}


@pytest.mark.parametrize("live", [True, False])
def test_a_bar_where_there_is_a_terminal_and_lines_where_not(
    live: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    out: Any = Terminal() if live else io.StringIO()
    monkeypatch.setattr("sys.stdout", out)
    monkeypatch.setenv("NO_COLOR", "1")
    jobs: list[Any] = [
        SimpleNamespace(label=f"cell {i}", cell=make(seed=i), info=None) for i in (0, 1)
    ]
    progress = Progress(2, jobs)
    for job in jobs:
        progress.begin([job])
        progress.inside(0.5)
        progress.end(job, job.cell, 1.0)
    text = out.getvalue()
    assert ("█" in text and "\033[K" in text) is live
    seen = [line.split("\r\033[K")[-1] for line in text.rstrip("\n").split("\n")]  # what stays
    assert len(seen) == 2
    assert all(re.match(rf"\[{i}/2\] cell {i - 1} … .*1\.0 s", seen[i - 1]) for i in (1, 2))


def test_a_line_has_the_loss_of_test_rows_and_the_prior_where_that_is_lower(
    digits: Dataset,
) -> None:
    job: Any = SimpleNamespace(info=digits.info)
    assert digits.info.prior_log_loss == pytest.approx(np.log(10), abs=0.01)
    assert result(job, make(end=0.5)) == "test log loss 1"  # twice that of training rows
    assert re.fullmatch(r"test log loss 3, the class prior has 2\.3\d*", result(job, make(end=1.5)))


def test_the_table_of_a_sweep_has_a_method_at_its_best_rate(
    capsys: pytest.CaptureFixture[str],
) -> None:
    summary.show([make("ove", lr=0.1, end=1.5), make("ove", lr=1.0, end=0.5), make(end=0.7)])
    lines = capsys.readouterr().out.splitlines()
    (best,) = [line.split() for line in lines if line.startswith("tiny") and " ove " in line]
    assert best[2] == "1" and "0.500" in best and "1.000" in best  # rate, losses
    summary.show([])
    assert capsys.readouterr().out == ""


def test_every_command_is_in_a_group_of_the_help() -> None:
    listed = re.findall(r"^  ([a-z]+) {2,}", usage.OVERVIEW, re.M)
    assert sorted(listed) == sorted(usage.COMMANDS) and len(set(listed)) == len(listed)


def test_the_help_of_paper_names_every_paper() -> None:
    named = re.search(r"a paper \((.+?)\)", usage.COMMANDS["paper"])
    assert named and tuple(named[1].split(", ")) == papers.OURS


def test_a_terminal_gets_no_codes_but_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    out, pipe = Terminal(), io.StringIO()
    monkeypatch.setattr("sys.stdout", out)
    monkeypatch.setattr("sys.stderr", pipe)
    guard()
    guard()
    print(f"{styled('done', RED, sys.stdout)} \033]0;title\a\033[2Jcafé\u202e\r\n\tlast")
    print(afresh(sys.stdout), end="")
    assert out.getvalue() == "\033[31mdone\033[0m �]0;title��[2Jcafé��\n\tlast\n\r\033[K"
    assert sys.stderr is pipe and sys.stdout.isatty()


EVIL = "\033]0;title\a\033[2J"


@pytest.mark.parametrize("kind", [Terminal, io.StringIO])
def test_labels_and_names_reach_a_terminal_without_codes(
    kind: type[io.StringIO], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a command prints of a file of somebody else; a pipe gets it exactly."""
    monkeypatch.chdir(tmp_path)
    Path("rows.svm").write_text("1:1\n2:1\n3:1\n")
    X, labels = sp.csr_array(np.eye(3, dtype=np.float32)), [f"a{EVIL}", "b", f"c{EVIL}"]
    estimator = SampledSoftmaxClassifier(random_state=0).fit(X, labels)
    inputs = Inputs(1, 3, np.ones(3), np.ones((3, 0)), estimator.classes_)
    model_files.save(Path("model"), Trained(estimator, inputs, Protocol(), np.ones(3, int)))
    cell = make(dataset=f"a{EVIL}", message=f"m{EVIL}")
    cells.save(Path("runs"), cell)
    for words in (
        ["predict", "model", "rows.svm", "k=3"],
        ["results"],
        ["results", "--format", "md"],
        ["results", "--format", "json"],
        ["show", cell.cell],
        ["clean", "status=done", "--yes"],
    ):
        out = kind()
        with monkeypatch.context() as patch:
            patch.setattr("sys.stdout", out)
            with pytest.raises(SystemExit):
                main.main(words)
        codes = [sign for sign in out.getvalue() if not sign.isprintable() and sign not in "\n\t"]
        assert out.getvalue() and (not codes or kind is io.StringIO), words
        assert codes or words[0] not in ("predict",) or kind is Terminal
