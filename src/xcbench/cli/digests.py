"""``xcbench digests``: digests of the code and the settings that every stage of dvc.yaml uses."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from pkgutil import walk_packages

from xcbench import options, papers
from xcbench.cli.command import Request
from xcbench.config import presets
from xcbench.methods import registry
from xcbench.system import sources, yaml_files

DRAWN = {".html", ".yaml", ".csv", ".svg", ".md"}  # what page builders read, apart from code
MEASURING = ("xcbench.papers.run", "xcbench.train.training", "xcbench.data.readers")
CONFIGURATION = ("config.yaml", "dataset/*.yaml")


def digests(request: Request) -> int:
    """Print a JSON object: ``runs``, ``reports`` and other stages by paper."""
    request.refuse_others("no settings")
    methods = sorted(registry.module(name) for name in registry.builtin())
    measuring = sources.digest(*MEASURING, *methods)
    runs = {name: _hash([measuring, _grids(name), *_configuration(name)]) for name in papers.NAMES}
    reports = {
        name: _built("xcbench.papers.page", *_package(f"xcbench.papers.{name}"))
        for name in papers.NAMES
    }
    stages = {
        "runs": runs,
        "reports": reports,
        "front": _built("xcbench.papers.front", "xcbench.papers.replication"),
        "board": _hash([_built(*_package("xcbench.board")), *_configuration("board")]),
        "board-cells": _hash(
            [measuring, sources.digest("xcbench.board.launch"), *_configuration("board")]
        ),
        "first": _hash([measuring, *_configuration("first"), _built("xcbench.report.folder")]),
    }
    print(json.dumps(stages, indent=1))
    return 0


def _grids(paper: str) -> str:
    """Digest of the grids of a paper, and of what they measure of weights."""
    return sources.digest(papers.module_of_grids(paper).__name__)


def _package(name: str) -> list[str]:
    """Modules of a package, of those below it too."""
    folder = sources.ROOT.joinpath(*name.split(".")[1:])
    return [name, *(module.name for module in walk_packages([str(folder)], f"{name}."))]


def _built(*modules: str) -> str:
    """Digest of modules, and of templates and tables in their folders."""
    folders = {path.parent for path in sources.closure(*modules).values()}
    files = sorted(path for folder in folders for path in folder.iterdir() if path.suffix in DRAWN)
    texts = (f"{path.relative_to(sources.ROOT)} {sources.file_digest(path)}" for path in files)
    return _hash([sources.digest(*modules), *texts])


def _configuration(name: str) -> list[str]:
    """Values of configuration files, those of a paper or an experiment too, without comments."""
    folder = options.folder()
    files = [path for pattern in CONFIGURATION for path in sorted(Path(folder).glob(pattern))]
    files.append(presets.files().get(name) or folder / "experiment" / f"{name}.yaml")
    return [f"{path.name} {json.dumps(yaml_files.plain(path), sort_keys=True)}" for path in files]


def _hash(texts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[: sources.DIGITS]
