"""Experiments of the adversarial-softmax paper: searches, grids, variants, the command line."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from hydra import compose

from xcbench import papers
from xcbench.cli.command import Request
from xcbench.cli.paper import paper as launch
from xcbench.committed.results_cache import ResultsCache
from xcbench.config import composing
from xcbench.config.settings import Config
from xcbench.papers import Grid, run
from xcbench.papers.adv.experiments import (
    DATASETS,
    DRAWS,
    PRIORS,
    SAMPLERS,
    SAMPLING,
    TUNED,
    VALIDATION,
    printed,
)
from xcbench.papers.rows import stopped
from xcbench.plan import planning, sweeps


def large(method: str, sampling: str) -> str:
    """Experiment of a cell of Table 1 on the paper's own datasets."""
    if method in PRIORS:
        return "figure1_large_prior"
    if method == "nce":
        return "figure1_large_nce"
    return "figure1_large" if sampling == "tree" else "figure1_large_raw"


def read(*words: str) -> Config:
    with sweeps.hydra({}):
        return composing.read(compose("config", overrides=list(words)))


# ---------------------------------------------------------------- searches over more than the rate
GRID = Grid(
    "search",
    "tuning",
    criterion={"negative_sampling": VALIDATION},
    variants=(SAMPLING,),
    tuned=TUNED,
    stopped=True,
)


def searched() -> ResultsCache:
    """Two samplers at two rates and two regularisers; losses after one and after two epochs."""
    losses = {  # sampling, rate, regulariser
        ("uniform", 0.1, 1e-4): (3.0, 2.5),
        ("uniform", 0.3, 1e-4): (2.0, 9.0),  # best of all if it stops early
        ("uniform", 0.1, 1e-3): (2.6, 2.4),
        ("uniform", 0.3, 1e-3): (2.9, 2.8),
        ("tree", 0.1, 1e-4): (4.0, 3.0),
        ("tree", 0.3, 1e-4): (5.0, 5.0),
        ("tree", 0.1, 1e-3): (3.5, 3.1),
        ("tree", 0.3, 1e-3): (6.0, 6.0),
    }
    rows, curves = [], []
    for number, ((sampling, lr, l2), values) in enumerate(losses.items()):
        cell = {
            "cell": str(number),
            "grid": "search",
            "status": "done",
            "dataset": "bibtex",
            "method": "negative_sampling",
            "lr": lr,
            "seed": 0,
            SAMPLING: sampling,
            "method.score_l2": l2,
        }
        for epoch, loss in enumerate(values, 1):
            curves.append({"cell": str(number), "epoch": epoch, VALIDATION: loss})
        rows.append(cell | {"epoch": 2, VALIDATION: values[-1]})
    return ResultsCache(pd.DataFrame(rows), pd.DataFrame(curves))


def test_a_search_finds_rate_and_regulariser_of_every_sampler() -> None:
    best = run.best_settings(GRID, searched())
    assert best == {
        ("bibtex", "negative_sampling", "uniform"): {"method.lr": 0.3, "method.score_l2": 1e-4},
        ("bibtex", "negative_sampling", "tree"): {"method.lr": 0.1, "method.score_l2": 1e-4},
    }


def test_early_stopping_takes_whole_checkpoints() -> None:
    kept = searched()
    rows = stopped(kept.rows, kept.curves, VALIDATION).set_index("cell")
    assert list(rows.loc[["0", "1", "2"], VALIDATION]) == [2.5, 2.0, 2.4]
    assert list(rows.loc[["0", "1", "2"], "epoch"]) == [2, 1, 2]
    assert rows.loc["1", "lr"] == 0.3
    assert stopped(kept.rows, kept.curves, "validation_error") is kept.rows


def jobs(dataset: str, *words: str) -> list[Config]:
    base = read(f"dataset={dataset}", "method=negative_sampling", "fetch=false", *words)
    points = itertools.product(("uniform", "tree"), (0.1, 0.3), (1e-4, 1e-3))
    return [
        replace(base, method=replace(base.method, sampler=sampling, lr=lr, score_l2=l2))
        for sampling, lr, l2 in points
    ]


