"""Console script ``xcbench``: run cells, and look at what they gave."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any, NoReturn

from xcbench import cells, config, results
from xcbench.commands import Given, clean, look
from xcbench.errors import UserError
from xcbench.options import check_name
from xcbench.units import printable

USAGE = """\
xcbench COMMAND [name=value ...]

  run        run cells: the same as `python run.py`, with Hydra's options
  results    print the tidy frame, one row a cell; --curves: one row a checkpoint;
             --format csv|md|json
  show       everything about a cell (the first digits of its id are enough): settings, curve,
             clocks, its folder, the command that runs it again
  compare    two cells: settings that differ, last checkpoints side by side
  clean      remove the cells that meet every filter: lists them, then asks (--yes: does not ask)
  verify     read every cell, grid and prepared dataset: lists the damaged ones, then asks whether
             to move them to runs/quarantine/ (--yes: does not ask); exit code 1 if there were any
  predict    score the rows of a file with the weights of a cell that ran with save_weights=true:
             class:log-probability of the best class a row; k=5: of the best five
  data       list: what there is of every dataset, and from where; fetch NAME …: download it;
             verify [NAME …]: whether the files are the right ones
  report     write tables, figures and a page: name=demo writes reports/demo/
  paper      run what is missing of a paper and write its report: `xcbench paper umax`; workers=2,
             part=tuning|runs|report, grid=NAME, force=true (all again), and overrides such as
             dataset=mnist
  replication  every printed number of the papers beside ours: reports/replication.csv
  versions   versions of methods and data, which identities of cells are made of
  track      rebuild the MLflow store from the cells
  ui         serve the MLflow UI on localhost (port=5000)
  options    list every option of a run
  new        write a method of your own: `xcbench new method NAME` makes a package that works

name=value is a setting (runs_dir, reports_dir) or a filter on a column of the frame:
  xcbench results dataset=bibtex method=umax,implicit status=done
  xcbench show 1d8a
  xcbench clean status=failed
  xcbench report grid=demo name=demo      (grid=: the cells of a launch)
