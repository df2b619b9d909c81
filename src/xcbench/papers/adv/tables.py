"""The tables of the adversarial-softmax paper, and those that it lacks."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

import pandas as pd

from xcbench.papers import Measured
from xcbench.papers.adv import paper
from xcbench.papers.adv.frames import (
    ACCURACY,
    LIKELIHOOD,
    TUNED,
    VALIDATION,
    VALIDATION_ERROR,
    at_start,
    cells,
    compared,
    printed,
    run,
)
from xcbench.papers.adv.names import (
    DATASETS,
    EURLEX,
    HERE,
    METHODS,
    OBJECTIVES,
    PRIORS,
    SAMPLERS,
    SHOWN,
)
from xcbench.papers.frames import Cell, difference, ended, mean, number, once, part, pivot, values
from xcbench.papers.run import searches
from xcbench.report.formats import NONE
from xcbench.report.summary import at_best_rate, edge

CROSSED = "citeulike"
LAMBDA_N = 0.1  # of the paper's trees
PCA, STEP, L2 = (f"method.tree.{name}" for name in ("pca", "discrete_step", "l2"))
SCORES = {"log lik": LIKELIHOOD, "acc": ACCURACY}
ENDS = {name: mean(column) for name, column in SCORES.items()}


def table1(measured: Measured) -> pd.DataFrame:
    """Tuned rates and regularisers, beside those that the paper prints for its own datasets."""
    lines = []
    for dataset in HERE:
        rows = part(measured.results, "table1", dataset=dataset)
        for (_, *own), search in searches(paper.grids[0], rows):
            if len(ended(search)):
                line = {"dataset": SHOWN[dataset], "method": _label(*own)}
                lines.append(line | _tuned(search) | _printed(own[0], own[1]))
    columns = ["dataset", "method", "rate", "ends its grid", "regulariser", "ends it", "points"]
    columns += ["validation log loss", "validation error", "by error", "its error", *DATASETS]
    return pd.DataFrame(lines, columns=columns)


def _tuned(search: pd.DataFrame) -> dict[str, str]:
    criteria = VALIDATION, VALIDATION_ERROR
    best, by_error = (at_best_rate(search, it, TUNED).iloc[0] for it in criteria)
    name = _regulariser(best["method"])
    beside = search[search[name] == best[name]]
    tried = search.loc[search["lr"] == best["lr"], name].unique()
    return {
        "rate": f"{best['lr']:g}",
        "ends its grid": edge(beside, best["lr"]) or "no",
        "regulariser": _strength(best),
        "ends it": "yes" if len(tried) > 1 and best[name] in (tried.min(), tried.max()) else "no",
        "points": str(len(search)),
        "validation log loss": f"{best[VALIDATION]:.4f}",
        "validation error": f"{best[VALIDATION_ERROR]:.4f}",
        "by error": f"{by_error['lr']:g}, {_strength(by_error)}",
        "its error": f"{by_error[VALIDATION_ERROR]:.4f}",
    }


def _regulariser(method: str) -> str:
    """The setting that is tuned with the rate."""
    return "method.l2" if method in (*PRIORS, "softmax") else "method.score_l2"


def _strength(row: pd.Series) -> str:
    """The regulariser, of a prior its variance."""
    value = row[_regulariser(row["method"])]
    return f"{1 / value if row['method'] in PRIORS else value:.3g}"


def _printed(method: str, sampling: str) -> dict[str, str]:
    names = [name for name, own in METHODS.items() if own == (method, sampling)]
    kind = "prior_variance_sigma0_sq" if method in PRIORS else "regulariser_lambda"
    found = {}
    for dataset in DATASETS if names else ():
        rate, strength = (
            printed("Table 1", dataset, names[0], metric) for metric in ("learning_rate_rho", kind)
        )
        found[dataset] = f"{rate:g}, {strength:g}"
    return found


def _label(method: str, sampling: str, start: str = "") -> str:
    """Name of an objective with a sampler."""
    drawn = SAMPLERS.get(sampling, "uniform")  # `others` is uniform without the true class
    begun = ", from -log K" if start == "normalised" else ""
    return f"{OBJECTIVES[method]}, {drawn}{begun}" if method in OBJECTIVES else method


def methods(measured: Measured) -> pd.DataFrame:
    """Where the methods of Figure 1 end, each cell at its best checkpoint."""
    return pivot(
        ("dataset", "method"),
        (
            ((SHOWN[dataset], name), rows)
            for dataset in HERE
            for name, rows in compared(measured.results, dataset).items()
        ),
        {
            "log lik": ENDS["log lik"],
            "at epoch": mean("epoch", 1),
            "after seconds": mean("train_seconds", 1),
            "acc": ENDS["acc"],
            "its epoch": mean("error_epoch", 1),
        },
    )


def bias(measured: Measured) -> pd.DataFrame:
    """Predictions with and without log p_n, at the same checkpoint."""
    shown: dict[str, Cell] = {}
    for name, column in SCORES.items():
        bare = f"{column}_uncorrected"
        shown[f"{name}, removed"] = mean(column)
        shown[f"{name}, bare"] = mean(bare)
        shown[f"{name}, gain"] = difference(column, bare, sign="+z")
    groups = (
        (
            (SHOWN[dataset], name),
            run(measured.results, "figure1", dataset, "negative_sampling", sampling),
        )
        for dataset, (sampling, name) in product(HERE, SAMPLERS.items())
    )
    return pivot(("dataset", "noise"), groups, shown)


def crossed(measured: Measured) -> pd.DataFrame:
    """Every objective with every sampler."""
    lines = []
    for method, name in OBJECTIVES.items():
        line, ran = {"objective": name}, 0
        for sampling, drawn in SAMPLERS.items():
            own = "others" if sampling == "uniform" and method in PRIORS else sampling
            grids = (
                run(measured.results, grid, CROSSED, method, own) for grid in ("figure1", "crossed")
            )
            rows = pd.concat(grids)
            line |= {f"{what}, {drawn}": cell(rows) for what, cell in ENDS.items()}
            ran += len(ended(rows))
        if ran:
            lines.append(line)
    columns = [f"{what}, {drawn}" for what in ENDS for drawn in SAMPLERS.values()]
    return pd.DataFrame(lines, columns=["objective", *columns])


def variants(measured: Measured) -> pd.DataFrame:
    """The text beside the published code, and NCE from normalised scores."""
    wanted = [
        (grid, "negative_sampling", sampling, how)
        for grid, how in (("figure1", "paper"), ("table1_code", "code"))
        for sampling in SAMPLERS
    ]
    wanted += [
        ("figure1", "nce", "tree", "biases start near 0"),
        ("nce_normalised", "nce", "tree", "biases start at -log K"),
    ]
    groups = (
        (
            (SHOWN[dataset], _label(method, sampling), how),
            run(measured.results, grid, dataset, method, sampling),
        )
        for dataset, (grid, method, sampling, how) in product(HERE, wanted)
    )
    frame = pivot(("dataset", "method", "settings"), groups, ENDS)
    return frame.sort_values(["dataset", "method"], kind="stable")


def pairs(measured: Measured) -> pd.DataFrame:
    """Rows made of an article and a tag each."""
    every = ended(part(measured.results, "pairs", dataset="citeulike"))
    names = {"": "log lik", "_uncorrected": "log lik, bare"}
    shown: dict[str, Cell] = {
        "K": once("shape.classes", ".0f"),
        "training rows": once("shape.train", ".0f"),
        **{name: mean(LIKELIHOOD + suffix) for suffix, name in names.items()},
        "precision at 1": mean("test_precision_at_1"),
        "bare": mean("test_precision_at_1_uncorrected"),
        "fit, s": lambda rows: mean("train_seconds", 1)(at_start(rows, measured.curves)),
        "training seconds": mean("train_seconds", 0),
    }
    groups = (
        ((name,), rows)
        for sampling, name in SAMPLERS.items()
        for _, rows in _by(cells(every, "negative_sampling", sampling), "shape.classes")
    )
    return pivot(("noise",), groups, shown).sort_values(
        "K", key=lambda column: column.astype(int), kind="stable"
    )


def trees(measured: Measured) -> pd.DataFrame:
    """The tree's own predictions, nothing learnt on top of it."""
    every = ended(at_start(part(measured.results, "tree"), measured.curves))
    strengths = sorted(every[L2].unique()) if len(every) else []

    def at(l2: float, cell: Cell) -> Cell:
        return lambda rows: cell(rows[rows[L2] == l2])

    shown = {f"log lik, {l2:g}": at(l2, ENDS["log lik"]) for l2 in strengths}
    shown["acc"] = at(LAMBDA_N, ENDS["acc"])
    shown["nodes that fell"] = at(LAMBDA_N, mean("tree_nodes_fell", 0))
    shown["fit, s"] = at(LAMBDA_N, mean("train_seconds", 1))
    groups = (
        ((SHOWN[dataset], str(pca), str(step).replace("_", " ")), rows)
        for dataset in HERE
        for (pca, step), rows in _by(every[every["dataset"] == dataset], [PCA, STEP])
    )
    return pivot(("dataset", "components", "discrete step"), groups, shown)


