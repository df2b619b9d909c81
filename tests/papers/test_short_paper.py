"""A short paper is three files in a folder of its own; nothing outside of it changes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd

from workspace import ROOT

PAPER = '''"""Complementary sum sampling beside importance sampling."""

from xcbench.papers import Grid
from xcbench.papers import columns as c
from xcbench.papers.description import Description, Part, Verdicts
from xcbench.papers.measures import Measure
from xcbench.papers.prose import Statement, below

DRAWS = Grid("draws")
GRIDS = [DRAWS]
PAPER = Description(
    name="sixth",
    title="Complementary sum sampling (Botev, Zheng and Barber 2017)",
    intro="An estimate of the partition function that keeps the true class exact.",
    datasets={"Digits": "digits"},
    methods={"CSS": "css"},
    measures=[Measure("Sizes", rows={"paper": DRAWS}, columns={"classes": c.CLASSES}, once=True)],
    statements=[
        Statement(
            "Section 3",
            "CSS ends at a lower log loss than importance sampling",
            left=DRAWS(method="css"),
            right=DRAWS(method="is"),
            of=c.TEST_LOG_LOSS,
            datasets=["digits"],
            holds=below(0),
        )
    ],
    sections=[Part("Printed numbers", tables=[Verdicts("Sizes", "Sizes of the data.")])],
)
'''
EXPERIMENTS = """
variants: {paper: {method: {lr_decay: 1.0}}}
experiments:
  draws:
    variant: sixth/paper
    budget: {epochs: 3, checkpoints: 1}
    sweep: {dataset: digits, method: [css, is], seed: range(5)}
"""
PRINTED = "table,dataset,method,metric,value,unit\nSizes,Digits,CSS,classes,10,\n"


def test_three_files_are_a_paper(tmp_path: Path) -> None:
    for name in ("src", "conf"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    folder = tmp_path / "src" / "xcbench" / "papers" / "sixth"
    folder.mkdir()
    (folder / "paper.py").write_text(PAPER)
    (folder / "experiments.yaml").write_text(EXPERIMENTS)
    (folder / "printed.csv").write_text(PRINTED)
    words = ["-m", "xcbench", "paper", "sixth", "mlflow=false"]
    path = f"{tmp_path / 'src'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    done = subprocess.run(
        [sys.executable, *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Sizes (1): 1 reproduced" in done.stdout
    claims = pd.read_csv(tmp_path / "reports" / "sixth" / "claims.csv")
    assert claims["verdict"].tolist() == ["holds"]
    assert (tmp_path / "reports" / "sixth" / "index.html").exists()
