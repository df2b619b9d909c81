"""The page and the figures of a paper's report, from made-up frames."""

from __future__ import annotations

import base64
import math
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection

from xcbench.papers import panels
from xcbench.papers.section import (
    Picture,
    Section,
    Table,
    markdown,
    render,
    verdict_class,
)
from xcbench.papers.umax import figures, stored
from xcbench.report import style

NAN = float("nan")
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
)

# The page


@pytest.fixture
def sections(tmp_path: Path) -> list[Section]:
    folder = tmp_path / "figures"
    folder.mkdir()
    (folder / "one.png").write_bytes(PNG)
    frame = pd.DataFrame(
        {
            "dataset": ["MNIST", "Wiki10"],
            "published": [0.27081234, NAN],
            "measured": ["0.271 ± 0.002", "a < b & c | d"],
            "verdict": ["reproduced only as published", "not run: data"],
        }
    )
    table = Table("Losses & <rates>", frame, right=("published", "measured"), verdict="verdict")
    picture = Picture(folder / "one.png", "One 'dot' & more", "A dot, x < y.")
    return [
        Section("Table 3: log loss", ["First & last.", "If a < b."], [table], [picture]),
        Section("What was left out"),
    ]


class Page(HTMLParser):
    """What a page shows: tags, the text of every cell, and all text."""

    VOID = ("meta", "img", "br")

    def __init__(self, text: str):
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.cells: list[str] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if self.open and self.open[-1] in ("td", "th"):
            self.cells[-1] += data

    def named(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


def test_page_shows_every_cell_and_figure(sections):
    page = Page(render("U-max & co", ["What <this> is."], sections))
    assert page.open == []
    assert page.cells == [
        *("dataset", "published", "measured", "verdict"),
        *("MNIST", "0.270812", "0.271 ± 0.002", "reproduced only as published"),
        *("Wiki10", "–", "a < b & c | d", "not run: data"),
    ]
    for words in ("U-max & co", "What <this> is.", "If a < b.", "Losses & <rates>", "x < y"):
        assert words in page.text
    (image,) = page.named("img")
    assert image["alt"] == "One 'dot' & more"
    assert base64.b64decode(image["src"].removeprefix("data:image/png;base64,")) == PNG


def test_page_needs_nothing_else_and_its_links_lead_somewhere(sections):
    html = render("Title", [], sections)
    page = Page(html)
    assert "http" not in html and "url(" not in html and "@import" not in html
    assert not page.named("script") and not page.named("link")
    targets = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert [link["href"] for link in page.named("a")] == [f"#{target}" for target in targets]
    assert len(targets) == len(set(targets)) == 2


def test_page_is_accessible(sections):
    page = Page(render("Title", [], sections))
    assert page.named("html")[0]["lang"] == "en"
    assert [th["scope"] for th in page.named("th")] == ["col"] * 4 + ["row"] * 2
    assert len(page.named("caption")) == 1
    assert [cell["class"] for cell in page.named("td")][2::3] == ["as-published", "not-run"]
    assert page.named("td")[0]["class"] == "number"


def test_same_sections_same_bytes(sections):
    assert render("Title", ["Intro"], sections) == render("Title", ["Intro"], sections)
    assert markdown(sections) == markdown(sections)


@pytest.mark.parametrize(
    ("verdict", "name"),
    [
        ("reproduced", "reproduced"),
        ("reproduced (within 2 spreads)", "reproduced"),
        ("reproduced only as published", "as-published"),
        ("deviates: other split", "deviates"),
        ("not run: data", "not-run"),
        ("not printed", "neutral"),
        ("orientation only", "neutral"),
        ("anything else", ""),
    ],
)
def test_class_of_a_verdict(verdict, name):
    assert verdict_class(verdict) == name


def test_two_sections_of_one_title_are_refused():
    with pytest.raises(ValueError, match="same title"):
        render("Title", [], [Section("Figure 1"), Section("Figure 1")])


def test_a_column_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="no column 'verdict'"):
        Table("Losses", pd.DataFrame({"dataset": []}), verdict="verdict")


def test_markdown(sections):
    text = markdown(sections)
    lines = text.splitlines()
    assert lines[0] == "## Table 3: log loss"
    assert "![One 'dot' & more](figures/one.png)" in lines
    assert r"a < b & c \| d" in text
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 4
    assert table[1].split("|")[2].endswith("-:") and table[1].split("|")[1].startswith(":-")


