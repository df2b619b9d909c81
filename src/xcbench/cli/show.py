"""Show one cell in full."""

from __future__ import annotations

import json
import re
import shlex
import sys
import textwrap
import time
from dataclasses import asdict
from pathlib import Path

import pandas as pd

from xcbench import options, plugins
from xcbench.cli.command import Request
from xcbench.config import composing
from xcbench.config.settings import Config
from xcbench.data import external
from xcbench.errors import UserError, one_line
from xcbench.methods import registry
from xcbench.options import Content
from xcbench.store import cells, results
from xcbench.store.cell import Cell
from xcbench.system import yaml_files
from xcbench.units import printable, readable


def show(request: Request) -> int:
    """Print all details of a cell."""
    runs_dir = request.runs_dir()
    request.refuse_others("runs_dir=…")
    cell = cells.find(runs_dir, request.words[0])
    try:
        again = rerun(cell, runs_dir)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise cells.Damaged(
            f"{cells.folder(runs_dir, cell.cell)} is damaged: its settings are not those of a cell "
            f"({type(error).__name__}: {one_line(error)})"
        ) from None
    say(f"{cell.cell}  {cell.label}\n")
    _print_table(_head(runs_dir, cell))
    say("\nsettings")
    _print_table(
        {name: value for name, value in results.flatten(cell.config).items() if value is not None}
    )
    say("\nenvironment")
    _print_table({name: value for name, value in cell.environment.items() if value is not None})
    say("\ncurve")
    curve = cell.curve.dropna(axis="columns", how="all")
    say(indented(markdown(curve) if len(curve) else "(none)"))
    if cell.traceback:
        say(f"\ntraceback\n{indented(cell.traceback.rstrip())}")
    say(f"\nrun it again\n  {again}")
    return 0


def say(text: str, end: str = "\n") -> None:
    """Print what may stem from a cell's text: nothing in it steers the terminal."""
    print(printable(text), end=end)


def _head(runs_dir: Path, cell: Cell) -> dict[str, object]:
    """The lines on top: outcome, data, clocks, files."""
    where = cells.folder(runs_dir, cell.cell)
    started = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(cell.started or 0))
    shape = {name: value for name, value in cell.shape.items() if name != "twin"}
    sizes = ", ".join(f"{value:,} {name.replace('_', ' ')}" for name, value in shape.items())
    losses = (
        f"{lr}: {'diverged' if loss is None else format(loss, '.4g')}"
        for lr, loss in cell.trials.items()
    )
    if_any = {
        "message": cell.message,
        "started": cell.started and started,
        "shape": cell.shape and sizes + (" (synthetic twin)" if cell.shape.get("twin") else ""),
        "clocks": ", ".join(f"{name} {value:.3g} s" for name, value in cell.seconds.items()),
        "rate": cell.trials and f"{cell.lr:g}, of trials with the losses {', '.join(losses)}",
    }
    return {
        "status": cell.status,
        **{name: value for name, value in if_any.items() if value},
        "folder": f"{where} ({readable(cells.size(runs_dir, cell.cell))})",
        "weights": _weights(where),
        "engine": cell.engine,
        "method version": cell.method_version,
        "dataset digest": cell.dataset_digest,
        "commit": f"{cell.commit or 'none'} ({cell.commit_source})",
    }


def _weights(where: Path) -> str:
    """Their file, or why there is none."""
    if cells.is_missing(where, cells.WEIGHTS):
        reason = f"{cells.WEIGHTS} {cells.MISSING}"
        print(f"warning: {reason}", file=sys.stderr)
        return reason
    return cells.WEIGHTS if (where / cells.WEIGHTS).exists() else "not saved"


def _print_table(lines: dict[str, object]) -> None:
    width = max((len(name) for name in lines), default=0)
    for name, value in lines.items():
        say(f"  {name:{width}}  {text(value)}")


def markdown(table: pd.DataFrame) -> str:
    """Lay a table out for the terminal."""
    return (
        table.astype(object)
        .where(table.notna(), None)
        .to_markdown(index=False, tablefmt="simple", floatfmt=".5g", missingval="")
    )


def indented(text: str) -> str:
    """Indent every line by two blanks."""
    return textwrap.indent(text, "  ")


# ---------------------------------------------------------------- the command that runs it again
def rerun(cell: Cell, runs_dir: Path) -> str:
    """Command line with every setting that differs from the configuration files."""
    dataset = {**cell.config["dataset"], **cell.launch.get("dataset", {})}
    if cell.shape.get("twin"):
        dataset["name"] = dataset["name"].removesuffix("-twin")
    settings = {**cell.config, **cell.launch, "dataset": dataset, "runs_dir": str(runs_dir)}
    settings["engine"] = cell.engine
    method = settings.pop("method_target", settings["method"]["name"])
    groups = [f"dataset={_dataset(dataset)}"] if _dataset(dataset) else []
    groups.append(f"method={method}")
    default = results.flatten(asdict(_composed(groups) if _ours(method, dataset) else Config()))
    words = [
        _word(name, value)
        for name, value in results.flatten(settings).items()
        if name not in default or default[name] != value
    ]
    return shlex.join([*options.program().split(), *groups, *words, "force=true"])


def _ours(method: str, dataset: Content) -> bool:
    """Whether composing imports nothing from outside, which a cell must not make us do."""
    return method in registry.builtin() and not _outside(str(dataset.get("reader", "")))


def _outside(reader: str) -> bool:
    return plugins.is_target(reader) or reader in plugins.announced("dataset")


def _dataset(settings: dict[str, object]) -> str | None:
    """Choice of a dataset: the file under ``conf/`` of its name, else of its reader."""
    configurations = {name: yaml_files.load(path) for name, path in external.catalogue().items()}
    for key in ("name", "reader"):
        for stem, content in configurations.items():
            if key in settings and content.get(key) == settings[key]:
                return stem
    reader = str(settings.get("reader", ""))
    return reader if _outside(reader) else None


def _composed(groups: list[str]) -> Config:
    """Settings of a launch with nothing but these groups, or with fewer if one is not here now."""
    from hydra import compose

    from xcbench.plan import sweeps

    try:
        with sweeps.hydra():
            return composing.read(compose("config", overrides=groups))
    except UserError:
        return Config()


def _word(name: str, value: object) -> str:
    """One setting in the syntax of a launch."""
    if isinstance(value, str) and not re.fullmatch(r"[\w./@%+~-]+|\[.*\]", value):
        return f"{name}={json.dumps(value, ensure_ascii=False)}"
    return f"{name}={text(value)}"


def text(value: object) -> str:
    """Format a value for the command line."""
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)
