"""The report of the one-vs-each paper: norms, claims, tables, experiments, the whole on twins."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hydra import compose

from declared_tables import table
from xcbench import papers
from xcbench.cli.command import Request
from xcbench.cli.paper import paper as launch
from xcbench.config import composing, presets
from xcbench.config.settings import Config
from xcbench.papers import Measured, description, published, replication, verdicts
from xcbench.papers.ove import experiments, findings
from xcbench.papers.ove.experiments import DATASETS, SMALL
from xcbench.plan import sweeps
from xcbench.store import cells
from xcbench.store.cell import Cell

SIZES = {"mnist": (784, 10, 60000), "20news": (61188, 20, 11269), "bibtex": (1836, 148, 4880)}

METHODS = {  # of Table 2: grid, method
    "SOFT": ("table2", "softmax"),
    "BOUCHARD": ("table2", "bouchard"),
    "OVE": ("table2", "ove"),
    "OVE-SGD": ("figure3", "ove"),
}


# ---------------------------------------------------------------- norms
def saved(runs_dir: Path, name: str, W: list[list[float]], b: list[float]) -> None:
    weights = {"W": np.array(W), "b": np.array(b)}
    cell = Cell(name, "bibtex", "ove", 0, "numpy", 1, "", {}, status="done", weights=weights)
    cell.shape = {"classes": len(W), "features": len(W[0])}
    cells.save(runs_dir, cell)


def rows(*result: tuple[str, str, str, int]) -> pd.DataFrame:
    return pd.DataFrame(result, columns=["cell", "grid", "method", "seed"]).assign(dataset="bibtex")


def test_norms_by_hand(tmp_path: Path) -> None:
    saved(tmp_path, "a0", [[1.0, -2.0]], [1.0])
    saved(tmp_path, "b0", [[1.5, -2.0]], [0.0])
    saved(tmp_path, "c0", [[1.0, 0.0]], [3.0])
    known = rows(
        ("a0", "table2", "softmax", 0),
        ("b0", "table2", "ove", 0),
        ("b0", "figure3", "ove", 7),  # no softmax of its own: that of Table 2
        ("c0", "splits", "softmax", 1),
        ("b0", "splits", "ove", 1),
        ("b0", "splits", "ove", 2),  # of this seed there is none
        ("d0", "table2", "bouchard", 0),  # its weights are not there
    )
    made = known
    for grid in ("table2", "figure3", "splits"):
        made = experiments.measure_norms(made, grid, tmp_path, tmp_path)
    # |1 - 1.5| + |1 - 0| of 4, without biases 0.5 of 3; from c0 0.5 + 2 + 3 of 4, 2.5 of 1.
    expected = [0, 1.5 / 4, 1.5 / 4, 0, 5.5 / 4, 1.5 / 4, math.nan]
    np.testing.assert_allclose(made[experiments.NORM], expected)
    bare = [0, 0.5 / 3, 0.5 / 3, 0, 2.5, 0.5 / 3, math.nan]
    np.testing.assert_allclose(made[experiments.WITHOUT_BIASES], bare)


def test_norms_outlive_the_runs(tmp_path: Path) -> None:
    known = rows(("a0", "table2", "softmax", 0), ("b0", "table2", "ove", 0))
    known[experiments.NORM] = [0.0, 0.25]
    made = experiments.measure_norms(known, "table2", tmp_path, tmp_path)
    assert list(made[experiments.NORM]) == [0.0, 0.25]


# ---------------------------------------------------------------- claims and tables
def as_printed() -> pd.DataFrame:
    """Rows whose numbers are the printed ones."""
    lines = []
    for printed in SMALL:
        dataset = DATASETS[printed]
        features, classes, train = SIZES[dataset]
        test = {"mnist": 10000, "20news": 7505, "bibtex": 2515}[dataset]
        for method, (grid, ours) in METHODS.items():
            norm, error, nlpd = (findings.printed(printed, method, name) for name in findings.SHOWN)
            lines.append(
                {
                    "cell": f"{dataset}-{method}",
                    "grid": grid,
                    "status": "done",
                    "dataset": dataset,
                    "method": ours,
                    "seed": 0,
                    "bound": {"SOFT": -0.1, "OVE": -0.2}.get(method, -0.4),
                    "l2_term": 0.5,
                    experiments.NORM: norm,
                    experiments.WITHOUT_BIASES: norm,
                    "test_error": error,
                    "test_log_loss": nlpd,
                    "shape.features": features,
                    "shape.classes": classes,
                    "shape.train": train,
                    "shape.test": test,
                }
            )
    return pd.DataFrame(lines)


NONE = pd.DataFrame()


def replicated(results: pd.DataFrame) -> pd.DataFrame:
    lines = replication.rows("ove", description.of("ove").evidence(results))
    return lines.set_index(["table", "dataset", "method", "metric"]).sort_index()


def test_every_printed_number_has_a_verdict_and_a_command() -> None:
    lines = replicated(as_printed())
    assert len(lines) == (published.numbers()["paper"] == "ove").sum()
    table2 = lines.loc["Table 2"]
    fitted = table2.index.get_level_values("method") == "OVE-SGD"  # a whole trajectory
    assert set(table2.loc[fitted, "verdict"]) == {verdicts.FITTED}
    assert set(table2.loc[~fitted, "verdict"]) == {verdicts.REPRODUCED}
    small = lines.loc["Table 1"].drop("AMAZONCAT-13K")
    assert (small["verdict"] == verdicts.REPRODUCED).all()
    assert set(lines.loc["Table 1"].loc["AMAZONCAT-13K", "verdict"]) == {verdicts.NOT_YET}
    experiments = lines["command"].str.extract(r"experiment=(\S+)")[0]
    assert experiments.isin(presets.names("experiment")).all()


def test_numbers_that_differ() -> None:
    results = as_printed()
    own = (results["dataset"] == "20news") & (results["method"] == "bouchard")
    results.loc[own, experiments.NORM] = 0.5
    results.loc[results["dataset"] == "bibtex", "status"] = "skipped"
    lines = replicated(results).loc["Table 2"]
    row = lines.loc[("20NEWS", "BOUCHARD", "param_norm")]
    assert row["verdict"] == verdicts.DEVIATES and "optimum" in row["reason"]
    assert row["difference"] == pytest.approx(0.5 - 0.65)
    assert set(lines.loc["BIBTEX", "verdict"]) == {verdicts.NO_DATA}
    assert lines.loc["BIBTEX", "reason"].str.contains("xcbench data list").all()


def test_whether_optima_are_as_close_as_asked() -> None:
    results = as_printed()
    soft = (results["dataset"] == "mnist") & (results["method"] == "softmax")
    results.loc[soft, "test_error"] += 0.0051
    ove_ = (results["dataset"] == "20news") & (results["method"] == "ove")
    results.loc[ove_ & (results["grid"] == "table2"), experiments.NORM] += 0.049
    frame = table("ove", "Table 2: distance", Measured(results, NONE)).set_index(
        ["dataset", "method"]
    )
    asked = frame["as close as asked"]
    assert asked["MNIST", "SOFT"] == "no"
    assert asked["20NEWS", "SOFT"] == asked["20NEWS", "OVE"] == asked["MNIST", "OVE"] == "yes"
    assert frame.loc[("MNIST", "SOFT"), "error, difference"] == "+0.0051"
    assert frame.loc[("20NEWS", "OVE"), "norm, difference"] == "+0.049"


def test_bounds_of_whole_sums() -> None:
    results = as_printed()
    frame = pd.DataFrame(findings.bounds(Measured(results, NONE))).set_index("dataset")
    assert frame.loc["MNIST", "SOFT"] == "-36000"  # 60,000 · (-0.1 - 0.5)
    assert set(frame["SOFT > OVE > BOUCHARD"]) == {"yes"}
    results.loc[results["method"] == "bouchard", "bound"] = -0.15
    swapped = pd.DataFrame(findings.bounds(Measured(results, NONE))).set_index("dataset")
    assert set(swapped["SOFT > OVE > BOUCHARD"]) == {"no"}
    assert set(
        pd.DataFrame(findings.bounds(Measured(results[:0], NONE)))["SOFT > OVE > BOUCHARD"]
    ) == {findings.NONE}


# ---------------------------------------------------------------- experiments
def read(*words: str) -> Config:
    with sweeps.hydra({}):
        return composing.read(compose("config", overrides=list(words)))


@pytest.mark.parametrize(
    ("dataset", "iterations", "rate"),
    [("mnist", 2e5, 4.5e-7), ("20news", 1e6, 3.5e-7), ("bibtex", 1e6, 2e-6)],
)
def test_stochastic_one_vs_each(dataset: str, iterations: float, rate: float) -> None:
    """The printed number of minibatches; a step along the estimate of the whole sum."""
    config = read("experiment=ove/figure3", f"dataset={dataset}", "method=ove")
    own, (_, _, N) = config.method, SIZES[dataset]
    assert (own.batch_size, own.negatives, own.sampler, own.lr_decay, own.l2) == (
        200,
        1,
        "others",
        1,
        1,
    )
    assert math.ceil(N / own.batch_size) * config.budget.epochs == pytest.approx(
        iterations, rel=1e-6
    )
    assert own.lr == pytest.approx(rate * N / own.batch_size, rel=1e-6)
    assert config.dataset.protocol.label == "first"


def test_amazoncat() -> None:
    """The printed rate, for the estimate of the whole sum: 6.9 for each drawn pair."""
    config = read("experiment=ove/figure3d", "dataset=amazoncat", "method=ove")
    method = config.method
    assert method.lr * (2919 - 1) / method.negatives == pytest.approx(6.92, abs=0.005)
    assert (
        method.batch_size,
        method.negatives,
        method.l2,
        method.lr_decay,
        config.budget.epochs,
    ) == (
        1,
        5,
        0,
        0.5,
        5,
    )


def test_random_splits_have_the_given_sizes() -> None:
    config = read("experiment=ove/table2_bibtex_splits", "dataset=bibtex", "seed=4")
    protocol = config.dataset.protocol
    assert round(protocol.split_train * 7395) == 4880
    assert (protocol.split, protocol.split_seed) == ("random", 4)


# ---------------------------------------------------------------- from the command line
SHRUNK = {
    "dataset": "bibtex,blobs,categories",
    "dataset.missing": "twin",
    "dataset.protocol.rows": "200",
    "seed": "0",
    "method.iterations": "5",
    "budget.epochs": "2",
    "budget.checkpoints": "2",
    "engine": "numpy",
    "mlflow": "false",
}


@pytest.fixture(scope="module")
def shrunk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The paper's own experiments on a few rows of twins, and of its toy data."""
    folder = tmp_path_factory.mktemp("ove")
    places = {"reports_dir": f"{folder}/reports", "runs_dir": f"{folder}/runs"}
    settings = {**places, "data_dir": f"{folder}/none", **SHRUNK}
    assert launch(Request("paper", ["ove"], settings)) == 0
    return folder / "reports"


