"""Settings of a cell: budget, evaluation and launch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from omegaconf import MISSING

from xcbench.core.engines import ENGINES
from xcbench.data.settings import DatasetSettings
from xcbench.methods.options import MethodOptions
from xcbench.options import option

EXECUTORS = ("local", "slurm", "dask", "ray")


@dataclass
class Budget:
    """How long a cell trains and how often it is evaluated."""

    epochs: float = option(20.0, "passes over the training rows", above=0)
    checkpoints: int = option(
        10, "evenly spaced evaluations after the one at the start", at_least=1
    )
    ratio: float = option(
        1.0,
        "each evaluation comes at this multiple of the epochs of the one before, the last at "
        "the end; 1: evenly spaced",
        at_least=1,
    )
    times: list[float] = option(
        [],
        "evaluate after so many training seconds, and at the end, instead of at evenly spaced "
        "epochs",
    )
    share: float = option(
        1.0,
        "train on this share of the training rows, from the first on; losses and errors are "
        "those of all rows",
        above=0,
        at_most=1,
    )
    seconds: float | None = option(
        None, "end a cell after so many training seconds, with status timeout", above=0
    )
    patience: int | None = option(
        None,
        "end a cell after so many evaluations without a better loss of the validation rows "
        "(evaluation.validation), but not before its first pass over the rows or the classes, and "
        "not where its rate falls over all epochs (lr_schedule=linear); the weights and numbers "
        "that stand for it are those of its best evaluation after training began",
        at_least=1,
    )
    gain: float = option(
        0.0,
        "with patience, a loss is better only if it is lower by this share",
        at_least=0,
        at_most=0.5,
    )
    clock: str = option(
        "wall",
        "which seconds of training count: those of the wall, or those of the processor, which "
        "other programs on the machine take nothing of",
        choices=("wall", "processor"),
    )
    memory: float | None = option(
        None,
        "skip a cell that is estimated to need more GiB than this; none: than is available",
        above=0,
        identity=False,
    )


@dataclass
class Evaluation:
    """What is computed at a checkpoint besides log loss and error."""

    metrics: list[str] = option(
        [],
        "further metrics by name; for rows with several labels precision_at_3, ndcg_at_3 and, "
        "weighted by inverse propensity, psp_at_3 and psndcg_at_3, with any number",
    )
    propensity_a: float = option(
        0.55,
        "a of the propensities 1 / (1 + C (N_k + b)^-a); 0.5 for Wikipedia, 0.6 for Amazon",
        at_least=0,
    )
    propensity_b: float = option(1.5, "b of the propensities; 0.4 and 2.6", at_least=0)
    softmax_twice: bool = option(
        False,
        "add columns *_log_loss_softmax_twice: the log loss with softmax applied to probabilities, "
        "as in the published baselines of the U-max paper",
    )
    validation: float = option(
        0.0,
        "set aside this share of the test rows, always the same ones: columns validation_*, by "
        "which rates are chosen; test_* are of the other rows",
        at_least=0,
        at_most=0.9,
    )
    validation_from: str = option(
        "test",
        "which rows validation sets aside: those of the test part; or of the training part, drawn "
        "by the seed, which then do not train. `train_seen`: the same, but a row trains if its "
        "class would have no other training row",
        choices=("test", "train", "train_seen"),
    )
    top_k: int = option(
        0,
        "add columns *_hit_at_<top_k>: share of rows whose class is among the top_k of the highest "
        "scores (with one class a row, precision@k is this share / k); 0: off",
        at_least=0,
    )
    macro_f1: bool = option(
        False,
        "add columns *_macro_f1, as scikit-learn has it, and *_macro_f1_of_means, of macro-"
        "precision and macro-recall",
    )
    costs: bool = option(
        False,
        "add columns predict_seconds (of the test rows that are evaluated), nonzeros and model_mib "
        "of the weights, peak_mib of the process, and train_mib that training added",
    )
    clip: float = option(
        0.0,
        "add columns *_log_loss_clipped: each row's loss counts at most so many nats (26 in the "
        "augment-and-reduce paper); 0: off",
        at_least=0,
    )
    importance: int = option(
        0,
        "for probit and logistic methods, add columns *_log_loss_importance: importance "
        "sampling with so many draws of N(5, 5²) a row (1000 in the paper), clipped at clip or "
        "26; 0: off",
        at_least=0,
    )
    rows: int = option(
        0,
        "evaluate at most so many rows of each part, the same for every cell, and add columns "
        "*_log_loss_standard_error; 0: all",
        at_least=0,
    )
    train_rows: int = option(
        0, "at most so many rows of the training part; 0: as many as rows says", at_least=0
    )
    curve_rows: int = option(
        0,
        "at checkpoints before the last, at most so many rows of the training and the test part, "
        "the same at each; validation rows stay; with budget.patience at all but the best one, "
        "unless a library holds what it trained; "
        "0: as many as at the last",
        at_least=0,
    )
    every: int = option(
        1,
        "evaluate at every so-many-th checkpoint and at the last; the others have clocks and bound "
        "alone",
        at_least=1,
    )


@dataclass
class Slurm:
    """What a job of ``executor=slurm`` asks for, in submitit's words."""

    partition: str | None = option(None, "partition of the jobs; none: SLURM's default")
    account: str | None = option(None, "account that the jobs are charged to; none: the user's")
    qos: str | None = option(None, "quality of service; none: SLURM's default")
    constraint: str | None = option(None, "feature that nodes must have, such as one processor")
    timeout_min: int = option(60, "minutes after which SLURM ends a job", at_least=1)
    mem_gb: float | None = option(None, "memory of a job; none: SLURM's default", above=0)
    cpus_per_task: int = option(1, "processors of a job; a cell uses one", at_least=1)
    python: str | None = option(
        None,
        "starts Python in a job, such as `apptainer exec xcbench.sif python`; none: this Python",
    )


