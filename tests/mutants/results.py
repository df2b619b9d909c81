"""What became of changes, written one by one, and the page."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pandas as pd
import yaml

from mutants.changes import Change
from mutants.trial import CAUGHT, UNCOVERED, Verdict

EQUIVALENT = Path(__file__).with_name("equivalent.yaml")
HEAD = """# Mutation testing

Small changes of the code, drawn by a seed: another operator, constant, condition or result in one
line of `core`, `data`, `run`, `board` and the statistics of `papers`. Tests that run the line say
whether they notice. An equivalent change alters nothing that a user sees;
`tests/mutants/equivalent.yaml` has the reasons. The share is of the others. `before` is what the
first run of a seed caught, ahead of the tests that its survivors led to.

"""


@dataclass
class Results:
    """Verdicts of a seed's changes: the first and the last of each."""

    path: Path
    first: dict[str, Verdict] = field(default_factory=dict)
    last: dict[str, Verdict] = field(default_factory=dict)
    tests: dict[str, str] = field(default_factory=dict)  # that the last verdict is of
    count: int = 0
    folders: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        text = self.path.read_text("utf-8") if self.path.exists() else ""
        for line in text.splitlines():
            self._take(json.loads(line))

    def _take(self, entry: dict) -> None:
        if "count" in entry:
            self.count, self.folders = entry["count"], entry["folders"]
            return
        verdict = Verdict(entry["word"], entry["by"])
        self.first.setdefault(entry["key"], verdict)
        self.last[entry["key"]] = verdict
        self.tests[entry["key"]] = entry["tests"]

    def add(self, **entry: object) -> None:
        """Take up an entry and write it."""
        self._take(entry)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry, ensure_ascii=False) + "\n")

    def put(self, change: Change, verdict: Verdict, tests: str) -> None:
        """Take up a verdict and write it."""
        self.add(key=change.key, **asdict(verdict), tests=tests)

    def pending(self, change: Change, tests: str) -> bool:
        """Whether tests are to run: those of a survivor again, if they are others now."""
        key = change.key
        return key not in self.last or (self.last[key].word != CAUGHT and self.tests[key] != tests)


def equivalents() -> dict[tuple[str, str, str], str]:
    """Reasons by file, line and change."""
    entries = yaml.safe_load(EQUIVALENT.read_text("utf-8")) or []
    return {(it["file"], it["line"], it["change"]): it["reason"] for it in entries}


def name(change: Change) -> tuple[str, str, str]:
    """As the list of equivalent changes has it."""
    return change.file, change.line, change.label


def row(seed: str, drawn: list[Change], results: Results) -> dict[str, object]:
    """Row of a seed in the table."""
    reasons = equivalents()
    equal = sum(name(change) in reasons for change in drawn)
    keys = [it.key for it in drawn if name(it) not in reasons and it.key in results.last]
    before = sum(results.first[key].word == CAUGHT for key in keys)
    caught = sum(results.last[key].word == CAUGHT for key in keys)
    uncovered = sum(results.last[key].word == UNCOVERED for key in keys)
    return {
        "seed": seed,
        "drawn": len(drawn),
        "equivalent": equal,
        "caught before": before,
        "share before": share(before, len(keys)),
        "caught": caught,
        "survived": len(keys) - caught - uncovered,
        "no test runs it": uncovered,
        "share": share(caught, len(keys)),
    }


def share(part: int, total: int) -> str:
    """As a percentage."""
    return f"{100 * part / total:.1f} %" if total else ""


def survivors(drawn: list[Change], results: Results) -> list[str]:
    """A line for each survivor."""
    reasons = equivalents()
    lost = [
        it
        for it in drawn
        if name(it) not in reasons and it.key in results.last
        if results.last[it.key].word != CAUGHT
    ]
    return [
        f"{it.file}:{it.number}: `{it.line}`: `{it.label}` ({results.last[it.key].word})"
        for it in sorted(lost, key=lambda it: (it.file, it.number))
    ]


def write(rows: list[dict[str, object]], lost: list[str], path: Path) -> None:
    """Write the page."""
    text = HEAD + pd.DataFrame(rows).to_markdown(index=False) + "\n"
    text += "\nSurvivors:\n\n" + "\n".join(f"- {line}" for line in lost) + "\n" if lost else ""
    path.write_text(text + "\nCommand: `make mutants`.\n", "utf-8")
