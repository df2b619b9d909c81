"""Words of a launch: options beside swept methods, words for many, hints for mistakes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import xcbench
from xcbench.cli import main, usage
from xcbench.config import overrides
from xcbench.errors import UserError, suggestion
from xcbench.methods import registry


def points(*words: str) -> list[list[str]]:
    """Points of a sweep over methods, all with the same other words."""
    return [[f"method={name}", *words] for name in ("umax", "softmax")]


def test_an_option_is_for_the_methods_that_have_it(capsys: pytest.CaptureFixture[str]) -> None:
    swept = overrides.for_methods(points("method.solver=minibatch", "seed=1"))
    assert swept == [
        ["method=umax", "seed=1"],
        ["method=softmax", "method.solver=minibatch", "seed=1"],
    ]
    assert "method.solver applies to softmax; no such option: umax" in capsys.readouterr().out
    with pytest.raises(UserError, match=r"method\.solvr is no option of umax, softmax.*solver"):
        overrides.for_methods(points("method.solvr=minibatch"))


def test_points_that_differ_in_nothing_are_one() -> None:
    swept = [point for s in ("lbfgs", "minibatch") for point in points(f"method.solver={s}")]
    assert len(overrides.for_methods(swept)) == 3


def test_an_option_for_one_method() -> None:
    assert overrides.for_methods(points("method.lr=1", "only.softmax.lr=0.1")) == [
        ["method=umax", "method.lr=1"],
        ["method=softmax", "method.lr=1", "method.lr=0.1"],
    ]
    for word, said in (
        ("only.softmx.lr=1", "no method softmx; did you mean softmax"),
        ("only.softmax.solvr=lbfgs", "softmax has no option solvr; did you mean solver"),
    ):
        with pytest.raises(UserError, match=said):
            overrides.for_methods(points(word))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["method=ove,umax"], "add -m"),
        (["seed=0,1"], "add -m"),
        (["only.ove.negatives=1"], "add -m"),
        (["--dataset", "mnist"], "write dataset=mnist"),
        (["--seed=3"], "write seed=3"),
    ],
)
def test_hints(words: list[str], said: str) -> None:
    with pytest.raises(UserError, match=said):
        overrides.for_hydra(words)


def test_words_for_many(tmp_path: Path) -> None:
    folder = tmp_path / "bibtex"
    folder.mkdir()
    for name in ("bibtex-train.arff", "bibtex-test.arff.gz"):
        (folder / name).touch()
    _, methods, datasets, _ = overrides.for_hydra(
        ["method=all", "dataset=here", "-m", f"data_dir={tmp_path}"]
    )
    names = methods.removeprefix("method=").split(",")
    assert set(names) <= set(registry.builtin()) and {"ove", "umax", "softmax"} <= set(names)
    here = datasets.removeprefix("dataset=").split(",")
    assert {"bibtex", "digits", "zipf"} <= set(here)
    assert not {"eurlex", "file", "delicious"} & set(here)


def test_an_option_of_a_method_is_left_to_the_points() -> None:
    words = overrides.for_hydra(["-m", "method=ove,softmax", "method.solver=lbfgs", "seed=0"])
    assert words == ["-m", "method=ove,softmax", "method.solver=choice(lbfgs)", "seed=0"]
    words = overrides.for_hydra(["-m", "dataset=digits,zipf", "dataset.synthetic.train=5"])
    assert words == ["-m", "dataset=digits,zipf", "dataset.synthetic.train=choice(5)"]


def test_suggestions() -> None:
    assert suggestion("lr", overrides.all_options()) == "; did you mean method.lr"
    assert suggestion("epochs", overrides.all_options()) == "; did you mean budget.epochs"
    assert suggestion("zzz", overrides.all_options()) == ""


@pytest.mark.parametrize("name", usage.COMMANDS)
def test_help_of_a_command_is_short(name: str) -> None:
    for words in ([name, "--help"], ["-h", name]):
        text = usage.asked(words)
        assert text.startswith(f"usage: xcbench {name} ")
        assert "Example: " in text
        assert len(text.splitlines()) < 20 and "Hydra's" not in text


def test_help_of_all_commands_and_the_version() -> None:
    assert all(f"\n  {name} " in usage.asked(["--help"]) for name in usage.COMMANDS)
    assert usage.asked(["run", "--version"]) == f"xcbench {xcbench.__version__}\n"
    assert usage.asked(["run", "seed=0"]) == ""


@pytest.mark.parametrize("port", ["٣", "0", "65536", "x", "-1", "9" * 5000])
def test_ports(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main.main(["ui", f"port={port}"])
    assert capsys.readouterr().err.count("must be a whole number from 1 to 65,535") == 1


@pytest.mark.parametrize("words", [["--help"], ["board", "-h"], ["--version"]])
def test_help_imports_no_library(words: list[str]) -> None:
    code = (
        f"import sys; sys.argv[1:] = {words!r}; from xcbench.__main__ import main; main(); "
        "print(sorted({'numpy', 'pandas', 'hydra', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]" and "xcbench" in done.stdout
