"""Edits of the code, and what the commands say of cells, rows and stages before and after each.

``PYTHONPATH=tests python -m edits [out=reports/edits.md]`` makes them in a copy of the checkout.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
COPIED = ("src", "conf", "reports", "run.py", "pyproject.toml", "dvc.yaml", "params.yaml")
SIZES = {"train": 200, "test": 100, "features": 40, "classes": 12, "nonzeros": 6}
GRID = (
    "-m",
    "dataset=zipf",
    *(f"dataset.synthetic.{name}={size}" for name, size in SIZES.items()),
    "method=ove,bouchard,umax,implicit,ar_softmax,negative_sampling",
    "only.negative_sampling.sampler=tree",
    "only.umax.l2=0.001",
    "method.lr=0.01,0.02,0.04",  # three rates of a method train in lockstep
    "budget.epochs=1",
    "mlflow=false",
)
PAPER = ("paper", "ove", "grid=figure1a,figure1b", "part=runs", "plan=true")


@dataclass(frozen=True)
class Edit:
    """A change of one place of a file.

    Attributes
    ----------
    changes : whether a result changes; else it is a comment, a name or a format.
    stages : stages of dvc.yaml that it makes stale, by the first part of their key.
    """

    what: str
    path: str
    old: str
    new: str
    changes: bool = True
    stages: tuple[str, ...] = ("runs",)


CORE, PAPERS = "src/xcbench/core", "src/xcbench/papers"
EDITS = [
    Edit(
        "objective of pairs (one-vs-each)",
        f"{CORE}/objectives/one_vs_each.py",
        "weight = np.exp(log_weight)",
        "weight = 3.0 * np.exp(log_weight)",
    ),
    Edit(
        "objective of log-odds (double sum)",
        f"{CORE}/objectives/double_sum.py",
        "u + shrunk + excess - 1.0",
        "u + shrunk + 2.0 * excess - 1.0",
    ),
    Edit(
        "objective of A&R (local step)",
        f"{CORE}/objectives/augment_reduce.py",
        "u = np.logaddexp(np.log1p(-alpha) + u, np.log(alpha) + softplus(log_odds))",
        "u = np.logaddexp(np.log1p(-alpha) + u, np.log(alpha) + log_odds)",
    ),
    Edit(
        "sampler (weight of a shared draw)",
        f"{CORE}/samplers/__init__.py",
        "np.log(self.n_classes / self.negatives)",
        "np.log((self.n_classes - 1) / self.negatives)",
    ),
    Edit(
        "sampler (tree: its l2)",
        f"{CORE}/samplers/tree.py",
        "return newton(segments, z, sign, weights, self.how.l2)",
        "return newton(segments, z, sign, weights, 2 * self.how.l2)",
    ),
    Edit(
        "optimizer (decay of the rate)",
        f"{CORE}/optimizers/schedules.py",
        "return self.lr * self.lr_decay ** int(epoch)",
        "return self.lr * self.lr_decay ** (int(epoch) + 1)",
    ),
    Edit(
        "kernel (product with a row)",
        f"{CORE}/kernels/rows.py",
        "return np.float64(even + odd)",
        "return np.float64(even + 0.9 * odd)",
    ),
    Edit(
        "kernel (lockstep)",
        f"{CORE}/kernels/lockstep.py",
        "= -rates[r] * grad[r, i, c] / scale[r]",
        "= -0.9 * rates[r] * grad[r, i, c] / scale[r]",
    ),
    Edit(
        "evaluator (drawn rows of a part)",
        "src/xcbench/train/evaluator.py",
        "values = evaluate(model, split, extras, summary)",
        "values = evaluate(model, split.first(20), extras)",
    ),
    Edit(
        "metric (error)",
        f"{CORE}/metrics.py",
        "return float((~rows.hit[:, 0]).mean())",
        "return 0.5 * float((~rows.hit[:, 0]).mean())",
    ),
    Edit(
        "model (norm of the weights)",
        f"{CORE}/models/weights.py",
        "return self.scale**2 * total",
        "return 2 * self.scale**2 * total",
    ),
    Edit(
        "data protocol (idf)",
        "src/xcbench/data/protocol.py",
        "factors = np.full(X.shape[1], 1 / protocol.divide_by)",
        "factors = np.full(X.shape[1], 2 / protocol.divide_by)",
    ),
    Edit(
        "report builder (counts of verdicts)",
        f"{PAPERS}/report.py",
        'return " ".join([f"The paper prints',
        'return "  ".join([f"The paper prints',
        stages=("reports",),
    ),
    Edit(
        "claim",
        f"{PAPERS}/prose.py",
        "HIGHER = above(0)",
        "HIGHER = above(1)",
        stages=("reports",),
    ),
    Edit(
        "template",
        "src/xcbench/show/page.html",
        '<h2 id="claims">Claims</h2>',
        '<h2 id="claims">Claims in prose</h2>',
        stages=("reports",),
    ),
    Edit(
        "comment and name of a local variable (one-vs-each)",
        f"{CORE}/objectives/one_vs_each.py",
        "weight = np.exp(log_weight)\n    grad = weight * sigmoid(drawn - true)\n"
        "    return weight *",
        "factor = np.exp(log_weight)  # of a draw\n    grad = factor * sigmoid(drawn - true)\n"
        "    return factor *",
        changes=False,
        stages=(),
    ),
    Edit(
        "docstring (metrics)",
        f"{CORE}/metrics.py",
        "Share of wrong predictions;",
        "Share of predictions that are wrong;",
        changes=False,
        stages=(),
    ),
    Edit(
        "comment (protocol)",
        "src/xcbench/data/protocol.py",
        "# ---------------------------------------------------------------- which rows train",
        "# which rows train",
        changes=False,
        stages=(),
    ),
    Edit(
        "format (page of a paper)",
        f"{PAPERS}/page.py",
        "    rows: pd.DataFrame\n    folder: Path\n",
        "    rows: pd.DataFrame  # of the table\n\n    folder: Path\n",
        changes=False,
        stages=(),
    ),
    Edit(
        "move without effect (optimizer: another form of the same formula)",
        f"{CORE}/optimizers/schedules.py",
        "return self.lr * self.lr_decay ** int(epoch)",
        "return float(self.lr_decay ** int(epoch) * self.lr)",
        changes=False,
    ),
]


class Checkout:
    """A copy of the files that the commands need, and the commands."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in COPIED:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
            copy(ROOT / name, folder / name)

    def says(self, *words: str) -> str:
        """What a command prints."""
        environment = {**os.environ, "PYTHONPATH": str(self.folder / "src")}
        command = [sys.executable, "-m", "xcbench", *words]
        done = subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(words)}: {done.stdout}{done.stderr}")
        return done.stdout

    def stages(self) -> dict[str, str]:
        """Digests of the stages of dvc.yaml, by the first part of their key."""
        digests = json.loads(self.says("digests"))
        return {name: json.dumps(value) for name, value in digests.items()}


