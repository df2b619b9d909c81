"""The report, from cells with made-up curves."""

from __future__ import annotations

import base64
import math
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

from file_faults import KILLED, in_child, kill
from made_cells import NAN, grid, make
from xcbench.errors import UserError
from xcbench.report import build, style, variants
from xcbench.report.curves import draw_curves
from xcbench.report.rates import draw_rates
from xcbench.report.templates import self_contained
from xcbench.run import results
from xcbench.run.cell import Cell


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("reports") / "smoke"
    build(grid(), out, "Smoke & mirrors")
    return out


def test_colours_belong_to_methods_and_dashes_to_variants():
    found = [make(negatives=1), make(negatives=5), make("nce"), make("mine"), make("yours")]
    styles = style.line_styles(variants.label(results.frame(found), found))
    assert styles["umax (negatives=1)"]["color"] == styles["umax (negatives=5)"]["color"]
    assert styles["umax (negatives=1)"]["linestyle"] != styles["umax (negatives=5)"]["linestyle"]
    assert len({look["color"] for look in styles.values()}) == 4


# ---------------------------------------------------------------- figures


def test_a_full_disk_refuses_a_figure_as_it_refuses_any_file(tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("no device that is always full")
    (tmp_path / "curves.pdf").symlink_to(full)
    rows = variants.label(results.frame([make()]), [make()])
    figure = draw_curves(rows, results.frame([make()], curves=True), style.line_styles(rows))
    with pytest.raises(OSError, match="No space left"):
        style.save(figure, tmp_path / "curves.png")


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


# ---------------------------------------------------------------- the folder
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
    found = grid()
    assert len(pd.read_csv(report / "results.csv")) == len(found)
    rows = sum(max(1, len(cell.curve)) for cell in found)
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
        patch.setattr("xcbench.report.figures.draw", lambda *_: 1 / 0)
        pd.testing.assert_frame_equal(build([make()], out, "Title"), table)
        assert "nothing changed" in capsys.readouterr().out
        for cells, title in (([make(end=0.9)], "Title"), ([make()], "Other")):
            with pytest.raises(ZeroDivisionError):
                build(cells, out, title)
    (out / "table.csv").unlink()
    build([make()], out, "Title")
    assert (out / "table.csv").exists()


def test_text_of_cells_is_no_markup(tmp_path):
    message = "<img src=x onerror=alert(1)> | `rm` \x1b[31m [a](http://b) &lt; **c**"
    build([make(), make("ove", status="failed", message=message)], tmp_path / "report", "Title")
    line = next(
        line
        for line in (tmp_path / "report" / "table.md").read_text(encoding="utf-8").splitlines()
        if "failed" in line
    )
    assert r"&lt;img src=x onerror=alert(1)> \| \`rm\`" in line
    assert r"\[a\](http://b) &amp;lt; \*\*c\*\*" in line
    assert "\x1b" not in line
    page = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert "<img src=x" not in page and "\x1b" not in page


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


def test_of_many_methods_and_datasets_some_are_drawn(tmp_path, monkeypatch):
    monkeypatch.setattr("xcbench.report.figures.LINES", 2)
    monkeypatch.setattr("xcbench.report.figures.DATASETS", 1)
    cells = [
        make(negatives=m, end=1 + m / 10, dataset=name) for m in (1, 2, 3) for name in ("a", "b")
    ]
    build(cells, tmp_path / "report", "Title")
    assert {path.name for path in (tmp_path / "report" / "figures").glob("*.png")} == {
        "a-curves.png"
    }
    page = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert "Shown are 2 of 3 methods and variants" in page
    assert "Figures are drawn for the first 1 of 2 datasets." in page


def test_nothing_but_a_report_is_replaced(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(UserError, match=r"thesis\.tex"):
        build([make()], tmp_path, "Title")
    assert (tmp_path / "thesis.tex").exists()


def test_no_cells(tmp_path):
    with pytest.raises(UserError, match="no cells to report"):
        build([], tmp_path / "out", "Title")
    assert not (tmp_path / "out").exists()


# ---------------------------------------------------------------- the page
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


def test_page_needs_nothing_but_its_figures(report, page):
    targets = {attributes.get("id") for _, attributes in page.tags}
    for _, attributes in page.tags:
        assert (report / attributes.get("src", "index.html")).is_file()
        if "href" in attributes:
            assert attributes["href"].startswith("#") and attributes["href"][1:] in targets
    assert not page.named("script") and not page.named("link")
    raw = (report / "index.html").read_text(encoding="utf-8")
    assert "http://" not in raw and "https://" not in raw
    assert "url(" not in raw and "@import" not in raw


def test_page_links_the_figures_with_alternative_text(report, page):
    images = page.named("img")
    assert len(images) == 2
    assert all(len(image["alt"]) > 20 for image in images)
    pictures = sorted((report / "figures").glob("*.png"))
    assert sorted(report / image["src"] for image in images) == pictures


def test_a_self_contained_page_embeds_the_figures(report, tmp_path):
    folder = tmp_path / "moved"
    shutil.copytree(report, folder)
    path = self_contained(folder)
    images = Page(path.read_text(encoding="utf-8")).named("img")
    embedded = {base64.b64decode(image["src"].split(",", 1)[1]) for image in images}
    assert embedded == {path.read_bytes() for path in (report / "figures").glob("*.png")}
    build(grid(), folder, "Smoke & mirrors")  # a report with such a page can be replaced


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
        "umax (negatives=5)",
        "bias=true, negatives=5",
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
