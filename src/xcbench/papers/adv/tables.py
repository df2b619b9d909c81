"""The tables of the adversarial-softmax paper, and those that it lacks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from xcbench.papers.adv.frames import (
    SAMPLING,
    TUNED,
    VALIDATION,
    accuracy,
    cells,
    likelihood,
    printed,
    reached,
    run,
)
from xcbench.papers.adv.names import (
    DATASETS,
    EURLEX,
    HERE,
    METHODS,
    OBJECTIVES,
    PRIORS,
    PROPOSED,
    SAMPLERS,
    SHOWN,
)
from xcbench.papers.frames import Values, part, values
from xcbench.papers.report import all_but
from xcbench.papers.section import Table
from xcbench.report.formats import NONE
from xcbench.report.summary import ENDED, at_best_rate, edge

LEVELS = (0.5, 0.75, 0.9)  # of the highest accuracy at which any method of Figure 1 ends
ORDER = 10.0  # "an order of magnitude"
LOG_LIK, ACC = "log lik", "acc"


def ended(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of the cells that ended."""
    return rows[rows["status"].isin(ENDED)]


def table(caption: str, lines: list[dict[str, str]], columns: list[str], words: int) -> Table:
    """Table of lines with these columns, of which so many at the left are words."""
    frame = pd.DataFrame(lines, columns=columns)
    return Table(caption, frame, all_but(frame, *columns[:words]))


def table1(results: pd.DataFrame) -> Table:
    """Tuned rates and regularisers, beside those that the paper prints for its own datasets."""
    lines = []
    for dataset in HERE:
        rows = part(results, "table1", dataset=dataset)
        searches = rows.groupby(["method", SAMPLING]) if len(rows) else ()
        for (method, sampling), search in searches:
            if len(ended(search)):
                line = {"dataset": SHOWN[dataset], "method": _label(str(method), str(sampling))}
                lines.append(line | _tuned(search) | _printed(str(method), str(sampling)))
    columns = ["dataset", "method", "rate", "ends its grid", "regulariser", "ends it"]
    columns += ["points", "validation log loss", *DATASETS]
    caption = (
        "Table 1: rate and regulariser of every method with the lowest log loss on the validation "
        "rows, each cell at its best checkpoint (seed 0); the regulariser is lambda of Eq. 6, of "
        "A&R and OVE the prior variance. A rate's grid is extended by decades while the best one "
        "ends it. At the right what the paper prints for its own data, of another scale"
    )
    return table(caption, lines, columns, 2)


def _tuned(search: pd.DataFrame) -> dict[str, str]:
    best = at_best_rate(search, VALIDATION, TUNED).iloc[0]
    name = "method.ridge" if best["method"] in PRIORS else "method.score_ridge"
    beside = search[search[name] == best[name]]
    tried = search[name].unique()
    strength = 1 / best[name] if best["method"] in PRIORS else best[name]
    return {
        "rate": f"{best['lr']:g}",
        "ends its grid": edge(beside, best["lr"]) or "no",
        "regulariser": f"{strength:g}",
        "ends it": "yes" if len(tried) > 1 and best[name] in (tried.min(), tried.max()) else "no",
        "points": str(len(search)),
        "validation log loss": f"{best[VALIDATION]:.4f}",
    }


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


def _label(method: str, sampling: str) -> str:
    """Name of an objective with a sampler."""
    drawn = SAMPLERS.get(sampling, "uniform")  # `others` is uniform without the true class
    return f"{OBJECTIVES[method]}, {drawn}" if method in OBJECTIVES else method


def methods(results: pd.DataFrame) -> Table:
    """Where the methods of Figure 1 end, each cell at its best checkpoint."""
    lines = []
    for dataset in HERE:
        for name, own in METHODS.items():
            rows = run(results, "figure1", dataset, *own)
            if len(ended(rows)):
                lines.append(
                    {
                        "dataset": SHOWN[dataset],
                        "method": name,
                        LOG_LIK: likelihood(rows).text(),
                        ACC: accuracy(rows).text(),
                        "at epoch": values(rows, "epoch").text(1),
                        "training seconds until then": values(rows, "train_seconds").text(1),
                    }
                )
    columns = ["dataset", "method", LOG_LIK, ACC, "at epoch", "training seconds until then"]
    caption = (
        "Figure 1 in numbers: log likelihood (nats a test row) and accuracy at the checkpoint of "
        "the lowest validation log loss; seconds, which are for orientation, include the tree"
    )
    return table(caption, lines, columns, 2)


