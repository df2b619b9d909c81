"""Experiments of the MEMOIR paper: grids, variants, rows not run, the command line."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest
from hydra import compose

from workspace import Workspace
from xcbench import papers
from xcbench.cli.command import Request
from xcbench.cli.paper import paper as launch
from xcbench.committed.results_cache import ResultsCache
from xcbench.config import composing, presets
from xcbench.config.settings import Config
from xcbench.data import Missing
from xcbench.data.settings import SyntheticSettings
from xcbench.methods import baselines
from xcbench.methods.memoir import MemoirOptions
from xcbench.papers import published, verdicts
from xcbench.papers.memoir.experiments import DATASETS, FACTORS, METHODS, printed
from xcbench.papers.memoir.theory import margins
from xcbench.plan import planning, sweeps
from xcbench.store.cell import Cell

FEW = SyntheticSettings(train=800, test=400, features=300, classes=100, nonzeros=20)


def read(*words: str) -> Config:
    with sweeps.hydra({}):
        return composing.read(compose("config", overrides=list(words)))


@pytest.mark.parametrize("name", DATASETS)
def test_batches_are_the_printed_ones(name: str) -> None:
    """T of Table 4, and rows as the paper prepares them."""
    config = read("experiment=memoir/table3_code", f"dataset={DATASETS[name]}")
    T = int(printed("Table 4", name, "MEMOIR-l2", "hyperparameter T"))
    assert isinstance(config.method, MemoirOptions)
    assert (config.method.iterations, config.method.slowdown) == (T, 0.02)
    dataset = config.dataset
    assert (dataset.protocol.tfidf, dataset.protocol.row_norm, dataset.protocol.constant) == (
        True,
        "l2",
        1,
    )
    sizes = [printed("Table 1", name, "", it) for it in ("train_size", "test_size")]
    assert [dataset.expected.train, dataset.expected.test] == sizes
    assert dataset.synthetic is not None and dataset.reader == "svmlight"
    assert dataset.synthetic.classes == printed("Table 1", name, "", "classes")
    assert dataset.missing == "skip"


def test_table_2_fixes_the_number_of_visited_rows() -> None:
    for name, dataset, K, rows in (
        ("table2", "lshtc1", 12294, 126871),
        ("table2_20news", "20news", 20, 11269),
        ("table2_citeulike", "citeulike", 8310, 180382),
    ):
        config = read(f"experiment=memoir/{name}", f"dataset={dataset}")
        visits = 25 * 100 * math.isqrt(K)
        assert round(config.budget.epochs * rows) == visits
    sizes = sweeps_of("table2")["method.batch_size"]
    for factor, n in zip(FACTORS, sorted(sizes), strict=True):
        T = printed("Table 2", "LSHTC1", f"MEMOIR |b|={factor}*sqrt(C)", "iterations_T")
        assert math.ceil(25 * 11000 / n) == T and FACTORS[factor] == n


def sweeps_of(name: str) -> dict[str, set[int]]:
    with sweeps.hydra({}):
        result = sweeps.of_experiment(f"memoir/{name}", {}).configurations
    return {
        "method.batch_size": {
            made.method.batch_size for made in result if isinstance(made.method, MemoirOptions)
        }
    }


def test_the_lsh_readings() -> None:
    code, text = (
        read(f"experiment=memoir/table3_lsh_{it}", "dataset=20news", "method=memoir_l2")
        for it in ("code", "paper")
    )
    for made, lr, T in ((code, 0.01, 50), (text, None, 35)):
        method = made.method
        assert isinstance(method, MemoirOptions)
        assert (method.oracle, method.hinge, method.lr, method.iterations) == (
            "simple_lsh",
            True,
            lr,
            T,
        )
        assert made.dataset.protocol.svd == 2048


def test_the_lsh_readings_on_pair_rows() -> None:
    for variant, lr, T in (("code", 0.01, 50), ("paper", None, 25)):
        config = read(f"experiment=memoir/table3_lsh_{variant}_citeulike", "dataset=citeulike")
        method = config.method
        assert isinstance(method, MemoirOptions)
        assert (method.oracle, method.hinge, method.lr, method.iterations) == (
            "simple_lsh",
            True,
            lr,
            T,
        )
        assert (config.dataset.protocol.svd, config.dataset.protocol.min_rows) == (0, 5)


@pytest.mark.parametrize("name", DATASETS)
def test_settings_of_baselines_are_the_printed_ones(name: str) -> None:
    """Table 4, but for the size of the RecallTree's table, and where nothing is printed."""
    table = published.numbers().query("paper == 'memoir' and table == 'Table 4'")
    options = {"C": "C", "-l": "rate", "-passes": "passes", "-loss_function": "loss"}
    checked = 0
    for method in ("OVR", "M-SVM", "RecallTree"):
        own = ("experiment=memoir/table3_baselines", f"dataset={DATASETS[name]}")
        made = read(*own, f"method={METHODS[method]}").method
        for row in table.query("dataset == @name and method == @method").to_dict("records"):
            option = options.get(row["metric"].removeprefix("hyperparameter "))
            if option and row["value"] != "NA":
                result = getattr(made, option)
                assert f"{result}" == row["value"].lower() or float(result) == float(row["value"])
                checked += 1
    assert checked >= 3


