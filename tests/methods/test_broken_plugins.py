"""What others wrote and is broken: refused in a sentence, and only when it is used."""

from __future__ import annotations

import pytest

from plugin_examples import RUN, announce
from workspace import SMALL, NewWorkspace, Workspace

HEAD = """
from dataclasses import dataclass, replace
import numpy as np
import gce
from xcbench.methods.options import SampledOptions
from xcbench.core.dataset import Raw
from xcbench.data.external import External
from xcbench.data.settings import DatasetSettings
from xcbench.methods.method import Method, over_square_norm
from xcbench.core.objectives import Objective, LogOdds, Pairwise, sigmoid, softplus
from xcbench.core.samplers import Sampler
from xcbench.options import option
rate = over_square_norm(1.0)
def odds(formula):
    return replace(gce.method, name="mine", objective=lambda s, info: LogOdds(formula, False))
class Request(Objective):
    is_bound = False
    def __init__(self, *given):
        self.given = given
    def __call__(self, *arguments):
        return self.given
def gives(*given):
    return replace(gce.method, name="mine", objective=lambda s, info: Request(*given))
def draws(*given):
    class Mine(Sampler):
        def __init__(self, n_classes, negatives): pass
        def draw(self, rng, rows, y, batch_size): return given
    return Mine
def data(*given):
    return External(DatasetSettings(name="mine"), lambda paths, settings: given)
zero = np.zeros
"""
BROKEN = {
    # One line of a module, and what the sentence must mention.
    "value": ("method = gives(zero((3, 2)), zero((3, 3)), zero(3))", r"mine.*value.*\(3, 2\)"),
    "grad": ("method = gives(zero(3), zero((3, 2)), zero(3))", r"mine.*grad.*\(3, 2\)"),
    "local": ("method = gives(zero(3), zero((3, 3)), 0.0)", r"mine.*local state.*\(\)"),
    "nan": ("method = gives(zero(3) / np.nan, zero((3, 3)), zero(3))", "value.*not finite"),
    "two": ("method = gives(zero(3), zero((3, 3)))", "mine.*three things"),
    "gradient": (
        "method = odds(lambda T, d, u, r, q, p: (softplus(T), 2 * sigmoid(T), u))",
        "mine.*grad is not the gradient",
    ),
    "formula": ("method = odds(lambda T: T)", "mine.*failed.*TypeError"),
    "no objective": (
        "method = replace(gce.method, name='mine', objective=lambda s, info: None)",
        "mine.*gives nothing.*LogOdds, Pairwise",
    ),
    "missing piece": ("method = Method('mine', SampledOptions)", "objective.*default_rate"),
    "piece": ("method = replace(gce.method, name='mine', objective=3)", "objective is a int"),
    "memory": ("method = replace(gce.method, name='mine', memory=1)", "memory is a int"),
    "rate": ("method = replace(gce.method, name='mine', default_rate=lambda s, i: -1)", "positive"),
    "schema": ("method = replace(gce.method, name='mine', schema=dict)", "schema.*SampledOptions"),
    "no dataclass": (
        "class S(SampledOptions):\n    z: int = 1\nmethod = replace(gce.method, schema=S)",
        "@dataclass.*z",
    ),
    "version": ("method = replace(gce.method, name='mine', version='a')", "version is 'a'"),
    "name": ("method = replace(gce.method, name='no word')", "no word.*must be a word"),
    "ours": ("method = replace(gce.method, name='umax')", "umax.*of a method of xcbench"),
    "another's": ("method = replace(gce.method)", "gce.method.*both called 'gce'"),
    "no thing": ("", "has no 'method'"),
    "wrong thing": ("method = dict", "must be an xcbench.methods.method.Method"),
    "import": ("import surely_missing", "cannot be imported.*surely_missing"),
    "syntax": ("method = (", "cannot be imported.*SyntaxError"),
    "exit": ("raise SystemExit(3)", "cannot be imported.*SystemExit"),
    "range of classes": ("sampler = draws(np.full((3, 1), 10), 0.0)", "draws class 10.*0 to 9"),
    "rows of classes": ("sampler = draws(zero((2, 1), int), 0.0)", "a row for each"),
    "kind of classes": ("sampler = draws(zero((3, 1)), 0.0)", "float64"),
    "weights": ("sampler = draws(zero((3, 1), int), zero(3))", r"log-weights.*\(3,\)"),
    "no weights": ("sampler = draws(zero((3, 1), int))", "classes and log-weights"),
    "no sampler": ("sampler = 3", "sampler.*must be a class"),
    "other sampler": (
        "sampler = lambda n_classes, m: m",
        "must be an xcbench.core.samplers.Sampler",
    ),
    "no rows": ("dataset = data()", "must give two Raw"),
    "labels": (
        "part = Raw.single(zero((4, 2)), np.full(4, 7), 3)\ndataset = data(part, part)",
        "training rows labels lie between 7 and 7",
    ),
    "values": (
        "part = Raw.single(zero((4, 2)) / np.nan, zero(4, int), 3)\ndataset = data(part, part)",
        "not finite",
    ),
    "no dataset": ("dataset = 3", "xcbench.data.External"),
    "dataset of ours": ("dataset = replace(data(), settings=DatasetSettings(name='zipf'))", "zipf"),
}