@pytest.mark.slow
def test_the_whole_paper_on_a_few_rows(shrunk: Path) -> None:
    runs = pd.read_csv(shrunk / "ove" / "runs.csv")
    # One is swept over the epochs, of which two are wanted here; AmazonCat's twin is large.
    others = {"table2_ascent", "figure3d"}
    assert set(runs["grid"]) == {grid.name for grid in papers.find("ove").grids} - others
    assert set(runs["status"]) == {"done"}
    weighed = runs[runs["grid"].isin(["table2", "table2_bibtex_splits", "grouped", "figure3"])]
    exact = weighed["method"] == "softmax"
    assert (weighed.loc[exact, experiments.NORM] == 0).all() and exact.sum() == 2
    assert (weighed.loc[~exact, experiments.NORM] > 0).all()
    kept = pd.read_csv(shrunk / "ove" / "toy-weights.csv")
    assert kept["cell"].nunique() == 7


@pytest.mark.slow
def test_a_twin_stands_beside_no_printed_number(shrunk: Path) -> None:
    found = pd.read_csv(shrunk / "ove" / "replication.csv", keep_default_na=False)
    measured = found[found["measured"] != ""]
    assert set(measured["dataset"]) <= {"synthetic non-parametric"}
    for name in ("tables.md", "index.html"):
        text = (shrunk / "ove" / name).read_text()
        assert "-twin" not in text
        assert "Figure 2: a million observations" in text
    assert (shrunk / "ove" / "figures" / "figure1b.png").exists()
