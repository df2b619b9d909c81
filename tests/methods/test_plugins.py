"""What others wrote: found, tried, and run beside ours."""

from __future__ import annotations

import importlib.util

import pytest

from plugin_examples import GCE, REPEAT, RINGS, RUN, content
from workspace import SMALL, Workspace
from xcbench.methods import contract, registry
from xcbench.plugins import PluginRef


# ---------------------------------------------------------------- methods
def test_the_example_is_short() -> None:
    assert len(GCE.splitlines()) <= 25


def test_a_target_in_the_working_directory_runs_beside_ours(workspace: Workspace) -> None:
    (workspace.path / "gce.py").write_text(GCE)
    done = workspace.run("-m", "method=umax", "method._target_=gce.method", *RUN).succeeded()
    assert "2 cells: 2 done" in done.out
    result = {cell["method"]: cell for cell in content(workspace).values()}
    assert result.keys() == {"umax", "gce"}
    assert result["gce"]["environment"]["method_from"] == "module gce"
    assert result["gce"]["config"]["method"]["q"] == 0.7
    assert "method_from" not in result["umax"]["environment"]
    again = workspace.run("-m", "method=gce.method,umax", *RUN)
    assert "every cell was there already" in again.out
    alone = workspace.run(
        "method._target_=gce.method", "method.q=0.5", "plan=true", *RUN
    ).succeeded()
    assert "1 cell, 1 to run" in alone.out, alone.text
    shown = workspace.xcbench("show", result["gce"]["cell"])
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
    done = installed.run(*words, "workers=2", "grid=door").succeeded()
    assert done.err == "", done.text
    frame = installed.frame("method=gce", "grid=door")
    assert sorted(frame["engine"]) == sorted(engines.split(","))
    assert (frame["status"] == "done").all() and frame["train_error"].max() < 0.3
    assert frame["train_log_loss"].max() - frame["train_log_loss"].min() < 1e-4
    cells = [cell for cell in content(installed).values() if cell["method"] == "gce"]
    origin = "xcbench_gce 1.2, gce:method"
    assert {cell["environment"]["method_from"] for cell in cells} == {origin}
    report = installed.xcbench("report", "grid=door", "name=door").succeeded()
    assert "gce" in report.out, report.text
    for file in ("index.html", "table.md", "table.csv"):
        assert "gce" in (installed.path / "reports" / "door" / file).read_text("utf-8")


def test_a_name_and_a_target_make_the_same_cell(installed: Workspace) -> None:
    plans = [installed.run(f"method={name}", "plan=true", *RUN) for name in ("gce", "gce.method")]
    assert plans[0].code == 0 and plans[0].out == plans[1].out, plans[0].text + plans[1].text


@pytest.mark.slow
def test_another_launcher_finds_it(installed: Workspace) -> None:
    pytest.importorskip("hydra_plugins.hydra_joblib_launcher")
    words = ("-m", "method=gce,implicit", "seed=3", *RUN, "runs_dir=joblib")
    installed.run_fresh(*words, "hydra/launcher=joblib").succeeded()
    assert {cell["method"] for cell in content(installed, "joblib").values()} == {"gce", "implicit"}


def test_names_are_listed_and_completed(installed: Workspace) -> None:
    listed = installed.xcbench("options")
    assert "method=gce:" in listed.out and "method.q=0.7" in listed.out
    installed.run("method=nope", *RUN).refused(", gce, ")
    installed.run("dataset=nope").refused("rings")


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
    workspace.run("-m", "method=gce.method,slow.own,slow.strange_one", *RUN[:2], *one).succeeded()
    losses = workspace.frame()["train_log_loss"]
    assert len(losses) == 3 and losses.max() - losses.min() < 1e-4


def test_ours_pass_the_trial_of_a_definition() -> None:
    for name, method in registry.builtin().items():
        contract.definition(PluginRef(method, name))


# ---------------------------------------------------------------- samplers and datasets
def test_a_sampler_from_outside(installed: Workspace) -> None:
    words = ("-m", "method=umax,ove,gce", *RUN, "runs_dir=samplers")
    done = installed.run(*words, "method.sampler=repeat,repeat.WithRepetition").succeeded()
    assert "6 cells: 6 done" in done.out, done.text
    cell = next(iter(content(installed, "samplers").values()))
    assert "repeat" in cell["environment"]["sampler_from"]
    unknown = installed.run("method=umax", "method.sampler=nope", *RUN)
    unknown.refused("choose one of others", "repeat")


def test_a_dataset_from_outside(installed: Workspace) -> None:
    words = ("method=ove", *SMALL, "runs_dir=datasets")
    installed.run("dataset=rings", *words).succeeded()
    (cell,) = content(installed, "datasets").values()
    assert cell["dataset"] == "rings" and cell["shape"]["classes"] == 8
    assert cell["environment"]["dataset_from"] == "xcbench_rings 1.2, rings:rings"
    same = installed.run("dataset._target_=rings.rings", *words)
    assert "every cell was there already" in same.out, same.text
    other = installed.run("dataset=rings", "dataset.protocol.row_norm=none", *words, "plan=true")
    assert "1 cell, 1 to run" in other.out
    shown = installed.xcbench("show", cell["cell"], "runs_dir=datasets")
    assert "dataset=rings method=ove" in shown.out.splitlines()[-1]


def test_the_examples_work_together(workspace: Workspace) -> None:
    """Three files in the working folder, as a reader copies them; together they learn."""
    for name, text in (("gce", GCE), ("repeat", REPEAT), ("rings", RINGS)):
        (workspace.path / f"{name}.py").write_text(text)
    words = ("dataset=rings.rings", "method=gce.method,umax,prior", "mlflow=false")
    for sampler in ((), ("method.sampler=repeat.WithRepetition",)):
        done = workspace.run("-m", *words, *sampler, f"grid={len(sampler)}").succeeded()
        assert "3 cells: 3 done" in done.out, done.text
        last = workspace.frame(f"grid={len(sampler)}").set_index("method")
        assert last.loc["prior", "test_error"] > 0.8  # of eight rings
        assert (last.loc[["gce", "umax"], "test_error"] < 0.1).all()
        assert last.loc["gce", "test_log_loss"] < last.loc["prior", "test_log_loss"] / 4


def test_each_of_our_methods_has_the_file_of_its_name() -> None:
    homes = {name: registry.module(name).rpartition(".")[2] for name in registry.builtin()}
    assert homes == {name: name for name in homes}
