"""What is known of every number that the adversarial-softmax paper prints."""

from __future__ import annotations

import pandas as pd

from xcbench.papers import verdicts
from xcbench.papers.adv.frames import accuracy, cells
from xcbench.papers.adv.names import DATASETS, EURLEX, METHODS, PRIORS, PROPOSED, large
from xcbench.papers.frames import Values, part, values
from xcbench.papers.replication import Claim, Key, Reading, absent, command

SIZES = {"train_examples": "shape.train", "classes_after_preprocessing": "shape.classes"}
A2 = "Appendix A.2"
TUNE_AND_RUN = "xcbench paper adv dataset=eurlex"  # an experiment by itself would not be tuned
A2_SIZES = {
    "train_examples": "shape.train",
    "classes": "shape.classes",
    "feature_dim": "shape.features",
}
A2_METHODS = {  # printed name: method, how it draws
    "full softmax": ("softmax", ""),
    "uniform neg. sampling": ("negative_sampling", "uniform"),
}
TUNED_THERE = "tuned by the authors on these data; our runs on them take it as it is"
VALIDATION_ROWS = "our validation rows are test rows, the authors' a tenth of the training rows"
COUNTED = "with one label a row other papers count 838 to 896 classes; how 3,687 came is not said"
NO_FORM = "the appendix does not say which quadratic form lambda multiplies"


def claims(results: pd.DataFrame) -> dict[Key, Claim]:
    """Claims by table, dataset, method and metric."""
    return {**_table1(results), **_appendix(results)}


def _claim(found: Values, dataset: str, how: str, reading: str, reason: str = "") -> Claim:
    """Claim of measurements, if there are any; else that data are absent, or nothing ran yet."""
    if found.values:
        return Claim([Reading(reading, found.values, how)], reason)
    if found.skipped:
        return Claim((), absent(dataset), command=how)
    return Claim((), "", verdicts.NOT_YET, how)


def _table1(results: pd.DataFrame) -> dict[Key, Claim]:
    made = {}
    for printed, dataset in DATASETS.items():
        rows = part(results, "figure1_large", dataset=dataset).head(1)
        how = command(f"adv/{large(*METHODS[PROPOSED])}", dataset)
        for metric, column in SIZES.items():
            claim = _claim(values(rows, column), dataset, how, "as_published")
            made["Table 1", printed, "", metric] = claim
        for method, (ours, sampling) in METHODS.items():
            prior = ours in PRIORS
            setting = Claim(
                (),
                TUNED_THERE,
                verdicts.SETTING,
                command(f"adv/{large(ours, sampling)}", dataset, ours),
            )
            regulariser = "prior_variance_sigma0_sq" if prior else "regulariser_lambda"
            made["Table 1", printed, method, "learning_rate_rho"] = setting
            made["Table 1", printed, method, regulariser] = setting
    return made


def _appendix(results: pd.DataFrame) -> dict[Key, Claim]:
    dataset, made = "eurlex", {}
    own = part(results, "appendix_a2", dataset=dataset)
    reasons = {"train_examples": VALIDATION_ROWS, "classes": COUNTED}
    for metric, column in A2_SIZES.items():
        found, reason = values(own.head(1), column), reasons.get(metric, "")
        made[A2, EURLEX, "", metric] = _claim(found, dataset, TUNE_AND_RUN, "as_text", reason)
    for method, (ours, sampling) in A2_METHODS.items():
        rows = cells(own, ours, sampling)
        measured = {
            "test_accuracy": accuracy(rows),
            "learning_rate_rho": values(rows, "lr"),
            "regulariser_lambda": values(rows, "method.score_ridge"),
        }
        for metric, found in measured.items():
            claim = _claim(found, dataset, TUNE_AND_RUN, "as_text", VALIDATION_ROWS)
            made[A2, EURLEX, method, metric] = claim
    no_form = Claim((), NO_FORM, verdicts.SETTING, TUNE_AND_RUN)
    made[A2, EURLEX, "full softmax", "regulariser_lambda"] = no_form
    return made
