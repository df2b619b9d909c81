"""Links of the documentation lead somewhere, and the options that it names exist."""

from __future__ import annotations

import re
import runpy
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hydra import compose
from packaging.requirements import Requirement
from sklearn.datasets import load_digits

from workspace import ROOT, Workspace
from xcbench import papers
from xcbench.cli import usage
from xcbench.config import composing, overrides
from xcbench.methods import registry
from xcbench.papers import committed, front
from xcbench.plan import sweeps

FRONT = ROOT / "README.md"
GUIDE = ROOT / "CONTRIBUTING.md"
DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = (FRONT, GUIDE, *DOCS, *(ROOT / "reports" / name for name in ("README.md", "notes.md")))


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.S)


def anchors(page: Path) -> set[str]:
    """What GitHub makes of the headings of a page; the ids of a page in HTML."""
    if page.suffix == ".html":
        return {*re.findall(r' id="([^"]+)"', page.read_text("utf-8"))}
    headings = re.findall(r"^#+ (.+)$", prose(page), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def leads_nowhere(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = page.parent / path if path else page
    return not target.exists() or (bool(anchor) and anchor not in anchors(target))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)\s]+)\)", prose(page))
    assert [link for link in links if leads_nowhere(page, link)] == []


def test_a_link_to_nothing_is_noticed() -> None:
    assert leads_nowhere(FRONT, "docs/none.md") and leads_nowhere(FRONT, "docs/data.md#none")
    assert not leads_nowhere(FRONT, "docs/data.md#protocols")


def test_the_front_page_is_short_and_leads_to_every_page() -> None:
    text = FRONT.read_text("utf-8")
    assert len(text.splitlines()) <= 80 and len(text.split()) <= 1000
    assert [page.name for page in DOCS if f"](docs/{page.name})" not in text] == []


def test_the_front_pages_have_the_results_of_the_tables(tmp_path: Path) -> None:
    """The project's page, and that of its reports: else run xcbench replication."""
    reports = tmp_path / "reports"
    reports.mkdir()
    for path in (ROOT / "reports").iterdir():
        if path.name not in ("README.md", "index.html", "scoreboard.svg"):
            (reports / path.name).symlink_to(path)
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    (tmp_path / "README.md").write_text(
        "Before.\n<!-- results -->\n<!-- end of results -->\nAfter.\n"
    )
    front.write(reports, committed.collect(reports))
    made = (tmp_path / "README.md").read_text("utf-8")
    assert made.startswith("Before.") and made.endswith("After.\n")
    (last,) = [line for line in made.splitlines() if line.startswith("| all")]
    shown = [line for line in FRONT.read_text("utf-8").splitlines() if line.startswith("| all")]
    assert [line.split() for line in shown] == [last.split()]
    pages = [folder / "README.md" for folder in (reports, ROOT / "reports")]
    assert pages[0].read_text("utf-8") == pages[1].read_text("utf-8")


def commands(page: Path) -> list[str]:
    """Lines of the blocks of a page that a shell would run, without their comments."""
    return [
        shlex.join(shlex.split(line, comments=True))
        for block in blocks(page)
        for line in lines(block)
    ]


def blocks(page: Path, *kinds: str) -> list[str]:
    """Blocks of code of a page: those of a shell, or of a language."""
    matches = re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S)
    return [block for kind, block in matches if kind in (kinds or ("", "sh"))]


def lines(block: str) -> list[str]:
    return [line for line in block.splitlines() if PROGRAM.match(line)]


PROGRAM = re.compile(r"(python run\.py|xcbench|make|pip install|dvc|mkdocs) ")
NOT_RUN = {  # beginnings of the other lines of the shell blocks, and why no test runs them
    "source .venv/bin/activate": "the tests run in an environment already",
    "python -m benchmarks ": "takes minutes; its parts are checked by their name",
    r"(mike|git push|git tag|python -m twine) ": "publishes",
    r"(uv |low/bin/python -m pytest)": "installs other versions, and runs all tests",
    "docker |apptainer |printf 'Bootstrap": "needs a daemon, or root",
    "(dask|ray) ": "tests/run/test_executors.py starts its own schedulers",
    "MLFLOW_TRACKING_URI=http://there": "tests/track/test_tracking_server.py has a server",
    r"apt-get |install -d |cat > /etc|slurmctld |END$|\w+=": "sets a machine up for SLURM",
}
BENCHMARKS = (ROOT / "benchmarks" / "__main__.py").read_text("utf-8")
OWN = ("gce", "mine", "_target_")  # methods that the reader writes first; test_plugins has them
COMMANDS = list(dict.fromkeys(line for page in (FRONT, *DOCS, GUIDE) for line in commands(page)))