@pytest.fixture(scope="module")
def broken(installed: Workspace, new_workspace: NewWorkspace) -> Workspace:
    """A folder with a broken module for each case, beside packages of which three are broken."""
    path = new_workspace("broken").path
    for number, (line, _) in enumerate(BROKEN.values()):
        (path / f"broken_{number}.py").write_text(f"{HEAD}\n{line}\n")
    packages = path / "packages"
    announce(packages, "one", "methods", "twice = gce:method")
    announce(packages, "two", "methods", "twice = gce:method")
    announce(
        packages, "three", "methods", "umax = gce:method\ngone = gone:method\nother = gce:method"
    )
    announce(packages, "four", "datasets", "zipf = rings:rings")
    announce(packages, "five", "samplers", "all = repeat:WithRepetition")
    return Workspace(path, (packages, *installed.packages))


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_one_is_one_sentence(broken: Workspace, case: str) -> None:
    line, mention = BROKEN[case]
    module = f"broken_{list(BROKEN).index(case)}"
    if line.startswith("sampler"):
        words = ("method=vanilla", f"method.sampler={module}.sampler", "dataset=digits")
    elif "dataset = " in line:
        words = ("method=ove", f"dataset={module}.dataset")
    else:
        words = (f"method={module}.method", "dataset=digits")
    broken.run(*words, *SMALL).refused(mention)


@pytest.mark.parametrize(
    "words, mention",
    [
        (("method=twice",), "announced by (one 1.2 and by two|two 1.2 and by one) 1.2"),
        (("method=umax",), "umax is xcbench's own, but three 1.2"),
        (("method=gone",), "gone of three 1.2 cannot be loaded.*no module named 'gone'|No module"),
        (("method=other",), "calls itself 'gce'"),
        (("dataset=zipf", "method=ove"), "zipf is xcbench's own, but four 1.2"),
        (("method=vanilla", "method.sampler=all"), "all is xcbench's own, but five 1.2"),
        (("method=nope.method",), "no module nope"),
        (("method._target_=nope",), "unknown method 'nope'"),
        (("method=.method",), "module.thing"),
        (("method.name=gce", "method=ove"), "method=gce"),
    ],
)
def test_a_broken_package_is_one_sentence(
    broken: Workspace, words: tuple[str, ...], mention: str
) -> None:
    broken.run(*words, *SMALL).refused(mention)


def test_broken_packages_cost_only_those_who_use_them(broken: Workspace) -> None:
    done = broken.run("-m", "method=ove,gce", *RUN).succeeded()
    assert done.err == "", done.text
    listed = broken.xcbench("options").succeeded()
    assert "gone of three 1.2 cannot be loaded" in listed.out