@pytest.mark.parametrize("method", ["svm_ovr", "svm_cs"])
def test_svms_have_the_constant_feature_alone(method: str) -> None:
    for name in ("table3_baselines", "citeulike_baselines"):
        config = read(f"experiment=memoir/{name}", "dataset=citeulike", f"method={method}")
        assert not config.method.bias and config.dataset.protocol.constant == 1


@pytest.mark.slow
def test_every_cell_has_a_budget() -> None:
    with sweeps.hydra({}):  # one context, which reads each file once
        budgets = [
            composing.read(compose("config", overrides=[f"experiment=memoir/{name}"])).budget
            for name in presets.names("experiment", "memoir")
        ]
    for budget in budgets:
        assert budget.seconds == 3600 and budget.memory is not None and budget.memory <= 4


def test_pair_rows() -> None:
    for variant in ("paper", "code", "protocol"):
        own = read(f"variant=memoir/{variant}", "dataset=citeulike", "method=memoir_l2").dataset
        assert (own.protocol.label, own.protocol.min_rows) == ("each", 5)


# ---------------------------------------------------------------- rows that were not run
def test_a_job_that_lacks_its_package_keeps_its_identity(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that the same cell runs once the package is there."""
    settings = read("dataset=digits", "method=plt", f"runs_dir={tmp_path}")
    result = []
    for spec in (None, object()):
        monkeypatch.setattr(baselines, "find_spec", lambda package, spec=spec: spec)
        result += planning.jobs([settings])
    lacking, there = result
    assert isinstance(lacking.info, Missing) and not isinstance(there.info, Missing)
    assert lacking.info.reason.startswith("not run: no package (method plt needs napkinxc")
    assert lacking.cell.cell == there.cell.cell
    assert lacking.info.lacking == "no package"


def test_dual_variables_of_crammer_and_singer_count(tmp_path: Path) -> None:
    words = "dataset=digits", "engine=numpy", f"runs_dir={tmp_path}"
    ovr, cs = (
        planning.memory_estimate(planning.jobs([read(*words, f"method={name}")])[0])
        for name in ("svm_ovr", "svm_cs")
    )
    assert cs - ovr == 12 * 1437 * 10


def test_kept_rows_keep_the_reason_without_folders() -> None:
    known = {
        "not run: data (lshtc1: train.txt not found in /some/folder)": "not run: data",
        "not run: no package (method plt needs napkinxc)": "not run: no package",
        "needs about 25 GiB, over budget.memory=4": "needs about 25 GiB, over budget.memory=4",
    }
    cells = [
        Cell(f"{i}", "20news", "plt", i, "numpy", 1, "", {}, message=message)
        for i, message in enumerate(known)
    ]
    assert list(ResultsCache.of("g", cells).rows["message"]) == list(known.values())


# ---------------------------------------------------------------- from the command line
def test_more_checkpoints_than_batches(workspace: Workspace) -> None:
    """A checkpoint that no batch came before is no divergence."""
    own = ("method=memoir_l2", "method.iterations=2", "budget.checkpoints=5")
    done = workspace.run("dataset=digits", "mlflow=false", *own)
    assert "1 cell: 1 done" in done.out


SHRUNK = {
    "dataset": "20news",
    "dataset.missing": "twin",
    "dataset.synthetic.train": "150",
    "dataset.synthetic.test": "60",
    "dataset.synthetic.features": "80",
    "dataset.synthetic.nonzeros": "10",
    "dataset.synthetic.class_exponent": "0.5",
    "seed": "0",
    "budget.epochs": "0.2",
    "engine": "numpy",
    "mlflow": "false",
}


@pytest.fixture(scope="module")
def shrunk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The paper's own experiments on a few rows of the twin of 20news."""
    folder = tmp_path_factory.mktemp("memoir")
    places = {"reports_dir": f"{folder}/reports", "runs_dir": f"{folder}/runs"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(margins, "BATCHES", (1,))
        patch.setattr(margins, "SPEC", FEW)
        given = {**places, "data_dir": f"{folder}/none", **SHRUNK}
        assert launch(Request("paper", ["memoir"], given)) == 0
    return folder / "reports" / "memoir"


@pytest.mark.slow
def test_the_whole_paper_on_a_few_rows(shrunk: Path) -> None:
    runs = ResultsCache.read(shrunk, "runs").rows
    others = {"citeulike", "citeulike_baselines", "cores"}  # of citeulike alone, which has no twin
    assert set(runs["grid"]) == {grid.name for grid in papers.find("memoir").grids} - others
    skipped = runs[runs["status"] == "skipped"]
    assert set(skipped["message"]) <= {verdicts.NO_PACKAGE}
    assert set(runs["status"]) <= {"done", "skipped"}
    done = runs[(runs["status"] == "done") & (runs["grid"] != "table4")]
    for name in ("test_macro_f1", "predict_seconds", "model_mib"):
        assert done[name].notna().all()
    published_table = pd.read_csv(shrunk / "replication.csv", keep_default_na=False)
    assert set(published_table["measured"]) == {""}
    for name in ("tables.md", "index.html"):
        assert "-twin" not in (shrunk / name).read_text()
    assert (shrunk / "figures" / "inexact.png").exists()
    kept = margins.read(shrunk / margins.FILE)
    own = kept[kept["dataset"] == "20news-twin"]
    assert set(own["cell"]) == set(runs.loc[runs["grid"] == "margins", "cell"])
    assert set(own["batches"]) == {1, 5, 25} and own["recall"].between(0, 1).all()
