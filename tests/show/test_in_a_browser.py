"""Committed pages in a real browser: nothing sticks out, nothing is in the way of a reader.

``npm install puppeteer-core @sparticuz/chromium axe-core`` brings the browser and the rules;
``BROWSER_MODULES`` is the folder in which that was done.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from workspace import ROOT

MODULES = os.environ.get("BROWSER_MODULES", "")
PAGES = ("", "umax", "ove", "ar", "adv", "memoir", "scent")


@pytest.mark.slow
@pytest.mark.skipif(not MODULES, reason="BROWSER_MODULES is not set")
@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_and_is_read_aloud(name: str) -> None:
    page = (ROOT / "reports" / name / "index.html").as_uri()
    script = Path(__file__).with_name("browser.mjs")
    done = subprocess.run(
        ["node", str(script), MODULES, page], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    seen = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(it["width"], it["scheme"]) for it in seen] == [
        (width, scheme) for width in (1400, 390) for scheme in ("light", "dark")
    ]
    for it in seen:
        assert it["serious"] == [] and it["beyond"] <= 0, it
        assert it["reached"] >= min(it["all"], 60) - 2, it  # those with a ring, of 99 steps