"""


def main(argv: Sequence[str] | None = None) -> None:
    """Entry of the console script; every error is one sentence and exit code 2."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words and words[0] == "run":
        from xcbench import app

        sys.argv = ["xcbench run", *words[1:]]
        app.main()
        return
    try:
        sys.exit(_command(words))
    except BrokenPipeError:  # the reader of our output, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except (UserError, OSError) as error:
        print(f"error: {printable(' '.join(str(error).split()))}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Say it as every other mistake is said."""
        raise UserError(message)


def _command(words: list[str]) -> int:
    parser = _Parser(prog="xcbench", usage=USAGE, add_help=False, allow_abbrev=False)
    parser.add_argument("command", nargs="?", default="help")
    parser.add_argument("--help", "-h", action="store_true")
    parser.add_argument("--curves", action="store_true")
    parser.add_argument("--yes", "-y", action="store_true")
    parser.add_argument("--format", choices=("csv", "md", "json"), default="csv")
    given, rest = parser.parse_known_intermixed_args(words)
    if given.help or given.command == "help":
        print(f"usage: {USAGE}", end="")
        return 0
    # Name, its function, and the words it takes besides name=value; the last may stand for many.
    commands: dict[str, tuple[Callable[[Given], int], tuple[str, ...]]] = {
        "results": (_results, ()),
        "show": (look.show, ("CELL",)),
        "compare": (look.compare, ("CELL", "CELL")),
        "clean": (clean.clean, ()),
        "verify": (_verify, ()),
        "predict": (_predict, ("CELL", "FILE")),
        "data": (_data, ("list|fetch|verify", "NAME…")),
        "report": (_report, ()),
        "paper": (_paper, ("NAME",)),
        "replication": (_replication, ()),
        "versions": (_versions, ()),
        "track": (_track, ()),
        "ui": (_ui, ()),
        "options": (_options, ()),
        "new": (_new, ("method", "NAME")),
    }
    if given.command not in commands:
        raise UserError(f"unknown command '{given.command}'; commands: run, {', '.join(commands)}")
    command, takes = commands[given.command]
    many = bool(takes) and takes[-1].endswith("…")  # any number of words, or none
    plain, settings = _split(rest, len(rest) if many else len(takes))
    if len(plain) != len(takes) and not (many and len(plain) >= len(takes) - 1):
        number = f"{len(takes)} words" if not many else "words"
        raise UserError(f"{given.command} needs {number}: {' '.join(takes)}")
    return command(Given(given.command, plain, settings, given.curves, given.format, given.yes))


def _split(rest: list[str], most: int) -> tuple[list[str], dict[str, str]]:
    """Words, at most so many, and settings."""
    plain: list[str] = []
    settings = {}
    for word in rest:
        name, sign, value = word.partition("=")
        if sign and not name.startswith("-"):
            settings[name] = value
        elif len(plain) < most and not word.startswith("-"):
            plain.append(word)
        else:
            raise UserError(f"'{word}' is not understood; settings and filters are name=value")
    return plain, settings


def _results(given: Given) -> int:
    found = results.select(given.runs_dir(), given.settings)
    frame = results.frame(found, curves=given.curves)
    if given.format == "csv":
        frame.to_csv(sys.stdout, index=False)
    elif given.format == "json":
        frame.to_json(sys.stdout, orient="records", indent=1)
        print()
    else:
        print(frame[results.COLUMNS].to_markdown(index=False, floatfmt=".5g"))
    return 0


def _predict(given: Given) -> int:
    from xcbench.commands import predict

    return predict.predict(given)


def _verify(given: Given) -> int:
    from xcbench.commands import verify

    return verify.verify(given)


def _data(given: Given) -> int:
    from xcbench.commands import data

    return data.data(given)


def _report(given: Given) -> int:
    from xcbench import report

    grids = given.settings.get("grid", "")
    name = given.settings.pop("name", grids.replace(",", "+") or "all")
    check_name("name", name)
    out = Path(given.settings.pop("reports_dir", "reports")) / name
    found = results.select(given.runs_dir(), given.settings)
    table = report.build(found, out, title=name)
    print(report.terminal_table(table))
    print(f"report: {out / 'index.html'}")
    return 0


def _paper(given: Given) -> int:
    from xcbench.commands import paper

    return paper.paper(given)


def _replication(given: Given) -> int:
    from xcbench.commands import paper

    return paper.collect(given)


def _versions(given: Given) -> int:
    from xcbench.commands import paper

    return paper.versions(given)


def _track(given: Given) -> int:
    from xcbench import tracking

    runs_dir = given.runs_dir()
    given.refuse_others("runs_dir=… and records every cell")
    number = tracking.track(runs_dir, list(cells.load_all(runs_dir)), rebuild=True)
    print(f"{number} runs in {runs_dir / 'mlflow.db'}")
    return 0


def _ui(given: Given) -> int:
    from xcbench import tracking

    runs_dir = given.runs_dir()
    port = given.settings.pop("port", "5000")
    given.refuse_others("runs_dir=… and port=NUMBER")
    if not port.isdigit():
        raise UserError(f"port={port} is not possible: it must be a number")
    return tracking.serve(runs_dir, int(port))


def _options(given: Given) -> int:
    from xcbench import registry

    _print_options(config.Config, "")
    print("\ndataset:")
    _print_options(config.Dataset, "dataset.")
    for name in registry.names():
        print(f"\nmethod={name}:")
        try:
            _print_options(registry.find(name).thing.schema, "method.")
        except UserError as error:
            print(f"  {error}")
    return 0


def _new(given: Given) -> int:
    from xcbench.commands import new

    return new.new(given)


def _print_options(schema: Any, prefix: str) -> None:
    for entry in fields(schema):
        default: Any = entry.default
        if entry.default_factory is not MISSING:
            default = entry.default_factory()
        if is_dataclass(default):
            _print_options(type(default), f"{prefix}{entry.name}.")
        elif entry.metadata:
            shown = "" if default in (None, "???") or default is MISSING else f"={default}"
            print(f"  {prefix}{entry.name}{shown}: {entry.metadata['doc']}")


if __name__ == "__main__":
    main()
