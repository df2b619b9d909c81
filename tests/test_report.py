"""The report, from cells with made-up curves."""

from __future__ import annotations

import base64
import hashlib
import math
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from xcbench import results
from xcbench.cells import CURVE_COLUMNS, Cell
from xcbench.errors import UserError
from xcbench.report import build, style, summary, terminal_table, variants
from xcbench.report.curves import draw_curves
from xcbench.report.formats import mean_spread, seconds
from xcbench.report.rates import draw_rates

NAN = float("nan")


def make(
    method="umax",
    lr=0.1,
    seed=0,
    end=1.0,
    dataset="tiny",
    status="done",
    message=None,
    version=1,
    protocol="none",
    epochs=4.0,
    engine="numba",
    checkpoints=4,
    **options,
) -> Cell:
    """A cell whose training log loss falls from log 8 to ``end``; the test loss is twice that."""
    config = {
        "dataset": {"name": dataset, "protocol": {"label": "smallest", "row_norm": protocol}},
        "method": {"name": method, "lr": lr, "bias": True, **options},
        "budget": {"epochs": epochs, "checkpoints": checkpoints},
        "seed": seed,
        "dtype": "float32",
    }
    at = np.linspace(0, epochs, checkpoints + 1)
    loss = np.linspace(math.log(8), end, checkpoints + 1)
    curve = pd.DataFrame(
        {
            "iteration": 100 * at,
            "epoch": at,
            "observations": 100 * at,
            "train_seconds": 0.5 * at,
            "bound": NAN,
            "train_log_loss": loss,
            "train_error": loss / 10,
            "test_log_loss": 2 * loss,
            "test_error": loss / 5,
        }
    )
    if status == "diverged":
        curve.loc[curve.index[-1], CURVE_COLUMNS[4:]] = NAN
    if status in ("failed", "skipped"):
        curve = pd.DataFrame(columns=CURVE_COLUMNS)
    shape = {"train": 100, "test": 50, "features": 30, "classes": 8, "nonzeros_per_row": 5.25}
    return Cell(
        cell=hashlib.sha256(f"{config}{version}{engine}".encode()).hexdigest()[:16],
        dataset=dataset,
        method=method,
        lr=lr,
        seed=seed,
        engine=engine,
        method_version=version,
        dataset_digest="0123456789abcdef",
        config=config,
        status=status,
        message=message,
        shape={} if status == "skipped" else {**shape, "twin": dataset.endswith("-twin")},
        curve=curve,
    )


def table_of(*found: Cell) -> pd.DataFrame:
    return summary.summarise(variants.label(results.frame(found), found))


def only_row(*found: Cell) -> pd.Series:
    table = table_of(*found)
    assert len(table) == 1
    return table.iloc[0]


def grid() -> list[Cell]:
    """Two datasets and a bit of everything that can happen to a cell."""
    return [
        *(
            make(lr=lr, seed=seed, end=end + 0.02 * seed, m=m)
            for m in (1, 5)
            for lr, end in ((0.01, 1.5), (0.1, 1.0 + m / 100), (1.0, 1.2))
            for seed in (0, 1)
        ),
        make("vanilla", 0.01, 0, end=1.8),
        make("vanilla", 0.1, 0, end=900.0),
        make("vanilla", 1.0, 0, status="diverged", message="train log loss is not finite"),
        make("softmax", None, 0, end=0.9, checkpoints=1),
        make("broken", 0.1, 0, status="failed", message="ValueError: a | b <c>"),
        make("umax", 0.1, 0, dataset="small-twin", m=1, status="diverged"),
        make("softmax", None, 0, dataset="small-twin", status="skipped", message="needs 4 GiB"),
    ]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("reports") / "smoke"
    build(grid(), out, "Smoke & mirrors")
    return out


# The table