# ---------------------------------------------------------------- who is first
def race(results: pd.DataFrame, curves: pd.DataFrame) -> Table:
    """Training seconds to given accuracies, and how many times as long as the proposed method."""
    lines = []
    for dataset in HERE:
        for level, found in raced(results, curves, dataset):
            first = found.get(PROPOSED, Values(()))
            for name, own in found.items():
                factor = own.mean / first.mean if own.values and first.values else np.nan
                lines.append(
                    {
                        "dataset": SHOWN[dataset],
                        "accuracy": f"{level:.3f}",
                        "method": name,
                        "seconds": own.text(2) if own.values else "never",
                        "times the proposed": NONE if np.isnan(factor) else f"{factor:.2f}",
                    }
                )
    columns = ["dataset", "accuracy", "method", "seconds", "times the proposed"]
    shares = ", ".join(f"{level:.0%}" for level in LEVELS)
    caption = (
        f"Training seconds to {shares} of the highest accuracy at which any of the methods ends "
        "(of the same runs, on the same machine; the tree's fit included); mean over the seeds "
        "that reach it"
    )
    return table(caption, lines, columns, 3)


def raced(
    results: pd.DataFrame, curves: pd.DataFrame, dataset: str
) -> Iterator[tuple[float, dict[str, Values]]]:
    """Accuracy levels, each with the seconds of the methods to it."""
    chosen = {name: run(results, "figure1", dataset, *own) for name, own in METHODS.items()}
    chosen = {name: ended(rows) for name, rows in chosen.items() if len(ended(rows))}
    if not chosen:
        return
    highest = max(accuracy(rows).mean for rows in chosen.values())
    for share in LEVELS:
        level = share * highest
        yield level, {name: _seconds(rows, curves, level) for name, rows in chosen.items()}


def _seconds(rows: pd.DataFrame, curves: pd.DataFrame, level: float) -> Values:
    found = [reached(curves[curves["cell"] == cell], level) for cell in rows["cell"]]
    return Values(tuple(seconds for seconds in found if not np.isnan(seconds)))


def verdict(results: pd.DataFrame, curves: pd.DataFrame) -> list[str]:
    """What the race says about the claim of an order of magnitude, a sentence a dataset."""
    said = []
    for dataset in HERE:
        levels = [
            (level, found)
            for level, found in raced(results, curves, dataset)
            if PROPOSED in found and len(found) > 1
        ]
        for level, found in levels[-1:]:
            others = {name: own for name, own in found.items() if name != PROPOSED}
            said.append(f"{SHOWN[dataset]}: {_said(level, found[PROPOSED], others)}")
    return said


def _said(level: float, proposed: Values, others: dict[str, Values]) -> str:
    """The claim at one accuracy, plainly."""
    there = {name: own.mean for name, own in others.items() if own.values}
    if not proposed.values:
        return (
            f"adversarial negative sampling never reaches an accuracy of {level:.3f}, "
            f"{', '.join(there) or 'nor does any other method'}{' does' if there else ''}; "
            "the claim of an order of magnitude is not confirmed."
        )
    if not there:
        return (
            f"adversarial negative sampling alone reaches an accuracy of {level:.3f}, after "
            f"{proposed.mean:.2g} training seconds."
        )
    name = min(there, key=lambda it: there[it])
    factor = there[name] / proposed.mean
    word = "is confirmed" if factor >= ORDER else "is not confirmed"
    return (
        f"to an accuracy of {level:.3f} adversarial negative sampling takes {proposed.mean:.2g} "
        f"training seconds, the best other method, {name}, {there[name]:.2g}: {factor:.2f} times "
        f"as long. The claim of an order of magnitude {word}."
    )


# ---------------------------------------------------------------- what log p_n does
def bias(results: pd.DataFrame) -> Table:
    """Predictions with and without log p_n, at the same checkpoint."""
    lines = []
    for dataset in HERE:
        for sampling, name in SAMPLERS.items():
            rows = run(results, "figure1", dataset, "negative_sampling", sampling)
            if not len(ended(rows)):
                continue
            with_it, without = (
                [measure(rows, suffix) for measure in (likelihood, accuracy)]
                for suffix in ("", "_uncorrected")
            )
            line = {"dataset": SHOWN[dataset], "noise": name}
            for what, corrected, bare in zip((LOG_LIK, ACC), with_it, without, strict=True):
                line[f"{what}, removed"] = corrected.text()
                line[f"{what}, bare"] = bare.text()
                line[f"{what}, gain"] = f"{corrected.mean - bare.mean:+.4f}"
            lines.append(line)
    columns = ["dataset", "noise"]
    columns += [f"{what}, {how}" for what in (LOG_LIK, ACC) for how in ("removed", "bare", "gain")]
    caption = (
        "Bias removal (Eq. 5): predictions of negative sampling by f + log p_n, and by f alone, of "
        "the same weights; with uniform noise both are the same"
    )
    return table(caption, lines, columns, 2)