@dataclass
class Config:
    """One cell, and how to launch it."""

    dataset: DatasetSettings = MISSING
    method: MethodOptions = MISSING
    budget: Budget = field(default_factory=Budget)
    evaluation: Evaluation = field(default_factory=Evaluation)
    seed: int = option(0, "seed of every random draw of a cell", at_least=0)
    dtype: str = option("float32", "weights and scores", choices=("float32", "float64"))
    engine: str = option(
        "auto",
        "what runs the hot loops; auto: Numba where it is installed, else NumPy",
        choices=ENGINES,
    )
    experiment: Any = None
    rates: Any = None
    grid: str = option(
        "last",
        "name of the launch; its cells join those of earlier launches of this name; `last`: the "
        "last launch alone",
    )
    plan: bool = option(False, "list the cells and their memory, run nothing")
    force: bool = option(False, "run cells again that are already there")
    halving: int = option(
        0,
        "successive halving of a sweep: a ninth of the epochs for all points, a third for the best "
        "third of each dataset and method, all for the best ninth (with 3); 0: all for all",
        at_least=0,
    )
    workers: int = option(
        1, "cells that run side by side: processes, or tasks of the executor", at_least=1
    )
    executor: str = option(
        "local",
        "where cells run: processes of this machine, SLURM's jobs, Dask or Ray (docs/clusters.md)",
        choices=EXECUTORS,
    )
    executor_address: str | None = option(
        None, "of a running scheduler of Dask, or cluster of Ray; none: one on this machine"
    )
    slurm: Slurm = field(default_factory=Slurm)
    lockstep: bool = option(
        True,
        "train cells that differ in rate or weight decay alone together, where that is faster; "
        "their numbers are the same, their clocks show equal shares",
    )
    mlflow: bool = option(True, "record finished cells in MLflow")
    tracking_uri: str | None = option(
        None,
        "MLflow server or database, such as http://HOST:5000; none: MLFLOW_TRACKING_URI, without "
        "it mlflow.db in runs_dir",
    )
    save_weights: bool = option(
        False, "keep the final weights in the cell's folder, for `xcbench predict`"
    )
    fetch: bool = option(
        True, "fetch missing files of up to 100 MiB; XCBENCH_FETCH=0 switches this off too"
    )
    data_dir: str = option("data", "where dataset files are looked for", at_least=1)
    runs_dir: str = option("runs", "where cells, caches and the MLflow store go", at_least=1)
    reports_dir: str = option("reports", "where reports go", at_least=1)