def test_mean_and_spread_over_seeds_by_hand():
    row = only_row(*(make(seed=seed, end=end) for seed, end in enumerate((1.0, 1.2, 1.7))))
    assert row["seeds"] == 3
    assert row["train_log_loss"] == pytest.approx(1.3)
    assert row["train_log_loss_spread"] == pytest.approx(math.sqrt((0.09 + 0.01 + 0.16) / 2))
    assert row["test_log_loss"] == pytest.approx(2.6)
    assert row["train_error"] == pytest.approx(0.13)
    assert row["test_error_spread"] == pytest.approx(math.sqrt(0.13) / 5)
    assert (row["epoch"], row["train_seconds"]) == (4.0, 2.0)
    assert row["status"] == "done"


def test_one_seed_has_no_spread():
    assert math.isnan(only_row(make())["train_log_loss_spread"])


def test_best_rate_has_the_lowest_mean_training_loss():
    row = only_row(
        make(lr=0.01, seed=0, end=1.4),
        make(lr=0.01, seed=1, end=1.4),
        make(lr=0.1, seed=0, end=1.0),  # the lowest single value, not the lowest mean
        make(lr=0.1, seed=1, end=2.0),
        make(lr=1.0, seed=0, end=1.6),
        make(lr=1.0, seed=1, end=1.6),
    )
    assert row["lr"] == 0.01


def test_rate_with_a_diverged_seed_loses_to_a_complete_one():
    row = only_row(
        make(lr=0.01, seed=0, end=1.5),
        make(lr=0.01, seed=1, end=1.5),
        make(lr=0.1, seed=0, end=1.0),
        make(lr=0.1, seed=1, status="diverged"),
    )
    assert (row["lr"], row["status"]) == (0.01, "done")


def test_without_a_complete_rate_the_best_available_is_shown_as_diverged():
    found = [make(lr=0.1, seed=0, end=1.1), make(lr=0.1, seed=1, status="diverged")]
    other = make("nce", 0.1, 0, end=1.9)
    table = table_of(*found, other).set_index("method")
    assert table.loc["umax", "status"] == "1 done, 1 diverged"
    assert table.loc["umax", "train_log_loss"] == pytest.approx(1.1)
    assert not table.loc["umax", "train_log_loss_best"]  # survivors alone win no prize
    assert table.loc["nce", "train_log_loss_best"]


def test_timeout_counts_as_ended():
    row = only_row(make(seed=0), make(seed=1, status="timeout"))
    assert row["status"] == "1 done, 1 timeout"
    assert row["train_log_loss_best"]


@pytest.mark.parametrize(
    ("ends", "edge"),
    [((1.0, 1.5, 2.0), "lower"), ((1.5, 1.0, 2.0), ""), ((2.0, 1.5, 1.0), "upper"), ((1.0,), "")],
)
def test_edge_of_the_grid(ends, edge):
    rates = (0.01, 0.1, 1.0)
    row = only_row(*(make(lr=lr, end=end) for lr, end in zip(rates, ends, strict=False)))
    assert row["edge"] == edge


def test_a_diverged_rate_belongs_to_the_grid_and_a_skipped_one_does_not():
    found = [make(lr=0.01, end=1.5), make(lr=0.1, end=1.0)]
    assert only_row(*found, make(lr=1.0, status="diverged"))["edge"] == ""
    assert only_row(*found, make(lr=1.0, status="skipped"))["edge"] == "upper"


@pytest.mark.parametrize("status", ["diverged", "failed", "skipped"])
def test_method_without_any_result_leaves_a_row(status):
    row = only_row(
        make(lr=0.1, status=status, message="reason"), make(lr=1.0, status=status, message="reason")
    )
    assert row["status"] == status
    assert ("reason" in row["message"]) == (status != "diverged")
    assert "at every rate: 0.1, 1" in row["message"]
    assert math.isnan(row["train_log_loss"]) and math.isnan(row["lr"])
    assert row["edge"] == ""


