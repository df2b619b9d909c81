"""The folder of a report, from cells with made-up curves: its files, and when they are replaced."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pandas as pd
import pytest

from file_faults import KILLED, in_child, kill
from made_cells import grid, make
from xcbench.core import metrics
from xcbench.errors import UserError
from xcbench.report import folder
from xcbench.report.folder import build


def test_files(report):
    assert sorted(path.name for path in report.iterdir()) == sorted(
        [
            *[
                "curves.csv",
                "figures",
                "index.html",
                "inputs.sha256",
                "results.csv",
                "table.csv",
                "table.md",
            ]
        ]
    )
    assert sorted(path.name for path in (report / "figures").iterdir()) == [
        "tiny-curves.pdf",
        "tiny-curves.png",
        "tiny-rates.pdf",
        "tiny-rates.png",
    ]
    assert {path.name for path in report.parent.iterdir()} == {"smoke", ".smoke.lock"}


def test_numbers_on_disk(report):
    sample = grid()
    assert len(pd.read_csv(report / "results.csv")) == len(sample)
    rows = sum(max(1, len(cell.curve)) for cell in sample)
    assert len(pd.read_csv(report / "curves.csv")) == rows
    table = pd.read_csv(report / "table.csv").set_index(["dataset", "method"])
    assert table.loc[("tiny", "umax (negatives=5)"), "train_log_loss"] == pytest.approx(1.06)
    assert table.loc[("tiny", "umax (negatives=5)"), "lr"] == 0.1


def test_markdown(report):
    text = (report / "table.md").read_text(encoding="utf-8")
    assert "1.060 ± 0.014" in text
    assert "**0.900**" in text
    assert r"failed: ValueError: a \| b" in text
    assert "**small-twin**: Synthetic stand-in" in text


def test_same_bytes_whatever_the_order_of_the_cells(report, tmp_path):
    again = tmp_path / "again"
    build(grid()[::-1], again, "Smoke & mirrors")
    files = [path.relative_to(report) for path in report.rglob("*") if path.is_file()]
    assert len(files) == 10
    for name in files:
        assert (report / name).read_bytes() == (again / name).read_bytes(), name


def test_a_new_report_replaces_the_old_one(tmp_path):
    out = tmp_path / "deep" / "report"
    build([make(status="failed", message="former")], out, "First")
    build([make(status="failed", message="latter")], out, "Second")
    page = (out / "index.html").read_text(encoding="utf-8")
    assert "failed: latter" in page and "former" not in page
    assert "No figure" in page


def test_an_interrupted_build_leaves_the_old_report(tmp_path, monkeypatch):
    out = tmp_path / "report"
    build([make(status="skipped", message="kept")], out, "Old")
    monkeypatch.setattr("xcbench.show.section.render", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        build([make(status="skipped")], out, "New")
    assert "kept" in (out / "index.html").read_text(encoding="utf-8")
    assert {path.name for path in tmp_path.iterdir()} == {"report", ".report.lock"}


def test_a_kill_leaves_a_whole_report_and_the_next_one_tidies_up(tmp_path, monkeypatch):
    """A kill, unlike an error, runs no handler: at every change of a file, the report is whole."""
    out = tmp_path / "report"
    build([make(status="skipped", message="old")], out, "Old")
    whole = {path.name for path in out.iterdir()}
    codes = []
    for at in range(200):
        title = f"New {at}"
        codes.append(in_child(lambda t=title: build([make(status="skipped")], out, t), at, kill))
        assert {path.name for path in out.iterdir()} == whole
        page = (out / "index.html").read_text(encoding="utf-8")
        assert page.endswith("</html>\n") or page.rstrip().endswith("</html>")
        if codes[-1] == 0:
            break
    assert len(codes) > 8 and set(codes) == {KILLED, 0}
    build([make(status="skipped")], out, "Last")
    assert {path.name for path in tmp_path.iterdir()} == {"report", ".report.lock"}


def test_a_report_whose_inputs_did_not_change_is_not_built_again(tmp_path, monkeypatch, capsys):
    out = tmp_path / "report"
    table = build([make()], out, "Title")
    with monkeypatch.context() as patch:
        patch.setattr("xcbench.report.figures.draw", lambda *_, **__: 1 / 0)
        pd.testing.assert_frame_equal(build([make()], out, "Title"), table)
        assert "nothing changed" in capsys.readouterr().out
        for cells, title in (([make(end=0.9)], "Title"), ([make()], "Other")):
            with pytest.raises(ZeroDivisionError):
                build(cells, out, title)
    (out / "table.csv").unlink()
    build([make()], out, "Title")
    assert (out / "table.csv").exists()


def test_a_metric_that_is_shown_otherwise_builds_a_report_again(tmp_path, monkeypatch):
    build([make()], tmp_path / "report", "Title")
    before = (tmp_path / "report" / "table.md").read_text()
    shorter = [replace(metric, digits=1) for metric in metrics.METRICS]
    monkeypatch.setattr(metrics, "METRICS", shorter)
    build([make()], tmp_path / "report", "Title")
    after = (tmp_path / "report" / "table.md").read_text()
    assert "1.000" in before and "1.000" not in after


def test_rates_are_chosen_by_validation_rows(tmp_path):
    def with_validation(method, lr, end, validation):
        cell = make(method, lr, end=end)
        cell.curve["validation_log_loss"] = validation
        return cell

    # By the training loss, 1.0 would be the rate and umax the worse of the two on the test rows.
    cells = [
        with_validation("umax", 0.1, 0.6, 0.7),
        with_validation("umax", 1.0, 0.5, 0.9),
        make("ove", 0.1, end=0.55),
        make("ove", 1.0, end=0.8),
    ]
    table = build(cells, tmp_path / "report", "Title").set_index("method")
    assert table.loc["umax", "lr"] == 0.1
    assert table.loc["umax", "chosen_by"] == "validation_log_loss"
    assert table.loc["ove", "chosen_by"] == "train_log_loss"
    page = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert "validation log loss where validation rows were set aside" in page


def test_every_table_has_the_class_prior(tmp_path):
    older, new = make(), make(dataset="other")
    new.shape |= {"prior_log_loss": 1.75, "majority_error": 0.625}
    table = build([older, new], tmp_path / "report", "Title").set_index(["dataset", "method"])
    assert table.loc[("other", "class prior"), "test_log_loss"] == 1.75
    assert table.loc[("other", "class prior"), "test_error"] == 0.625
    assert pd.isna(table.loc[("tiny", "class prior"), "test_log_loss"])
    text = (tmp_path / "report" / "table.md").read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if "| other" in line and "class prior" in line)
    assert "1.750" in line and "0.6250" in line and "reference" in line


def test_nothing_but_a_report_is_replaced(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(UserError, match=r"thesis\.tex"):
        build([make()], tmp_path, "Title")
    assert (tmp_path / "thesis.tex").exists()


def test_no_cells(tmp_path):
    with pytest.raises(UserError, match="no cell to report"):
        build([], tmp_path / "out", "Title")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("damage", ["emptied", "edited", "figure gone", "figures gone", "bytes"])
def test_a_report_that_was_damaged_is_written_again(tmp_path, capsys, damage: str) -> None:
    cells, out = [make(lr=lr) for lr in (0.1, 1.0)], tmp_path / "report"
    folder.build(cells, out, "demo")
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    figure = sorted((out / "figures").iterdir())[0]
    match damage:
        case "emptied":
            (out / "index.html").write_text("")
        case "edited":
            path = out / "table.csv"
            path.write_text(path.read_text().replace("0.1", "0.2"))
        case "figure gone":
            figure.unlink()
        case "figures gone":
            shutil.rmtree(out / "figures")
        case "bytes":
            (out / folder.INPUTS).write_bytes(b"\xff\0")
    capsys.readouterr()
    folder.build(cells, out, "demo")
    assert "nothing changed" not in capsys.readouterr().out
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    folder.build(cells, out, "demo")
    assert "nothing changed" in capsys.readouterr().out
