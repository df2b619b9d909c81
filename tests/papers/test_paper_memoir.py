"""The report of the MEMOIR paper: claims, tables, figures."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from declared_tables import table
from xcbench import papers
from xcbench.config import presets
from xcbench.papers import Grid, Measured, description, published, replication, verdicts
from xcbench.papers.memoir import figures, tables
from xcbench.papers.memoir.experiments import (
    DATASETS,
    FACTORS,
    MEASURES,
    MEMOIR,
    METHODS,
    SYSTEMS,
    grid,
    printed,
)
from xcbench.papers.rows import values

BASELINES = ("OVR", "M-SVM", "RecallTree", *SYSTEMS)
MIB = 1.048576  # MB
NONE = pd.DataFrame()
LARGE = "citeulike, a row per article and tag, by number of classes"
CONSTANT = "dataset.protocol.constant"
PAIRS = {  # of citeulike
    "shape.classes": 8310,
    "shape.train": 180382,
    "shape.accuracy_ceiling": 0.12,
    "test_precision_at_1": 0.5,
}


# ---------------------------------------------------------------- claims and tables
def row(name: str, dataset: str, method: str, seed: int = 0, **more: object) -> dict[str, object]:
    """A row of a cell that ended; accuracy and macro-F1 in per cent, memory in MB."""
    given = {"accuracy": 40.0, "macro_f1": 30.0, "train_time": 10.0, "predict_time": 1.0} | more
    return {
        "cell": f"{name}-{dataset}-{method}-{seed}-{more.get('method.oracle', '')}",
        "grid": name,
        "status": given.pop("status", "done"),
        "dataset": dataset,
        "method": method,
        "seed": seed,
        "test_error": 1 - given.pop("accuracy") / 100,  # type: ignore[operator]
        "test_macro_f1": given.pop("macro_f1") / 100,  # type: ignore[operator]
        "train_seconds": given.pop("train_time"),
        "predict_seconds": given.pop("predict_time"),
        "model_mib": given.pop("total_memory", 100.0) / MIB,  # type: ignore[operator]
        "train_mib": 200.0,
        "nonzeros": 1000.0,
        "message": None,
        **given,
    }


def as_printed() -> pd.DataFrame:
    """Rows of the paper's datasets whose numbers are the printed ones, with the code's settings."""
    lines = []
    for name, ours in DATASETS.items():
        sizes = {key: printed("Table 1", name, "", metric) for metric, key in SIZES.items()}
        lines.append(row("table1", ours, "class_sums", **sizes))
        for method, own in METHODS.items():
            known = {metric: printed("Table 3", name, method, metric) for metric in MEASURES}
            if not math.isnan(known["accuracy"]):
                lines += [
                    row(getattr(grid(method), "name", ""), ours, own, seed, **known)
                    for seed in range(3 if method in MEMOIR else 1)
                ]
    for factor, n in FACTORS.items():
        known = {
            metric: printed("Table 2", "LSHTC1", f"MEMOIR |b|={factor}*sqrt(C)", metric)
            for metric in ("accuracy", "macro_f1", "train_time")
        }
        lines.append(row("table2", "lshtc1", "memoir_l2", **known, **{"method.batch_size": n}))
    return pd.DataFrame(lines)


SIZES = {
    "classes": "shape.classes",
    "dimension": "shape.features",
    "train_size": "shape.train",
    "test_size": "shape.test",
}


def replicated(results: pd.DataFrame) -> pd.DataFrame:
    rows = replication.rows("memoir", description.of("memoir").evidence(results))
    return rows.set_index(["table", "dataset", "method", "metric"]).sort_index()


def test_every_printed_number_has_a_verdict_and_a_command() -> None:
    rows = replicated(as_printed())
    assert len(rows) == (published.numbers()["paper"] == "memoir").sum()
    assert len(rows.loc["Table 2"]) + len(rows.loc["Table 3"]) == 245
    times = rows.index.get_level_values("metric").isin(["train_time", "predict_time"])
    na = rows["published"] == "NA"
    assert set(rows[na]["verdict"]) == {verdicts.NOT_PRINTED}
    assert set(rows[times & ~na]["verdict"]) == {verdicts.TIME}
    rest = rows[~times & ~na]
    measured = rest[~rest["verdict"].isin([verdicts.SETTING])]
    run = measured.drop("Table 1")["verdict"]
    # Memory is printed where no accuracy is: of M-SVM on WIKI-Small, OVR and M-SVM on WIKI-50K and
    # WIKI-100K. The sixth is a bound, macro-F1 < 1 % of RecallTree.
    assert (run == verdicts.NOT_YET).sum() == 6
    libraries = run.index.get_level_values("method").isin(BASELINES)  # of one variant
    assert set(run[libraries]) == {verdicts.REPRODUCED, verdicts.NOT_YET}
    assert set(run[~libraries]) == {verdicts.CODE_ALONE}
    assert set(measured.loc["Table 1", "verdict"]) == {verdicts.REPRODUCED}
    assert set(rows.loc["Table 4", "verdict"]) <= {verdicts.SETTING, verdicts.NOT_PRINTED}
    with_command = rows[~na]
    experiments = with_command["command"].str.extract(r"experiment=(\S+)")[0]
    assert experiments.isin(presets.names("experiment")).all()


def test_a_printed_bound_is_a_bound() -> None:
    results = as_printed()
    own = (results["dataset"] == "joshi-wiki-small") & (results["method"] == "recall_tree")
    for percent, verdict in ((0.9, verdicts.REPRODUCED), (1.1, verdicts.DEVIATES)):
        results.loc[own, "test_macro_f1"] = percent / 100
        rows = replicated(results).loc["Table 3"].loc["WIKI-Small"].loc["RecallTree"]
        assert rows.loc["macro_f1", "verdict"] == verdict
        assert math.isnan(rows.loc["macro_f1", "difference"])


@pytest.mark.slow
def test_why_there_is_no_measurement() -> None:
    results = as_printed()
    results.loc[results["dataset"] == "dmoz", ["status", "message"]] = ("skipped", "not run: data")
    for method, message in (
        ("svm_cs", "needs about 37.5 GiB, over budget.memory=4"),
        ("recall_tree", "not run: no package"),
    ):
        own = (results["dataset"] == "lshtc1") & (results["method"] == method)
        results.loc[own, ["status", "message"]] = ("skipped", message)
    rows = replicated(results).loc["Table 3"]
    accuracy = rows.xs("accuracy", level="metric")
    ours = accuracy.loc["DMOZ"]
    assert set(ours["verdict"]) == {verdicts.NO_DATA}
    assert ours["reason"].str.contains("xcbench data list").all()
    assert accuracy.loc[("LSHTC1", "RecallTree"), "verdict"] == verdicts.NO_PACKAGE
    over = accuracy.loc[("LSHTC1", "M-SVM")]
    assert over["verdict"] == verdicts.NOT_YET and "GiB" in over["reason"]
    late = (results["dataset"] == "lshtc1") & (results["method"] == "svm_ovr")
    results.loc[late, ["status", "message"]] = ("timeout", "stopped after 7 of 12,294 classes")
    stopped = replicated(results).loc["Table 3"].loc["LSHTC1"].loc["OVR"].loc["accuracy"]
    assert stopped["verdict"] == verdicts.NOT_YET and stopped["reason"].endswith("classes")
    before = replicated(results[:0]).loc["Table 3"].loc["LSHTC1"].loc["MEMOIR-l2"]
    assert before.loc["accuracy", "verdict"] == verdicts.NOT_YET


def at_hand() -> pd.DataFrame:
    """Rows of the data at hand, numbers chosen by hand."""
    lines = [
        row("table3_code", "20news", "memoir_l2", seed, accuracy=70.0 + seed) for seed in (0, 1, 2)
    ]
    lines += [
        row("table3_paper", "20news", "memoir_l2", accuracy=50.0),
        row("table3_code", "20news", "memoir_l1", total_memory=25.0),
        row("table3_baselines", "20news", "svm_ovr", accuracy=80.0, total_memory=400.0),
        row("table3_baselines", "20news", "recall_tree", accuracy=25.0, test_macro_f1_of_means=0.2),
        row(
            "table3_baselines",
            "20news",
            "plt",
            status="skipped",
            message="not run: no package",
            accuracy=math.nan,
        ),
    ]
    late = {"status": "timeout", "message": "7 classes", "accuracy": 5.0}
    lines.append(row("table3_baselines", "citeulike", "svm_ovr", **(PAIRS | late)))
    for method, name in (("memoir_l2", "table3_code"), ("class_sums", "table3_baselines")):
        lines.append(
            row(
                name,
                "citeulike",
                method,
                accuracy=6.0,
                **PAIRS,
            )
        )
    return pd.DataFrame(lines)


def test_what_the_tables_compute() -> None:
    results = at_hand()
    frame = table("memoir", "Table 3 on the data at hand", Measured(results, NONE)).set_index(
        ["dataset", "method", "variant"]
    )
    line = frame.loc[("20news", "MEMOIR-l2", "code")]
    assert line["accuracy %"] == "71.00 ± 1.00"
    assert line["weights MB"].startswith("100.0")
    assert frame.loc[("20news", "MEMOIR-l2", "paper"), "accuracy %"] == "50.00"
    lacking = frame.xs("label tree (napkinXC)", level="method").iloc[0]
    assert lacking["remark"] == "not run: no package" and lacking["accuracy %"] == tables.NONE
    tree = frame.xs("RecallTree", level="method").iloc[0]
    assert tree["macro-F1 of means %"] == "20.00" and tree["macro-F1 %"] == "30.00"
    made = pd.DataFrame(tables.ratios(Measured(results, NONE))).set_index(
        ["what", "of", "relative to"]
    )
    published, text = (f"20news, {it}" for it in ("code", "paper"))
    assert made.loc[("weights MB", "MEMOIR-l2", "OVR"), published] == "0.25"
    assert made.loc[("weights MB", "MEMOIR-l1", "MEMOIR-l2"), published] == "0.25"
    # Printed: 46/119, 52/271, 39/121, 42/185, 35/346.
    share = made.loc[("weights MB", "MEMOIR-l1", "MEMOIR-l2"), "printed, lowest to highest"]
    assert share == "0.101 to 0.387"
    quality = made.loc["accuracy %"]
    assert quality.loc[("MEMOIR-l2", "OVR"), published] == "0.887"
    assert quality.loc[("MEMOIR-l2", "OVR"), text] == "0.625"
    assert quality.loc[("MEMOIR-l2", "RecallTree"), text] == "2"
    assert quality.loc[("MEMOIR-l2", "label tree (napkinXC)"), published] == tables.NONE
    pairs = "citeulike, code"
    assert quality.loc[("MEMOIR-l2", "class sums by cosine"), pairs] == "1"
    assert quality.loc[("MEMOIR-l2", "OVR"), pairs] == tables.NONE  # over its time
    assert frame.xs("OVR", level="method").loc["citeulike", "remark"].tolist() == ["7 classes"]
    many = table("memoir", LARGE, Measured(results, NONE)).set_index("method")
    assert many.loc["MEMOIR-l2", "ceiling of accuracy %"] == "12.00"
    assert many.loc["MEMOIR-l2", "precision@1 %"] == "50.00"
    assert list(many["K"]) == ["8,310"] * 3 and many.loc["OVR", "remark"] == "7 classes"


def test_sizes_of_the_data_at_hand() -> None:
    few = {"shape.test": 100.0, "shape.features": 20001.0}
    more = PAIRS | few | {"shape.classes": 13851, "shape.test_dropped": 7.0}
    lines = [row("citeulike", "citeulike", "memoir_l2", seed, **more) for seed in (0, 1)]
    lines.append(row("table1", "citeulike", "class_sums", **(PAIRS | few)))
    news = {"shape.classes": 20, "shape.train": 11269, **few}
    lines.append(row("table1", "20news", "class_sums", **news))
    frame = table("memoir", "Sizes of the data at hand", Measured(pd.DataFrame(lines), NONE))
    assert frame["K"].tolist() == ["20", "8,310", "13,851"]
    assert frame["test rows dropped"].tolist() == ["0", "0", "7"]
    assert frame["ceiling of accuracy %"].tolist() == ["100.00", "12.00", "12.00"]
    assert table("memoir", "Sizes of the data at hand", Measured(at_hand()[:0], NONE)).empty


def test_memory_of_liblinear_is_that_of_a_dense_matrix() -> None:
    """12,294 classes of 409,774 numbers of 8 bytes are 40.3 GB."""
    frame = pd.DataFrame(tables.dense_memory(Measured(NONE, NONE))).set_index("dataset")
    assert frame.loc["LSHTC1", "OVR and M-SVM, printed GB"] == "40.3"
    assert frame.loc["LSHTC1", "8 K D bytes, GB"] == "40.3"
    assert frame.loc["LSHTC1", "ratio"] == "1.000"


@pytest.mark.parametrize(
    ("f1", "T"),
    [
        ([0.1, 0.2, 0.3, 0.3, 0.3, 0.4], 15),  # a gain after more than ten batches is too late
        ([0.1, 0.2, 0.201, 0.2015, 0.2], 10),
        ([0.1, 0.2, 0.2, 0.21, 0.21, 0.21], 20),  # a gain of 5 % in ten batches
        ([0.1, 0.2, 0.3], math.nan),  # rises to the end
        ([0.1, 0.3, 0.3], math.nan),  # five batches behind it are too few
        ([], math.nan),
    ],
)
def test_where_macro_f1_levels_off(f1: list[float], T: float) -> None:
    curve = pd.DataFrame({"iteration": 5 * np.arange(len(f1) + 1), "validation_macro_f1": [0, *f1]})
    assert tables.levels_off(curve) == pytest.approx(T, nan_ok=True)


def test_figures_of_what_ran() -> None:
    results = at_hand()
    figure = figures.figure2(results)
    assert figure is not None and len(figure.axes) == 2 * 4
    accuracy = [ax for ax in figure.axes if "accuracy" in ax.get_title()]
    bars = [bar.get_height() for ax in accuracy for bar in ax.patches]
    heights = {round(height, 6) for height in bars if height > 0}
    assert heights == {71.0, 40.0, 80.0, 25.0, 6.0}  # not that of the cell over its time
    lines = [
        row("figure1", "20news", "memoir_l1", seed, accuracy=70 - 10 * i, **{"method.strength": s})
        for i, s in enumerate((1e-6, 1e-4))
        for seed in (0, 1)
    ]
    drawn = figures.figure1(pd.DataFrame(lines))
    assert drawn is not None
    np.testing.assert_allclose(drawn.axes[0].lines[1].get_ydata(), [70, 60])
    absent = [*lines, row("figure1", "lshtc1", "memoir_l1", status="skipped")]
    boxed = figures.figure1(pd.DataFrame(absent))
    assert boxed is not None and boxed.axes[1].texts[0].get_text() == "not run: data"
    drawn_bars = figures.figure2_printed()
    assert drawn_bars is not None and len(drawn_bars.axes) == 4 * len(DATASETS)
    assert figures.figure2(results[:0]) is None and figures.figure1(results[:0]) is None


@pytest.mark.slow
def test_the_report_of_what_ran(tmp_path: Path) -> None:
    more = [
        row("constant", "20news", "memoir_l2", seed, accuracy=50.0 + 10 * seed, **{CONSTANT: c})
        for c in (0.0, 1.0)
        for seed in (0, 1)
    ]
    more += [
        row("table3_lsh_paper", "citeulike", "memoir_l2", **PAIRS),
        row("table2", "20news", "memoir_l2", iteration=25, **{"method.batch_size": 400}),
        row("table4", "20news", "memoir_l2"),
    ]
    results = pd.concat([at_hand(), pd.DataFrame(more)], ignore_index=True)
    steps = np.arange(0, 51, 5)
    f1 = 0.5 * (1 - 0.5 ** (steps / 5))  # half of what is missing every checkpoint
    curve = pd.DataFrame({"iteration": steps, "validation_macro_f1": f1, "test_error": steps / 100})
    curves = curve.assign(cell=results["cell"].iloc[-1])
    rows = papers.find("memoir").report(Measured(results, curves), tmp_path)
    assert len(rows) == (published.numbers()["paper"] == "memoir").sum()
    text = (tmp_path / "tables.md").read_text()
    assert "50.00 to 60.00" in text and "not run: no package" in text
    T = pd.DataFrame(tables.table4(Measured(results, curves))).iloc[0]
    # Two checkpoints later, 30 batches gain 1.2 % (1 - 0.5^8 over 1 - 0.5^6), 35 batches 0.6 %.
    assert (T["T"], T["held-out macro-F1 % at 25"], T["at"]) == ("35", "48.44", "50")
    assert (T["test accuracy % at T"], T["test accuracy % at 25"]) == ("65.00", "75.00")
    pairs = table("memoir", LARGE, Measured(results, NONE)).set_index("method")
    assert pairs.loc["MEMOIR-LSH", "variant"] == "paper"
    assert "Not measured: `xcbench paper memoir grid=margins`" in text
    assert sorted(path.name for path in (tmp_path / "figures").glob("*.png")) == [
        "batches.png",
        "figure2.png",
        "figure2_printed.png",
        "hashing.png",
    ]


def test_rows_say_why_they_were_not_run() -> None:
    frame = pd.DataFrame(
        [
            row("g", "20news", "plt", status="skipped", message="not run: no package"),
            row("g", "20news", "memoir_l2"),
        ]
    )
    assert values(Grid("g").rows(frame, method="plt"), "nonzeros").text() == "not run: no package"
    bare = frame.drop(columns="message")
    assert values(Grid("g").rows(bare, method="plt"), "nonzeros").skipped == verdicts.NO_DATA
    assert values(Grid("g").rows(frame, method="memoir_l2"), "nonzeros").skipped == ""
