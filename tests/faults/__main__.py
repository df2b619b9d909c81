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
    seed = int(settings.get("seed", 0))
    sys.path.insert(0, str(process.ROOT / "src"))
    process.preload()
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="xcbench-faults-") as scratch:
        results = campaign(
            names, Path(scratch), seed, settings.get("trials"), int(settings.get("workers", 2))
        )
    order = dict.fromkeys(trial.scenario for trial, _ in results)
    counts = table.frame(results, order)
    bad = {
        f"{trial.scenario}: {trial.label}": verdict.word
        for trial, verdict in results
        if verdict.word not in (REFUSED, IDENTICAL)
    }
    table.write(counts, bad, Path(settings.get("reports_dir", "reports")), words)
    print(counts.to_markdown(index=False))
    print(f"{len(results)} trials in {time.monotonic() - started:.0f} s, {len(bad)} failures")
    return 1 if bad else 0


def campaign(
    names: list[str], scratch: Path, seed: int, most: str | None, workers: int
) -> list[tuple[Trial, Verdict]]:
    """Run the trials of scenarios, some at a time, in a folder; at most so many of each."""
    verdicts = []
    for name in names:
        started = time.monotonic()
        folder = scratch / name
        folder.mkdir()
        rng = np.random.default_rng(seed)
        trials = list(scenarios.SCENARIOS[name](folder, rng))
        trials = some(trials, int(most or scenarios.MOST.get(name, len(trials))), rng)
        with multiprocessing.get_context("fork").Pool(workers) as pool:
            jobs = [(trial, folder / f"trial-{number}") for number, trial in enumerate(trials)]
            for trial, verdict in pool.imap(inflict, jobs):
                verdicts.append((trial, verdict))
                if verdict.word not in (REFUSED, IDENTICAL):
                    print(
                        f"{verdict.word}: {trial.scenario}, {trial.label}\n{verdict.why}\n",
                        flush=True,
                    )
        print(f"{name}: {len(trials)} trials, {time.monotonic() - started:.0f} s", flush=True)
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
