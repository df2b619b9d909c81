"""Figures of the U-max paper: stored curves of its authors beside measured ones."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from drawn_lines import lines_of
from xcbench.papers import Measured
from xcbench.papers.umax import experiments, figures
from xcbench.show import style
from xcbench.show.pictures import save

NAN = float("nan")
EPOCHS = np.arange(0, 51, 10.0)


def measured(grid, dataset, method, lr=0.1, seed=0, status="done", end=1.0, **settings):
    """A cell of the results and its curve, whose log loss falls from log 50 to ``end``."""
    cell = f"{dataset}-{method}-{lr:g}-{seed}-{settings}"
    row = {"grid": grid, "cell": cell, "status": status, "dataset": dataset, "method": method}
    row |= {"lr": lr, "seed": seed} | settings
    loss = np.linspace(math.log(50), end, len(EPOCHS))
    if status == "diverged":
        loss[3:] = NAN
    curve = pd.DataFrame(
        {
            "cell": cell,
            "status": status,
            "method": method,
            "epoch": EPOCHS,
            "train_log_loss": loss,
            "train_log_loss_softmax_twice": loss + 100,
        }
    )
    return row, curve.iloc[:0] if status in ("skipped", "failed") else curve


def frames(*cells) -> tuple[pd.DataFrame, pd.DataFrame]:
    return pd.DataFrame([row for row, _ in cells]), pd.concat([curve for _, curve in cells])


def author(run, dataset, method, lr, losses) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "run": run,
            "dataset": dataset,
            "method": method,
            "initial_learning_rate": lr,
            "epoch_index_zero_based": 2 * np.arange(len(losses)) + 1,
            "train_log_loss_recorded": losses,
        }
    )


AUTHORS = pd.concat(
    [
        author(figures.STORED_TUNED, "MNIST", "U-max", 10.0, [2.0, 1.5]),
        author(figures.STORED_TUNED, "MNIST", "OVE", 10.0, [1.6, 1.5]),
        author(figures.STORED_TUNED, "Wiki10", "Vanilla SGD", 0.001, [7.0, NAN]),
        author(figures.STORED_RERUN, "Wiki10", "Vanilla SGD", 0.0001, [7.0, 6.6]),
        author(figures.STORED_TUNED, "Wiki10", "Implicit SGD", 1.0, [4.0, 1.1]),
        author(figures.STORED_RERUN, "Wiki10", "Implicit SGD", 1.0, [4.0, 2.1]),
        author(figures.STORED_SWEEP, "Eurlex", "Implicit SGD", 1.0, [2.2, 0.96]),
        author(figures.STORED_RERUN, "Eurlex", "Implicit SGD", 10.0, [2.2, 1.34]),
        author(figures.STORED_SWEEP, "Eurlex", "U-max", 0.1, [3.0, 2.0]),
        author(figures.STORED_SWEEP, "Eurlex", "U-max", 100.0, [7.0, NAN]),
        author(figures.STORED_SWEEP, "Eurlex", "U-max", 1e6, [9.0, 9.0]),
        author(figures.STORED_TUNED, "Eurlex", "Vanilla SGD", 0.001, [4.0, 3.46]),
    ]
)


def at_the_end(runs: pd.DataFrame) -> dict[str, float]:
    return {str(label): part["loss"].iloc[-1] for label, part in runs.groupby("label")}


def test_stored_runs_are_those_behind_the_published_table():
    assert at_the_end(figures.stored_tuned(AUTHORS, "MNIST")) == {"U-max": 1.5, "OVE": 1.5}
    assert at_the_end(figures.stored_tuned(AUTHORS, "Wiki10")) == {
        "Vanilla SGD": 6.6,
        "Implicit SGD": 1.1,
    }
    assert at_the_end(figures.stored_tuned(AUTHORS, "Eurlex")) == {
        "Implicit SGD": 0.96,
        "U-max": 2.0,
        "Vanilla SGD": 3.46,
    }
    assert figures.stored_tuned(AUTHORS, "AmazonCat").empty
    assert list(figures.stored_tuned(AUTHORS, "MNIST")["epoch"])[:2] == [2.0, 4.0]


def test_stored_sweep():
    runs = figures.stored_sweep(AUTHORS, "U-max")
    assert dict(zip(runs["label"], runs["status"], strict=True)) == {
        "0.1": "done",
        "100": "diverged",
        "1e+06": "done",
    }
    assert figures.stored_sweep(AUTHORS, "NCE").empty


def test_figure1():
    grid = "table3_code"
    results, curves = frames(
        measured(grid, "mnist", "ove", seed=0, end=1.0),
        measured(grid, "mnist", "ove", seed=1, end=2.0),
        measured(grid, "mnist", "umax"),
        measured(grid, "mnist", "vanilla", status="diverged"),
        measured("figure2", "mnist", "implicit"),
        measured(grid, "bibtex", "umax", status="skipped"),
        measured(grid, "eurlex-twin", "umax"),
    )
    figure = figures.figure1(results, curves, AUTHORS)
    assert len(figure.axes) == 21
    left, middle, right, *others = figure.axes
    assert lines_of(left)["U-max"] == [2.0, 1.5]
    assert set(lines_of(middle)) == set(lines_of(right)) == {"OVE", "U-max", "Vanilla SGD"}
    assert lines_of(right)["OVE"][-1] == pytest.approx(1.5)
    assert lines_of(middle)["OVE"][-1] == pytest.approx(101.5)
    assert lines_of(middle)["U-max"] == lines_of(right)["U-max"]
    assert left.get_ylim() == right.get_ylim()
    (words,) = (text.get_text().replace("\n", " ") for text in right.texts)
    assert words == "missing: NCE, IS, Implicit SGD; diverged: Vanilla SGD"
    said = [ax.texts[0].get_text() for ax in others]
    assert said[:3] == ["no run", "not run: data", "not run: data"]
    assert said[7:9] == ["no run", "no run"]  # a twin stands for no published dataset
    assert figure.axes[0].get_xlim() == (0, 50)


def test_figure2():
    sums = ["proposed", "raman", "raman_code"]
    results, curves = frames(
        *(
            measured("figure2", "delicious", "umax", lr, **{"method.double_sum": which})
            for lr in figures.FIGURE2_RATES
            for which in sums
            if (lr, which) != (1e2, "raman_code")
        ),
        measured(
            "figure2",
            "delicious",
            "umax",
            1e2,
            status="diverged",
            **{"method.double_sum": "raman_code"},
        ),
        measured("figure3", "delicious", "umax", 1e3),
    )
    figure = figures.figure2(results, curves, AUTHORS)
    assert len(figure.axes) == 6
    assert lines_of(figure.axes[0])["0.1"] == [3.0, 2.0]
    assert "diverged: 100" in figure.axes[0].texts[0].get_text()
    assert figure.axes[1].texts[0].get_text() == "no run"
    for ax in figure.axes[3:]:
        assert list(lines_of(ax)) == ["100", "10", "1", "0.1", "0.01", "0.001", "0.0001"]
        assert ax.get_yscale() == "log"
    assert [ax.texts[0].get_text() for ax in figure.axes[3:]] == ["", "", "diverged: 100"]
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["100", "10", "1", "0.1", "0.01", "0.001", "0.0001"]


def test_figure3():
    one, many = (
        {"method.batch_size": 1, "method.negatives": 1},
        {"method.batch_size": 100, "method.negatives": 5},
    )
    results, curves = frames(
        measured("figure3", "delicious", "nce", 1.0, end=2.0, **many),
        measured("figure3_one_pair", "delicious", "nce", 1.0, end=3.0, **one),
        measured("figure3", "delicious", "umax", 1.0, end=0.5, **one),
        measured("figure3", "delicious", "umax", 1.0, end=0.6, **{"method.double_sum": "raman"}),
        measured("figure3", "citeulike", "umax", 1.0, **one),
    )
    made = {
        it.name.removeprefix("figure3-"): it.make()
        for it in figures.figure3(results, curves, AUTHORS)
    }
    assert list(made) == ["citeulike", "delicious"]
    rows = {
        ax.get_ylabel().rsplit("\n", 1)[0].replace("\n", " "): made["delicious"].axes[i : i + 3]
        for i, ax in enumerate(made["delicious"].axes)
        if i % 3 == 0
    }
    assert list(rows) == [
        "Implicit SGD",
        "NCE",
        "NCE (n=1,m=1)",
        "IS",
        "U-max",
        "U-max (Raman double sum)",
        "OVE",
    ]
    ends = {
        name: [lines_of(ax).get("1", [NAN])[-1] for ax in axes[1:]] for name, axes in rows.items()
    }
    assert ends["NCE"] == pytest.approx([102.0, 2.0])
    assert ends["NCE (n=1,m=1)"] == pytest.approx([103.0, 3.0])
    assert ends["U-max"] == pytest.approx([0.5, 0.5])
    assert ends["U-max (Raman double sum)"] == pytest.approx([NAN, 0.6], nan_ok=True)
    assert lines_of(rows["U-max"][0])["0.1"] == [3.0, 2.0]
    assert "missing: 1000, 100, 10, 0.1" in rows["U-max"][1].texts[0].get_text()


@pytest.mark.slow
def test_figures_are_files_with_captions(tmp_path, monkeypatch):
    monkeypatch.setattr(experiments, "author_runs", lambda: AUTHORS)
    results, curves = frames(
        measured("table3_code", "mnist", "umax"),
        measured("figure3", "delicious", "umax", 1.0),
    )
    pictures = save(figures.drawings(Measured(results, curves)), tmp_path)
    assert list(pictures) == ["figure1", "figure2", "figure3-delicious"]
    assert "on Delicious with the settings" in pictures["figure3-delicious"].caption
    assert len(list(tmp_path.iterdir())) == 6


def test_a_results_frame_without_any_cell_still_gives_the_stored_curves():
    results, curves = frames(measured("other", "mnist", "umax"))
    assert len(figures.figure2(results, curves, AUTHORS).axes) == 3
    assert [*figures.figure3(results, curves, AUTHORS)] == []
    with style.look():
        assert lines_of(figures.figure1(results, curves, AUTHORS).axes[0])
