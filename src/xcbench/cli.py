"""Console script ``xcbench``: run cells, and look at what they gave."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any, NoReturn

from xcbench import cells, config, results
from xcbench.errors import UserError

USAGE = """\
xcbench COMMAND [name=value ...]

  run        run cells: the same as `python run.py`, with Hydra's options
  results    print the tidy frame, one row a cell; --curves: one row a checkpoint;
             --format csv|md|json
  report     write tables, figures and a page: name=demo writes reports/demo/
  track      rebuild the MLflow store from the cells
  ui         serve the MLflow UI on localhost (port=5000)
  options    list every option of a run

name=value is a setting (runs_dir, reports_dir) or a filter on a column of the frame:
  xcbench results dataset=bibtex method=umax,implicit status=done
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
    except (UserError, OSError) as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Say it as every other mistake is said."""
        raise UserError(message)


def _command(words: list[str]) -> int:
    parser = _Parser(prog="xcbench", usage=USAGE, add_help=False)
    parser.add_argument("command", nargs="?", default="help")
    parser.add_argument("--help", "-h", action="store_true")
    parser.add_argument("--curves", action="store_true")
    parser.add_argument("--format", choices=("csv", "md", "json"), default="csv")
    given, pairs = parser.parse_known_intermixed_args(words)
    if given.help or given.command == "help":
        print(f"usage: {USAGE}", end="")
        return 0
    commands = {
        "results": _results,
        "report": _report,
        "track": _track,
        "ui": _ui,
        "options": _options,
    }
    if given.command not in commands:
        raise UserError(f"unknown command '{given.command}'; commands: run, {', '.join(commands)}")
    return commands[given.command](given, _settings(pairs))


def _settings(pairs: list[str]) -> dict[str, str]:
    found = {}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not sign or name.startswith("-"):
            raise UserError(f"'{pair}' is not understood; settings and filters are name=value")
        found[name] = value
    return found


def _runs_dir(settings: dict[str, str]) -> Path:
    return Path(settings.pop("runs_dir", "runs"))


def _results(given: argparse.Namespace, settings: dict[str, str]) -> int:
    frame = results.frame(results.select(_runs_dir(settings), settings), curves=given.curves)
    if given.format == "csv":
        frame.to_csv(sys.stdout, index=False)
    elif given.format == "json":
        frame.to_json(sys.stdout, orient="records", indent=1)
        print()
    else:
        print(frame[results.COLUMNS].to_markdown(index=False, floatfmt=".5g"))
    return 0


def _report(given: argparse.Namespace, settings: dict[str, str]) -> int:
    from xcbench import report

    name = settings.pop("name", "last")
    out = Path(settings.pop("reports_dir", "reports")) / name
    found = results.select(_runs_dir(settings), settings)
    table = report.build(found, out, title=name)
    print(report.terminal_table(table))
    print(f"report: {out / 'index.html'}")
    return 0


def _track(given: argparse.Namespace, settings: dict[str, str]) -> int:
    from xcbench import tracking

    runs_dir = _runs_dir(settings)
    if settings:
        raise UserError(f"track records every cell; {', '.join(settings)} is not a setting of it")
    number = tracking.track(runs_dir, list(cells.load_all(runs_dir)), rebuild=True)
    print(f"{number} runs in {runs_dir / 'mlflow.db'}")
    return 0


def _ui(given: argparse.Namespace, settings: dict[str, str]) -> int:
    from xcbench import tracking

    runs_dir = _runs_dir(settings)
    port = settings.pop("port", "5000")
    if settings or not port.isdigit():
        raise UserError("ui takes runs_dir=… and port=NUMBER")
    return tracking.serve(runs_dir, int(port))


def _options(given: argparse.Namespace, settings: dict[str, str]) -> int:
    _print_options(config.Config, "")
    for group, schemas in config.SCHEMAS.items():
        for name, schema in schemas.items():
            print(f"\n{group} ({name}):")
            _print_options(schema, f"{group}.")
    return 0


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
