"""The tables of the adversarial-softmax paper, and those that it lacks."""

from __future__ import annotations

import numpy as np
import pandas as pd

from xcbench.papers.adv import paper
from xcbench.papers.adv.frames import (
    LOSS,
    TUNED,
    VALIDATION,
    VALIDATION_ERROR,
    accuracy,
    at_start,
    cells,
    compared,
    ended,
    likelihood,
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
from xcbench.papers.frames import part, values
from xcbench.papers.report import all_but
from xcbench.papers.run import searches
from xcbench.papers.section import Table
from xcbench.report.formats import NONE
from xcbench.report.summary import at_best_rate, edge

CROSSED = "citeulike"
LAMBDA_N = 0.1  # of the paper's trees
PCA, STEP, RIDGE = (f"method.tree.{name}" for name in ("pca", "discrete_step", "ridge"))
LOG_LIK, ACC = "log lik", "acc"


def table(caption: str, lines: list[dict[str, str]], columns: list[str], words: int) -> Table:
    """Table of lines with these columns, of which so many at the left are words."""
    frame = pd.DataFrame(lines, columns=columns)
    return Table(caption, frame, all_but(frame, *columns[:words]))


def table1(results: pd.DataFrame) -> Table:
    """Tuned rates and regularisers, beside those that the paper prints for its own datasets."""
    lines = []
    for dataset in HERE:
        for (_, *own), search in searches(paper.grids[0], part(results, "table1", dataset=dataset)):
            if len(ended(search)):
                line = {"dataset": SHOWN[dataset], "method": _label(*own)}
                lines.append(line | _tuned(search) | _printed(own[0], own[1]))
    columns = ["dataset", "method", "rate", "ends its grid", "regulariser", "ends it", "points"]
    columns += ["validation log loss", "validation error", "by error", "its error", *DATASETS]
    caption = (
        "Table 1: rate and regulariser of every method with the lowest log loss on the validation "
        "rows (at most 1,000 of them; seed 0), with the lowest log loss and the lowest error of "
        "that cell's checkpoints; then those of the lowest error, which the runs do not take. The "
        "regulariser is lambda of Eq. 6, of A&R, OVE and U-max the prior variance, of softmax "
        "lambda/2 ||(w, b)||². A search goes on by half decades in either until no neighbour is "
        "better, or for eight rounds. At the right what the paper prints for its own data, of "
        "another scale"
    )
    return table(caption, lines, columns, 2)


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
    return "method.ridge" if method in (*PRIORS, "softmax") else "method.score_ridge"


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


def methods(results: pd.DataFrame) -> Table:
    """Where the methods of Figure 1 end, each cell at its best checkpoint."""
    lines = []
    for dataset in HERE:
        for name, rows in compared(results, dataset).items():
            lines.append(
                {
                    "dataset": SHOWN[dataset],
                    "method": name,
                    LOG_LIK: likelihood(rows).text(),
                    "at epoch": values(rows, "epoch").text(1),
                    "after seconds": values(rows, "train_seconds").text(1),
                    ACC: accuracy(rows).text(),
                    "its epoch": values(rows, "error_epoch").text(1),
                }
            )
    columns = ["dataset", "method", LOG_LIK, "at epoch", "after seconds", ACC, "its epoch"]
    caption = (
        "Figure 1 in numbers: log likelihood (nats a test row) at the checkpoint of the lowest "
        "validation log loss, accuracy at that of the lowest validation error; training seconds, "
        "which are for orientation, include the tree"
    )
    return table(caption, lines, columns, 2)


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
                line[f"{what}, gain"] = f"{corrected.mean - bare.mean:+z.4f}"
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
    for method, name in OBJECTIVES.items():
        line, ran = {"objective": name}, 0
        for sampling, drawn in SAMPLERS.items():
            own = "others" if sampling == "uniform" and method in PRIORS else sampling
            grids = [run(results, grid, CROSSED, method, own) for grid in ("figure1", "crossed")]
            rows = pd.concat(grids)
            line[f"{LOG_LIK}, {drawn}"] = likelihood(rows).text()
            line[f"{ACC}, {drawn}"] = accuracy(rows).text()
            ran += len(ended(rows))
        if ran:
            lines.append(line)
    columns = ["objective"]
    columns += [f"{what}, {drawn}" for what in (LOG_LIK, ACC) for drawn in SAMPLERS.values()]
    caption = (
        f"Samplers crossed with objectives on {CROSSED}, each tuned by itself: A&R, OVE and U-max "
        "draw other classes than the true one, five a row, weighted so that sums stay unbiased, "
        "and run for 50 epochs; NCE and negative sampling take the same distributions as noise, "
        "one class a row, for 100 epochs. Cells of Figure 1 have more checkpoints to stop at (34 "
        "and 31) than the others (20)"
    )
    return table(caption, lines, columns, 1)


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
    caption = (
        "The text and the published code at the same rates and regularisers, tuned for the text. "
        "Several settings differ at once: the code's rate decays and its rows come in the order "
        "of the file; with the tree, its discrete step and half its regulariser; with the other "
        "noises, the scores that the regulariser acts on. All trees are on plain components, "
        "where the code whitens. NCE from -log K is tuned by itself"
    )
    return table(caption, lines, columns, 3)


def pairs(results: pd.DataFrame, curves: pd.DataFrame) -> Table:
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
                    "fit, s": values(at_start(rows, curves), "train_seconds").text(1),
                    "training seconds": values(rows, "train_seconds").text(0),
                }
            )
    lines.sort(key=lambda line: int(line["K"]))
    columns = ["noise", "K", "training rows", LOG_LIK, f"{LOG_LIK}, bare"]
    columns += ["precision at 1", "bare", "fit, s", "training seconds"]
    caption = (
        "citeulike, a row per article and tag: tags of at least ten articles, and all that an "
        "article with words has; one seed, ten epochs, rates of one tag an article, 1,000 test "
        "rows and as many validation rows. Rows of an article differ only in their tag; training "
        "and test rows share no article, validation and test rows do. Likelihoods and seconds are "
        "of the checkpoint of the lowest validation log loss, precisions of that of the lowest "
        "validation error. Seconds, for orientation: those before the first step, which fit the "
        "tree and draw the weights, and those until the best checkpoint"
    )
    return table(caption, lines, columns, 1)


