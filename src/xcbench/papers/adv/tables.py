"""The tables of the adversarial-softmax paper, those that it lacks, and numbers made of curves."""

from __future__ import annotations

import numpy as np
import pandas as pd

from xcbench.papers import Lines, Measured
from xcbench.papers import columns as c
from xcbench.papers.adv import figures
from xcbench.papers.adv.experiments import (
    APPENDIX_A2,
    BARE,
    DATASETS,
    DRAWS,
    EURLEX,
    FIGURE1,
    HERE,
    OBJECTIVES,
    PRIORS,
    SAMPLERS,
    SAMPLING,
    SCALE,
    SHOWN,
    TABLE1,
    TREE,
    TUNED,
    VALIDATION,
    VALIDATION_ERROR,
    at_best_bare,
    at_start,
    printed,
)
from xcbench.papers.rows import Rows, ended, having, number, values
from xcbench.papers.run import searches
from xcbench.show.formats import NONE
from xcbench.show.summary import at_best_rate, edge
from xcbench.store.ordering import best_first


def table1(measured: Measured) -> Lines:
    """Tuned rates and regularisers, beside those that the paper prints for its own datasets."""
    for dataset in HERE:
        rows = TABLE1.rows(measured.results, dataset=dataset)
        for (_, *key), search in searches(TABLE1, rows):
            if len(ended(search)):
                line = {"dataset": SHOWN[dataset], "method": _label(*key)}
                yield line | _tuned(search) | _printed(key[0], key[1])


