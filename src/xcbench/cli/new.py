"""``xcbench new method NAME``: write a working package, a template for a new method."""

from __future__ import annotations

import ast
import keyword
from importlib.util import find_spec
from pathlib import Path

from xcbench import options
from xcbench.cli.command import Request
from xcbench.errors import UserError
from xcbench.methods import registry

PROJECT = """\
[build-system]
requires = ["setuptools>=61"]
build-backend = "setuptools.build_meta"

[project]
name = "xcbench-NAME"
version = "0.1.0"
dependencies = ["xcbench"]

[project.entry-points."xcbench.methods"]
NAME = "NAME:method"

[tool.pytest.ini_options]
pythonpath = ["src"]
"""

MODULE = """\
\"""NAME: one sentence that says what is minimised, and where it was published.\"""

from dataclasses import dataclass

from xcbench.core.objectives import LogOdds, sigmoid, softplus
from xcbench.methods.method import Method, over_square_norm
from xcbench.methods.options import SampledOptions
from xcbench.options import option


@dataclass
class Settings(SampledOptions):
    \"""Options of NAME, besides those of every sampled method.\"""

    sharpness: float = option(1.0, "1: softmax; large: a hinge at equal scores", above=0)


def NAME(log_odds, log_drawn, local, rate, square_norm, sharpness):
    \"""log(1 + e^{aT}) / a, with T = log sum_k e^{f_k - f_y} and a = sharpness.

    A plain function of numbers: it runs on arrays, and compiled on one number at a time.

    Returns
    -------
    Value, its grad in T, the new local state of the sample.
    \"""
    scaled = sharpness * log_odds
    return softplus(scaled) / sharpness, sigmoid(scaled), local


def objective(settings, info):
    \"""The formula with its settings; it bounds the likelihood where it lies above softmax's.\"""
    return LogOdds(NAME, is_bound=settings.sharpness <= 1, parameter=settings.sharpness)


method = Method("NAME", Settings, objective, over_square_norm(0.2), version=1)
"""

TEST = """\
\"""The grad is right, and an epoch of the method teaches something.\"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import NAME as module

from xcbench.store import results


def test_the_grad_is_the_gradient_of_the_value():
    log_odds, step = np.linspace(-5, 5, 21), 1e-6
    at = lambda T: module.NAME(T, T, 0.0, 0.1, 1.0, 2.0)
    central = (at(log_odds + step)[0] - at(log_odds - step)[0]) / (2 * step)
    np.testing.assert_allclose(at(log_odds)[1], central, rtol=1e-6, atol=1e-8)


def test_an_epoch_teaches_something(tmp_path):
    words = ["method._target_=NAME.method", "dataset=digits", "budget.epochs=1"]
    command = [sys.executable, "-m", "xcbench", "run", *words, "mlflow=false"]
    where = Path(module.__file__).parent
    subprocess.run([*command, f"runs_dir={tmp_path}"], cwd=where, check=True)
    (cell,) = results.select(tmp_path, {"method": "NAME"})
    assert cell.status == "done"
    assert cell.curve["test_error"].iloc[-1] < 0.5
"""


def new(request: Request) -> int:
    """Write the package into a folder of its name in the current folder."""
    what, name = request.words
    request.refuse_others("no settings")
    if what != "method":
        raise UserError(f"new {what} is not possible; it takes: method NAME")
    _check(name)
    files = {
        "pyproject.toml": PROJECT,
        f"src/{name}.py": MODULE,
        f"tests/test_{name}.py": TEST,
    }
    folder = Path(name)
    folder.mkdir()
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(exist_ok=True)
        target.write_text(text.replace("NAME", name), encoding="utf-8")
        print(target)
    print(f"package xcbench-{name}, with the method {name}")
    print(
        f"next: pip install -e {name}/ && {options.program()} -m method=umax,{name} dataset=digits"
    )
    return 0


def _check(name: str) -> None:
    """Refuse a name that is no word for a module, or is taken."""
    if not name.isidentifier() or keyword.iskeyword(name) or not name.isascii():
        raise UserError(f"new method {name} is not possible: a name is a Python word, such as mine")
    if name != name.lower() or name.strip("_") != name:
        raise UserError(
            f"new method {name} is not possible: a name has small letters, and no _ at its ends"
        )
    inside = ast.walk(ast.parse(MODULE))
    if name in {getattr(it, kind, "") for it in inside for kind in ("id", "name", "arg")}:
        raise UserError(f"new method {name} is not possible: its module has this name for another")
    if name in registry.names():
        raise UserError(f"there is a method {name} already; take another name")
    if Path(name).exists():
        raise UserError(f"{name} is there already; move it away, or take another name")
    if find_spec(name) is not None:
        raise UserError(f"there is a Python module {name} already; take another name")
