"""All bad inputs: what the command says to each.

How they are made, and what must be said, stands in ``bad_settings.py``, ``bad_files.py``,
``bad_datasets.py`` and ``bad_machine.py``.

``python tests/bad_inputs.py`` tries them all and writes ``reports/bad-inputs.md``; with a number
behind it, each reader also gets that many generated files, and the last section is written anew.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from bad_case import BASE, ONE, Case, NotPossible, Tried
from bad_datasets import DATASETS
from bad_files import BAD_FILES, file_case
from bad_machine import MACHINE
from bad_settings import NAMES, SETTINGS
from good_files import FORMATS, SPLIT
from workspace import ROOT, SMALL, Outcome, Workspace

CASES = [*SETTINGS, *NAMES, *BAD_FILES, *DATASETS, *MACHINE]


# ---------------------------------------------------------------- trying them
def prepare(workspace: Workspace) -> str:
    """Run the cell that is there before, and return its identity."""
    workspace.run(*BASE).succeeded()
    (cell,) = workspace.cells()
    return cell


def good(workspace: Workspace, form: str) -> Outcome:
    """The good files of a format, in the command that bad ones are tried with."""
    case = file_case(f"good-{form}", form, 0, FORMATS[form].files, -1, "")
    write(workspace, case)
    return workspace.run(*case.command(), f"runs_dir=good-{form}")


def write(workspace: Workspace, case: Case) -> None:
    for name, content in case.files.items():
        path = workspace.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def attempt(workspace: Workspace, case: Case, cell: str) -> Tried:
    """Make a bad input, run its command, and look at the cells."""
    words = [word.replace("{cell}", cell) for word in case.command()]
    write(workspace, case)
    with case.around(workspace.path):  # type: ignore[attr-defined]
        before = workspace.cells(case.runs_dir)
        if case.program == "xcbench":
            done = workspace.xcbench(*words)
        else:
            done = workspace.run(*words, limits=case.limits)
        after = workspace.cells(case.runs_dir)
    program = "xcbench" if case.program == "xcbench" else "python run.py"
    return Tried(case, f"{program} {' '.join(words)}", done, before, after)


@contextmanager
def attempts(workspace: Workspace, cases: list[Case]) -> Iterator[dict[str, Future[Tried]]]:
    """Cases, two at a time."""
    cell = prepare(workspace)
    with ThreadPoolExecutor(2) as pool:
        tried = {case.label: pool.submit(attempt, workspace, case, cell) for case in cases}
        yield tried
        for future in tried.values():
            future.cancel()


# ---------------------------------------------------------------- the table
REPORT = ROOT / "reports" / "bad-inputs.md"
GENERATED = "## Generated files"
HEAD = """\
# Bad inputs

What the command line says to mistakes: every case of `tests/bad_inputs.py`, run and written by `python tests/bad_inputs.py`; `tests/cli/test_bad_inputs.py` checks each.
Not shown in commands: `{common}`. A finished cell is there in every case; it stays as it was, and no other appears where the exit code is not 0.

{numbers}
"""


def code(text: str) -> str:
    """Text as it is, in a cell of a table."""
    text = re.sub(r"[&<>|`*_\[\]\\]", lambda result: f"&#{ord(result[0])};", text.strip())
    return "<code>" + text.replace("\n", "<br>") + "</code>"


def short(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[: most - 2] + " …"


def table(results: list[Tried], home: Path) -> Iterator[str]:
    """Lines of the table, a heading and the settings that its lines share a group."""
    group = ""
    for tried in results:
        case = tried.case
        form = "repository" if case.group == "Compressed files" else case.group
        shared = (
            [*FORMATS[form].words, *(SPLIT if form == "omniglot" else ())]
            if form in FORMATS
            else []
        )
        if case.group != group:
            group = case.group
            yield f"\n## {group}\n"
            if shared:
                settings_of_all = " ".join(shared).replace("{data}", "FOLDER")
                yield f"`python run.py {settings_of_all}{'' if form == 'svmlight' else ' data_dir=FOLDER'}`, with a file that holds:\n"
            yield "| input | " + ("" if shared else "command | ") + "exit code | printed |"
            yield "|---|---|---|" if shared else "|---|---|---|---|"
        program = "xcbench" if case.program == "xcbench" else "python run.py"
        command = "" if shared else code(" ".join([program, *map(short, case.words)])) + " | "
        printed = tried.done.err if case.code == 2 else tried.done.out + tried.done.err
        printed = printed.replace(f"{home}/", "").replace(str(home), ".")
        yield f"| {code(case.name)} | {command}{tried.done.code} | {code(printed)} |"


def generated(examples: int) -> str:
    """Give every reader so many generated files, and say what came of it."""
    words = [
        *("-m", "pytest", "tests/data/test_readers_damaged.py", "-q", "-p", "no:cacheprovider")
    ]
    words += ["--hypothesis-show-statistics"]
    done = subprocess.run(
        [sys.executable, *words], cwd=ROOT, env={**os.environ, "XCBENCH_EXAMPLES": str(examples)},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    lines = [
        f"`python tests/bad_inputs.py {examples}`: files made by hypothesis (valid ones with bytes "
        "flipped, cut out, doubled, inserted or cut off; random lines in the format's signs; random "
        "bytes). Anything but a sound dataset or a sentence with the file's name fails.\n",
        "| test | files | failed | refused | seconds |",
        "|---|---|---|---|---|",
    ]
    for part in done.stdout.split("tests/data/test_readers_damaged.py::")[1:]:
        match = re.search(r"generate phase \(([\d.]+) seconds\)", part)
        counts = re.search(r"(\d+) passing, (\d+) failing, and (\d+) invalid", part)
        if match and counts:
            refused = re.search(r"([\d.]+)%, refused", part)
            share = f"{float(refused[1]):.0f} %" if refused else ""
            name = part.partition(":")[0]
            lines.append(
                f"| `{name}` | {int(counts[1]):,} | {counts[2]} | {share} | {float(match[1]):.0f} |"
            )
    return "\n".join(lines) + "\n"


def main() -> None:
    with (
        TemporaryDirectory() as folder,
        attempts(Workspace(Path(folder).resolve()), CASES) as tried,
    ):
        results, left_out = [], []
        for label, future in tried.items():
            try:
                results.append(future.result())
            except NotPossible as reason:
                left_out.append(f"{label} ({reason})")
        lines = list(table(results, Path(folder).resolve()))
    numbers = f"{len(results)} cases; {sum('Traceback' in result.done.text for result in results)} tracebacks."
    if left_out:
        numbers += f" Not possible where this was written: {'; '.join(left_out)}."
    old = REPORT.read_text("utf-8").partition(GENERATED)[2].lstrip() if REPORT.exists() else ""
    last = generated(int(sys.argv[1])) if len(sys.argv) > 1 else old
    head = HEAD.format(common=" ".join([*ONE, *SMALL]), numbers=numbers)
    REPORT.write_text("\n".join([head + "\n".join(lines), f"\n{GENERATED}\n", last]), "utf-8")


if __name__ == "__main__":
    main()