@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
def test_page_in_a_real_browser(sections, tmp_path):
    path = tmp_path / "index.html"
    path.write_text(render("Title", ["Intro"], sections), encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    options += ["--no-first-run", f"--user-data-dir={tmp_path / 'browser'}", "--dump-dom"]
    dumped = subprocess.run(
        ["chromium", *options, path.as_uri()],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    shown = Page(dumped.stdout)
    assert len(shown.named("section")) == 2 and len(shown.named("img")) == 1
    assert "a < b & c | d" in shown.cells


# Panels


def run(label, losses, cell="a", status="done") -> pd.DataFrame:
    at = np.arange(len(losses), dtype=float)
    return pd.DataFrame(
        {"label": label, "cell": cell, "status": status, "epoch": at, "loss": losses}
    )


def drawn(*parts: pd.DataFrame, labels=("10", "1"), times=30.0) -> tuple[Axes, str]:
    """A panel and the words around it."""
    runs = pd.concat(parts) if parts else pd.DataFrame(columns=panels.COLUMNS)
    ax = matplotlib.figure.Figure().subplots()
    end = panels.top(runs, times)
    panels.fit([ax], [runs], end, log=True)
    panels.draw(ax, runs, panels.by_rate(map(float, labels)), end)
    return ax, " ".join(text.get_text().replace("\n", " ") for text in ax.texts).strip()


def lines_of(ax: Axes) -> dict[str, list[float]]:
    return {
        str(line.get_label()): list(line.get_ydata())
        for line in ax.lines
        if not str(line.get_label()).startswith("_")
    }


def test_line_is_the_mean_and_band_the_range_over_seeds():
    ax, words = drawn(
        run("10", [6.0, 3.0, 1.0], "a"),
        run("10", [6.0, 4.0, 2.0], "b"),
        run("10", [6.0, 8.0, 6.0], "c"),
        run("1", [6.0, 5.0, 4.0]),
    )
    assert lines_of(ax) == {"10": [6, 5, 3], "1": [6, 5, 4]}
    bands = [band for band in ax.collections if isinstance(band, PolyCollection)]
    corners = bands[0].get_paths()[0].vertices
    at_the_end = corners[corners[:, 0] == 2][:, 1]
    assert (at_the_end.min(), at_the_end.max()) == (1.0, 6.0)
    assert words == ""


def test_single_seed_has_a_flat_band():
    ax, _ = drawn(run("10", [6.0, 3.0]), run("1", [6.0, 5.0]))
    corners = ax.collections[0].get_paths()[0].vertices
    assert set(corners[corners[:, 0] == 1][:, 1]) == {3.0}


def test_diverged_rate_is_named_and_its_line_ends_in_a_cross():
    ax, words = drawn(run("10", [6.0, 9.0, NAN], status="diverged"), run("1", [6.0, 5.0, 4.0]))
    assert words == "diverged: 10"
    crosses = [line for line in ax.lines if line.get_marker() == "x"]
    assert [(list(c.get_xdata()), list(c.get_ydata())) for c in crosses] == [([1.0], [9.0])]


def test_a_diverged_seed_is_counted_and_has_no_part_in_the_mean():
    ax, words = drawn(
        run("10", [6.0, 3.0, 2.0], "a"),
        run("10", [6.0, 99.0, NAN], "b", "diverged"),
        run("1", [6.0, 5.0, 4.0]),
    )
    assert words == "diverged: 10 (1 of 2 seeds)"
    assert lines_of(ax)["10"] == [6, 3, 2]
    assert all(line.get_marker() != "x" for line in ax.lines)


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ([], "missing: 10"),
        ([run("10", [NAN], status="failed")], "failed: 10"),
        ([run("10", [NAN], status="skipped")], "not run: 10"),
        ([run("10", [6.0, 5.5], status="timeout")], "out of time: 10"),
        ([run("10", [NAN, NAN])], "not evaluated: 10"),
        ([run("10", [6.0, 1e6])], "off the axis: 10 (to 1e+06)"),
    ],
)
def test_no_line_is_absent_in_silence(part, said):
    ax, words = drawn(run("1", [6.0, 5.0]), *part)
    assert words == said
    assert lines_of(ax)["1"] == [6, 5]
    assert ax.get_ylim()[1] < 30 * 6.5


def test_a_note_is_folded_between_names():
    parts = [run(f"{rate:g}", [6.0, 1e6 * rate]) for rate in range(10, 19)]
    ax, _ = drawn(run("1", [6.0, 5.0]), *parts, labels=("1", *map(str, range(10, 19))))
    note = ax.texts[0].get_text().splitlines()
    assert len(note) > 2 and max(map(len, note)) <= panels.FOLD
    assert all(line.endswith(("),", ")")) for line in note)


def test_panel_without_data_says_so():
    assert drawn(run("10", [NAN], status="skipped"))[1] == "not run: data"
    assert drawn()[1] == "no run"


def test_a_narrow_range_is_not_drawn_logarithmically():
    assert drawn(run("10", [6.0, 5.0]), run("1", [6.0, 5.5]))[0].get_yscale() == "linear"
    assert drawn(run("10", [6.0, 0.5]), run("1", [6.0, 5.5]))[0].get_yscale() == "log"


def test_colours_of_rates_differ_in_grey():
    looks = panels.by_rate(figures.FIGURE3_RATES)
    assert list(looks) == ["1000", "100", "10", "1", "0.1", "0.01", "0.001"]
    weights = np.array([0.2126, 0.7152, 0.0722])
    grey = [weights @ matplotlib.colors.to_rgb(look["color"]) for look in looks.values()]
    assert (np.diff(grey) > 0.02).all() and max(grey) < 0.8


