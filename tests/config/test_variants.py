"""Readings and rates of the papers as presets, and the experiments made of them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest
from hydra import compose

from workspace import ROOT, Workspace
from xcbench import options
from xcbench.config import composing, presets
from xcbench.config.settings import Config
from xcbench.data import external
from xcbench.errors import UserError
from xcbench.methods import registry
from xcbench.papers import NAMES, find, published
from xcbench.papers.umax.experiments import DATASETS, METHODS
from xcbench.plan import sweeps
from xcbench.run.execute import LISTED

CONF = ROOT / "conf"
EXPERIMENTS = presets.names("experiment")
UMAX = ("umax", "vanilla", "implicit")
BIASED = ("ove", "nce", "is")
ALL = [*DATASETS.values(), "citeulike"]


@pytest.fixture(scope="module", autouse=True)
def inside() -> Iterator[None]:
    with sweeps.hydra({}):
        yield


def read(*words: str) -> Config:
    return composing.read(compose("config", overrides=list(words)))


# ---------------------------------------------------------------- experiments
@pytest.mark.parametrize("paper", NAMES)
def test_a_file_says_what_its_experiments_are_and_how_to_run_one(paper: str) -> None:
    """A comment beside the name of each, or a line above it."""
    text = (CONF / "paper" / f"{paper}.yaml").read_text()
    head, _, experiments = text.partition("\nexperiments:\n")
    assert f"python run.py experiment={paper}/NAME" in head.splitlines()[0]
    for name in presets.names("experiment", paper):
        line = re.search(rf"(  # \S.*\n)?^  {name}:(.*)$", experiments, re.MULTILINE)
        assert line and (line[1] or "  # " in line[2]), name


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_launch_of_an_experiment_has_its_name(name: str) -> None:
    preset = presets.find("experiment", name)
    assert preset is not None and preset.grid == name.replace("/", "-")


def sweep_of(name: str) -> dict[str, list[str]]:
    preset = presets.find("experiment", name)
    assert preset is not None
    return {
        str(key): list(sweeps.values(str(key), str(values)).values())
        for key, values in preset.hydra.sweeper.params.items()
    }


def one_of_each(name: str) -> tuple[dict[str, str], int]:
    """One dataset, method and seed, and how many points are left."""
    swept = sweep_of(name)
    one = {key: swept[key][0] for key in ("dataset", "method", "seed") if key in swept}
    return one, math.prod(len(values) for key, values in swept.items() if key not in one)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_sweeps_what_there_is(name: str) -> None:
    swept = sweep_of(name)
    assert set(swept["dataset"]) <= set(external.catalogue())
    assert set(swept["method"]) <= set(registry.names())


@pytest.mark.parametrize("extended", ["none", "mnist"])
def test_an_entry_extends_one_that_extends_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, extended: str
) -> None:
    (tmp_path / "paper").mkdir()
    rates = f"rates: {{mnist: {{extends: bibtex}}, bibtex: {{}}, other: {{extends: {extended}}}}}"
    (tmp_path / "paper" / "tiny.yaml").write_text(rates)
    monkeypatch.setattr(options, "folder", lambda: tmp_path)
    with pytest.raises(UserError, match=f"tiny.yaml: other extends {extended}, which"):
        presets.names("rates", "tiny")


@pytest.mark.slow
@pytest.mark.parametrize("name", {it.partition("/")[0]: it for it in EXPERIMENTS}.values())
def test_an_experiment_is_launched_by_its_name(workspace: Workspace, name: str) -> None:
    one, points = one_of_each(name)
    words = [f"{key}={value}" for key, value in one.items()]
    done = workspace.run(f"experiment={name}", *words, "plan=true", "data_dir=nowhere").succeeded()
    *rows, total = done.out.splitlines()
    cells = "1 cell" if points == 1 else f"{points} cells"
    assert re.fullmatch(rf"{cells}, \d+ to run; nothing was run \(plan=true\)", total), done.text
    if points <= LISTED:
        runnable = [row for row in rows if row.split()[1:3] != ["no", "data"]]
        assert len(rows) == points and f" {len(runnable)} to run" in total, done.text
    assert not (workspace.path / "runs" / "cells").exists()


@pytest.mark.parametrize("paper", NAMES)
def test_every_grid_of_a_paper_has_its_experiment(paper: str) -> None:
    every = find(paper).grids
    grids = [grid.name for grid in every]
    experiments = sorted([*grids, *(name for grid in every for name in grid.also)])
    assert experiments == presets.names("experiment", paper)
    for number, grid in enumerate(every):
        if grid.rates_from:
            source = next(it for it in every if it.name == grid.rates_from)
            assert source.part == "tuning"
            assert grid.part == "runs" or grids.index(source.name) < number


# ---------------------------------------------------------------- variants
@pytest.mark.parametrize("variant", ["paper", "code"])
@pytest.mark.parametrize(
    ("dataset", "method"),
    [*((it, "umax") for it in ALL), *(("mnist", it) for it in METHODS.values())],
)
def test_what_both_readings_share(dataset: str, method: str, variant: str) -> None:
    config = read(f"variant=umax/{variant}", f"dataset={dataset}", f"method={method}")
    protocol = config.dataset.protocol
    whole = dataset == "citeulike"  # not in the paper: not truncated
    features = {"mnist": 780, "citeulike": 0}.get(dataset, 10000)
    assert (protocol.features, protocol.rows) == (features, 0 if whole else 100000)
    assert protocol.row_norm == "l2"
    assert not config.method.bias
    assert config.method.lr_decay == 0.9
    assert config.budget.epochs == 50
    assert config.evaluation.softmax_twice != whole


SLOW = [pytest.param(it, marks=pytest.mark.slow) for it in ("bibtex", "delicious")]


@pytest.mark.parametrize("dataset", ["mnist", "eurlex", *SLOW])
def test_paper(dataset: str) -> None:
    for method in METHODS.values():
        config = read("variant=umax/paper", f"dataset={dataset}", f"method={method}", "seed=3")
        settings = config.method
        assert (settings.order, settings.passes) == ("shuffled", 1)
        assert config.dataset.protocol.split == "given"
        if method in UMAX:
            assert (settings.batch_size, settings.negatives, settings.sampler, settings.u0) == (
                1,
                1,
                "others",
                "log_classes",
            )
        else:
            assert (settings.batch_size, settings.negatives, settings.sampler) == (100, 5, "shared")


@pytest.mark.parametrize("dataset", ["mnist", "eurlex", *SLOW])
def test_code(dataset: str) -> None:
    for method in METHODS.values():
        config = read("variant=umax/code", f"dataset={dataset}", f"method={method}", "seed=3")
        own, protocol = config.method, config.dataset.protocol
        assert own.order == "file"
        if method in ("umax", "vanilla"):
            assert (own.batch_size, own.negatives, own.sampler, own.u0) == (
                1,
                5,
                "drop_hits",
                "zero",
            )
            assert own.passes == 1
        elif method == "implicit":
            assert (own.batch_size, own.negatives, own.sampler, own.u0) == (1, 1, "any", "zero")
            assert own.passes == 3
        else:
            assert (own.batch_size, own.negatives, own.sampler, own.passes) == (100, 5, "shared", 1)
        if dataset in ("bibtex", "delicious"):
            assert (protocol.split, protocol.split_train) == ("random", 0.75)
            assert protocol.split_seed == 3
        else:
            assert protocol.split == "given"


def test_readings_of_memoir() -> None:
    for method, strengths in {"memoir_l2": (1, 1), "memoir_l1": (1e-6, 5e-6)}.items():
        words = f"method={method}", "dataset=20news"
        text, code = (read(f"variant=memoir/{it}", *words) for it in ("paper", "code"))
        for made, strength, T in zip((text, code), strengths, (35, 5), strict=True):
            protocol, own = made.dataset.protocol, made.method
            assert (protocol.tfidf, protocol.row_norm, protocol.constant) == (True, "l2", 1)
            assert (own.iterations, own.slowdown, own.strength) == (T, 0.02, strength)
        own = text.method
        assert (own.hinge, own.order, own.batch) == (True, "iid", "sum")
        assert (own.margins, own.prediction) == ("current", "inner")
        own = code.method
        assert (own.hinge, own.order, own.batch) == (method == "memoir_l1", "balanced", "mean")
        assert (own.margins, own.prediction) == ("before", "cosine")


def test_what_is_said_wins_over_a_reading() -> None:
    words = "variant=umax/code", "dataset=bibtex", "method=umax"
    more = (
        "method.negatives=2",
        "method.u0=log_classes",
        "budget.epochs=3",
        "dataset.protocol.split_seed=9",
    )
    made = read(*words, *more, "dataset.protocol.row_norm=none", "seed=1")
    plain = read(*words, "seed=1")
    assert (made.method.negatives, made.method.u0, made.budget.epochs) == (2, "log_classes", 3)
    assert (made.dataset.protocol.split_seed, made.dataset.protocol.row_norm) == (9, "none")
    made.method.negatives, made.method.u0, made.budget.epochs = 5, "zero", 50.0
    made.dataset.protocol.split_seed, made.dataset.protocol.row_norm = 1, "l2"
    assert asdict(made) == asdict(plain)


def test_another_reading_than_the_experiments() -> None:
    words = "experiment=umax/table3_code", "dataset=mnist", "method=umax"
    assert read(*words).method.negatives == 5
    assert read(*words, "variant=umax/paper").method.negatives == 1
    assert read(*words, "method.lr=7").method.lr == 7


# ---------------------------------------------------------------- rates
@pytest.mark.slow
def test_the_rates_are_those_of_table_2() -> None:
    printed = published.numbers().query("paper == 'umax' and table == 'Table 2'")
    assert len(printed) == len(DATASETS) * len(METHODS)
    for row in printed.to_dict("records"):
        dataset, method = DATASETS[row["dataset"]], METHODS[row["method"]]
        config = read("rates=umax/table2", f"dataset={dataset}", f"method={method}")
        # The run behind the ratio that Table 3 prints had another rate there than Table 2 prints.
        exception = (row["dataset"], row["method"]) == ("Eurlex", "Implicit SGD")
        assert config.method.lr == (1.0 if exception else float(row["value"]))


def test_a_rate_that_is_said_wins() -> None:
    assert read("rates=umax/table2", "dataset=mnist", "method.lr=3").method.lr == 3