def trees(results: pd.DataFrame, curves: pd.DataFrame) -> Table:
    """The tree's own predictions, nothing learnt on top of it."""
    lines = []
    for dataset in HERE:
        rows = ended(at_start(part(results, "tree", dataset=dataset), curves))
        for (pca, step), own in rows.groupby([PCA, STEP]) if len(rows) else ():
            log_lik = -own.set_index(RIDGE)[LOSS].sort_index()
            printed_one = own[own[RIDGE] == LAMBDA_N]
            lines.append(
                {
                    "dataset": SHOWN[dataset],
                    "components": str(pca),
                    "discrete step": str(step).replace("_", " "),
                    **{f"{LOG_LIK}, {ridge:g}": f"{found:.4f}" for ridge, found in log_lik.items()},
                    ACC: accuracy(printed_one).text(),
                    "nodes that fell": values(printed_one, "tree_nodes_fell").text(0),
                    "fit, s": values(printed_one, "train_seconds").text(1),
                }
            )
    ridges = [name for name in (lines[0] if lines else {}) if name.startswith(LOG_LIK)]
    columns = ["dataset", "components", "discrete step", *ridges, ACC, "nodes that fell", "fit, s"]
    caption = (
        "The adversarial tree alone: test log likelihood of its log p_n by lambda_n; at the "
        f"paper's {LAMBDA_N:g}, accuracy, nodes whose objective fell from one round of the fit to "
        "the next (of all K - 1), and seconds, for orientation. Negative sampling adds log p_n to "
        "its scores, and with them what the tree overfits"
    )
    return table(caption, lines, columns, 3)


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
    first, second = (
        printed("Appendix A.2", EURLEX, name, "test_accuracy")
        for name in ("full softmax", "uniform neg. sampling")
    )
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
        "minibatches and Adagrad, tuned on validation rows, at their best checkpoints (10 epochs "
        "of softmax, 100 of one class a row). Of EURLex our validation rows are a fifth of the "
        "test rows, the authors' a tenth of the training rows"
    )
    return table(caption, lines, columns, 1)
