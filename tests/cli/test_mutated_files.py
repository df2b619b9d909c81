"""Mutated files of a user through every command: a result, or one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from hydra import compose
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from generated_files import mutated
from xcbench.cli import main
from xcbench.config import composing
from xcbench.data import labelled_lines, labelled_rows
from xcbench.errors import UserError
from xcbench.plan import planning, sweeps
from xcbench.run.execute import execute, planned
from xcbench.store import cells
from xcbench.system import memory

FILES = 200
ADVISED = 20  # of the files that are taken, one in so many is advised on
ROWS = [(i % 8, f"{i % 8 + 1}:{1 + i / 8:g} {9 + i % 3}:0.5") for i in range(24)]
NAMES = ("art", "café", "news/uk", "sport", "música", "jazz", "-7", "8")
GOOD = {
    "numbers": "".join(f"{k} {pairs}\n" for k, pairs in ROWS).encode(),
    "texts": "".join(f"{NAMES[k]},all {pairs}\n" for k, pairs in ROWS).encode(),
    "headed": b"24 12 8\n" + "".join(f"{k} {pairs}\n" for k, pairs in ROWS).encode(),
}


def mutations() -> list[tuple[str, bytes]]:
    """Kind and content of every file, the same at every call."""
    made: list[tuple[str, bytes]] = []
    kinds = st.sampled_from(sorted(GOOD))

    @settings(
        max_examples=FILES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(kinds.flatmap(lambda kind: st.tuples(st.just(kind), mutated(GOOD[kind]))))
    def gather(file: tuple[str, bytes]) -> None:
        made.append(file)

    gather()
    return made


def ended(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """A command's sentence, or nothing if it takes the file."""
    with pytest.raises(SystemExit) as end:
        main.main(words)
    printed = capsys.readouterr()
    assert "Traceback" not in printed.out + printed.err, printed
    if end.value.code == 0:
        return ""
    sentence = printed.err.splitlines()[-1]
    assert end.value.code == 2 and sentence.startswith("error: ") and sentence.isprintable()
    return sentence


def run(path: Path, runs: Path) -> str:
    """The sentence of a run, or nothing if its cell was run or skipped."""
    words = (f"dataset.train={path}", f"dataset.test={path}", f"runs_dir={runs}", "method=ove")
    more = ("dataset=file", "dataset.name=rows", "mlflow=false", "budget.epochs=1", "force=true")
    with sweeps.hydra({}):
        launch = composing.read(compose("config", overrides=[*words, *more, "method.negatives=1"]))
        try:
            assert execute(planned([launch])) == 0
        except UserError as error:
            return str(error)
        (job,) = planning.jobs([launch])
    cell = cells.load(runs, job.cell.cell)
    assert cell is not None and not cell.traceback
    return ""


def readable(path: Path) -> bool:
    """Whether the reader takes a file."""
    try:
        return bool([*labelled_lines.blocks(path, unlabelled=True)])
    except UserError:
        return False


def labelled(path: Path) -> bool:
    """Whether every row of a file has its label."""
    try:
        return bool(labelled_rows.read([path]))
    except UserError:
        return False


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_command_takes_a_mutated_file_or_says_why_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "available", lambda: float(2**29))
    for kind, content in GOOD.items():
        path = tmp_path / kind
        path.write_bytes(content)
        assert ended(capsys, "train", str(path), f"out={tmp_path / kind}-model", "epochs=1") == ""
    path, advised = tmp_path / "rows.svm", 0
    for number, (kind, content) in enumerate(mutations()):
        path.write_bytes(content)
        model = f"{tmp_path / kind}-model"
        sentences = {
            "run": run(path, tmp_path / "runs"),
            "train": ended(capsys, "train", str(path), f"out={tmp_path / 'new'}", "epochs=1"),
            "predict": ended(capsys, "predict", model, str(path)),
            "evaluate": ended(capsys, "evaluate", model, str(path)),
        }
        advised += not sentences["run"]
        if sentences["run"] or advised % ADVISED == 1:
            words = ("dataset=file", f"dataset.train={path}", "seconds=0.1", "mlflow=false")
            words += (f"runs_dir={tmp_path / 'advised'}", f"reports_dir={tmp_path / 'reports'}")
            sentences["advise"] = ended(capsys, "advise", *words)
        capsys.readouterr()
        for command in ("run", "train", "advise"):
            assert sentences.get(command, "refused") or labelled(path), (number, content, command)
        if not readable(path):  # by one command, then by none
            assert all(sentences.values()), (number, content, sentences)