def test_rates_without_a_training_loss_are_not_averaged():
    found = [make(lr=0.1), make(lr=1.0)]
    for cell in found:
        cell.curve["train_log_loss"] = NAN
    row = only_row(*found)
    assert math.isnan(row["test_log_loss"]) and math.isnan(row["lr"])


def test_best_is_marked_per_dataset_and_metric():
    table = table_of(
        make("umax", end=1.0),
        make("nce", end=1.5),
        make("umax", dataset="other", end=1.7),
        make("nce", dataset="other", end=1.6),
    )
    best = table[table["test_error_best"]]
    assert list(zip(best["dataset"], best["method"], strict=True)) == [
        ("other", "nce"),
        ("tiny", "umax"),
    ]


def test_method_without_a_rate():
    row = only_row(make("softmax", None, 0, end=0.8), make("softmax", None, 1, end=0.8))
    assert math.isnan(row["lr"]) and row["seeds"] == 2
    assert row["train_log_loss"] == pytest.approx(0.8)


# Variants


@pytest.mark.parametrize(
    ("other", "labels"),
    [
        ({"m": 10}, ["umax (m=5)", "umax (m=10)"]),
        ({"m": 5, "version": 2}, ["umax (version=1)", "umax (version=2)"]),
        ({"m": 5, "epochs": 8.0}, ["umax (epochs=4)", "umax (epochs=8)"]),
        ({"m": 5, "engine": "numpy"}, ["umax (engine=numba)", "umax (engine=numpy)"]),
        ({"m": 5, "bias": False}, ["umax (bias=false)", "umax (bias=true)"]),
    ],
)
def test_method_variants_are_never_averaged(other, labels):
    table = table_of(make(end=1.0, m=5), make(end=3.0, **other))
    assert list(table["method"]) == labels
    assert sorted(table["train_log_loss"]) == pytest.approx([1.0, 3.0])


def test_dataset_variants_are_never_averaged():
    table = table_of(make(end=1.0), make(end=3.0, protocol="l2"))
    assert list(table["dataset"]) == ["tiny (row_norm=l2)", "tiny (row_norm=none)"]
    assert set(table["method"]) == {"umax"}


def test_settings_that_differ_between_methods_or_datasets_alone_are_no_variant():
    table = table_of(
        make("umax", m=5, decay=0.9),
        make("nce", m=1),
        make("nce", m=1, dataset="other", protocol="l2", epochs=50.0),
    )
    assert set(table["method"]) == {"umax", "nce"}
    assert set(table["dataset"]) == {"tiny", "other"}


# Formats


@pytest.mark.parametrize(
    ("mean", "spread", "shown"),
    [
        (1.2344, 0.0051, "1.234 ± 0.005"),
        (1.2344, NAN, "1.234"),
        (NAN, NAN, "–"),
        (0.0, 0.0, "0.000 ± 0.000"),
        (0.00012, 0.00003, "1.2e-04 ± 3.0e-05"),
        (1.5e7, 2e6, "1.5e+07 ± 2.0e+06"),
    ],
)
def test_mean_spread(mean, spread, shown):
    assert mean_spread(mean, spread, 3) == shown


@pytest.mark.parametrize(
    ("value", "shown"), [(0.01234, "0.0123"), (4.1, "4.10"), (99.99, "100"), (1234.5, "1234")]
)
def test_seconds(value, shown):
    assert seconds(value) == shown


def test_terminal_table():
    text = terminal_table(table_of(*grid()))
    lines = {line.split()[1]: line for line in text.splitlines() if line.startswith("tiny")}
    assert "0.900 *" in lines["softmax"]
    assert "0.01 (lower edge)" in lines["vanilla"]
    assert "failed: ValueError" in lines["broken"]
    assert max(map(len, text.splitlines())) < 180


def test_colours_belong_to_methods_and_dashes_to_variants():
    found = [make(m=1), make(m=5), make("nce"), make("mine"), make("yours")]
    styles = style.line_styles(variants.label(results.frame(found), found))
    assert styles["umax (m=1)"]["color"] == styles["umax (m=5)"]["color"]
    assert styles["umax (m=1)"]["linestyle"] != styles["umax (m=5)"]["linestyle"]
    assert len({look["color"] for look in styles.values()}) == 4


