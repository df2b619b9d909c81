"""The command that each preset of a paper advertises gives the cells of the committed tables."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest

from xcbench import papers
from xcbench.committed.results_cache import ResultsCache
from xcbench.config import presets
from xcbench.papers import PARTS, Grid
from xcbench.plan import planning, sweeps
from xcbench.plan.job import Job
from xcbench.store.cell import FINAL

ROOT = Path(__file__).resolve().parents[2]
PRESETS = {
    name: [(grid, preset) for grid in papers.find(name).grids for preset in (grid.name, *grid.also)]
    for name in papers.NAMES
}


@pytest.fixture(autouse=True)
def without_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XCBENCH_DATA", str(tmp_path / "none"))


@pytest.mark.parametrize(
    "paper",
    ["ar", *(pytest.param(name, marks=pytest.mark.slow) for name in papers.NAMES if name != "ar")],
)
def test_a_preset_gives_committed_cells(paper: str, tmp_path: Path) -> None:
    """Of each preset the points of a dataset and a method that ran; of a tuned one, of all.

    A tuned rate must be in the preset: a rate that is none is one that the method's rule makes
    from the data, which are not here.
    """
    tables = {part: ResultsCache.read(ROOT / "reports" / paper, part) for part in PARTS}
    wrong = []
    with sweeps.hydra({}):
        for grid, preset in PRESETS[paper]:
            kept = tables[grid.part]
            own = kept.rows[kept.rows["grid"] == grid.name]
            ran = own[own["status"].isin(FINAL)]
            apart = set(zip(own["dataset"], own["method"], own["status"].isin(FINAL), strict=True))
            for job in _some_jobs(f"{paper}/{preset}", ran, bool(grid.rates_from), tmp_path):
                key = (job.cell.dataset, job.cell.method)
                if (*key, False) in apart or (*key, True) not in apart:
                    continue  # some of them were skipped
                default = bool(grid.rates_from) and job.cell.lr is None
                if default or not kept.holds(job, grid.name):
                    wrong.append(f"{preset}: {job.label}")
    assert not wrong


def _some_jobs(preset: str, ran: pd.DataFrame, tuned: bool, runs_dir: Path) -> list[Job]:
    """Points of the first dataset and method that a preset has, or of all datasets if tuned."""
    names = ["dataset"] if tuned else ["dataset", "method"]
    jobs: list[Job] = []
    for point in ran[names].drop_duplicates().to_dict("records"):
        wanted = {str(name): str(value) for name, value in point.items()}
        sweep = sweeps.of_experiment(preset, {"runs_dir": str(runs_dir), **wanted})
        if sweep.configurations:
            new = planning.jobs(sweep.configurations)
            assert len(new) == _points(preset, wanted)
            jobs += new
            if not tuned:
                break
    return jobs


def _points(preset: str, wanted: dict[str, str]) -> int:
    """Combinations of what an experiment sweeps, with these values of it wanted."""
    result = presets.find("experiment", preset)
    assert result is not None
    swept = result.hydra.sweeper.params.items()
    return math.prod(len(sweeps.values(key, str(it))) for key, it in swept if key not in wanted)


def test_every_tuned_grid_is_tuned_by_a_grid_before_it() -> None:
    for name in papers.NAMES:
        grids: dict[str, Grid] = {}
        for grid in papers.find(name).grids:
            assert not grid.rates_from or grids[grid.rates_from].part == "tuning"
            grids[grid.name] = grid
