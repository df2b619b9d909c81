"""Printed numbers beside measured ones: verdicts, the replication table, and what twins are not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from xcbench.cli.command import Request
from xcbench.cli.paper import paper
from xcbench.errors import UserError
from xcbench.papers import LOSS, claims, published, replication, verdict_changes, verdicts
from xcbench.papers.replication import KEY, Claim, Variant
from xcbench.papers.umax import theory
from xcbench.papers.umax.names import DATASETS, ERROR, METHODS, TWICE

# ---------------------------------------------------------------- agreement
R, C, D = verdicts.REPRODUCED, verdicts.CLOSE, verdicts.DEVIATES


@pytest.mark.parametrize(
    ("value", "metric", "unit", "values", "expected"),
    [
        ("0.27", "test_nlpd", "nats", [0.2749], R),  # rounds to it
        ("0.27", "test_nlpd", "nats", [0.2651], R),
        ("0.10", "test_error", "fraction", [0.1049], R),  # 4.9 %, but the digits
        ("0.100", "test_error", "fraction", [0.1029], C),  # 2.9 %
        ("0.100", "test_error", "fraction", [0.1031], D),
        ("0.924", "test_accuracy", "fraction", [0.9164], D),  # 0.8 % of it, 10 % of the error
        ("0.924", "test_accuracy", "fraction", [0.9223], C),  # 2.2 % of the error
        ("44.1", "accuracy", "%", [45.7], C),  # 2.9 % of an error of 55.9
        ("44.1", "accuracy", "%", [45.8], D),
        ("27.4", "macro_f1", "%", [29.5], C),  # 2.9 % of what it lacks
        ("-2.62e6", "bound", "nats", [-2.62e6 * 1.029], C),
        ("-2.62e6", "bound", "nats", [-2.62e6 * 1.031], D),
        ("-2.62e6", "bound", "nats", [2.62e6], D),
        ("2e2", "x", "", [249.0], R),  # the printed digit is the hundreds'
        ("2e2", "x", "", [251.0], D),
        ("5.73", "x", "ratio", [5.0, 5.0, 5.0, 5.8], D),  # four seeds make no range
        ("5.73", "x", "ratio", [5.0, 5.0, 5.0, 5.0, 5.8], R),
        ("5.73", "x", "ratio", [5.0, 5.0, 5.0, 5.0, 5.7], D),
        ("<1", "macro_f1", "%", [0.9], R),
        ("<1", "macro_f1", "%", [1.1], D),
        ("1.0", "x", "", [float("nan")], D),
    ],
)
def test_agreement(value: str, metric: str, unit: str, values: list[float], expected: str) -> None:
    assert verdicts.agreement(verdicts.Printed(value, metric, unit), values) == expected


@pytest.mark.parametrize(
    ("value", "unit", "values", "expected"),
    [
        ("147", "count", [147.0], R),
        ("147", "count", [148.0], D),  # 0.7 %
        ("147", "count (as printed)", [148.0], D),
        ("147", "count", [146.0, 147.5], R),  # drawn splits
        ("1e1", "power of ten", [10.0], R),
        ("1e-3", "power of ten", [0.1 * 0.01], R),  # 0.001 but for the last bit
        ("1e1", "power of ten", [9.9], D),
    ],
)
def test_sizes_and_rates_are_equal_or_not(
    value: str, unit: str, values: list[float], expected: str
) -> None:
    name = "tuned_initial_learning_rate" if unit.startswith("power") else "train_examples"
    kind = verdicts.kind(name, unit)
    assert verdicts.agreement(verdicts.Printed(value, name, unit, kind), values) == expected


def test_what_is_as_near_to_another_method_is_not_close() -> None:
    def agreement(*others: float, value: float = 0.1029) -> str:
        printed = verdicts.Printed("0.100", "test_error", others=others)
        return verdicts.agreement(printed, [value])

    assert agreement(0.090, 0.108) == C
    assert agreement(0.105) == D  # nearer to the other
    assert agreement(0.1058) == D  # as near
    assert agreement(0.100) == C  # the other prints the same
    assert agreement(0.1004, value=0.1004) == R  # rounds to it, whatever the others print


@pytest.mark.parametrize(
    ("kind", "text", "code", "verdict"),
    [
        ("result", R, R, R),
        ("result", C, R, C),  # the text's comes first
        ("result", D, R, verdicts.REPRODUCED_WITH_CODE),
        ("result", D, C, verdicts.CLOSE_WITH_CODE),
        ("result", "", R, verdicts.CODE_ALONE),
        ("result", "", C, verdicts.CODE_ALONE),
        ("result", D, "", D),
        ("result", D, D, D),
        ("size", "", R, R),
        ("size", D, R, verdicts.REPRODUCED_WITH_CODE),
        ("fitted", R, "", verdicts.FITTED),
        ("fitted", D, "", D),
        ("definition", R, R, verdicts.DEFINITION),
        ("time", D, D, verdicts.TIME),
    ],
)
def test_verdict(kind: str, text: str, code: str, verdict: str) -> None:
    assert verdicts.verdict(kind, text, code) == verdict


@pytest.mark.parametrize(
    ("metric", "value", "verdict"),
    [
        ("accuracy", "NA", verdicts.NOT_PRINTED),
        ("train_time", "NA", verdicts.NOT_PRINTED),
        ("train_time", "3", verdicts.TIME),
        ("time_per_epoch", "3", verdicts.TIME),
        ("minibatch_observations_n", "100", verdicts.SETTING),
        ("ridge_mu", "0", verdicts.SETTING),
        ("test_error", "0.1", verdicts.NOT_YET),
    ],
)
def test_without_a_run(metric: str, value: str, verdict: str) -> None:
    assert verdicts.without_run(verdicts.kind(metric, ""), value) == verdict


def test_prints_of_the_other_methods_are_in_the_same_unit() -> None:
    others = published.others("memoir", "Table 3", "LSHTC1", "RecallTree", "total_memory")
    assert max(others) > 1000  # printed in GB
    assert len(others) == 8


def row(*variants: Variant, reason: str = "because") -> dict[str, object]:
    printed = dict.fromkeys(KEY, "x") | {"value": "2.00", "unit": ""}
    return replication.row(printed, Claim(variants, reason))


def test_the_text_comes_first() -> None:
    right, wrong = [2.0, 2.01], [3.0, 3.0]
    text, published_one = "paper", "code"
    cases = [
        (right, right, verdicts.REPRODUCED, text),
        (right, wrong, verdicts.REPRODUCED, text),
        (wrong, right, verdicts.REPRODUCED_WITH_CODE, published_one),
        (wrong, wrong, verdicts.DEVIATES, published_one),
        (right, [], verdicts.REPRODUCED, text),
        ([], right, verdicts.CODE_ALONE, published_one),
        (wrong, [], verdicts.DEVIATES, text),
    ]
    for of_text, of_code, verdict, variant in cases:
        made = row(Variant(text, of_text, "a"), Variant(published_one, of_code, "b"))
        assert (made["verdict"], made["variant"]) == (verdict, variant)
        values = of_text if variant == text else of_code
        assert made["command"] == ("a" if variant == text else "b")
        assert made["measured"] == pytest.approx(np.mean(values))
        assert made["spread"] == pytest.approx(np.std(values, ddof=1))
        assert made["difference"] == pytest.approx(np.mean(values) - 2)
        assert made["seeds"] == 2


def test_without_a_reading_and_without_a_reason() -> None:
    assert row()["verdict"] == verdicts.NO_DATA
    assert row(Variant("paper", [3.0], ""), reason="")["reason"]
    assert np.isnan(row(Variant("paper", [3.0], ""))["spread"])


# ---------------------------------------------------------------- the table of all papers
@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """Rows of the U-max paper's grids as if it had run: every number far from the printed ones."""
    rng = np.random.default_rng(0)
    lines = []
    for dataset in DATASETS.values():
        for method in METHODS.values():
            for grid in ("table2_paper", "table2_code"):
                for rate in (1e-9, 1e-8):
                    lines.append((grid, dataset, method, rate, 0, "done"))
            for grid in ("table3_paper", "table3_code"):
                for seed in (0, 1, 2):
                    lines.append((grid, dataset, method, 0.1, seed, "done"))
    columns = ["grid", "dataset", "method", "lr", "seed", "status"]
    made = pd.DataFrame(lines, columns=columns)
    made["cell"] = [f"{number:016x}" for number in range(len(made))]
    for name in (LOSS, TWICE, ERROR, "test_log_loss", "test_error"):
        made[name] = 100 + rng.random(len(made))
    implicit = made["method"] == "implicit"
    made.loc[implicit, LOSS] = 1e-3
    for name in ("classes", "features", "train"):
        made[f"shape.{name}"] = 7.0
    made["message"] = ""
    return made


