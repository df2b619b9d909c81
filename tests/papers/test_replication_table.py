"""The table of all printed numbers: rows, twins, and verdicts that changed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from xcbench.cli.command import Request
from xcbench.cli.paper import paper
from xcbench.errors import UserError
from xcbench.papers import (
    LOSS,
    Measured,
    committed,
    description,
    published,
    replication,
    verdict_changes,
    verdicts,
)
from xcbench.papers.demonstration import Demonstration
from xcbench.papers.replication import KEY
from xcbench.papers.umax.experiments import DATASETS, ERROR, METHODS, TWICE, with_implicit
from xcbench.show.section import Section


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
    results = with_implicit(Measured(frame, frame[:0]))
    return replication.rows("umax", description.of("umax").evidence(results))


def test_every_deviation_has_a_reason(rows: pd.DataFrame) -> None:
    deviates = rows[rows["verdict"] == verdicts.DEVIATES]
    # All sizes, rates, ratios and averages but those of Implicit SGD to itself.
    assert len(deviates) > 90
    assert (deviates["reason"].str.len() > 10).all(), deviates[deviates["reason"] == ""]
    assert (deviates["command"] != "").all()


def test_nothing_measured_warns_of_nothing(frame: pd.DataFrame) -> None:
    rows = replication.rows("umax", description.of("umax").evidence(frame[:0]))
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


def write(folder: Path, rows: pd.DataFrame) -> None:
    """The rows of a report, and its summary."""
    replication.write(folder, rows)
    (folder / committed.SUMMARY).write_text(committed.summary(replication.as_text(rows), []))


def test_every_printed_number_once(tmp_path: Path, rows: pd.DataFrame) -> None:
    write(tmp_path / "umax", rows)
    committed.collect(tmp_path)
    table = pd.read_csv(tmp_path / "replication.csv", dtype=str, keep_default_na=False)
    assert list(table) == replication.COLUMNS
    assert set(table["verdict"]) <= set(verdicts.ALL)
    folder = Path(published.__file__).parent
    lines = [
        pd.read_csv(path, dtype=str, keep_default_na=False).assign(paper=path.parent.name)
        for path in folder.glob("*/printed.csv")
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
    write(tmp_path / "umax", rows)
    theirs = replication.rows("ove", {}).astype(object)
    measured = {"measured": 0.074, "difference": -783.926, "seeds": 1, "variant": "paper"}
    measured |= {"verdict": "deviates", "reason": 'a "b", c'}
    theirs.loc[0, list(measured)] = list(measured.values())
    write(tmp_path / "ove", theirs)
    committed.collect(tmp_path)
    table = pd.read_csv(tmp_path / "replication.csv", dtype=str, keep_default_na=False)
    found = table[table["paper"] == "ove"].reset_index(drop=True)
    pd.testing.assert_frame_equal(found, replication.as_text(theirs))
    assert set(table.loc[table["paper"] == "memoir", "measured"]) == {""}


def test_a_damaged_replication_table_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "ove" / "replication.csv"
    path.parent.mkdir()
    for text in ("", "paper,verdict\nove,fine\n", "\x00\n"):
        path.write_text(text)
        with pytest.raises(UserError, match=r"replication\.csv cannot be read"):
            committed.collect(tmp_path)


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


def without_theorems(patch: pytest.MonkeyPatch) -> None:
    """They need no data, take half a minute, and have tests of their own."""
    patch.setattr(Demonstration, "section", lambda theorem, _: Section(theorem.title))


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The paper's own experiments on shrunk twins of datasets whose files are not here."""
    folder = tmp_path_factory.mktemp("twins")
    places = {"reports_dir": f"{folder}/reports", "runs_dir": f"{folder}/runs"}
    wanted = {"dataset": "eurlex,wiki-small", "method": "umax,implicit"}
    wanted |= {"seed": "0", "method.lr": "1", "data_dir": f"{folder}/none"}
    with pytest.MonkeyPatch.context() as patch:
        without_theorems(patch)
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

    without_theorems(monkeypatch)
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