# The figures of the U-max paper

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
        author(stored.TUNED, "MNIST", "U-max", 10.0, [2.0, 1.5]),
        author(stored.TUNED, "MNIST", "OVE", 10.0, [1.6, 1.5]),
        author(stored.TUNED, "Wiki10", "Vanilla SGD", 0.001, [7.0, NAN]),
        author(stored.AGAIN, "Wiki10", "Vanilla SGD", 0.0001, [7.0, 6.6]),
        author(stored.TUNED, "Wiki10", "Implicit SGD", 1.0, [4.0, 1.1]),
        author(stored.AGAIN, "Wiki10", "Implicit SGD", 1.0, [4.0, 2.1]),
        author(stored.SWEEP, "Eurlex", "Implicit SGD", 1.0, [2.2, 0.96]),
        author(stored.AGAIN, "Eurlex", "Implicit SGD", 10.0, [2.2, 1.34]),
        author(stored.SWEEP, "Eurlex", "U-max", 0.1, [3.0, 2.0]),
        author(stored.SWEEP, "Eurlex", "U-max", 100.0, [7.0, NAN]),
        author(stored.SWEEP, "Eurlex", "U-max", 1e6, [9.0, 9.0]),
        author(stored.TUNED, "Eurlex", "Vanilla SGD", 0.001, [4.0, 3.46]),
    ]
)


def at_the_end(runs: pd.DataFrame) -> dict[str, float]:
    return {str(label): part["loss"].iloc[-1] for label, part in runs.groupby("label")}


def test_stored_runs_are_those_behind_the_published_table():
    assert at_the_end(stored.tuned(AUTHORS, "MNIST")) == {"U-max": 1.5, "OVE": 1.5}
    assert at_the_end(stored.tuned(AUTHORS, "Wiki10")) == {"Vanilla SGD": 6.6, "Implicit SGD": 1.1}
    assert at_the_end(stored.tuned(AUTHORS, "Eurlex")) == {
        "Implicit SGD": 0.96,
        "U-max": 2.0,
        "Vanilla SGD": 3.46,
    }
    assert stored.tuned(AUTHORS, "AmazonCat").empty
    assert list(stored.tuned(AUTHORS, "MNIST")["epoch"])[:2] == [2.0, 4.0]


def test_stored_sweep():
    runs = stored.sweep(AUTHORS, "U-max")
    assert dict(zip(runs["label"], runs["status"], strict=True)) == {
        "0.1": "done",
        "100": "diverged",
        "1e+06": "done",
    }
    assert stored.sweep(AUTHORS, "NCE").empty


def test_figure1():
    grid = "table3_as_published"
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
    sums = ["proposed", "raman", "raman_as_published"]
    results, curves = frames(
        *(
            measured("figure2", "delicious", "umax", lr, **{"method.double_sum": which})
            for lr in figures.FIGURE2_RATES
            for which in sums
            if (lr, which) != (1e2, "raman_as_published")
        ),
        measured(
            "figure2",
            "delicious",
            "umax",
            1e2,
            status="diverged",
            **{"method.double_sum": "raman_as_published"},
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
    one, many = {"method.n": 1, "method.m": 1}, {"method.n": 100, "method.m": 5}
    results, curves = frames(
        measured("figure3", "delicious", "nce", 1.0, end=2.0, **many),
        measured("figure3_one_pair", "delicious", "nce", 1.0, end=3.0, **one),
        measured("figure3", "delicious", "umax", 1.0, end=0.5, **one),
        measured("figure3", "delicious", "umax", 1.0, end=0.6, **{"method.double_sum": "raman"}),
        measured("figure3", "citeulike", "umax", 1.0, **one),
    )
    made = figures.figure3(results, curves, AUTHORS)
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


def test_files_are_the_same_bytes_twice(tmp_path):
    results, curves = frames(
        measured("table3_as_published", "mnist", "umax"),
        measured("figure3", "delicious", "umax", 1.0),
    )
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
        pictures = figures.draw(results, curves, AUTHORS, folder)
    assert list(pictures) == ["figure1", "figure2", "figure3-delicious"]
    assert "on Delicious with the settings" in pictures["figure3-delicious"].caption
    names = sorted(path.name for path in first.iterdir())
    assert len(names) == 6
    for name in names:
        assert (first / name).read_bytes() == (second / name).read_bytes(), name


def test_a_results_frame_without_any_cell_still_gives_the_stored_curves():
    results, curves = frames(measured("other", "mnist", "umax"))
    assert len(figures.figure2(results, curves, AUTHORS).axes) == 3
    assert figures.figure3(results, curves, AUTHORS) == {}
    with style.look():
        assert lines_of(figures.figure1(results, curves, AUTHORS).axes[0])