@pytest.fixture(scope="module")
def rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Printed numbers of the paper beside those."""
    return replication.rows("umax", claims.of("umax").build(frame))


def test_every_deviation_has_a_reason(rows: pd.DataFrame) -> None:
    deviates = rows[rows["verdict"] == verdicts.DEVIATES]
    # All sizes, rates, ratios and averages but those of Implicit SGD to itself.
    assert len(deviates) > 90
    assert (deviates["reason"].str.len() > 10).all(), deviates[deviates["reason"] == ""]
    assert (deviates["command"] != "").all()


def test_nothing_measured_warns_of_nothing(frame: pd.DataFrame) -> None:
    rows = replication.rows("umax", claims.of("umax").build(frame[:0]))
    assert set(rows["verdict"]) == {verdicts.NO_DATA, verdicts.NOT_YET, verdicts.SETTING}
    assert rows["measured"].isna().all()
    assert not rows["reason"].fillna("").str.contains("nan").any()


def test_ratios_are_to_implicit_seed_by_seed(frame: pd.DataFrame, rows: pd.DataFrame) -> None:
    own = frame[(frame["grid"] == "table3_code") & (frame["dataset"] == "mnist")]
    over = [
        own.loc[(own["method"] == "ove") & (own["seed"] == seed), TWICE].item() / 1e-3
        for seed in (0, 1, 2)
    ]
    found = rows[(rows["table"] == "Table 3") & (rows["dataset"] == "MNIST")]
    ove = found[found["method"] == "OVE"].iloc[0]
    assert ove["measured"] == pytest.approx(np.mean(over), rel=1e-12)
    assert ove["spread"] == pytest.approx(np.std(over, ddof=1), rel=1e-9)
    implicit = found[found["method"] == "Implicit SGD"].iloc[0]
    assert (implicit["measured"], implicit["verdict"]) == (1, verdicts.DEFINITION)


def test_sizes_of_the_files_are_those_that_are_read(rows: pd.DataFrame) -> None:
    sizes = rows[rows["metric"].str.endswith("_original")].set_index(["dataset", "metric"])
    good = sizes[sizes["verdict"] == verdicts.REPRODUCED]
    assert ("Bibtex", "classes_original") in good.index
    assert ("AmazonCat-13K", "examples_original") in good.index
    assert sizes.loc[("Wiki-small", "examples_original"), "verdict"] == verdicts.NOT_YET


def test_every_printed_number_once(tmp_path: Path, rows: pd.DataFrame) -> None:
    replication.write(tmp_path / "umax", rows)
    replication.collect(tmp_path)
    table = pd.read_csv(tmp_path / "replication.csv", dtype=str, keep_default_na=False)
    assert list(table) == replication.COLUMNS
    assert set(table["verdict"]) <= set(verdicts.ALL)
    folder = Path(published.__file__).parent
    lines = [
        pd.read_csv(path, dtype=str, keep_default_na=False).assign(paper=path.stem.split("_")[0])
        for path in folder.glob("*_*.csv")
        if path.stem != "umax_author_runs"
    ]
    printed = pd.concat(lines)
    names = ["paper", "dataset", "method", "metric"]
    counted = printed.groupby([*names, "value"]).size()
    assert counted.equals(
        table.rename(columns={"published": "value"}).groupby(counted.index.names).size()
    )
    assert not table.duplicated(KEY).any()
    deviates = table[table["verdict"] == verdicts.DEVIATES]
    assert (deviates["reason"] != "").all()


def test_rows_of_other_papers_are_those_in_their_folders(
    tmp_path: Path, rows: pd.DataFrame
) -> None:
    replication.write(tmp_path / "umax", rows)
    replication.write(tmp_path / "ove", replication.rows("ove", {}))
    path = tmp_path / "ove" / "replication.csv"
    theirs = pd.read_csv(path, dtype=str, keep_default_na=False)
    theirs.loc[0, ["measured", "verdict", "reason"]] = ["0.0740", "deviates", 'a "b", c']
    theirs.to_csv(path, index=False)
    replication.collect(tmp_path)
    table = pd.read_csv(tmp_path / "replication.csv", dtype=str, keep_default_na=False)
    found = table[table["paper"] == "ove"].reset_index(drop=True)
    pd.testing.assert_frame_equal(found, theirs)
    assert set(table.loc[table["paper"] == "memoir", "measured"]) == {""}


def test_a_damaged_replication_table_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "ove" / "replication.csv"
    path.parent.mkdir()
    for text in ("", "paper,verdict\nove,fine\n", "\x00\n"):
        path.write_text(text)
        with pytest.raises(UserError, match=r"replication\.csv cannot be read"):
            replication.collect(tmp_path)


# ---------------------------------------------------------------- twins
SMALL = {
    "dataset.missing": "twin",
    "dataset.protocol.rows": "0",
    "dataset.synthetic.train": "80",
    "dataset.synthetic.test": "20",
    "dataset.synthetic.features": "30",
    "dataset.synthetic.classes": "7",
    "dataset.synthetic.nonzeros": "4",
    "budget.epochs": "1",
    "budget.checkpoints": "1",
    "engine": "numpy",
    "mlflow": "false",
}


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The paper's own experiments on shrunk twins of datasets whose files are not here."""
    folder = tmp_path_factory.mktemp("twins")
    places = {"reports_dir": f"{folder}/reports", "runs_dir": f"{folder}/runs"}
    wanted = {"dataset": "eurlex,wiki-small", "method": "umax,implicit"}
    wanted |= {"seed": "0", "method.lr": "1", "data_dir": f"{folder}/none"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(theory, "measure", lambda: {})  # needs no data, and has tests of its own
        patch.setattr(theory, "results", lambda frames: [])
        assert paper(Request("paper", ["umax"], {**places, **wanted, **SMALL})) == 0
    return folder / "reports"


@pytest.mark.slow
def test_a_twin_is_no_measurement_of_its_dataset(twins: Path) -> None:
    runs = pd.read_csv(twins / "umax" / "runs.csv")
    assert set(runs["dataset"]) == {"eurlex-twin", "wiki-small-twin"}
    assert set(runs["status"]) <= {"done", "diverged"}
    assert {"table3_code", "table3_paper", "table3_tuned", "figure3"} <= set(runs["grid"])
    table = pd.read_csv(twins / "replication.csv", dtype=str, keep_default_na=False)
    own = table[table["paper"] == "umax"]
    assert len(own) == len(published.numbers().query("paper == 'umax'"))
    assert set(own["measured"]) == {""}
    assert set(own["verdict"]) == {verdicts.NO_DATA, verdicts.NOT_YET, verdicts.SETTING}


@pytest.mark.slow
def test_no_printed_number_stands_beside_a_twin(twins: Path) -> None:
    texts = [twins / "umax" / name for name in ("tables.md", "index.html")]
    for path in (*texts, twins / "replication.csv"):
        assert "-twin" not in path.read_text(), path
    assert not list((twins / "umax" / "figures").glob("figure3*"))


@pytest.mark.slow
def test_the_same_report_twice(twins: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def everything() -> dict[str, bytes]:
        return {str(p.relative_to(twins)): p.read_bytes() for p in twins.rglob("*") if p.is_file()}

    monkeypatch.setattr(theory, "measure", lambda: {})
    monkeypatch.setattr(theory, "results", lambda frames: [])
    before = everything()
    assert {
        "replication.csv",
        "umax/index.html",
        "umax/figures/figure1.png",
        "umax/figures/figure1.pdf",
    } <= before.keys()
    settings = {"part": "report", "reports_dir": str(twins)}
    assert paper(Request("paper", ["umax"], settings)) == 0
    after = everything()
    assert [name for name in before if after.get(name) != before[name]] == []
    assert after.keys() == before.keys()


# ---------------------------------------------------------------- before and after
def test_changed_verdicts_are_told_with_their_reason() -> None:
    """Kept: what has another verdict; its distance is a share of the error, not of the accuracy."""
    key = {"paper": "ar", "table": "Table 3", "dataset": "MNIST", "method": "exact softmax"}
    lines = [("test_accuracy", "0.927", "0.9343"), ("test_log_likelihood", "-0.261", "-0.261")]
    rows = [
        {**key, "metric": metric, "published": value, "measured": measured, "seeds": "5"}
        | {"kind": "result", "reason": "", "verdict": "reproduced"}
        for metric, value, measured in lines
    ]
    now = pd.DataFrame(rows)
    before = now.assign(verdict=["close", "reproduced"])
    changed = verdict_changes.changes(before, now)
    assert changed["metric"].tolist() == ["test_accuracy"]
    assert changed["before"].item() == "close" and changed["after"].item() == "reproduced"
    assert changed["why"].item() == "-10 % of the error or loss"


def test_without_the_commit_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="since=x is not possible"):
        verdict_changes.at(tmp_path, "x")
