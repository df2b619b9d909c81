"""``python -m faults [SCENARIO …] [seed=0] [trials=N] [workers=2] [reports_dir=reports]``."""

from __future__ import annotations

import multiprocessing
import shutil
import sys
import tempfile
import time
import traceback
from pathlib import Path

import numpy as np

from faults import process, scenarios, table
from faults.verdicts import IDENTICAL, REFUSED, UNEXPLAINED, Trial, Verdict


def main(words: list[str]) -> int:
    """Run scenarios; returns 1 if anything was lost, silent or unexplained."""
    settings = dict(word.split("=", 1) for word in words if "=" in word)
    names = [word for word in words if "=" not in word] or list(scenarios.SCENARIOS)
    if unknown := set(names) - set(scenarios.SCENARIOS):
        print(f"unknown: {', '.join(unknown)}; scenarios: {', '.join(scenarios.SCENARIOS)}")
        return 2
    sys.path.insert(0, str(process.ROOT / "src"))
    process.preload()
    results: list[tuple[Trial, Verdict]] = []
    reports = Path(settings.get("reports_dir", "reports"))
    for name in names:
        with tempfile.TemporaryDirectory(prefix="xcbench-faults-") as scratch:
            results += campaign(name, Path(scratch), settings)
        counts = table.frame(results)
        bad = {f"{trial.scenario}: {trial.label}": it.word for trial, it in results if failed(it)}
        table.write(table.beside(reports, counts), bad, reports)
    print(counts.to_markdown(index=False))
    return 1 if bad else 0


def failed(verdict: Verdict) -> bool:
    """Whether a user would mind."""
    return verdict.word not in (REFUSED, IDENTICAL)


def campaign(name: str, folder: Path, settings: dict[str, str]) -> list[tuple[Trial, Verdict]]:
    """Run the trials of a scenario in a folder, some at a time."""
    started = time.monotonic()
    rng = np.random.default_rng(int(settings.get("seed", 0)))
    trials = list(scenarios.SCENARIOS[name](folder, rng))
    most = int(settings.get("trials", scenarios.MOST.get(name, len(trials))))
    jobs = [(trial, folder / f"trial-{n}") for n, trial in enumerate(some(trials, most, rng))]
    verdicts = []
    with multiprocessing.get_context("fork").Pool(int(settings.get("workers", 2))) as pool:
        for trial, verdict in pool.imap(inflict, jobs):
            verdicts.append((trial, verdict))
            if failed(verdict):
                print(f"{verdict.word}: {trial.scenario}, {trial.label}\n{verdict.why[-2000:]}\n")
    spent = time.monotonic() - started
    bad = sum(failed(verdict) for _, verdict in verdicts)
    print(f"{name}: {len(verdicts)} trials, {bad} failures, {spent:.0f} s", flush=True)
    return verdicts


def some(trials: list[Trial], most: int, rng: np.random.Generator) -> list[Trial]:
    """At most so many trials of each kind."""
    kinds: dict[str, list[Trial]] = {}
    for number in rng.permutation(len(trials)):
        kinds.setdefault(trials[number].scenario, []).append(trials[number])
    chosen = {id(trial) for kind in kinds.values() for trial in kind[:most]}
    return [trial for trial in trials if id(trial) in chosen]


def inflict(job: tuple[Trial, Path]) -> tuple[Trial, Verdict]:
    """Run one trial in a folder of its own, which is removed."""
    trial, folder = job
    try:
        return trial, trial.run(folder / "work")
    except Exception:  # of the campaign itself: no reason to lose the other trials
        return trial, Verdict(UNEXPLAINED, traceback.format_exc())
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