# Figures


def drawn(make_figure, *found: Cell):
    rows = variants.label(results.frame(found), found)
    return make_figure(rows, results.frame(found, curves=True), style.line_styles(rows))


def test_curves_have_a_row_of_panels_for_the_bound_only_where_there_is_one():
    with_bound = make()
    with_bound.curve["bound"] = [NAN, 4.0, 3.0, 2.0, 1.0]
    labels = [ax.get_ylabel() for ax in drawn(draw_curves, with_bound).axes]
    assert "bound (nats)" in labels
    assert "bound (nats)" not in [ax.get_ylabel() for ax in drawn(draw_curves, make()).axes]


def test_curve_of_an_end_alone_is_a_horizontal_line():
    figure = drawn(draw_curves, make("softmax", None, end=0.9, checkpoints=1), make())
    assert "softmax (end only)" in [text.get_text() for text in figure.legends[0].get_texts()]
    heights = [list(line.get_ydata()) for line in figure.axes[0].lines]
    assert [0.9, 0.9] in heights


def test_exploding_method_does_not_flatten_the_others():
    figure = drawn(draw_rates, make(lr=0.1), make(lr=1.0, end=1.5), make("nce", 0.1, end=1e4))
    panel = next(ax for ax in figure.axes if ax.get_ylabel().startswith("train log loss"))
    assert panel.get_ylim()[1] < 2 * math.log(8)
    assert [text.get_text() for text in panel.texts] == ["off the axis: nce (to 1e+04)"]


def test_diverged_rates_are_crosses_and_no_points():
    found = [make(lr=0.01), make(lr=0.1), make(lr=1.0, status="diverged")]
    strip, _, panel, *_ = drawn(draw_rates, *found).axes
    assert [list(line.get_xdata()) for line in strip.lines] == [[1.0]]
    assert list(panel.lines[0].get_xdata()) == [0.01, 0.1]


def test_nothing_to_draw():
    assert drawn(draw_curves, make(status="failed")) is None
    assert drawn(draw_rates, make(lr=0.1), make("nce", 0.1)) is None  # one rate is no comparison


# The folder


def test_files(report):
    assert sorted(path.name for path in report.iterdir()) == sorted(
        ["index.html", "table.csv", "table.md", "results.csv", "curves.csv", "figures"]
    )
    assert sorted(path.name for path in (report / "figures").iterdir()) == [
        "tiny-curves.pdf",
        "tiny-curves.png",
        "tiny-rates.pdf",
        "tiny-rates.png",
    ]
    assert [path.name for path in report.parent.iterdir()] == ["smoke"]


def test_numbers_on_disk(report):
    found = grid()
    assert len(pd.read_csv(report / "results.csv")) == len(found)
    rows = sum(max(1, len(cell.curve)) for cell in found)
    assert len(pd.read_csv(report / "curves.csv")) == rows
    table = pd.read_csv(report / "table.csv").set_index(["dataset", "method"])
    assert table.loc[("tiny", "umax (m=5)"), "train_log_loss"] == pytest.approx(1.06)
    assert table.loc[("tiny", "umax (m=5)"), "lr"] == 0.1


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
    assert len(files) == 9
    for name in files:
        assert (report / name).read_bytes() == (again / name).read_bytes(), name


def test_a_new_report_replaces_the_old_one(tmp_path):
    out = tmp_path / "deep" / "report"
    build([make(status="failed", message="first")], out, "First")
    build([make(status="failed", message="second")], out, "Second")
    page = (out / "index.html").read_text(encoding="utf-8")
    assert "failed: second" in page and "first" not in page
    assert "No figure" in page


