"""The tables of the U-max paper, and those that it lacks."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd

from xcbench.core.metrics import of_column
from xcbench.papers import LOSS, Grid, Measured, published
from xcbench.papers.frames import ended, values
from xcbench.papers.umax.columns import chosen_rate
from xcbench.papers.umax.experiments import (
    FIGURE3,
    OPTIMUM,
    STEPS_DRAWN,
    STEPS_FACTOR,
    STEPS_ORDER,
    STEPS_SPLIT,
    STEPS_SPLIT_BIASED,
    STEPS_U0,
    STEPS_WORK,
    TABLE2_CODE,
    TABLE2_PAPER,
    TABLE3_CODE,
    TABLE3_PAPER,
    TABLE3_TUNED,
)
from xcbench.papers.umax.names import (
    BIASED,
    DATASET_NAMES,
    DATASETS,
    ERROR,
    METHODS,
    PUBLISHED_NAME,
    TWICE,
    VARIANTS,
    recorded,
)
from xcbench.papers.umax.stored import TUNED
from xcbench.papers.verdicts import DEVIATES, NO_DATA, Printed, agreement
from xcbench.show.formats import NONE
from xcbench.show.summary import at_best_rate, edge

SEARCH = "learning-rate search on first 10% of the data"
LAST = 49  # zero-based epoch of the last stored checkpoint
PAIRS = tuple(product(DATASETS.items(), METHODS.items()))  # names as printed and ours


def _stored_ends() -> pd.DataFrame:
    """Last checkpoints of the authors' stored runs, by dataset and method as printed."""
    authors = published.author_runs()
    end = authors[(authors["run"] == TUNED) & (authors["epoch_index_zero_based"] == LAST)]
    return end.set_index(["dataset", "method"])


def stored_runs(measured: Measured) -> pd.DataFrame:
    """Final losses and errors beside the runs that the authors stored."""
    ends, lines = _stored_ends().to_dict("index"), []
    for (printed, dataset), (name, method) in PAIRS:
        stored = ends.get((printed, name))
        if stored is None:
            continue
        rows = TABLE3_CODE.rows(measured.results, dataset=dataset, method=method)
        loss = values(rows, recorded(method))
        text = f"{stored['train_log_loss_recorded']:.4f}"
        verdict = DEVIATES if loss.diverged else NO_DATA
        if loss.values:
            beside = [ends.get((printed, it)) for it in METHODS if it != name]
            others = [end["train_log_loss_recorded"] for end in beside if end]
            verdict = agreement(Printed(text, others=others), loss.values)
        lines.append(
            {
                "dataset": printed,
                "method": name,
                "stored": text,
                "measured, same evaluation": loss.text(),
                "difference": _percent(loss.mean, float(text)),
                "verdict": verdict,
                "correct log loss": values(rows, LOSS).text(),
                "stored train error": f"{stored['train_error']:.4f}",
                "train error": values(rows, ERROR).text(),
            }
        )
    return pd.DataFrame(lines)


def _percent(value: float, base: float) -> str:
    return NONE if np.isnan(value) else f"{100 * (value / base - 1):+.1f} %"


def rates(measured: Measured) -> pd.DataFrame:
    """Printed rates, the authors' stored search, and ours under both variants."""
    authors, lines = published.author_runs(), []
    search = authors[authors["run"] == SEARCH].dropna(subset=["train_log_loss_recorded"])
    search = search.sort_values("train_log_loss_recorded", key=of_column(LOSS).key)
    for (printed, dataset), (name, method) in PAIRS:
        trials = search[(search["dataset"] == printed) & (search["method"] == name)]
        text = published.number("umax", "Table 2", printed, name, "tuned_initial_learning_rate")
        line = {"dataset": printed, "method": name, "printed": f"{text:g}"}
        line["best of the stored search"] = _rate(trials["initial_learning_rate"].head(1))
        for variant in VARIANTS:
            grid = TABLE2_CODE if variant == "code" else TABLE2_PAPER
            rows = grid.rows(measured.results, dataset=dataset, method=method)
            rate = chosen_rate(rows, recorded(method, variant))
            shown = _at_edge(rows, rate) if np.isfinite(rate) else NO_DATA
            line[f"ours, {variant}"] = shown
        lines.append(line)
    return pd.DataFrame(lines)