def test_every_command_of_the_pages_can_be_given() -> None:
    """Runs are composed and checked point by point, without training."""
    assert len(COMMANDS) > 50
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M)
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for line in COMMANDS:
        program, *words = line.removeprefix("python ").split()
        if program == "make":
            assert words[0] in targets, line
        elif program == "xcbench":
            assert words[0] in usage.COMMANDS, line
            assert words[0] != "paper" or papers.find(words[1]), line
        elif program == "pip":
            named = re.findall(r"\.\[(.*?)\]", line)
            assert set(",".join(named).split(",")) <= {"", *extras["optional-dependencies"]}, line


def test_every_line_of_a_shell_block_is_checked_or_says_why_not() -> None:
    told = re.compile("|".join(NOT_RUN))
    for page in (FRONT, *DOCS, GUIDE):
        for block in blocks(page):
            for line in filter(None, block.splitlines()):
                assert PROGRAM.match(line) or told.match(line), (page.name, line)
                for name in re.findall(r"^python -m benchmarks (\w+)", line):
                    assert f'"{name}": ' in BENCHMARKS, line


@pytest.mark.slow
def test_the_classifier_of_the_front_page() -> None:
    (block,) = blocks(FRONT, "python")
    X, y = load_digits(return_X_y=True)
    names: dict[str, Any] = {"X": X[:300] / 16, "y": y[:300]}
    exec(block, names)
    assert names["labels"].shape == names["log_p"].shape == (300, 5)
    assert (names["labels"][:, 0] == names["y"]).mean() > 0.8


@pytest.mark.parametrize("line", [line for line in COMMANDS if line.startswith("python run.py")])
def test_every_run_of_the_pages_composes(line: str) -> None:
    if any(own in line for own in OWN):
        pytest.skip("a method of the reader's own")
    words = overrides.for_hydra(shlex.split(line)[2:])
    preset = next((word.split("=")[1] for word in words if word.startswith("experiment=")), "")
    swept = dict(word.split("=", 1) for word in words if "=" in word)
    with sweeps.hydra():
        if preset:
            swept.pop("experiment")
            assert sweeps.of_experiment(preset, swept).configurations
            return
        points = overrides.for_methods([*sweeps.points(swept)])
        assert points
        for point in (points[0], points[-1]):
            composing.read(compose("config", overrides=point))


def test_the_pages_for_beginners_have_short_sentences() -> None:
    readability = runpy.run_path(str(ROOT / "docs" / "readability.py"))
    for name in ("tutorial", "guides", "concepts", "faq", "style"):
        _, mean, share = readability["measured"]((ROOT / "docs" / f"{name}.md").read_text("utf-8"))
        assert mean <= 15 and share <= 0.1, name


def test_the_mathematics_have_every_method() -> None:
    pages = [
        (ROOT / "docs" / f"{name}.md").read_text("utf-8") for name in ("mathematics", "methods")
    ]
    baselines = pages[1].split("\n## Baselines\n")[1]  # of libraries: no mathematics of ours
    text = pages[0] + baselines
    assert [name for name in registry.builtin() if f"`{name}`" not in text] == []


def test_the_lock_has_every_dependency_at_a_version_that_is_allowed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pinned = dict(
        re.findall(r"^([\w.-]+)==([\w.]+)", (ROOT / "requirements.lock").read_text(), re.M)
    )
    wanted = [*project["dependencies"], *project["optional-dependencies"]["test"]]
    for requirement in map(Requirement, wanted):
        assert requirement.specifier.contains(pinned[requirement.name]), requirement


def test_the_site_has_every_page() -> None:
    site = (ROOT / "mkdocs.yml").read_text("utf-8")
    assert [page.name for page in DOCS if f": {page.name}" not in site] == []


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.stem)
def test_the_contents_of_a_page_are_its_sections(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.M | re.S)
    listed = re.findall(r"^- \[([^]]+)\]\(#[^)]*\)$", text, re.M)
    assert listed in ([], re.findall(r"^## (.+)$", text, re.M))


def test_the_tables_of_the_reference_have_one_head() -> None:
    reference = runpy.run_path(str(ROOT / "docs" / "hooks.py"))["reference"]()
    tables = re.findall(r"(?:^\|.*\|\n)+", reference, re.M)
    assert len(tables) > 20 and all(table.count("|---") == 3 for table in tables[:-1])


def test_options_that_the_pages_name_exist(workspace: Workspace) -> None:
    listed = re.findall(r"^  ([a-z][\w.]+)", workspace.xcbench("options").out, re.M)
    groups = {name.rpartition(".")[0] for name in listed}  # method.tree
    known = {*listed, *groups, "method.q"}  # the last is that of the example, gce.py
    option = r"(?<![\w./])(?:method|budget|evaluation|dataset\.protocol)\.[a-z][a-z0-9_.]*\b"
    for page in (FRONT, *DOCS):
        text = page.read_text("utf-8")
        if page.name == "glossary.md":  # its last column has former names
            text = re.sub(r"\|[^|\n]*\|$", "", text, flags=re.M)
        named = set(re.findall(option, text))
        assert named <= known, (page.name, sorted(named - known))
