"""``python -m fuzz.one TARGET FOLDER [options of libFuzzer]``: one target, until a finding."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import io
import itertools
import os
import pkgutil
import sys
import traceback
from pathlib import Path

import atheris

import xcbench.core

for entry in pkgutil.walk_packages(xcbench.core.__path__, "xcbench.core."):
    importlib.import_module(entry.name)  # before the rest: Numba compiles no instrumented code
with atheris.instrument_imports(include=["xcbench"]):
    from fuzz import targets


def main() -> None:
    """Hand inputs to the target; what it prints is lost."""
    name, folder, *options = sys.argv[1:]
    target = targets.all_of_them()[name]
    corpus, findings = Path(folder) / "corpus" / name, Path(folder) / "found" / name
    for place in (corpus, findings):
        place.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(target.seeds):
        (corpus / f"seed-{number}").write_bytes(seed)
    targets.warm(target)
    inputs = itertools.count(1)

    def take(content: bytes) -> None:
        number, said = next(inputs), io.StringIO()
        try:
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                targets.accepts(target, content)
        except BaseException:
            file = findings / hashlib.sha1(content).hexdigest()
            file.write_bytes(content)
            traceback.print_exc()
            print(f"Test unit written to {file}\nnumber_of_executed_units: {number}", flush=True)
            sys.stderr.flush()
            os._exit(1)  # threads of libraries would keep the process

    atheris.Setup([sys.argv[0], *options, f"-artifact_prefix={findings}/", str(corpus)], take)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