def test_found_settings_go_to_their_own_sampler() -> None:
    best = {("digits", "negative_sampling", "tree"): {"method.lr": 7.0, "method.score_l2": 5.0}}
    made = run.with_best(jobs("digits"), best, GRID)
    assert {m.method.sampler for m in made} == {"tree"}  # of uniform nothing was found
    assert {(m.method.lr, m.method.score_l2) for m in made} == {(7.0, 5.0)}
    absent = run.with_best(jobs("bibtex", "dataset.missing=skip", "data_dir=nowhere"), {}, GRID)
    assert len(absent) and {m.method.lr for m in absent} == {None}  # "not run: data" has a row


def test_a_search_goes_on_half_a_decade_to_either_side_of_its_best() -> None:
    kept = searched()
    kept.rows["dataset"] = "digits"
    more = run._beyond(GRID, kept, planning.jobs(jobs("digits")))
    points = [(m.method.sampler, m.method.lr, m.method.score_l2) for m in more]
    uniform = [("uniform", 1.0, 1e-4), ("uniform", 0.3, 3e-5), ("uniform", 0.3, 3e-4)]
    tree = [("tree", 0.03, 1e-4), ("tree", 0.1, 3e-5), ("tree", 0.1, 3e-4)]
    assert sorted(points) == sorted(uniform + tree)  # the rates 0.1 and 0.3 are there
    assert not run._beyond(GRID, kept, planning.jobs(jobs("digits") + more))


def test_half_decades_are_a_ladder() -> None:
    """Up and down again is where it was, and 0 stays."""
    at = [1e-5]
    while at[-1] < 100:
        at.append(max(it["x"] for it in run._half_decades({"x": at[-1]})))
    assert at[:4] == [1e-5, 3e-5, 1e-4, 3e-4] and at[-1] == 100
    down = [min(it["x"] for it in run._half_decades({"x": value})) for value in at[1:]]
    assert down == at[:-1]
    assert run._half_decades({"x": 0.0}) == []


# ---------------------------------------------------------------- experiments
@pytest.mark.parametrize("name", DATASETS)
def test_settings_of_the_large_runs_are_the_printed_ones(name: str) -> None:
    for method, (ours, sampling) in DRAWS.items():
        words = f"experiment=adv/{large(ours, sampling)}", f"dataset={DATASETS[name]}"
        settings = read(*words, f"method={ours}", f"method.sampler={sampling}").method
        assert settings.lr == printed("Table 1", name, method, "learning_rate_rho")
        if ours in PRIORS:
            assert settings.optimizer == "ar" and settings.init == "normal"
            variance = printed("Table 1", name, method, "prior_variance_sigma0_sq")
            assert settings.l2 == pytest.approx(1 / variance)
            continue
        assert settings.score_l2 == printed("Table 1", name, method, "regulariser_lambda")
        assert (settings.batch_size, settings.negatives, settings.optimizer, settings.init) == (
            100,
            1,
            "adagrad",
            "glorot",
        )
        assert (settings.lr_root_decay, settings.order) == (68025, "file")
        assert settings.tree.pca == "whitened" and settings.tree.discrete_step == "code"
        if ours == "negative_sampling":
            assert settings.l2_scores == ("corrected" if sampling == "tree" else "raw")


