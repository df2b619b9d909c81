"""``python -m fuzz [TARGET …] [runs=10000] [seconds=0] [seed=1] [most=5] [workers=2]``.

Every target gets so many inputs, or so many seconds; after a finding it goes on, at most so often.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from fuzz import targets

SECONDS, MEBIBYTES = 10, 2048  # that an input may take
LENGTH = 2048  # bytes of an input
PAGE = """# Fuzzing

Inputs made from good files, kept where they reach new lines of the code: `make fuzz` (names of
targets, `runs=` and `seed=` may stand in FUZZ; rows of other targets stay). An input may be refused
in one sentence. Another exception, more than {seconds} s or {mebibytes} MiB is a finding. `lines`
are the places of the code that inputs have reached, as libFuzzer counts them.

- **code run**: inputs that imported a module, started a process or ran text as code, as Python
  audits it.
- **silent**: inputs that were taken though they differ from files with checksums, and gave other
  content. Targets that make the checksums fit, or that have none, are not counted (-).

A target that was not watched for code yet has an empty field there. `commit` is the code that ran.

{table}
{findings}"""
FINDINGS = """
Findings, each once; inputs of those that are mended lie in `tests/fuzz/found/`:

{}
"""
NAME = "fuzzing"
TOTALS = ("inputs", "seconds", "findings", "code run", "silent")


@dataclass(frozen=True)
class Limits:
    """Of a target: inputs, seconds (0: any), findings; and the seed of the first attempt."""

    runs: int = 10_000
    seconds: int = 0
    most: int = 5
    seed: int = 1


@dataclass
class Outcome:
    """What a target came to."""

    target: str
    inputs: int = 0
    lines: int = 0
    seconds: float = 0.0
    mebibytes: int = 0
    findings: list[str] = field(default_factory=list)


def fuzz(name: str, limits: Limits, folder: Path) -> Outcome:
    """Fuzz a target, again after each finding."""
    outcome = Outcome(name)
    started = time.monotonic()
    while outcome.inputs < limits.runs and len(outcome.findings) < limits.most:
        options = [
            f"-runs={limits.runs - outcome.inputs}",
            f"-seed={limits.seed + len(outcome.findings)}",
            f"-max_total_time={limits.seconds}",
            *(f"-timeout={SECONDS}", f"-rss_limit_mb={MEBIBYTES}", f"-max_len={LENGTH}"),
            "-print_final_stats=1",
        ]
        command = [sys.executable, "-m", "fuzz.one", name, str(folder), *options]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
        said = done.stdout + done.stderr
        outcome.inputs += max(1, _last(r"number_of_executed_units: (\d+)", said))
        outcome.lines = max(outcome.lines, _last(r"cov: (\d+)", said))
        outcome.mebibytes = max(outcome.mebibytes, _last(r"peak_rss_mb:\s+(\d+)", said))
        if done.returncode:
            outcome.findings.append(_finding(said))
            print(f"{name}: {outcome.findings[-1]}", flush=True)
        elif limits.seconds:
            break
    outcome.seconds = time.monotonic() - started
    return outcome


def _last(pattern: str, text: str) -> int:
    matches = re.findall(pattern, text)
    return int(matches[-1]) if matches else 0


def _finding(said: str) -> str:
    """The exception, where it was raised, and the file of the input."""
    lines = said.splitlines()
    raised = [line.strip() for line in lines if re.match(r"\s+File .*src/xcbench", line)]
    error = [line for line in lines if re.match(r"[\w.]+(Error|Exception|Warning)\b", line)]
    kind = re.findall(r"ERROR: libFuzzer: (\S+)", said)
    file = re.findall(r"Test unit written to (\S+)", said)
    where = re.sub(r'File ".*/src/', "", raised[-1]).replace('"', "") if raised else "?"
    return f"{(error or kind or ['?'])[-1][:120]} ({where}), {Path(file[-1]).name if file else ''}"


def rows(outcomes: list[Outcome]) -> pd.DataFrame:
    """A row for each target; what was found stands in the last column, a line each."""
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False
    ).stdout.strip()
    frame = pd.DataFrame([vars(it) for it in outcomes]).rename(columns={"mebibytes": "peak MiB"})
    found, names = frame.pop("findings"), targets.all_of_them()
    frame["findings"] = found.map(len)
    frame["code run"] = found.map(lambda lines: sum("CodeRunError" in it for it in lines))
    frame["silent"] = [
        str(sum("SilentError" in it for it in lines)) if names[name].covered else "-"
        for name, lines in zip(frame["target"], found, strict=True)
    ]
    return frame.assign(commit=commit, found=found.map("\n".join))


def beside(new: pd.DataFrame, folder: Path) -> pd.DataFrame:
    """Rows with those of targets that ran at another time, which stand in the folder."""
    path = folder / f"{NAME}.csv"
    if not path.exists():
        return new
    older = pd.read_csv(path, dtype={"silent": str, "commit": str, "found": str})
    return pd.concat([older[~older["target"].isin(new["target"])], new], ignore_index=True)


def write(frame: pd.DataFrame, folder: Path) -> None:
    """Write ``fuzzing.md`` and ``fuzzing.csv``."""
    folder.mkdir(parents=True, exist_ok=True)
    frame["seconds"] = frame["seconds"].round().astype(int)
    frame["code run"] = frame["code run"].astype("Int64")
    frame.to_csv(folder / f"{NAME}.csv", index=False)
    counts = frame.assign(silent=pd.to_numeric(frame["silent"], "coerce"))
    whole = {name: f"{int(counts[name].sum()):,}" for name in TOTALS}
    whole |= {"target": "**all**", "peak MiB": f"{frame['peak MiB'].max():,}"}
    shown = frame.drop(columns="found").astype(object)
    shown = shown.map(lambda value: f"{value:,}" if isinstance(value, int) else value)
    shown = pd.concat([shown, pd.DataFrame([whole])]).fillna("")
    left = ("target", "commit")
    sides = ["left" if name in left else "right" for name in shown]
    table = shown.to_markdown(index=False, disable_numparse=True, colalign=sides)
    lines = [
        f"- {target}: {line}"
        for target, found in zip(frame["target"], frame["found"].fillna(""), strict=True)
        for line in found.splitlines()
    ]
    findings = FINDINGS.format("\n".join(lines)) if lines else ""
    text = PAGE.format(seconds=SECONDS, mebibytes=MEBIBYTES, table=table, findings=findings)
    (folder / f"{NAME}.md").write_text(text, "utf-8")


def main(words: list[str]) -> int:
    """Fuzz targets; returns 1 if anything was found."""
    settings = dict(word.split("=", 1) for word in words if "=" in word)
    known = list(targets.all_of_them())
    names = [word for word in words if "=" not in word] or known
    if unknown := set(names) - set(known):
        print(f"unknown: {', '.join(unknown)}; targets: {', '.join(known)}")
        return 2
    limits = Limits(**{name: int(settings[name]) for name in vars(Limits()) if name in settings})
    folder = Path(settings.get("folder", tempfile.mkdtemp(prefix="xcbench-fuzz-")))
    outcomes: list[Outcome] = []
    reports = Path(settings.get("reports_dir", "reports"))
    with ThreadPoolExecutor(int(settings.get("workers", 2))) as pool:
        for outcome in pool.map(lambda name: fuzz(name, limits, folder), names):
            outcomes.append(outcome)
            write(beside(rows(outcomes), reports), reports)
            print(f"{outcome.target}: {outcome.inputs} inputs, {outcome.seconds:.0f} s", flush=True)
    print(f"inputs that were findings, and the corpus: {folder}")
    return 1 if any(it.findings for it in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
