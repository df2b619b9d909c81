"""Console script ``xcbench``: run cells and inspect their results."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import MISSING
from pathlib import Path
from pkgutil import resolve_name
from typing import NoReturn

from xcbench import plugins
from xcbench.cli import tables, usage
from xcbench.cli.command import Request, number
from xcbench.cli.output import end_unread, end_wrong
from xcbench.config.settings import Config
from xcbench.data.settings import DatasetSettings
from xcbench.errors import UserError, one_line, suggestion
from xcbench.options import EMPTY, Options, check_name, declared, default_of
from xcbench.plan import stored
from xcbench.store import cells, checkpoints, profile, results
from xcbench.system.processes import INTERRUPTED, end_at_once, interruptible
from xcbench.system.terminal import guard

# Name, its function in this folder, and the words it takes besides name=value; the last may stand
# for many. Its file is imported when it is called.
COMMANDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "results": ("main._results", ()),
    "launches": ("main._launches", ()),
    "show": ("show.show", ("CELL",)),
    "compare": ("compare.compare", ("CELL…",)),
    "clean": ("clean.clean", ()),
    "merge": ("merge.merge", ("FOLDER",)),
    "verify": ("verify.verify", ("PAPER…",)),
    "train": ("train.train", ("FILE",)),
    "predict": ("predict.predict", ("MODEL|CELL", "FILE")),
    "evaluate": ("train.evaluate", ("MODEL", "FILE")),
    "data": ("data.data", ("list|fetch|verify", "NAME…")),
    "report": ("main._report", ()),
    "paper": ("paper.paper", ("NAME",)),
    "replication": ("paper.collect", ()),
    "board": ("board.board", ()),
    "advise": ("advise.advise", ()),
    "digests": ("digests.digests", ()),
    "track": ("main._track", ()),
    "ui": ("main._ui", ()),
    "options": ("main._options", ()),
    "new": ("new.new", ("method", "NAME")),
}
LAUNCHING = ("train", "paper", "board", "advise")  # what they name is on the command line
TRUSTING = ("predict", "evaluate")  # with trust=MODULE,…
FOLDERS = ("runs_dir", "data_dir", "reports_dir")  # settings of many commands


@interruptible()
def main(argv: Sequence[str] | None = None) -> None:
    """Entry of the console script; every error is one sentence and exit code 2."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words and words[0] == "run":
        from xcbench.cli import launch

        sys.argv = ["xcbench run", *words[1:]]
        launch.main()
        return
    end_at_once()
    guard()
    profile.LAUNCH.import_until_now()
    try:
        code = _command(words)
        sys.stdout.flush()
        sys.exit(code)
    except BrokenPipeError:
        end_unread(0)
    except (UserError, OSError) as error:
        end_wrong(one_line(error))
    except MemoryError as error:
        end_wrong(
            f"out of memory ({one_line(error)}); use smaller data, or a machine with more memory"
        )
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Say it as every other mistake is said."""
        raise UserError(message)


def _command(words: list[str]) -> int:
    parser = _Parser(prog="xcbench", add_help=False, allow_abbrev=False)
    parser.add_argument("command", nargs="?", default="help")
    parser.add_argument("--curves", action="store_true")
    parser.add_argument("--yes", "-y", action="store_true")
    parser.add_argument("--self-contained", action="store_true")
    parser.add_argument("--format", choices=tuple(tables.FORMATS), default="csv")
    arguments, rest = parser.parse_known_intermixed_args(_as_pairs(words))
    if arguments.command == "help":
        print(f"usage: {usage.OVERVIEW}", end="")
        return 0
    if arguments.command not in COMMANDS:
        likely = suggestion(arguments.command, usage.COMMANDS)
        names = ", ".join(usage.COMMANDS)
        raise UserError(f"unknown command '{arguments.command}'{likely}; commands: {names}")
    target, takes = COMMANDS[arguments.command]
    many = bool(takes) and takes[-1].endswith("…")  # any number of words, or none
    plain, settings = _split(rest, len(rest) if many else len(takes))
    if len(plain) != len(takes) and not (many and len(plain) >= len(takes) - 1):
        needed = f"{len(takes)} arguments" if not many else "arguments"
        raise UserError(f"{arguments.command} needs {needed}: {' '.join(takes)}")
    for name in FOLDERS:
        if not settings.get(name, name).strip():
            raise UserError(f"{name}={settings[name]} is not possible: {EMPTY}")
    trust = settings.pop("trust", "").split(",") if arguments.command in TRUSTING else []
    flags = arguments.curves, arguments.format, arguments.yes, arguments.self_contained
    request = Request(arguments.command, plain, settings, *flags)
    names_of_files = nullcontext() if request.command in LAUNCHING else plugins.reading(trust)
    with names_of_files:
        return int(resolve_name(f"xcbench.cli.{target}")(request))


def _as_pairs(words: list[str]) -> list[str]:
    """``--method umax -k 5`` as ``method=umax k=5``, in the commands about models."""
    if not words or words[0] not in ("train", "predict", "evaluate"):
        return words
    pairs: list[str] = []
    rest = iter(words)
    for word in rest:
        name, sign, value = word.lstrip("-").partition("=")
        if word.startswith("-"):
            pairs.append(f"{name.replace('-', '_')}={value if sign else next(rest, '')}")
        else:
            pairs.append(word)
    return pairs


def _split(rest: list[str], most: int) -> tuple[list[str], dict[str, str]]:
    """Words, at most so many, and settings."""
    plain: list[str] = []
    settings: dict[str, str] = {}
    for word in rest:
        name, sign, value = word.partition("=")
        if sign and not name.startswith("-"):
            several = name == "grid" and name in settings  # grid=a grid=b is grid=a,b
            settings[name] = f"{settings[name]},{value}" if several else value
        elif len(plain) < most and not word.startswith("-"):
            plain.append(word)
        else:
            raise UserError(f"'{word}' is not understood; settings and filters are name=value")
    return plain, settings


def _results(request: Request) -> int:
    checkpoint, out = request.checkpoint(), request.out()
    selected = results.select(request.runs_dir(), request.settings)
    frame = stored.frame(selected, request.curves, checkpoint)
    narrow = [*results.COLUMNS, checkpoints.COLUMN, stored.STALE]
    tables.write(frame, request.format, ".5g", out, narrow)
    return 0


def _launches(request: Request) -> int:
    runs_dir, grid = request.runs_dir(), request.settings.pop("grid", "")
    out = request.out()
    request.refuse_others("runs_dir=…, grid=NAME and out=FILE")
    tables.write(profile.read(runs_dir, grid), request.format, ".2f", out)
    return 0


def _report(request: Request) -> int:
    from xcbench.report import folder
    from xcbench.show import final_table

    grids = request.settings.get("grid", "")
    name = request.settings.pop("name", grids.replace(",", "+") or "all")
    check_name("name", name)
    out = Path(request.settings.pop("reports_dir", "reports")) / name
    checkpoint = request.checkpoint()
    selected = results.select(request.runs_dir(), request.settings)
    changes = stored.changes(selected)
    stale = ". ".join(stored.sentences(it for it in changes.values() if it))
    table = folder.build(selected, out, title=name, stale=stale, checkpoint=checkpoint)
    print(final_table.terminal(table))
    print(f"report: {request.page(out)}")
    return 0


def _track(request: Request) -> int:
    from xcbench.track import mlflow_reports, mlflow_target, tracking

    runs_dir, uri = request.runs_dir(), request.settings.pop("tracking_uri", None)
    reports = request.settings.pop("reports_dir", None)
    request.refuse_others("runs_dir=…, tracking_uri=… and reports_dir=…, and records every cell")
    target = mlflow_target.Target.of(runs_dir, uri)
    recorded = tracking.track(runs_dir, cells.load_all(runs_dir), rebuild=True, uri=uri)
    where = f"runs in {runs_dir / 'mlflow.db'}" if target.is_local else f"new runs in {target.name}"
    print(f"{recorded} {where}")
    if reports:
        print(f"{mlflow_reports.track(runs_dir, Path(reports), uri)} reports of {reports}")
    return 0


def _ui(request: Request) -> int:
    from xcbench.track import mlflow_ui

    runs_dir, uri = request.runs_dir(), request.settings.pop("tracking_uri", None)
    port = number("port", request.settings.pop("port", "5000"), most=65535)
    request.refuse_others("runs_dir=…, tracking_uri=… and port=NUMBER")
    return mlflow_ui.serve(runs_dir, port, uri)


def _options(request: Request) -> int:
    from xcbench.methods import registry

    _print_options(Config, "")
    print("\ndataset:")
    _print_options(DatasetSettings, "dataset.")
    for name in registry.names():
        print(f"\nmethod={name}:")
        try:
            _print_options(registry.find(name).thing.schema, "method.")
        except UserError as error:
            print(f"  {error}")
    return 0


def _print_options(schema: Options, prefix: str) -> None:
    for name, entry in declared(schema, prefix):
        default = default_of(entry)
        if "doc" in entry.metadata:
            shown = "" if default in (None, "???") or default is MISSING else f"={default}"
            print(f"  {name}{shown}: {entry.metadata['doc']}")
