"""The tables of the one-vs-each paper, and those that it lacks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pandas as pd

from xcbench.papers import Measured
from xcbench.papers.frames import having, number, values, within
from xcbench.papers.ove.experiments import TABLE2, TABLE2_ASCENT, TABLE2_BIBTEX_SPLITS, TABLE2_EARLY
from xcbench.papers.ove.names import (
    DATASETS,
    MEASURED,
    METHODS,
    OBJECTIVE,
    SGD,
    SMALL,
    measured,
    printed,
)
from xcbench.show.formats import NONE

SHOWN = {"param_norm": "norm", "test_error": "error", "test_nlpd": "nlpd"}
DIGITS = {"param_norm": 3, "test_error": 4, "test_nlpd": 4}
CLOSE = {"param_norm": 0.05, "test_error": 0.005, "test_nlpd": 0.02}  # asked of the optima
ASKED = {"softmax": "SOFT", "ove": "OVE"}
NAME = {ours: name for name, ours in DATASETS.items()}


def close_at_the_optimum(rows: pd.DataFrame) -> str:
    """Whether an optimum has every printed number as closely as asked (MNIST, 20NEWS)."""
    rows = having(rows, {"grid": "table2", "dataset": ["mnist", "20news"], "method": [*ASKED]})
    if rows.empty:
        return NONE
    dataset, method = (rows[name].iloc[0] for name in ("dataset", "method"))
    there = {it: printed(NAME[dataset], ASKED[method], it) for it in MEASURED}
    names = [it for it in MEASURED if not pd.isna(there[it])]
    apart = [values(rows, MEASURED[it]).mean - there[it] for it in names]
    return within(apart, [CLOSE[it] for it in names])


def splits(of_paper: Measured) -> pd.DataFrame:
    """BIBTEX on random splits: mean ± spread, lowest to highest, beside the printed numbers."""
    lines = []
    for method, metric in product(METHODS, MEASURED):
        rows = TABLE2_BIBTEX_SPLITS.rows(of_paper.results, method=METHODS[method])
        column = MEASURED[metric]
        here, there = values(rows, column), printed("BIBTEX", method, metric)
        if method == SGD or not here.values or pd.isna(there):
            continue
        low, high = min(here.values), max(here.values)
        lines.append(
            {
                "method": method,
                "metric": SHOWN[metric],
                "printed": number(there, 3),
                "given split": measured(
                    of_paper.results, "BIBTEX", method, MEASURED[metric]
                ).text(),
                "random splits": here.text(),
                "lowest to highest": f"{low:.4f} to {high:.4f}",
                "splits": str(len(here.values)),
                "printed lies inside": "yes" if low <= there <= high else "no",
            }
        )
    return pd.DataFrame(lines, columns=None if lines else ["method"])


def early(of_paper: Measured) -> pd.DataFrame:
    """BOUCHARD stopped on its way to the optimum, beside the printed numbers."""
    lines: list[dict[str, str]] = []
    for dataset in SMALL:
        for where, rows in _stops(of_paper.results, DATASETS[dataset]):
            cells = {
                name: values(rows, MEASURED[it]).text(DIGITS[it]) for it, name in SHOWN.items()
            }
            lines.append({"dataset": dataset, "BOUCHARD": where, **cells})
        there = {name: number(printed(dataset, "BOUCHARD", it), 3) for it, name in SHOWN.items()}
        lines.append({"dataset": dataset, "BOUCHARD": "printed", **there})
    return pd.DataFrame(lines)


def _stops(results: pd.DataFrame, dataset: str) -> Iterator[tuple[str, pd.DataFrame]]:
    wanted = {"dataset": dataset, "method": "bouchard"}
    settings = ["method.iterations", "lr", "budget.epochs"]  # no column where nothing was run
    results = results.reindex(columns=results.columns.union(settings))
    for limit, rows in TABLE2_EARLY.rows(results, **wanted).groupby("method.iterations"):
        yield f"L-BFGS, {limit:.0f} iterations", rows
    steps = TABLE2_ASCENT.rows(results, **wanted)
    for way, rows in steps.groupby(steps["lr"] * steps["budget.epochs"]):
        yield f"gradient steps, rate times number {way:.1f}", rows
    yield "optimum", TABLE2.rows(results, **wanted)


def bounds(of_paper: Measured) -> pd.DataFrame:
    """Penalised objectives at their optimum, and where the stochastic one ends."""
    lines = []
    for dataset in SMALL:
        here = {name: measured(of_paper.results, dataset, name, OBJECTIVE) for name in METHODS}
        exact, ove, bouchard = (here[name].mean for name in ("SOFT", "OVE", "BOUCHARD"))
        word = "yes" if exact > ove > bouchard else "no"
        complete = not pd.isna(exact + ove + bouchard)
        texts = [value.text(0) for value in here.values()]
        lines.append([dataset, *texts, word if complete else NONE])
    return pd.DataFrame(lines, columns=["dataset", *METHODS, "SOFT > OVE > BOUCHARD"])
