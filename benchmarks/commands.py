"""Whole commands as users start them: a sweep, very many cells, one grid on every executor."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
from hydra import compose

import xcbench
from benchmarks.measure import ROOT, Spent, command
from benchmarks.table import Row, markdown
from xcbench.config import composing
from xcbench.plan import planning, sweeps
from xcbench.store import cells

SWEEP = ("run.py", "-m", "method=ove,umax,implicit", "dataset=mnist", "fetch=false")
TINY = ["dataset=blobs", "method=umax", "engine=numpy", "budget.epochs=1", "budget.checkpoints=1"]
LAUNCHED = 1_000
COUNTS = (2_000, 20_000)
GRID = [
    *("-m", "dataset=blobs,digits", "method=ove,umax,implicit", "method.lr=0.01,0.1,1"),
    *("seed=0,1", "budget.epochs=5", "budget.checkpoints=5", "grid=executors", "mlflow=false"),
    "only.ove.sampler=shared",  # the blobs have five classes, so four others
]
ENGINES = {  # launch: the package that it needs, and a module of it
    "executor=local": ("", ""),
    "executor=local workers=2": ("", ""),
    "executor=slurm workers=2": ("submitit", "submitit"),
    "executor=dask workers=2": ("distributed", "distributed"),
    "executor=ray workers=2": ("ray", "ray"),
    "hydra/launcher=joblib hydra.launcher.n_jobs=2": (
        "hydra-joblib-launcher",
        "hydra_plugins.hydra_joblib_launcher",
    ),
    "hydra/launcher=submitit_slurm hydra.launcher.array_parallelism=2": (
        "hydra-submitit-launcher",
        "hydra_plugins.hydra_submitit_launcher",
    ),
}
INTRODUCTION = """# One grid on several engines

Made by `python -m benchmarks executors`: the same {cells} cells in an empty `runs/` each time, two
at a time. "Same" says whether every column of `xcbench results --curves` equals that of the local
launch in every row, to the last bit; the clock of training (`train_seconds`) is left out. The wall
time is that of the whole command, on a machine of {cores} cores that did other work beside it: it
is for orientation only. SLURM has one node, and starts a Python for every cell.

```
python run.py {words}
```

