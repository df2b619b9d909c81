"""The page of the report: what it says, and that it needs nothing but its figures."""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pandas as pd
import pytest

from made_cells import grid, make
from xcbench.report.folder import build
from xcbench.show.templates import self_contained
from xcbench.store import commits


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


def test_a_report_has_the_commits_of_its_cells(tmp_path):
    cells = [make(seed=seed) for seed in range(5)]
    cells[0].environment = cells[1].environment = {"git_commit": "0123456789" * 4}
    cells[2].environment = {"git_commit": "abcdef0123" * 4 + "-dirty"}
    cells[3].environment = {"git_commit": None, "git_commit_missing": "no git"}
    build(cells, tmp_path / "report", "Title")
    page = Page((tmp_path / "report" / "index.html").read_text(encoding="utf-8"))
    for words in ("012345678901 (2 cells)", "abcdef0123ab-dirty (1 cell)"):
        assert words in page.text
    for reason in ("no git", "nothing was measured"):
        assert f"no commit: {reason} (1 cell)" in page.text
    rows = pd.read_csv(tmp_path / "report" / "results.csv", dtype=str).sort_values("seed")
    assert rows["commit"].fillna("").tolist() == [
        *("012345678901", "012345678901", "abcdef0123ab-dirty", "", "")
    ]
    assert rows["commit_source"].tolist()[2:] == ["recorded", "no git", "nothing was measured"]
    cells[3].environment = {"git_commit": "0123456789" * 4}
    build(cells, tmp_path / "report", "Title")  # anew, though no other input changed
    page = Page((tmp_path / "report" / "index.html").read_text(encoding="utf-8"))
    assert "012345678901 (3 cells)" in page.text


def test_commits_of_rows_say_which_were_added_later():
    rows = pd.DataFrame(
        [["a", "recorded"], ["b", "history"], ["b", "history"], ["c", None], [None, "no git"]],
        columns=["commit", "commit_source"],
    )
    assert commits.counted(rows) == (
        "added in b (2 cells), no commit: no git (1 cell), a (1 cell), c (1 cell)"
    )
    older = rows[["commit"]]  # a table of a version that had no sources
    assert "no commit: not recorded (1 cell)" in commits.counted(older)
    assert "b (2 cells)" in commits.counted(older)


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
            place = attributes["href"]
            assert place[1:] in targets if place.startswith("#") else (report / place).is_file()
    pdfs = {a["href"] for a in page.named("a") if a.get("href", "").endswith(".pdf")}
    assert pdfs == {f"figures/{path.name}" for path in (report / "figures").glob("*.pdf")}
    assert not page.named("link")
    raw = (report / "index.html").read_text(encoding="utf-8")
    assert "http://" not in raw and "https://" not in raw
    assert "url(" not in raw.replace("url(#", "") and "@import" not in raw
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_figures_of_lines_are_drawings_with_alternative_text(report, page):
    drawings = [tag for tag in page.named("div") if tag.get("role") == "img"]
    assert len(drawings) == len(page.named("svg")) == 2 and not page.named("img")
    assert all(len(drawing["aria-label"]) > 20 for drawing in drawings)
    assert len(sorted((report / "figures").glob("*.png"))) == 2


def test_a_self_contained_page_embeds_images(report, tmp_path):
    folder = tmp_path / "moved"
    shutil.copytree(report, folder)
    image = next((folder / "figures").glob("*.png"))
    with (folder / "index.html").open("a", encoding="utf-8") as page:
        page.write(f'<img src="figures/{image.name}" alt="">')
    path = self_contained(folder)
    (shown,) = Page(path.read_text(encoding="utf-8")).named("img")
    assert ".pdf" not in path.read_text(encoding="utf-8")  # whose links would lead nowhere
    assert base64.b64decode(shown["src"].split(",", 1)[1]) == image.read_bytes()
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
    """A line is switched off, and the pointer reads the last point of another."""
    script = """<script>
    const figure = document.querySelector("figure.plot"), svg = figure.querySelector("svg");
    const [first, second] = figure.querySelectorAll(".switches button");
    first.click();
    const path = svg.querySelector(`[id*="-line-0-1-"] path[d]`);
    const [x, y] = path.getAttribute("d").trim().split(/[ML]/).pop().trim().split(" ").map(Number);
    const place = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM());
    svg.dispatchEvent(new PointerEvent("pointermove", { clientX: place.x, clientY: place.y }));
    </script>"""
    page = tmp_path / "page.html"
    page.write_text((report / "index.html").read_text("utf-8") + script, "utf-8")
    dumped = subprocess.run(
        [
            "chromium",
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            "--no-first-run",
            f"--user-data-dir={tmp_path / 'profile'}",
            "--dump-dom",
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    shown = Page(dumped.stdout)
    assert len(shown.named("section")) == 5
    assert len(shown.named("figure")) == len(shown.named("output")) == 2
    assert "1.060 ± 0.014" in shown.text
    switches = [button for button in shown.named("button") if "aria-pressed" in button]
    pressed = [button["aria-pressed"] for button in switches]
    assert pressed[:2] == ["false", "true"] and "false" not in pressed[1:]
    read = re.search(r"<output[^>]*>([^<]+): ([\d.]+) at ([\d.]+)</output>", dumped.stdout)
    assert read
    table = pd.read_csv(report / "table.csv").set_index(["dataset", "method"])
    expected = table.loc[("tiny", read[1])]
    assert float(read[2]) == pytest.approx(expected["train_log_loss"], rel=2e-3)
    assert float(read[3]) == expected["epoch"]
