"""The harness from Python: the datasets, cells and tidy frame of the command line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import nullcontext, redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
from hydra import compose

from xcbench import data
from xcbench.config import overrides
from xcbench.core.dataset import Dataset
from xcbench.data import Missing
from xcbench.errors import UserError
from xcbench.options import Content
from xcbench.plan import planning, stored, sweeps
from xcbench.run.execute import execute, planned
from xcbench.run.progress import InABar, Progress
from xcbench.store import cells, checkpoints
from xcbench.store import results as frames
from xcbench.store.profile import LAUNCH
from xcbench.system.processes import INTERRUPTED

OF_LAUNCH = ("data_dir", "runs_dir", "fetch")
PLAIN = re.compile(r"[\w.+/-]+")


def load_dataset(name: str, **options: object) -> Dataset:
    """Load a dataset of the catalogue, prepared as for a run; parsed once, then cached.

    Parameters
    ----------
    name : str
        A name of ``xcbench data list``, or ``file`` for your files.
    **options
        As on the command line, with two underscores for a dot: ``protocol__tfidf=True`` is
        ``dataset.protocol.tfidf=true``; also ``data_dir``, ``runs_dir`` and ``fetch``.

    Returns
    -------
    Dataset
        ``train`` and ``test`` have the rows ``X`` and their classes ``y``, numbered from 0;
        ``info`` has statistics. If files are missing, ``missing="twin"`` gives a synthetic
        stand-in.

    Raises
    ------
    UserError
        If there is no such dataset, or its files are not here.

    Examples
    --------
    >>> import xcbench
    >>> digits = xcbench.load_dataset("digits")
    >>> digits.train.X.shape, digits.info.classes
    ((1437, 64), 10)
    """
    values: Content = {"missing": "error", **options}
    overrides = {key if key in OF_LAUNCH else f"dataset__{key}": values[key] for key in values}
    point = _words({"dataset": name, **overrides})
    with sweeps.hydra():
        settings = sweeps.Composer(lambda words: compose("config", overrides=words)).read(point)
    cache_dir = planning.cache_dir(settings)
    info = data.prepare(settings.dataset, Path(settings.data_dir), cache_dir, settings.fetch)
    if isinstance(info, Missing):
        raise UserError(info.detail)
    return data.load(info, cache_dir)


def run(
    *,
    method: object = "umax",
    dataset: object = "digits",
    lr: object = None,
    seed: object = 0,
    curves: bool = False,
    verbose: int = 1,
    **options: object,
) -> pd.DataFrame:
    """Run every combination of the given values, and return the tidy frame of the cells.

    The cells are those of ``python run.py -m`` with the same settings; existing cells do not run
    again.

    Parameters
    ----------
    method, dataset, lr, seed : a value or several
        Names, learning rates (None: the method's default) and seeds.
    curves : bool
        One row a checkpoint, for `xcbench.plot.curves`, instead of one a cell.
    verbose : int
        0 prints nothing, 1 shows a progress bar, 2 prints what the command line prints.
    **options
        Further options as on the command line, each a value or several, with two underscores for a
        dot: ``budget__epochs=5``, ``method__negatives=[1, 5]``, ``runs_dir="runs"``, ``workers=2``.
        A value that is itself a list goes inside a list:
        ``evaluation__metrics=[["precision_at_5"]]``. MLflow records nothing unless ``mlflow=True``.

    Returns
    -------
    DataFrame
        As `xcbench.results` gives it; a cell that failed has a status and a message.

    Raises
    ------
    UserError
        If a setting does not exist, or no combination is possible.

    Examples
    --------
    >>> import xcbench
    >>> frame = xcbench.run(
    ...     method=["ove", "implicit"], lr=0.01, budget__epochs=2, runs_dir=folder, verbose=0
    ... )
    >>> frame[["method", "lr", "seed", "status"]]
         method    lr  seed status
    0  implicit  0.01     0   done
    1       ove  0.01     0   done
    """
    LAUNCH.begin("compose")
    rate = {} if lr is None else {"method__lr": lr}
    chosen = {"dataset": dataset, "method": method, **rate, "seed": seed, "mlflow": False}
    words = overrides.for_hydra(["-m", *_words({**chosen, **options})])
    with nullcontext() if verbose else redirect_stdout(StringIO()):
        with sweeps.hydra():
            swept = dict(word.split("=", 1) for word in words[1:])
            points = overrides.for_methods([*sweeps.points(swept)])
            composer = sweeps.Composer(lambda point: compose("config", overrides=point))
            configurations, _ = composer.possible(points)
        launch = planned(configurations)
        code = execute(launch, shown=InABar if verbose == 1 else Progress)
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    runs_dir = Path(configurations[0].runs_dir)
    ran = list(cells.load_all(runs_dir, [job.cell.cell for job in launch]))
    return stored.frame(ran, curves)


def results(
    *,
    curves: bool = False,
    checkpoint: str = checkpoints.BEST,
    runs_dir: str = "runs",
    **filters: object,
) -> pd.DataFrame:
    """Return the tidy frame of stored cells, as ``xcbench results`` prints it.

    Parameters
    ----------
    curves : bool
        One row a checkpoint instead of one a cell.
    checkpoint : str
        ``"best"``: the row of a cell with validation rows is its checkpoint with the lowest
        validation loss. ``"last"``: always the last one. The column ``checkpoint`` says which.
    runs_dir : str
        Folder of the cells.
    **filters
        Column and accepted value, or values, with two underscores for a dot: ``dataset="bibtex"``,
        ``method=["umax", "implicit"]``, ``method__negatives=5``. ``grid="last"`` selects the cells
        of the last launch.

    Returns
    -------
    DataFrame
        `docs/results.md` explains the columns.
    """
    wanted = {
        name.replace("__", "."): ",".join(map(str, _several(value)))
        for name, value in filters.items()
    }
    selected = frames.select(Path(runs_dir), wanted)
    return stored.frame(selected, curves, checkpoints.check(checkpoint))


def _words(options: dict[str, object]) -> list[str]:
    """``{"budget__epochs": [1, 2]}`` as ``budget.epochs=1,2``."""
    return [
        f"{name.replace('__', '.')}={','.join(map(_word, _several(value)))}"
        for name, value in options.items()
    ]


def _several(value: object) -> list[object]:
    """Values of a sweep, or the one that there is."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        return [value]
    return [*value]


def _word(value: object) -> str:
    """A value as Hydra reads it."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return f"[{','.join(map(_word, value))}]"
    text = str(value)
    if PLAIN.fullmatch(text):
        return text
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
