"""A plugin of pytest: what a test came to, when its lines begin, and the order of tests."""

from __future__ import annotations

import json
import os
import resource
from pathlib import Path

import pytest

from mutants import lines

MOST_BYTES = 12 * 2**30  # of a changed loop that collects without end


def pytest_configure() -> None:
    """Limit the memory of tests and of what they launch."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, resource.RLIM_INFINITY))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Write seconds and outcome of a phase of a test."""
    # The workers of pytest-xdist hand theirs on.
    if lines.FOLDER in os.environ and "PYTEST_XDIST_WORKER" not in os.environ:
        place = Path(os.environ[lines.FOLDER]) / "outcomes.jsonl"
        with place.open("a", encoding="utf-8") as file:
            file.write(json.dumps([report.nodeid, report.duration, report.outcome]) + "\n")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Begin with the fixtures."""
    for recorder in lines.recorders:
        recorder.forget()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call() -> None:
    """Begin with the test itself."""
    for recorder in lines.recorders:
        recorder.forget()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests in the order of the command, if it names each."""
    place = {name: n for n, name in enumerate(config.args)}
    if all(item.nodeid in place for item in items):
        items.sort(key=lambda item: place[item.nodeid])
