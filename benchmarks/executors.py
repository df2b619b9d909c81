"""One grid on every engine that is here, against the local launch: ``reports/executors.md``.

``python -m benchmarks.executors`` runs it; a report that is there is written anew.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
from tabulate import tabulate

ROOT = Path(__file__).parents[1]
GRID = [
    *("-m", "dataset=blobs,digits", "method=ove,umax,implicit", "method.lr=0.01,0.1,1"),
    *("seed=0,1", "budget.epochs=5", "budget.checkpoints=5", "grid=executors", "mlflow=false"),
]
CLOCKS = ["train_seconds"]
ENGINES = {
    "executor=local": [],
    "executor=local workers=2": [],
    "executor=slurm workers=2": ["submitit"],
    "executor=dask workers=2": ["distributed"],
    "executor=ray workers=2": ["ray"],
    "hydra/launcher=joblib hydra.launcher.n_jobs=2": ["hydra-joblib-launcher"],
    "hydra/launcher=submitit_slurm hydra.launcher.array_parallelism=2": ["hydra-submitit-launcher"],
}
INTRODUCTION = """# One grid on several engines

Made by `python -m benchmarks.executors`: the same {cells} cells in an empty `runs/` each time, two
at a time. "Same" says whether every column of `xcbench results --curves` equals that of the local
launch in every row, to the last bit; the clock of training (`train_seconds`) is left out. The wall
time is that of the whole command, on a machine of {cores} cores that did other work beside it: it
is for orientation only. SLURM has one node, and starts a Python for every cell.

```
python run.py {words}
```
"""


def main() -> None:
    """Run the grid everywhere and write the table."""
    rows: list[list[object]] = []
    with tempfile.TemporaryDirectory() as scratch:
        reference, _, _ = launched(Path(scratch), "executor=local")
        for words, packages in ENGINES.items():
            missing = lacking(words, packages)
            if missing:
                rows.append([f"`{words}`", missing, "", "", ""])
                continue
            frame, seconds, code = launched(Path(scratch), words)
            same = frame.drop(columns=CLOCKS).equals(reference.drop(columns=CLOCKS))
            version = ", ".join(f"{name} {metadata.version(name)}" for name in packages)
            verdict = f"{'yes' if same else 'NO'}, exit code {code}"
            rows.append([f"`{words}`", version or "–", frame["cell"].nunique(), verdict, seconds])
            print(rows[-1], flush=True)
    columns = ["launch", "engine", "cells", "same", "wall s"]
    table = tabulate(rows, columns, tablefmt="github", floatfmt=".0f")
    count = reference["cell"].nunique()
    head = INTRODUCTION.format(cells=count, cores=os.cpu_count(), words=" ".join(GRID))
    (ROOT / "reports" / "executors.md").write_text(f"{head}\n{table}\n", "utf-8")
    print(table)


def lacking(words: str, packages: list[str]) -> str:
    """What is missing for a launch, or nothing."""
    if "slurm" in words and not shutil.which("sbatch"):
        return "not run: no SLURM"
    modules = {"submitit": "submitit", "distributed": "distributed", "ray": "ray"}
    for package in packages:
        module = modules.get(package) or f"hydra_plugins.{package.replace('-', '_')}"
        if find_spec(module) is None:
            return f"not run: no {package}"
    return ""


def launched(scratch: Path, words: str) -> tuple[pd.DataFrame, float, int]:
    """Checkpoints of the grid under a launch, its wall seconds and its exit code."""
    folder = Path(tempfile.mkdtemp(dir=scratch))
    started = time.perf_counter()
    run = [sys.executable, str(ROOT / "run.py"), *GRID, *words.split()]
    code = subprocess.run(run, cwd=folder, stdout=subprocess.DEVNULL).returncode
    seconds = time.perf_counter() - started
    shown = [sys.executable, "-m", "xcbench", "results", "--curves", "grid=executors"]
    with (folder / "frame.csv").open("w") as out:
        subprocess.run(shown, cwd=folder, stdout=out, check=True)
    return pd.read_csv(folder / "frame.csv"), seconds, code


if __name__ == "__main__":
    main()