def _rate(rates: pd.Series) -> str:
    """The rate that all rows have; a dash where they are none, or differ."""
    return f"{rates.iloc[0]:g}" if rates.nunique() == 1 else NONE


def _at_edge(rows: pd.DataFrame, rate: float) -> str:
    """A rate, and whether it ends its grid."""
    where = edge(rows, rate)
    return f"{rate:g}" + (f" ({where} edge)" if where else "")


# ---------------------------------------------------------------- from the text to the print
STEPS: dict[
    str, tuple[Grid | None, Grid | None]
] = {  # what changes → its grid for the double sums, and for the biased methods
    "Algorithm 1: drawn rows, the printed rate times N": (STEPS_FACTOR, None),
    "less the factor N": (STEPS_DRAWN, None),
    "passes over the rows, our tuned rate": (TABLE3_TUNED, TABLE3_TUNED),
    "+ the printed rate": (TABLE3_PAPER, TABLE3_PAPER),
    "+ random 75 % of all rows": (STEPS_SPLIT, STEPS_SPLIT_BIASED),
    "+ rows in file order": (STEPS_ORDER, TABLE3_CODE),
    "+ u starts at 0": (STEPS_U0, None),
    "+ 5 classes, or 3 passes": (STEPS_WORK, None),
    "+ draws of the true class": (TABLE3_CODE, None),
    "+ softmax twice in the evaluation": (None, TABLE3_CODE),
}


def steps(measured: Measured) -> pd.DataFrame:
    """From the text's number to the printed one, a step at a time (final training loss)."""
    stored, lines = _stored_ends()["train_log_loss_recorded"], []
    for printed, (name, method) in product(("MNIST", "Bibtex", "Delicious"), METHODS.items()):
        line = {"dataset": printed, "method": name}
        for step, grids in STEPS.items():
            grid = grids[method in BIASED]
            if printed == "MNIST" and step.startswith("+ random"):
                grid = None
            column = TWICE if "twice" in step else LOSS
            wanted = {"dataset": DATASETS[printed], "method": method}
            line[step] = (
                values(grid.rows(measured.results, **wanted), column).text(3) if grid else ""
            )
        line["stored by the authors"] = f"{stored.get((printed, name), np.nan):.3f}"
        lines.append(line)
    return pd.DataFrame(lines)


# ---------------------------------------------------------------- beyond the paper
ENDS = {  # column and digits
    "log loss": (LOSS, 3),
    "train error": (ERROR, 4),
    "test log loss": ("test_log_loss", 3),
    "test error": ("test_error", 4),
}


def beyond(measured: Measured) -> pd.DataFrame:
    """Correct log losses and errors, tuned on a tenth and at the best rate of all, with optimum."""
    lines = []
    for dataset, shown in DATASET_NAMES.items():
        for method, name in PUBLISHED_NAME.items():
            tuned, whole = (
                grid.rows(measured.results, dataset=dataset, method=method)
                for grid in (TABLE3_TUNED, FIGURE3)
            )
            whole = whole[whole["status"] != "skipped"]
            if not (tuned["status"] != "skipped").any() and whole.empty:
                continue
            best = at_best_rate(whole) if len(whole) else whole
            one = best["lr"].nunique() == 1
            lines.append(
                {
                    "dataset": shown,
                    "method": name,
                    "tuned rate": _rate(tuned["lr"]),
                    "log loss, tuned": values(tuned, LOSS).text(3),
                    "best rate": _at_edge(whole, best["lr"].iloc[0]) if one else NONE,
                    **_ends(best),
                }
            )
        optimum = ended(OPTIMUM.rows(measured.results, dataset=dataset)).head(1)
        if len(optimum):
            name = _solver(optimum.iloc[0])
            lines.append({"dataset": shown, "method": name, **_ends(optimum)})
    return pd.DataFrame(lines)


def _ends(rows: pd.DataFrame) -> dict[str, str]:
    return {name: values(rows, column).text(digits) for name, (column, digits) in ENDS.items()}


def _solver(row: pd.Series) -> str:
    if row.get("method.solver") == "minibatch":
        return "exact softmax, minibatches"
    said = isinstance(row["message"], str) and row["message"]
    return "exact softmax, L-BFGS" + (f" ({said})" if said else "")
