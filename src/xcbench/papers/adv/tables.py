"""The tables of the adversarial-softmax paper, and those that it lacks."""

from __future__ import annotations

import pandas as pd

from xcbench.papers import Measured
from xcbench.papers.adv import paper
from xcbench.papers.adv.frames import (
    ACCURACY,
    LIKELIHOOD,
    SAMPLING,
    TUNED,
    VALIDATION,
    VALIDATION_ERROR,
    printed,
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
from xcbench.papers.frames import ended, having, number, part, values
from xcbench.papers.run import searches
from xcbench.report.formats import NONE
from xcbench.report.summary import at_best_rate, edge


def table1(measured: Measured) -> pd.DataFrame:
    """Tuned rates and regularisers, beside those that the paper prints for its own datasets."""
    lines = []
    for dataset in HERE:
        rows = part(measured.results, "table1", dataset=dataset)
        for (_, *key), search in searches(paper.grids[0], rows):
            if len(ended(search)):
                line = {"dataset": SHOWN[dataset], "method": _label(*key)}
                lines.append(line | _tuned(search) | _printed(key[0], key[1]))
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
    names = [name for name, pair in METHODS.items() if pair == (method, sampling)]
    kind = "prior_variance_sigma0_sq" if method in PRIORS else "regulariser_lambda"
    texts = {}
    for dataset in DATASETS if names else ():
        rate, strength = (
            printed("Table 1", dataset, names[0], metric) for metric in ("learning_rate_rho", kind)
        )
        texts[dataset] = f"{rate:g}, {strength:g}"
    return texts


def _label(method: str, sampling: str, start: str = "") -> str:
    """Name of an objective with a sampler."""
    drawn = SAMPLERS.get(sampling, "uniform")  # `others` is uniform without the true class
    begun = ", from -log K" if start == "normalised" else ""
    return f"{OBJECTIVES[method]}, {drawn}{begun}" if method in OBJECTIVES else method


def appendix(measured: Measured) -> pd.DataFrame:
    """Exact softmax beside uniform negative sampling."""
    how = ("softmax", "uniform", "difference")
    columns = ["dataset", *(f"{what}, {name}" for what in ("acc", "log lik") for name in how)]
    lines: list[list[str]] = []
    for dataset in ("20news", "citeulike", "eurlex"):
        rows = part(measured.results, "appendix_a2", dataset=dataset)
        drawn = {"method": "negative_sampling", SAMPLING: "uniform"}
        both = [having(rows, labels) for labels in ({"method": "softmax"}, drawn)]
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