@dataclass(frozen=True)
class Seen:
    """What the commands say: cells of a grid and rows of a paper to run, and stale stages."""

    cells: int
    rows: int
    stages: tuple[str, ...]
    reasons: tuple[str, ...] = ()


def seen(checkout: Checkout, stages: dict[str, str]) -> Seen:
    """Ask the commands; ``stages`` are the digests before an edit."""
    plan = checkout.says("run", *GRID, "plan=true")
    paper = checkout.says(*PAPER)
    now = checkout.stages()
    return Seen(
        cells=_to_run(plan),
        rows=_to_run(paper),
        stages=tuple(name for name, digest in stages.items() if now[name] != digest),
        reasons=tuple(dict.fromkeys(re.findall(r"stale: (.*)", plan))),
    )


def _to_run(text: str) -> int:
    return int(re.findall(r"(\d+) to run", text)[-1])  # of the total


def tried(checkout: Checkout, edit: Edit, stages: dict[str, str]) -> Seen:
    """What the commands say while an edit is there; it is undone."""
    path = checkout.folder / edit.path
    before = path.read_text("utf-8")
    assert edit.old in before, f"{edit.path} has no {edit.old!r}"
    path.write_text(before.replace(edit.old, edit.new), "utf-8")
    try:
        return seen(checkout, stages)
    finally:
        path.write_text(before, "utf-8")


def main(words: list[str]) -> int:
    """Make all edits, and print a table, or write it to ``out=FILE``."""
    out = next((word.partition("=")[2] for word in words if word.startswith("out=")), "")
    lines = [
        "| edit | results change | cells to run | rows to run | stale stages | reason given |",
        "|:--|:--|--:|--:|:--|:--|",
    ]
    with TemporaryDirectory() as folder:
        checkout = Checkout(Path(folder))
        checkout.says("run", *GRID)
        stages = checkout.stages()
        lines.append(_line("none", "no", seen(checkout, stages)))
        for edit in EDITS:
            result = tried(checkout, edit, stages)
            lines.append(_line(edit.what, "yes" if edit.changes else "no", result))
            print(lines[-1], flush=True)
    text = "\n".join(lines) + "\n"
    if out:
        Path(out).write_text(f"{HEAD}\n{text}", "utf-8")
    return 0


def _line(what: str, changes: str, result: Seen) -> str:
    cells = (what, changes, result.cells, result.rows, ", ".join(result.stages))
    return f"| {' | '.join(map(str, cells))} | {'; '.join(result.reasons)} |"


HEAD = """# What is stale after an edit

Made by `PYTHONPATH=tests python -m edits out=reports/edits.md`: each edit in a copy of the code,
then `run.py plan=true` on a finished grid, `xcbench paper ove plan=true`, and the digests that the
stages of `dvc.yaml` depend on.
"""

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
