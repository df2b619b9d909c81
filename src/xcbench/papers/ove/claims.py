"""What is known of every number that the one-vs-each paper prints."""

from __future__ import annotations

import pandas as pd

from xcbench.papers import published, verdicts
from xcbench.papers.frames import Values, part, values
from xcbench.papers.ove.names import DATASETS, METHODS, SGD, SMALL
from xcbench.papers.ove.norms import NORM
from xcbench.papers.replication import Claim, Key, Reading, absent, command

LARGE = "figure3d"  # grid of AmazonCat
TABLE1 = {
    "dimensionality": "shape.features",
    "classes": "shape.classes",
    "train_examples": "shape.train",
    "test_examples": "shape.test",
}
TABLE2 = {"param_norm": NORM, "test_error": "test_error", "test_nlpd": "test_log_loss"}
SETTINGS = {  # dataset as printed in the text: the experiment that has its settings
    "AMAZONCAT-13K": LARGE,
    ";".join(SMALL): "figure3",
    "toy 5-class 2-D": "figure1c",
    "synthetic non-parametric": "figure2",
}
AT_OPTIMUM = {  # of Bouchard's bound
    "20NEWS": "measured at the optimum; on the way of gradient steps to it there is a point with "
    "all three printed numbers (ove/table2_ascent)",
    "MNIST": "measured at the optimum, which has the printed error and density; the printed norm "
    "is passed on the way to it (ove/table2_early, ove/table2_ascent)",
}
RATE = "the rate is not printed: ours gives about the printed distance after the printed iterations"
SPLIT = "the given split; what ten random ones of the same sizes give stands below"
MAJORITY = "the two printed numbers, 19 % and 79 %, do not add up to 100 %"


def claims(results: pd.DataFrame) -> dict[Key, Claim]:
    """Claims by table, dataset, method and metric."""
    return {**_table1(results), **_table2(results), **_settings(), **_text(results)}


def _command(experiment: str, dataset: str = "", method: str = "") -> str:
    return command(f"ove/{experiment}", dataset, method)


def measured(results: pd.DataFrame, printed: str, method: str, column: str) -> Values:
    """Measurements of a method of Table 2 on a dataset, both as printed."""
    grid, ours = METHODS[method]
    return values(part(results, grid, dataset=DATASETS[printed], method=ours), column)


def _claim(found: Values, printed: str, how: str, reason: str = "") -> Claim:
    """Claim of measurements, if there are any; else that data are absent, or nothing ran yet."""
    if found.values:
        return Claim([Reading("as_text", found.values, how)], reason)
    if found.skipped:
        return Claim((), absent(DATASETS[printed]), command=how)
    return Claim((), "", verdicts.NOT_YET, how)


def _table1(results: pd.DataFrame) -> dict[Key, Claim]:
    made = {}
    for printed, dataset in DATASETS.items():
        grid = "table2" if printed in SMALL else LARGE
        rows = part(results, grid, dataset=dataset).drop_duplicates("dataset")
        for metric, column in TABLE1.items():
            claim = _claim(values(rows, column), printed, _command(grid, dataset))
            made["Table 1", printed, "", metric] = claim
    return made


def _table2(results: pd.DataFrame) -> dict[Key, Claim]:
    made = {}
    for printed in SMALL:
        for method, (grid, ours) in METHODS.items():
            how = _command(grid, DATASETS[printed], ours)
            for metric, column in TABLE2.items():
                found = measured(results, printed, method, column)
                claim = _claim(found, printed, how, _reason(printed, method))
                made["Table 2", printed, method, metric] = claim
    return made


def _reason(printed: str, method: str) -> str:
    if method == SGD:
        return RATE
    if method == "BOUCHARD" and printed in AT_OPTIMUM:
        return AT_OPTIMUM[printed]
    return SPLIT if printed == "BIBTEX" else ""


def _settings() -> dict[Key, Claim]:
    """Settings that the text prints, and its times: no results, but there is where they stand."""
    table = published.numbers()
    made = {}
    for row in table[(table["paper"] == "ove") & (table["table"] == "text")].to_dict("records"):
        verdict = verdicts.without_run(row["metric"], row["value"])
        if verdict in (verdicts.SETTING, verdicts.TIME):
            how = _command(SETTINGS[row["dataset"]])
            made["text", row["dataset"], row["method"], row["metric"]] = Claim((), "", verdict, how)
    return made


def _text(results: pd.DataFrame) -> dict[Key, Claim]:
    name, how = "AMAZONCAT-13K", _command(LARGE)
    error = values(part(results, LARGE, dataset=DATASETS[name]), "test_error")
    toy = values(part(results, "figure2").head(1), "shape.classes")
    return {
        ("text", name, SGD, "test_error"): _claim(error, name, how),
        ("text", name, "majority class", "share_of_data"): Claim((), MAJORITY, command=how),
        ("text", name, "majority class", "error"): Claim((), MAJORITY, command=how),
        ("text", "synthetic non-parametric", SGD, "classes"): _claim(toy, "", _command("figure2")),
    }
