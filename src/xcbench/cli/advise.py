"""``xcbench advise``: which method to use on a dataset, by a short comparison."""

from __future__ import annotations

import shlex
from pathlib import Path

import pandas as pd

from xcbench.board import advice, comparison, protocol
from xcbench.board.advice import Needs
from xcbench.board.protocol import Conditions, Task
from xcbench.board.results import CHOOSING
from xcbench.cli.command import Request, flag, several
from xcbench.cli.paper import refuse_hydra
from xcbench.committed.results_cache import load
from xcbench.config.overrides import refuse_nameless
from xcbench.errors import UserError
from xcbench.methods import registry
from xcbench.options import multiplied
from xcbench.plan import sweeps
from xcbench.units import count

GRID = "advise"
CONDITIONS = {
    "method.lr": "auto",
    "budget.epochs": "50",
    "evaluation.rows": "500",
    "evaluation.costs": "true",
}
REFUSED = ("grid", "experiment", "variant", "plan", "halving", "rates")
TRAIN = "dataset.train"
LABEL = "dataset.protocol.label"
OTHERS = "dataset.protocol.other_labels"
FEATURES = "dataset.features"
SPLIT = "dataset.protocol.split"


def advise(request: Request) -> int:
    """Compare methods on a dataset for some seconds, and say which to use.

    Settings: ``dataset`` and what belongs to it, ``features``, ``seconds``, ``probabilities``,
    ``predict`` (seconds a row, at most), ``mib`` (of the model, at most), ``method`` (compare only
    these), ``reports_dir``, ``runs_dir``.
    """
    settings = dict(request.settings)
    refuse_hydra(settings)
    for name in (*REFUSED, *(name for name in settings if name.startswith("evaluation."))):
        if name in settings:
            raise UserError(f"{name}={settings[name]} is not possible: advise has its own")
    seconds = _number("seconds", settings.pop("seconds", "60"))
    needs = Needs(
        probabilities=flag("probabilities", settings.pop("probabilities", "false")),
        mib=_number("mib", settings.pop("mib")) if "mib" in settings else None,
        row_seconds=_number("predict", settings.pop("predict")) if "predict" in settings else None,
    )
    if "dataset" not in settings or (settings["dataset"] == "file" and TRAIN not in settings):
        raise UserError("advise needs dataset=NAME, or dataset=file dataset.train=FILE")
    if "," in settings["dataset"]:
        raise UserError(f"dataset={settings['dataset']} is not possible: advise takes one dataset")
    order = _order(Path(settings.pop("reports_dir", "reports")), needs)
    only = several(settings, "method", sorted(order)) or order
    words = {name: settings.pop(name) for name in list(settings) if name.startswith("dataset")}
    features = settings.pop("features", words.get(FEATURES))
    if features is not None:
        words[FEATURES] = multiplied(features)
    refuse_nameless([f"dataset={words['dataset']}"])
    if words["dataset"] == "file" and "dataset.test" not in words:
        words.setdefault(SPLIT, "random")
    conditions_of_cells = {"grid": GRID, **CONDITIONS, **settings}
    with sweeps.hydra(conditions_of_cells):
        conditions = comparison.short(Conditions(protocol.read(), conditions_of_cells), seconds)
        chosen = [name for name in order if name in only]
        launch = comparison.Comparison(conditions, _task(words), seconds, needs, chosen)
        if launch.prepared().multi_label and OTHERS not in words and words.get(LABEL) != "each":
            print(f"of a row's labels one counts; all count with {LABEL}=each")
            words[OTHERS] = "drop"  # no method may see them
            launch.task = _task(words)
        table = launch.run()
    best = advice.best_of_methods(table, needs)
    print(_shown(best))
    print(f"{len(best)} of {count(len(chosen), 'method')} compared; more seconds=… compare more")
    row = advice.choice(table, needs, comparison.RESOLUTION)
    if row is None:
        raise UserError(
            f"none of them meets your requirements: the smallest model has "
            f"{table['model_mib'].min():.3g} MiB, the fastest prediction takes "
            f"{table['row_seconds'].min():.2g} s a row"
        )
    print(f"use {row['method']}: {_why(row, needs)}")
    print(f"next: {_next(row, words, settings)}")
    return 0


def _task(words: dict[str, str]) -> Task:
    settings = (*(f"{name}={value}" for name, value in words.items()), "dataset.missing=error")
    return Task("advise", settings, every_label=words.get(LABEL) == "each")


def _order(reports: Path, needs: Needs) -> list[str]:
    """Methods that may serve, by their ranks on the board's tasks in its shortest time."""
    methods = {name: registry.find(name).thing for name in registry.names() if name != "prior"}
    names = [name for name, it in methods.items() if it.link or not needs.probabilities]
    measure = CHOOSING[advice.measure(needs)]
    board = load(reports / protocol.NAME / "anytime.csv", ["task", "method", "seconds", measure])
    if board.empty:
        print(f"{reports} has no board: methods come in alphabetical order (reports_dir=…)")
    early = board[board["seconds"] == board["seconds"].min()]
    table = early.pivot(index="task", columns="method", values=measure)
    ranks = table.rank(axis="columns", ascending=needs.probabilities).mean().to_dict()
    return sorted(names, key=lambda name: ranks.get(name, len(ranks)))


def _shown(table: pd.DataFrame) -> str:
    best = table.assign(settings=table["settings"].map(_settings))
    return str(
        best.rename(columns={"test_log_loss": "log_loss"}).to_markdown(index=False, floatfmt=".4g")
    )


def _settings(options: dict[str, float]) -> str:
    return " ".join(f"{name}={value:.4g}" for name, value in options.items())


def _why(row: pd.Series, needs: Needs) -> str:
    """What speaks for it."""
    loss = f", log loss {row['test_log_loss']:.3f}" if needs.probabilities else ""
    quick, least = row["train_seconds"] <= comparison.RESOLUTION, f"{comparison.RESOLUTION:g} s"
    return (
        f"accuracy {100 * row['accuracy']:.1f} %{loss} of the rows set aside, "
        f"{comparison.seconds(row['train_seconds'])}; of methods within {advice.NEAR:.0%} of the "
        f"best it {f'is the best that trains in under {least}' if quick else 'trains fastest'}"
    )


def _next(row: pd.Series, words: dict[str, str], settings: dict[str, str]) -> str:
    """The command that trains it on all rows, for the epochs that it may have had here."""
    options = {f"method.{name}": f"{value:.4g}" for name, value in row["settings"].items()}
    epochs = {"budget.epochs": CONDITIONS["budget.epochs"]}
    pairs = {**words, "dataset.missing": "error", "method": row["method"], **options, **epochs}
    return "xcbench run " + shlex.join(f"{name}={it}" for name, it in (pairs | settings).items())


def _number(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise UserError(f"{name}={text} is not possible: it must be a number above 0")
    return value