def _tuned(search: pd.DataFrame) -> dict[str, str]:
    criteria = VALIDATION, VALIDATION_ERROR
    best, by_error = (at_best_rate(search, it, TUNED).iloc[0] for it in criteria)
    name = _regulariser(best["method"])
    same_regulariser = search[search[name] == best[name]]
    tried = search.loc[search["lr"] == best["lr"], name].unique()
    return {
        "rate": f"{best['lr']:g}",
        "ends its grid": edge(same_regulariser, best["lr"]) or "no",
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
    names = [name for name, pair in DRAWS.items() if pair == (method, sampling)]
    kind = "prior_variance_sigma0_sq" if method in PRIORS else "regulariser_lambda"
    return {
        dataset: ", ".join(
            f"{printed('Table 1', dataset, names[0], metric):g}"
            for metric in ("learning_rate_rho", kind)
        )
        if names
        else NONE
        for dataset in DATASETS
    }


def _label(method: str, sampling: str, start: str = "") -> str:
    """Name of an objective with a sampler."""
    drawn = SAMPLERS.get(sampling, "uniform")  # `others` is uniform without the true class
    begun = ", from -log K" if start == "normalised" else ""
    return f"{OBJECTIVES[method]}, {drawn}{begun}" if method in OBJECTIVES else method


def appendix(measured: Measured) -> Lines:
    """Exact softmax beside uniform negative sampling."""
    for dataset in ("20news", "citeulike", "eurlex"):
        rows = APPENDIX_A2.rows(measured.results, dataset=dataset)
        drawn = {"method": "negative_sampling", SAMPLING: "uniform"}
        both = [having(rows, labels) for labels in ({"method": "softmax"}, drawn)]
        line = {"dataset": SHOWN.get(dataset, EURLEX)}
        for what, column in {"acc": c.TEST_ACCURACY, "log lik": c.TEST_LIKELIHOOD}.items():
            exact, uniform = (values(rows, column) for rows in both)
            line |= {
                f"{what}, softmax": exact.text(),
                f"{what}, uniform": uniform.text(),
                f"{what}, difference": number(uniform.mean - exact.mean, 4, "+"),
            }
        yield line
    first, second = (
        printed("Appendix A.2", EURLEX, name, "test_accuracy")
        for name in ("full softmax", "uniform neg. sampling")
    )
    yield {
        "dataset": f"{EURLEX}, printed",
        "acc, softmax": f"{first:.3f}",
        "acc, uniform": f"{second:.3f}",
        "acc, difference": f"{second - first:+.3f}",
    }


def tuned_for(measured: Measured) -> Lines:
    """Bias removal at the points of the search that are best by three measures."""
    for sampling in ("frequency", "tree"):
        for name, best in _best_points(measured, sampling).items():
            losses = (best["test_log_loss"], best[f"test_log_loss{BARE}"])
            errors = (best["test_error"], best[f"test_error{BARE}"])
            yield {
                "noise": SAMPLERS[sampling],
                "tuned for": name,
                "rate": f"{best['lr']:g}",
                "regulariser": f"{best['method.score_l2']:g}",
                "log lik, removed": f"{-losses[0]:.3f}",
                "log lik, bare": f"{-losses[1]:.3f}",
                "acc, removed": f"{1 - errors[0]:.3f}",
                "acc, bare": f"{1 - errors[1]:.3f}",
            }


def _best_points(measured: Measured, sampling: str) -> dict[str, pd.Series]:
    """Rows of a search on citeulike by what they are best at on the validation rows."""
    rows = at_best_bare(measured)
    key = {"dataset": "citeulike", "method": "negative_sampling", SAMPLING: sampling}
    search = ended(having(TABLE1.rows(rows), key))
    names = {
        "log likelihood": VALIDATION,
        "accuracy": VALIDATION_ERROR,
        "accuracy of bare scores": f"{VALIDATION_ERROR}{BARE}",
    }
    return {
        name: best_first(search, column).iloc[0]
        for name, column in names.items()
        if column in search and len(search)
    }


TUNED_FOR: dict[
    tuple[str, str], dict[str, object]
] = {  # noise, what it was tuned for: its rows, at the points of `tuned_for`
    ("frequency", "log likelihood"): {"grid": "figure1"},
    ("frequency", "accuracy"): {"grid": "tuned_for", "lr": 0.1},
    ("frequency", "accuracy of bare scores"): {"grid": "tuned_for", "lr": 0.01},
    ("tree", "log likelihood and accuracy"): {"grid": "figure1"},
}
MEASURES = {
    "log lik, removed": c.TEST_LIKELIHOOD,
    "log lik, bare": -c.TEST_LOG_LOSS_UNCORRECTED,
    "acc, removed": c.TEST_ACCURACY,
    "acc, bare": 1 - c.TEST_ERROR_UNCORRECTED,
}


def tuned_for_seeds(measured: Measured) -> Lines:
    """Bias removal at the points of the search, over seeds and all test rows."""
    rows = having(at_best_bare(measured), {"dataset": "citeulike"})
    for (sampling, goal), where in TUNED_FOR.items():
        points = having(rows, {"method": "negative_sampling", SAMPLING: sampling, **where})
        if len(ended(points)):
            shown = {name: values(points, column).text(3) for name, column in MEASURES.items()}
            yield {"noise": SAMPLERS[sampling], "tuned for": goal, **shown}


def seeds_sentence(measured: Measured) -> str:
    """Accuracies of frequency noise, bare and removed, and of the tree, over seeds."""
    lines = [*tuned_for_seeds(measured)]
    if len(lines) < len(TUNED_FOR):
        return ""
    _, accuracy, bare, tree = lines
    return (
        f"Over five seeds and all test rows, the accuracy of frequency noise "
        f"tuned for bare scores is {bare['acc, bare']} without the correction. Tuned for corrected "
        f"scores it is {accuracy['acc, removed']} with the correction, and that of the tree "
        f"{tree['acc, removed']}."
    )


def bare_sentence(measured: Measured) -> str:
    """What frequency noise reaches without the correction, in the search."""
    bare, tree = (_best_points(measured, name) for name in ("frequency", "tree"))
    if len(bare) < 3 or not tree:
        return ""
    at_bare = bare["accuracy of bare scores"]
    return (
        f"The search also shows accuracies, each at its best point (one seed, 1,000 test rows, too "
        f"few to show a difference of 0.01). Without the correction frequency noise reaches "
        f"{1 - at_bare[f'test_error{BARE}']:.3f} (rate {at_bare['lr']:g}), with it "
        f"{1 - bare['accuracy']['test_error']:.3f}, and the tree with it "
        f"{1 - tree['accuracy']['test_error']:.3f}. At the best point of the uncorrected scores "
        f"the correction lowers the accuracy to {1 - at_bare['test_error']:.3f}."
    )


OF_TEXT = {c.TREE_L2: 0.1, c.TREE_PCA: "plain", c.TREE_DISCRETE_STEP: "paper"}
SCALES = ("plain", "unit_variance", "whitened")
ORDINALS = {1: "first", 2: "second", 3: "last"}
LEVEL = 0.9  # of the highest accuracy


def over_the_tree(measured: Measured, dataset: str, method: str) -> list[float]:
    """Training seconds of a method over those of the proposed one, where every seed arrives."""
    chosen = figures.compared(measured.results, dataset)
    if not {method, figures.PROPOSED} <= {*chosen}:
        return []
    level = LEVEL * max(values(rows, c.TEST_ACCURACY).mean for rows in chosen.values())
    one, other = (
        figures.arrival(chosen[name], measured.curves, level, c.TEST_ACCURACY, figures.SECONDS)
        for name in (method, figures.PROPOSED)
    )
    complete = one.complete and other.complete
    return [float(it) for it in np.divide(one.times, other.times)] if complete else []


def above_the_tree(measured: Measured, dataset: str) -> list[float]:
    """Log likelihood of the classifier less that of its tree, at the paper's lambda_n of 0.1.

    From weights 0 the first checkpoint predicts by the tree alone.
    """
    classifier = FIGURE1(dataset, "negative_sampling", {c.SAMPLER: "tree"})
    likelihoods = classifier.numbers(measured.results, c.TEST_LIKELIHOOD)
    of_text = {**OF_TEXT, c.TREE_INITIAL_SPLIT: "scores", c.TREE_NEWTON_STEPS: 0}
    cells = TREE(dataset, "negative_sampling", of_text).of(measured.results)["cell"]
    points = measured.curves[measured.curves["cell"].isin(cells)].sort_values("epoch")
    return (
        [float(it) for it in likelihoods + points["test_log_loss"].iloc[0]] if len(points) else []
    )


def tree_difference(measured: Measured, initial_split: str, newton_steps: int) -> str:
    """Log likelihood of the tree alone less that with halves and one Newton step, on citeulike.

    Rows from before these were options have neither.
    """
    tree = having(TREE.rows(at_start(measured), dataset="citeulike"), OF_TEXT)
    fits = [
        having(tree, {c.TREE_INITIAL_SPLIT: split, c.TREE_NEWTON_STEPS: steps})
        for split, steps in (
            (initial_split, newton_steps),
            (["halves", np.nan], [1, np.nan]),
        )
    ]
    one, other = (values(fit, c.TEST_LIKELIHOOD).mean for fit in fits)
    return NONE if np.isnan(one - other) else f"{one - other:+.3f}"


def lambdas(measured: Measured) -> str:
    """lambda_n of each scale of the components, as validation rows chose it."""
    fits = [scaled(name).of(measured.results) for name in SCALES]
    shown = [f"{c.TREE_L2.of(rows).iloc[0]:g}" if len(rows) else NONE for rows in fits]
    return f"{shown[0]}, {shown[1]} and {shown[2]}"


def ranking(measured: Measured) -> str:
    """Whether the place of the tree among the three noises depends on the scale, in a sentence."""
    noises = [
        FIGURE1("citeulike", "negative_sampling", {c.SAMPLER: name})
        .numbers(measured.results, c.TEST_LIKELIHOOD)
        .mean()
        for name in ("uniform", "frequency")
    ]
    trees = [scaled(name).numbers(measured.results, c.TEST_LIKELIHOOD).mean() for name in SCALES]
    if np.isnan([*noises, *trees]).any():
        return ""
    places = [1 + sum(other > tree for other in noises) for tree in trees]
    if len(set(places)) == 1:
        return f"The tree is the {ORDINALS[places[0]]} of the three samplers on each scale."
    listed = ", ".join(ORDINALS[place] for place in places)
    return f"The ranking changes: the tree is the {listed} of the three, in this order of scales."


def scaled(name: str) -> Rows:
    """Runs with the tree on components of a scale."""
    return SCALE("citeulike", "negative_sampling", {c.TREE_PCA: name})
