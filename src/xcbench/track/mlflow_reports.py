"""Reports in MLflow: each is a run of a separate experiment, with its files as artifacts."""

from __future__ import annotations

from pathlib import Path

from xcbench.track import mlflow_target
from xcbench.track.mlflow_runs import FOLDER
from xcbench.track.mlflow_target import Target

REPORTS = "xcbench reports"
PAGE = 1000  # runs that an answer may hold


def track(runs_dir: Path, reports_dir: Path, uri: str | None = None) -> int:
    """Log every report of a folder, replacing older ones; returns their number.

    Parameters
    ----------
    runs_dir, uri : as of `Target.of`.
    reports_dir : folder with one subfolder for each report.

    Raises
    ------
    UserError
        As `xcbench.track.tracking.track` does.
    """
    target = Target.of(runs_dir, uri)
    folders = [page.parent for page in sorted(reports_dir.glob("*/index.html"))]
    with target.alone():
        target.opened()  # its experiment stays the first one
        mlflow = mlflow_target.client(target.store)
        experiment = mlflow_target.experiment(mlflow, REPORTS, target.artifacts)
        old = mlflow.search_runs([experiment], f"tags.{FOLDER} = '{target.folder}'", 1, PAGE)
        names = {folder.name for folder in folders}
        for run in [run for run in old if run.info.run_name in names]:
            mlflow.delete_run(run.info.run_id)
        for folder in folders:
            tags = {FOLDER: target.folder}
            run = mlflow.create_run(experiment, tags=tags, run_name=folder.name)
            mlflow.log_artifacts(run.info.run_id, str(folder))
            mlflow.set_terminated(run.info.run_id)
    return len(folders)
