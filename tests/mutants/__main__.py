"""``python -m mutants [count=200] [seed=0] [PATH …] [jobs=2] [seconds=60] [reports_dir=reports]``.

Paths are of files or folders in ``src/xcbench``; ``seconds`` are those of the tests of a change.
What is recorded stays in ``.mutants/``, so that a run that was cut off goes on.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

from mutants.changes import Change, changes
from mutants.copies import ROOT, copy
from mutants.covering import PACKAGE, Covering, hashes
from mutants.results import Results, equivalents, name, row, survivors, write
from mutants.trial import Verdict, failing, preload, trials

STATE = ROOT / ".mutants"
STATISTICS = ("effects", "verdicts", "claims", "replication")
FOLDERS = ["core", "data", "run", "board", *(f"papers/{name}.py" for name in STATISTICS)]


def drawn(folders: list[str], seed: str, count: int) -> list[Change]:
    """Draw changes; one that is added or removed elsewhere moves no other."""
    listed = []
    for folder in folders:
        place = PACKAGE / folder
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            listed += changes(str(path.relative_to(PACKAGE)), path.read_bytes())
    return sorted(listed, key=lambda change: change.order(int(seed)))[:count]


def main(words: list[str]) -> int:
    """Try changes and print what share is caught."""
    settings = dict(word.split("=", 1) for word in words if "=" in word)
    folders = [word for word in words if "=" not in word] or FOLDERS
    seed, count = settings.get("seed", "0"), int(settings.get("count", 200))
    STATE.mkdir(exist_ok=True)
    results = Results(STATE / f"seed-{seed}.jsonl")
    results.add(count=count, folders=folders)
    places = [copy(STATE / f"copy-{n}") for n in range(int(settings.get("jobs", 2)))]
    covering = Covering(STATE / "lines.json.gz")
    covering.update(places[0], len(places))
    preload()
    seconds = float(settings.get("seconds", 60))
    changed = drawn(folders, seed, count)
    while campaign(changed, results, covering, places, seconds):
        print("again: those that tests caught which fail on the code as it is")
    report(Path(settings.get("reports_dir", "reports")))
    return 0


def campaign(
    changed: list[Change],
    results: Results,
    covering: Covering,
    places: list[Path],
    seconds: float,
) -> bool:
    """Try each change, a few at a time; whether some of the tests that caught one always fail."""
    tests = hashlib.sha256(json.dumps([hashes(), seconds]).encode()).hexdigest()[:12]
    reasons = equivalents()
    pending = [it for it in changed if name(it) not in reasons and results.pending(it, tests)]
    chosen = {
        change: {test: covering.seconds[test] for test in covering.tests(change, seconds)}
        for change in pending
    }
    for n, (change, verdict) in enumerate(trials(chosen, places), 1):
        results.put(change, verdict, tests)
        where = f"{change.file}:{change.number}: {change.label}"
        print(f"{n}/{len(pending)} {verdict.word}: {where}  {verdict.by}", flush=True)
    caught = {it.key: results.last[it.key].by for it in pending}
    killers = {by: covering.seconds[by] for by in caught.values() if by in covering.seconds}
    bad = failing(places[0], killers)
    covering.forget(bad)
    for change in pending:
        if caught[change.key] in bad:
            results.put(change, Verdict("not run"), "")
    return bool(bad)


def report(reports: Path) -> None:
    """Print and write the table of all seeds so far."""
    rows, lost = [], []
    for path in sorted(STATE.glob("seed-*.jsonl")):
        results, seed = Results(path), path.stem.removeprefix("seed-")
        changed = drawn(results.folders, seed, results.count)
        rows.append(row(seed, changed, results))
        lost += survivors(changed, results)
    write(rows, lost, reports / "mutants.md")
    print((reports / "mutants.md").read_text("utf-8"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
