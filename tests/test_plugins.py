"""What others wrote: found, tried, run beside ours, and refused in a sentence when broken."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT, SMALL, NewWorkspace, Outcome, Workspace
from xcbench.methods import contract, registry
from xcbench.plugins import PluginRef

README = (ROOT / "README.md").read_text("utf-8")
RUN = ("dataset=digits", *SMALL)


def example(word: str) -> str:
    """The block of Python in README that has a word in it."""
    (found,) = [code for code in re.findall(r"```python\n(.*?)```", README, re.S) if word in code]
    return found


GCE = example("gce.py")
REPEAT = "import numpy as np\nfrom xcbench.core.samplers import Sampler\n\n\n" + example(
    "repeat.py"
)
RINGS = (
    "import numpy as np\nfrom xcbench.core.dataset import Raw\n"
    "from xcbench.data.external import External\n"
    "from xcbench.data.settings import DatasetSettings, Protocol\n\n" + example("rings.py")
)


def announce(folder: Path, package: str, group: str, line: str) -> None:
    """What an installed package leaves behind: its metadata."""
    where = folder / f"{package}-1.2.dist-info"
    where.mkdir(parents=True)
    (where / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.2\n")
    (where / "entry_points.txt").write_text(f"[xcbench.{group}]\n{line}\n")


def install(folder: Path) -> None:
    """The three examples as packages."""
    for module, text, group, line in (
        ("gce", GCE, "methods", "gce = gce:method"),
        ("repeat", REPEAT, "samplers", "repeat = repeat:WithRepetition"),
        ("rings", RINGS, "datasets", "rings = rings:rings"),
    ):
        announce(folder, f"xcbench_{module}", group, line)
        (folder / f"{module}.py").write_text(text)


def content(workspace: Workspace, runs: str = "runs") -> dict[str, dict]:
    """Content of the finished cells, by identity."""
    files = (workspace.path / runs / "cells").glob("[!.]*/cell.json")
    return {file.parent.name: json.loads(file.read_text()) for file in files}


@pytest.fixture(scope="module")
def installed(new_workspace: NewWorkspace) -> Workspace:
    path = new_workspace("installed").path
    install(path / "packages")
    return Workspace(path, (path / "packages",))


# ---------------------------------------------------------------- methods
def test_the_example_is_short() -> None:
    assert len(GCE.splitlines()) <= 25


def test_a_target_in_the_working_directory_runs_beside_ours(workspace: Workspace) -> None:
    (workspace.path / "gce.py").write_text(GCE)
    done = workspace.run("-m", "method=umax", "method._target_=gce.method", *RUN)
    assert done.code == 0, done.text
    assert "2 cells: 2 done" in done.out
    found = {cell["method"]: cell for cell in content(workspace).values()}
    assert found.keys() == {"umax", "gce"}
    assert found["gce"]["environment"]["method_from"] == "module gce"
    assert found["gce"]["config"]["method"]["q"] == 0.7
    assert "method_from" not in found["umax"]["environment"]
    again = workspace.run("-m", "method=gce.method,umax", *RUN)
    assert "every cell was there already" in again.out
    alone = workspace.run("method._target_=gce.method", "method.q=0.5", "plan=true", *RUN)
    assert alone.code == 0 and "1 cells, 1 to run" in alone.out, alone.text
    shown = workspace.xcbench("show", found["gce"]["cell"])
    assert "method=gce.method" in shown.out.splitlines()[-1]


def test_an_announced_method_runs_everywhere(installed: Workspace) -> None:
    engines = "numpy,numba" if importlib.util.find_spec("numba") else "numpy"
    words = (
        "-m",
        "method=umax,gce",
        "method.batch_size=1",
        "method.negatives=2",
        *RUN,
        f"engine={engines}",
    )
    done = installed.run_fresh(*words, "workers=2", "grid=door")
    assert done.code == 0 and done.err == "", done.text
    frame = installed.frame("method=gce", "grid=door")
    assert sorted(frame["engine"]) == sorted(engines.split(","))
    assert (frame["status"] == "done").all() and frame["train_error"].max() < 0.3
    assert frame["train_log_loss"].max() - frame["train_log_loss"].min() < 1e-4
    cells = [cell for cell in content(installed).values() if cell["method"] == "gce"]
    origin = "xcbench_gce 1.2, gce:method"
    assert {cell["environment"]["method_from"] for cell in cells} == {origin}
    report = installed.xcbench("report", "grid=door", "name=door")
    assert report.code == 0 and "gce" in report.out, report.text
    for file in ("index.html", "table.md", "table.csv"):
        assert "gce" in (installed.path / "reports" / "door" / file).read_text("utf-8")


def test_a_name_and_a_target_make_the_same_cell(installed: Workspace) -> None:
    plans = [installed.run(f"method={name}", "plan=true", *RUN) for name in ("gce", "gce.method")]
    assert plans[0].code == 0 and plans[0].out == plans[1].out, plans[0].text + plans[1].text


def test_another_launcher_finds_it(installed: Workspace) -> None:
    pytest.importorskip("hydra_plugins.hydra_joblib_launcher")
    words = ("-m", "method=gce,implicit", "seed=3", *RUN, "runs_dir=joblib")
    done = installed.run_fresh(*words, "hydra/launcher=joblib")
    assert done.code == 0, done.text
    assert {cell["method"] for cell in content(installed, "joblib").values()} == {"gce", "implicit"}


def test_names_are_listed_and_completed(installed: Workspace) -> None:
    listed = installed.xcbench("options")
    assert "method=gce:" in listed.out and "method.q=0.7" in listed.out
    unknown = installed.run("method=nope", *RUN)
    assert unknown.code == 2 and "gce, implicit" in unknown.err
    unknown = installed.run("dataset=nope")
    assert unknown.code == 2 and "rings" in unknown.err


SLOW = '''
from dataclasses import replace
import gce
from xcbench.core.objectives import Objective, LogOdds
class Own(Objective):
    is_bound = False
    def __init__(self, q):
        self.odds = LogOdds(gce.gce, False, 0.0, q)
    def __call__(self, *arguments):
        return self.odds(*arguments)
def strange(log_odds, *rest):
    names = {"value": gce.gce}.get("value")  # not of Numba's kind
    return names(log_odds, *rest)
own = replace(gce.method, name="own", objective=lambda s, info: Own(s.q))
strange_one = replace(gce.method, name="strange", objective=lambda s, info: LogOdds(strange, False, 0.0, s.q))
'''  # fmt: skip  # noqa: E501


def test_what_numba_cannot_compile_runs_in_numpy(workspace: Workspace) -> None:
    pytest.importorskip("numba")
    (workspace.path / "gce.py").write_text(GCE)
    (workspace.path / "slow.py").write_text(SLOW)
    one = ("method.batch_size=1", "engine=numba", "budget.epochs=0.2")
    done = workspace.run("-m", "method=gce.method,slow.own,slow.strange_one", *RUN[:2], *one)
    assert done.code == 0, done.text
    losses = workspace.frame()["train_log_loss"]
    assert len(losses) == 3 and losses.max() - losses.min() < 1e-4


def test_ours_pass_the_trial_of_a_definition() -> None:
    for name, method in registry.own().items():
        contract.definition(PluginRef(method, name))


# ---------------------------------------------------------------- samplers and datasets
def test_a_sampler_from_outside(installed: Workspace) -> None:
    words = ("-m", "method=umax,ove,gce", *RUN, "runs_dir=samplers")
    done = installed.run(*words, "method.sampler=repeat,repeat.WithRepetition")
    assert done.code == 0 and "6 cells: 6 done" in done.out, done.text
    cell = next(iter(content(installed, "samplers").values()))
    assert "repeat" in cell["environment"]["sampler_from"]
    unknown = installed.run("method=umax", "method.sampler=nope", *RUN)
    assert unknown.code == 2 and "choose one of others" in unknown.err
    assert "repeat" in unknown.err


def test_a_dataset_from_outside(installed: Workspace) -> None:
    words = ("method=ove", *SMALL, "runs_dir=datasets")
    done = installed.run("dataset=rings", *words)
    assert done.code == 0, done.text
    (cell,) = content(installed, "datasets").values()
    assert cell["dataset"] == "rings" and cell["shape"]["classes"] == 5
    assert cell["environment"]["dataset_from"] == "xcbench_rings 1.2, rings:rings"
    same = installed.run("dataset._target_=rings.rings", *words)
    assert "every cell was there already" in same.out, same.text
    other = installed.run("dataset=rings", "dataset.protocol.row_norm=none", *words, "plan=true")
    assert "1 cells, 1 to run" in other.out
    shown = installed.xcbench("show", cell["cell"], "runs_dir=datasets")
    assert "dataset=rings method=ove" in shown.out.splitlines()[-1]


# ---------------------------------------------------------------- broken ones
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
        def __init__(self, n_classes, m): pass
        def draw(self, rng, rows, y, n): return given
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
    "ours": ("method = replace(gce.method, name='umax')", "umax.*one of ours"),
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


def assert_one_sentence(done: Outcome, mention: str) -> None:
    assert done.code == 2, done.text
    assert done.out == "" and "Traceback" not in done.err, done.text
    assert done.err.startswith("error: ") and done.err.count("\n") == 1, done.text
    assert re.search(mention, done.err), done.text


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
    assert_one_sentence(broken.run(*words, *SMALL), mention)


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
    assert_one_sentence(broken.run(*words, *SMALL), mention)


def test_broken_packages_cost_only_those_who_use_them(broken: Workspace) -> None:
    done = broken.run("-m", "method=ove,gce", *RUN)
    assert done.code == 0 and done.err == "", done.text
    listed = broken.xcbench("options")
    assert listed.code == 0 and "gone of three 1.2 cannot be loaded" in listed.out


# ---------------------------------------------------------------- xcbench new
def test_what_new_writes_works(workspace: Workspace) -> None:
    done = workspace.xcbench("new", "method", "mine")
    assert done.code == 0, done.text
    tested = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=workspace.path / "mine",
        env=workspace.environment(),
        capture_output=True,
        text=True,
    )
    assert tested.returncode == 0 and "2 passed" in tested.stdout, tested.stdout + tested.stderr
    packages = workspace.path / "mine" / "src"
    project = (workspace.path / "mine" / "pyproject.toml").read_text()
    assert 'mine = "mine:method"' in project
    announce(packages, "xcbench_mine", "methods", "mine = mine:method")
    with_it = Workspace(workspace.path, (packages,))
    swept = with_it.run("-m", "method=umax,mine", *RUN)
    assert swept.code == 0 and "2 cells: 2 done" in swept.out, swept.text
    assert_one_sentence(workspace.xcbench("new", "method", "mine"), "mine is there already")


@pytest.mark.parametrize("name", ["3x", "a-b", "class", "umax", "json", "Mine", "../mine"])
def test_new_refuses_other_names(workspace: Workspace, name: str) -> None:
    assert_one_sentence(workspace.xcbench("new", "method", name), re.escape(name))
    assert not list(workspace.path.iterdir())