"""


# ---------------------------------------------------------------- a sweep
def run_sweep() -> list[Row]:
    """OVE, U-max and Implicit SGD on MNIST, with both engines; wall clock, into fresh folders.

    With Numba's compiler on the first call, and without.
    """
    spent: list[float] = []
    with TemporaryDirectory() as folder:
        environment = {"NUMBA_CACHE_DIR": str(Path(folder) / "numba")}
        for engine in ("numba", "numpy", "numba"):
            runs = Path(folder) / f"runs{len(spent)}"
            words = (*SWEEP, f"engine={engine}", f"runs_dir={runs}")
            spent.append(command(*words, environment=environment, pinned=True).wall)
        is_twin = "mnist-twin" in set(xcbench.results(runs_dir=str(runs))["dataset"])
    where = "MNIST's synthetic twin" if is_twin else "MNIST"
    first, numpy, numba = spent
    return [
        Row("engine=numba vs engine=numpy, s", where, numba, numpy),
        Row("engine=numba, compiling first, vs engine=numpy, s", where, first, numpy),
    ]


# ---------------------------------------------------------------- very many cells
def launch(runs: Path, number: int, *words: str, pinned: bool = False) -> Spent:
    """A launch of tiny cells."""
    seeds = (f"seed=range({number})", f"runs_dir={runs}")
    environment = {"XCBENCH_FETCH": "0"}
    return command("run.py", "-m", *TINY, *seeds, *words, environment=environment, pinned=pinned)


def fill(runs: Path, number: int) -> None:
    """Save cells as a launch would have left them: the curve of the first one is that of all."""
    with TemporaryDirectory() as folder:
        launch(Path(folder), 1, "mlflow=false")
        (first,) = cells.load_all(Path(folder))
    with sweeps.hydra():
        settings = composing.read(compose("config", overrides=[*TINY, f"runs_dir={runs}"]))
    jobs = planning.jobs([replace(settings, seed=seed) for seed in range(number)])
    assert first.cell == jobs[0].cell.cell  # the launch that follows finds them
    for job in jobs:
        cell = replace(job.cell, status=first.status, started=first.started, curve=first.curve)
        cells.save(runs, replace(cell, seconds=first.seconds, environment=first.environment))


def over_cells(number: int, pinned: bool = False) -> dict[str, Spent]:
    """The commands that read so many cells, and a launch of which every cell is there."""
    with TemporaryDirectory() as folder:
        runs = Path(folder) / "runs"
        fill(runs, number)
        spent = {"launch again": launch(runs, number, "mlflow=false", pinned=pinned)}
        for name, words in {
            "results": [],
            "report": [f"reports_dir={folder}/reports"],
            "track": [],
        }.items():
            words = ["-m", "xcbench", name, f"runs_dir={runs}", *words]
            spent[name] = command(*words, pinned=pinned)
            print(name, number, spent[name], flush=True)
    return spent


def run_throughput(launched: int = LAUNCHED, counts: tuple[int, ...] = COUNTS) -> list[Row]:
    """What very many cells cost besides their training: launched, listed, reported, tracked."""
    rows = []
    for tracking in ("mlflow=false", "mlflow=true"):
        with TemporaryDirectory() as folder:
            words = (tracking, "workers=2")
            first, again = (launch(Path(folder), launched, *words).wall for _ in range(2))
        shape = f"{launched:,} cells, {tracking}, workers=2"
        rows.append(Row("cells/s", shape, launched / first, goal=">= 20"))
        rows.append(Row("launch again, s", shape, again))
    for number in counts:
        spent, shape = over_cells(number), f"{number:,} cells"
        rows.append(Row("launch again, s", shape, spent.pop("launch again").wall))
        for name, it in spent.items():
            rows.append(Row(f"xcbench {name}, s", shape, it.wall, goal="<= 60"))
    return rows


# ---------------------------------------------------------------- executors
def executors() -> None:
    """One grid on every engine that is here, against the local launch: ``reports/executors.md``."""
    reference, _ = launched_by("executor=local")
    rows: list[list[object]] = []
    for words, (package, module) in ENGINES.items():
        if lacking := missing(words, package, module):
            rows.append([f"`{words}`", lacking, "", "", ""])
            continue
        frame, spent = launched_by(words)
        version = f"{package} {metadata.version(package)}" if package else "–"
        verdict = f"{'yes' if frame.equals(reference) else 'NO'}, exit code {spent.code}"
        rows.append([f"`{words}`", version, frame["cell"].nunique(), verdict, f"{spent.wall:.0f}"])
        print(rows[-1], flush=True)
    table = pd.DataFrame(rows, columns=["launch", "engine", "cells", "same", "wall s"])
    count = reference["cell"].nunique()
    head = INTRODUCTION.format(cells=count, cores=os.cpu_count(), words=" ".join(GRID))
    (ROOT / "reports" / "executors.md").write_text(head + markdown(table), "utf-8")


def missing(words: str, package: str, module: str) -> str:
    """What is missing for a launch, or nothing."""
    if "slurm" in words and not shutil.which("sbatch"):
        return "not run: no SLURM"
    return f"not run: no {package}" if package and find_spec(module) is None else ""


def launched_by(words: str) -> tuple[pd.DataFrame, Spent]:
    """Checkpoints of the grid under a launch, without its clock; what it took."""
    with TemporaryDirectory() as folder:
        program = [str(ROOT / "run.py"), *GRID, *words.split()]
        spent = command(*program, folder=Path(folder), pinned=True, check=False)
        frame = xcbench.results(curves=True, runs_dir=f"{folder}/runs", grid="executors")
    return frame.drop(columns="train_seconds"), spent