def test_an_interrupted_build_leaves_the_old_report(tmp_path, monkeypatch):
    out = tmp_path / "report"
    build([make(status="skipped", message="kept")], out, "Old")
    monkeypatch.setattr("xcbench.report.page.render", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        build([make(status="skipped")], out, "New")
    assert "kept" in (out / "index.html").read_text(encoding="utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["report"]


def test_nothing_but_a_report_is_replaced(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(UserError, match=r"thesis\.tex"):
        build([make()], tmp_path, "Title")
    assert (tmp_path / "thesis.tex").exists()


def test_no_cells(tmp_path):
    with pytest.raises(UserError, match="no cells to report"):
        build([], tmp_path / "out", "Title")
    assert not (tmp_path / "out").exists()


# The page


class Page(HTMLParser):
    """Collects what a page shows and everything it refers to."""

    def __init__(self, text: str):
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data

    def named(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture(scope="module")
def page(report) -> Page:
    return Page((report / "index.html").read_text(encoding="utf-8"))


def test_page_is_self_contained(report, page):
    targets = {attributes.get("id") for _, attributes in page.tags}
    for _, attributes in page.tags:
        assert attributes.get("src", "data:").startswith("data:")
        if "href" in attributes:
            assert attributes["href"].startswith("#") and attributes["href"][1:] in targets
    assert not page.named("script") and not page.named("link")
    raw = (report / "index.html").read_text(encoding="utf-8")
    assert "http://" not in raw and "https://" not in raw
    assert "url(" not in raw and "@import" not in raw


def test_page_embeds_the_figures_with_alternative_text(report, page):
    images = page.named("img")
    assert len(images) == 2
    assert all(len(image["alt"]) > 20 for image in images)
    embedded = {base64.b64decode(image["src"].split(",", 1)[1]) for image in images}
    assert embedded == {path.read_bytes() for path in (report / "figures").glob("*.png")}


def test_page_says_what_happened(page):
    assert page.named("html")[0]["lang"] == "en"
    assert all("scope" in attributes for attributes in page.named("th"))
    for words in (
        "Smoke & mirrors",
        "K = 8 classes",
        "failed: ValueError: a | b <c>",
        "skipped: needs 4 GiB",
        "train log loss is not finite",
        "0.01 (lower edge)",
        "a better one may lie outside the grid",
        "umax (m=5)",
        "bias=true, m=5",
        "means per observation in nats",
    ):
        assert words in page.text, words


def test_twin_notice_stands_where_it_belongs(page):
    assert page.text.count("Synthetic stand-in") == 1
    assert page.text.index("Synthetic") < page.text.index("skipped: needs 4 GiB")
    assert len([a for a in page.named("p") if a.get("class") == "notice"]) == 1


@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
def test_page_in_a_real_browser(report, tmp_path):
    dumped = subprocess.run(
        [
            "chromium",
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            "--no-first-run",
            f"--user-data-dir={tmp_path}",
            "--dump-dom",
            (report / "index.html").as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    shown = Page(dumped.stdout)
    assert len(shown.named("section")) == 5
    assert len(shown.named("img")) == 2
    assert "1.060 ± 0.014" in shown.text


def test_bounds_far_below_zero_are_drawn(tmp_path):
    """A bound has no value before training, and may lie below any loss worth showing."""
    cells = [make(method="ove", lr=lr) for lr in (0.1, 1.0)]
    for cell in cells:
        cell.curve["bound"] = [NAN] + [-1e8] * (len(cell.curve) - 1)
    build(cells, tmp_path / "out", "bounds")
    assert (tmp_path / "out" / "index.html").exists()


def test_an_option_that_came_later_makes_no_variant():
    """A cell from before an option was there and one with its default belong together."""
    old, new = make(seed=0, lr=0.1), make(seed=0, lr=0.2)
    new.config["dataset"]["protocol"]["min_rows"] = 1
    new.config["budget"]["seconds"] = None
    table = table_of(old, new)
    assert table["dataset"].tolist() == ["tiny"] and table["method"].tolist() == ["umax"]