def _by(rows: pd.DataFrame, columns: str | list[str]) -> Iterable[tuple[Any, pd.DataFrame]]:
    return rows.groupby(columns) if len(rows) else ()


def appendix(measured: Measured) -> pd.DataFrame:
    """Exact softmax beside uniform negative sampling."""
    how = ("softmax", "uniform", "difference")
    columns = ["dataset", *(f"{what}, {name}" for what in ("acc", "log lik") for name in how)]
    lines: list[list[str]] = []
    for dataset in ("20news", "citeulike", "eurlex"):
        both = [
            run(measured.results, "appendix_a2", dataset, *own)
            for own in (("softmax", ""), ("negative_sampling", "uniform"))
        ]
        line = [SHOWN.get(dataset, EURLEX)]
        for column in (ACCURACY, LIKELIHOOD):
            exact, uniform = (values(rows, column) for rows in both)
            gap = number(uniform.mean - exact.mean, 4, "+")
            line += [exact.text(), uniform.text(), gap]
        lines.append(line)
    first, second = (
        printed("Appendix A.2", EURLEX, name, "test_accuracy")
        for name in ("full softmax", "uniform neg. sampling")
    )
    there = [f"{first:.3f}", f"{second:.3f}", f"{second - first:+.3f}"]
    lines.append([f"{EURLEX}, printed", *there, NONE, NONE, NONE])
    return pd.DataFrame(lines, columns=columns)