def test_readings_and_protocols() -> None:
    text = read("experiment=adv/figure1", "dataset=citeulike", "method.sampler=uniform")
    assert (text.method.order, text.method.lr_root_decay) == ("shuffled", 0)
    assert (text.method.l2_scores, text.method.tree.discrete_step) == ("corrected", "paper")
    noise = {
        name: read("experiment=adv/figure1", "dataset=citeulike", f"method.sampler={name}").method
        for name in ("frequency", "tree")
    }
    assert noise["frequency"].smoothing == 0
    assert (noise["tree"].tree.initial_split, noise["tree"].tree.newton_steps) == ("scores", 0)
    code = read("experiment=adv/table1_code", "dataset=citeulike").method
    assert (code.smoothing, code.tree.pca, code.tree.initial_split) == (1, "whitened", "halves")
    protocol = text.dataset.protocol
    assert (protocol.svd, protocol.tfidf, protocol.row_norm, protocol.classes) == (
        512,
        True,
        "l2",
        "train",
    )
    assert text.method.tree.pca == "plain" and text.evaluation.validation == 0.2
    crossed = read(
        "experiment=adv/crossed_prior", "method=ar_softmax", "method.sampler=tree"
    ).method
    assert (crossed.optimizer, crossed.tree.pca) == ("ar", "plain")
    every = read("experiment=adv/pairs", "dataset=citeulike").dataset.protocol
    assert (every.label, every.classes, every.svd) == ("each", "train_and_test", 512)
    exact = read("experiment=adv/appendix_a2", "dataset=eurlex", "method=softmax").method
    assert (exact.solver, exact.optimizer) == ("minibatch", "adagrad")
    letter = read("experiment=adv/appendix_a2_text", "dataset=eurlex", "method=softmax")
    assert letter.method == exact
    assert (letter.evaluation.validation, letter.evaluation.validation_from) == (0.1, "train")
    assert (letter.dataset.protocol.svd, letter.dataset.protocol.svd_centred) == (512, True)


# ---------------------------------------------------------------- from the command line
SHRUNK = {
    "dataset": "citeulike",
    "method": "negative_sampling,ar_softmax,softmax",  # the others are alike
    "dataset.missing": "twin",
    "dataset.synthetic.train": "300",
    "dataset.synthetic.test": "100",
    "dataset.synthetic.classes": "20",
    "dataset.synthetic.features": "40",
    "dataset.synthetic.nonzeros": "10",
    "seed": "0",
    "budget.epochs": "1",
    "budget.checkpoints": "1",
    "evaluation.rows": "50",
    "method.lr": "0.1",
    "engine": "numpy",
    "mlflow": "false",
    "fetch": "false",
}


@pytest.fixture(scope="module")
def shrunk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The paper's own experiments on a few rows of a twin."""
    folder = tmp_path_factory.mktemp("adv")
    places = {"reports_dir": f"{folder}/reports", "runs_dir": f"{folder}/runs"}
    assert (
        launch(Request("paper", ["adv"], {**places, "data_dir": f"{folder}/none", **SHRUNK})) == 0
    )
    return folder / "reports"


@pytest.mark.slow
def test_the_whole_paper_on_a_few_rows(shrunk: Path) -> None:
    tuned = pd.read_csv(shrunk / "adv" / "tuning.csv", dtype={"cell": str})
    runs = pd.read_csv(shrunk / "adv" / "runs.csv")
    assert set(tuned["status"]) | set(runs["status"]) == {"done"}
    grids = {grid.name for grid in papers.find("adv").grids if grid.part == "runs"}
    assert set(runs["grid"]) == grids - {
        "nce_normalised",
        "figure1_large",
        "appendix_a2_text",  # of other datasets
    }
    drawn = set(zip(runs["method"], runs[SAMPLING].fillna(""), strict=True))
    noises = {("negative_sampling", name) for name in SAMPLERS}
    others = {("ar_softmax", name) for name in ("others", "frequency", "tree")}
    assert drawn == noises | others | {("softmax", "")}
    own = tuned[(tuned["grid"] == "table1") & (tuned["method"] == "negative_sampling")]
    own = own[own[SAMPLING] == "tree"]
    kept = pd.read_csv(shrunk / "adv" / "tuning-curves.csv", dtype={"cell": str})
    lowest = kept.groupby("cell")[VALIDATION].min()
    best = own.loc[own["cell"].map(lowest).idxmin(), "method.score_l2"]
    chosen = runs[(runs["method"] == "negative_sampling") & (runs[SAMPLING] == "tree")]
    chosen = chosen[chosen["grid"] == "figure1"]
    assert set(chosen["method.score_l2"]) == {best}


@pytest.mark.slow
def test_a_twin_stands_beside_no_printed_number(shrunk: Path) -> None:
    table = pd.read_csv(shrunk / "adv" / "replication.csv", keep_default_na=False)
    assert set(table["measured"]) == {""}
    for name in ("tables.md", "index.html"):
        assert "-twin" not in (shrunk / "adv" / name).read_text()