def crossed(results: pd.DataFrame) -> Table:
    """Every objective with every sampler."""
    lines = []
    for dataset in HERE:
        for method, name in OBJECTIVES.items():
            line = {"dataset": SHOWN[dataset], "objective": name}
            for sampling, drawn in SAMPLERS.items():
                own = "others" if sampling == "uniform" and method in PRIORS else sampling
                grids = [
                    run(results, grid, dataset, method, own) for grid in ("figure1", "crossed")
                ]
                rows = pd.concat(grids).drop_duplicates("cell")
                line[f"{LOG_LIK}, {drawn}"] = likelihood(rows).text()
                line[f"{ACC}, {drawn}"] = accuracy(rows).text()
            if set(line.values()) - {SHOWN[dataset], name, NONE, "not run: data"}:
                lines.append(line)
    columns = ["dataset", "objective"]
    columns += [f"{what}, {drawn}" for what in (LOG_LIK, ACC) for drawn in SAMPLERS.values()]
    caption = (
        "Samplers crossed with objectives, each tuned by itself: A&R and OVE draw by frequency or "
        "from the tree other classes than the true one, weighted so that sums stay unbiased; NCE "
        "and negative sampling take the same distributions as noise"
    )
    return table(caption, lines, columns, 2)


def readings(results: pd.DataFrame) -> Table:
    """The text beside the published code, and NCE from normalised scores."""
    wanted = [("figure1", "negative_sampling", sampling, "as text") for sampling in SAMPLERS] + [
        ("as_published", "negative_sampling", sampling, "as published") for sampling in SAMPLERS
    ]
    wanted += [
        ("figure1", "nce", "tree", "biases start near 0"),
        ("nce_normalised", "nce", "tree", "biases start at -log K"),
    ]
    lines = []
    for dataset in HERE:
        for grid, method, sampling, how in wanted:
            rows = run(results, grid, dataset, method, sampling)
            if len(ended(rows)):
                lines.append(
                    {
                        "dataset": SHOWN[dataset],
                        "method": _label(method, sampling),
                        "settings": how,
                        LOG_LIK: likelihood(rows).text(),
                        ACC: accuracy(rows).text(),
                    }
                )
    lines.sort(key=lambda line: (line["dataset"], line["method"]))
    columns = ["dataset", "method", "settings", LOG_LIK, ACC]
    caption = "The text and the published code at the same rates and regularisers; starts of NCE"
    return table(caption, lines, columns, 3)


def pairs(results: pd.DataFrame) -> Table:
    """Rows made of an article and a tag each."""
    lines = []
    every = part(results, "pairs", dataset="citeulike")
    for sampling, name in SAMPLERS.items():
        own = ended(cells(every, "negative_sampling", sampling))
        for classes, rows in own.groupby("shape.classes") if len(own) else ():
            lines.append(
                {
                    "noise": name,
                    "K": f"{classes:.0f}",
                    "training rows": f"{rows['shape.train'].iloc[0]:.0f}",
                    LOG_LIK: likelihood(rows).text(),
                    f"{LOG_LIK}, bare": likelihood(rows, "_uncorrected").text(),
                    "precision at 1": values(rows, "test_precision_at_1").text(),
                    "bare": values(rows, "test_precision_at_1_uncorrected").text(),
                    "training seconds": values(rows, "train_seconds").text(0),
                }
            )
    lines.sort(key=lambda line: int(line["K"]))
    columns = ["noise", "K", "training rows", LOG_LIK, f"{LOG_LIK}, bare"]
    columns += ["precision at 1", "bare", "training seconds"]
    caption = (
        "citeulike, a row per article and tag: tags of at least ten articles, and all; rates of "
        "one tag an article; seconds until the best checkpoint, for orientation"
    )
    return table(caption, lines, columns, 1)


def appendix(results: pd.DataFrame) -> Table:
    """Exact softmax beside uniform negative sampling."""
    lines = []
    for dataset in ("20news", "citeulike", "eurlex"):
        exact, uniform = (
            run(results, "appendix_a2", dataset, *own)
            for own in (("softmax", ""), ("negative_sampling", "uniform"))
        )
        line = {"dataset": SHOWN.get(dataset, EURLEX)}
        for what, measure in ((ACC, accuracy), (LOG_LIK, likelihood)):
            found = measure(exact), measure(uniform)
            line[f"{what}, softmax"], line[f"{what}, uniform"] = (own.text() for own in found)
            gap = found[1].mean - found[0].mean
            line[f"{what}, difference"] = NONE if np.isnan(gap) else f"{gap:+.4f}"
        lines.append(line)
    known = (
        printed("Appendix A.2", EURLEX, name, "test_accuracy")
        for name in ("full softmax", "uniform neg. sampling")
    )
    first, second = known
    lines.append(
        {
            "dataset": f"{EURLEX}, printed",
            f"{ACC}, softmax": f"{first:.3f}",
            f"{ACC}, uniform": f"{second:.3f}",
            f"{ACC}, difference": f"{second - first:+.3f}",
        }
    )
    how = ("softmax", "uniform", "difference")
    columns = ["dataset", *(f"{what}, {name}" for what in (ACC, LOG_LIK) for name in how)]
    caption = (
        "Appendix A.2: what uniform negative sampling loses against exact softmax, both by "
        "minibatches and Adagrad, tuned on validation rows, at their best checkpoints"
    )
    return table(caption, lines, columns, 1)
