"""Copies of the tree, in which code is changed and tests run."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Of pytest: with the plugin, and without what an earlier run left.
OPTIONS = ("-p", "mutants.plugin", "-p", "no:cacheprovider", "-q")
RECORDS = """import sys
from pathlib import Path

SRC = Path(__file__).parent
sys.path.insert(0, str(SRC.parent / "tests"))
from mutants import lines

del sys.path[0]
lines.start(SRC / "xcbench")
"""


def copy(place: Path) -> Path:
    """Copy what git has or would add, as a repository, since tests ask for its revision.

    Every Python process of the copy records its lines if the environment says so.
    """
    for name in ("src", "tests", "conf", ".git"):
        shutil.rmtree(place / name, ignore_errors=True)
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, place / name)
    (place / "src" / "sitecustomize.py").write_text(RECORDS, "utf-8")
    git = ("git", "-c", "user.name=x", "-c", "user.email=x@example.org")
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "copy"]):
        subprocess.run([*git, *words], cwd=place, check=True)
    return place


def environment(place: Path, **more: str) -> dict[str, str]:
    """Environment of the tests of a copy, which keeps the kernels that it compiles."""
    paths = os.pathsep.join(str(place / name) for name in ("src", "tests"))
    kernels = str(place.with_name(f"{place.name}-numba"))
    return {**os.environ, "PYTHONPATH": paths, "NUMBA_CACHE_DIR": kernels, **more}
