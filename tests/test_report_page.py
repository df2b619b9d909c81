"""The page of the report: what it says, and that it needs nothing but its figures."""

from __future__ import annotations

import base64
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

from made_cells import grid, make
from xcbench.report.folder import build
from xcbench.report.templates import self_contained


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
