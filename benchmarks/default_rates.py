"""Every method at its default rate against the class prior, and at other rates where it fails.

python -m benchmarks.default_rates [--data FOLDER] [--out reports]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from hydra import compose, initialize_config_dir
from threadpoolctl import threadpool_limits

from xcbench import data as datasets
from xcbench import options
from xcbench.core import models
from xcbench.core.dataset import Dataset, Info, Split
from xcbench.core.statistics import describe
from xcbench.errors import UserError
from xcbench.methods import registry
from xcbench.methods.method import default_rate
from xcbench.methods.options import FullBatchOptions
from xcbench.run import composing, training
from xcbench.run.settings import Budget, Evaluation

METHODS = (
    "softmax", "ove", "ove_grouped", "bouchard", "nce", "negative_sampling", "is", "vanilla",
    "css", "umax", "implicit", "ar_softmax", "ar_probit", "ar_logistic",
)  # fmt: skip
SHIPPED = ("digits", "zipf", "mnist", "20news", "bibtex", "delicious", "omniglot")
FORMS = ("one_hot", "dense", "normalised", "unnormalised")
CLASSES = (100, 1000, 10_000)
SYNTHETIC = ("digits", "zipf")  # small enough as they are
TEST = 2000
EPOCHS = 20.0  # the default budget
LIMITS = (
    "`umax` and `vanilla` take one row and one class a step: at a low rate the classes do not "
    "come down from 1/K in 20 epochs, at a higher one a draw that stands for K - 1 classes "
    "moves its class too far. Between the two little or nothing is left on one-hot rows of "
    "1,000 classes and on Delicious, and for `vanilla` on rows of unequal length. `implicit` "
    "takes the same draws without that bound. `nce` fixes the normaliser to 1, so that each "
    "of K scores has to come down by itself from 0: with K = 10,000 a class is drawn twice in "
    "this budget. `ar_probit` diverges at K = 10,000 at every rate, as its local variables "
    "move by K/m times `method.local_lr`. `css` minimises the log of an estimated sum, whose mean "
    "over few draws is below the log loss: on one-hot rows and on Delicious no rate that was tried "
    "ends below the prior.",
)
ROWS = 20_000  # training rows of generated data
REAL_ROWS = 20_000  # the first ones of real data; mnist and omniglot have more
FACTORS = (0.03, 0.1, 0.3, 3.0, 10.0, 30.0)  # of a default rate that does not suffice


def generated(form: str, K: int, N: int = ROWS) -> Dataset:
    """Rows of classes with a power law of frequencies."""
    X: Any
    rng = np.random.default_rng([K, FORMS.index(form)])
    total = N + TEST
    prior = -np.log(np.arange(1, K + 1.0))
    if form == "one_hot":  # the word before, of a chain in which every word has a few successors
        D = min(K, 5000)
        share = np.exp(-np.log(np.arange(1, D + 1.0)))
        word = rng.choice(D, total, p=share / share.sum())
        follows = rng.choice(K, (D, 5), p=np.exp(prior) / np.exp(prior).sum())
        y = np.where(
            rng.random(total) < 0.5,
            follows[word, rng.integers(0, 5, total)],
            rng.choice(K, total, p=np.exp(prior) / np.exp(prior).sum()),
        )
        X = sp.csr_array((np.ones(total, np.float32), word, np.arange(total + 1)), shape=(total, D))
    else:
        y = rng.choice(K, total, p=np.exp(prior) / np.exp(prior).sum())
        if form == "dense":
            X = (rng.normal(size=(K, 50))[y] + rng.normal(size=(total, 50))).astype(np.float32)
        else:
            X = _counts(rng, y, K, 2000)
            if form == "normalised":
                length = np.sqrt(np.asarray(X.multiply(X).sum(axis=1))).ravel()
                X = sp.csr_array(
                    X.multiply(1 / np.maximum(length, 1e-9)[:, None]), dtype=np.float32
                )
    train, test = Split(X[:N], y[:N]), Split(X[N:], y[N:])
    info = describe(f"{form} K={K:,}", "", True, train, test, K)
    return Dataset(info, train, test, np.bincount(y[:N], minlength=K))


def _counts(rng: np.random.Generator, y: np.ndarray, K: int, D: int) -> sp.csr_array:
    """Word counts of documents of unequal length: half of a class's ten words, half of all."""
    of_class = rng.integers(0, D, (K, 10))
    length = np.minimum(rng.geometric(0.03, len(y)), 500)
    row = np.repeat(np.arange(len(y)), length)
    share = np.exp(-np.log(np.arange(1, D + 1.0)))
    common = rng.choice(D, len(row), p=share / share.sum())
    own = of_class[y[row], rng.integers(0, 10, len(row))]
    word = np.where(rng.random(len(row)) < 0.3, own, common)
    one = np.ones(len(row), np.float32)
    return sp.csr_array(sp.coo_array((one, (row, word)), (len(y), D)).tocsr())


def shipped(name: str, data: str, rows: int) -> Dataset:
    """A dataset of the catalogue."""
    words = [f"dataset={name}", f"data_dir={data}", f"dataset.protocol.rows={rows}"]
    composing.register()
    with initialize_config_dir(str(options.folder().resolve()), version_base="1.3"):
        settings = composing.read(compose("config", words))
    cache_dir = Path(gettempdir()) / "xcbench-default-rates"
    info = datasets.prepare(settings.dataset, Path(data), cache_dir)
    assert isinstance(info, Info)
    return datasets.load(info, cache_dir)


def settings_of(name: str, **more: Any) -> Any:
    """Default settings of a method, trained by minibatches."""
    schema = registry.builtin()[name].schema
    if issubclass(schema, FullBatchOptions):
        more = {"solver": "minibatch"} | more
    return schema(name=name, **more)


def run(
    name: str, dataset: Dataset, epochs: float, factor: float = 1.0, seconds: float | None = None
) -> dict[str, Any]:
    """One cell: final losses and errors at the default rate, times a factor."""
    method, settings = registry.builtin()[name], settings_of(name)
    try:
        registry.check(method, settings, dataset.info)
    except UserError as error:
        return {"status": f"refused: {error}"}
    rate = factor * default_rate(method, settings, dataset.info)
    settings = replace(settings, lr=rate)
    solver = method.build(settings, dataset.info)
    info = dataset.info
    model = models.make("numba", info.classes, info.features, settings.bias, "float32")
    model.link = method.link
    training.warm_up(solver, model, dataset)
    budget = Budget(epochs=epochs, checkpoints=1, seconds=seconds)
    evaluation = Evaluation(train_rows=1000, rows=2000)
    with threadpool_limits(1):
        trace = training.run(solver, model, dataset, 0, budget, evaluation, 0.0)
    last = trace.curve.iloc[-1]
    return {
        "lr": float(f"{rate:.4g}"),
        "epochs": round(float(last.epoch), 2),
        "status": trace.status,
        "log_loss": last.test_log_loss,
        "error": last.test_error,
        "seconds": round(trace.train_seconds, 1),
    }


def problems(data: str) -> Iterator[tuple[str, Callable[[], Dataset]]]:
    """Every dataset, by name; made when it is asked for."""
    for K in CLASSES[1::-1]:
        for form in FORMS:
            yield f"{form} K={K:,}", partial(generated, form, K)
    for name in SHIPPED:
        yield name, partial(shipped, name, data, 0 if name in SYNTHETIC else REAL_ROWS)
    for form in FORMS:
        yield f"{form} K={CLASSES[2]:,}", partial(generated, form, CLASSES[2])


def difference(row: Any) -> str:
    """Log loss of a cell less the prior's, and what kept it from its budget."""
    if pd.isna(row.log_loss):
        return str(row.status).split(":")[0]
    late = f" (timeout, epoch {row.epochs:.1f})" if row.status == "timeout" else ""
    return f"{row.log_loss - row.prior_log_loss:+.2f}{late}"


def above(frame: Any) -> Any:
    """Cells at their default rate that do not end below the prior."""
    ran = frame["log_loss"].notna() | (frame["status"] == "diverged")
    return frame[frame["default"] & ran & ~(frame["log_loss"] < frame["prior_log_loss"])]


def table(frame: Any, seconds: float) -> str:
    """Final log loss less the prior's, a row a dataset; other rates of cells not below it."""
    own = frame[frame["default"]]
    shown = own.assign(below=[difference(row) for row in own.itertuples()])
    wide = shown.pivot(index="dataset", columns="method", values="below")
    wide = wide.reindex(index=own["dataset"].unique(), columns=[*METHODS]).fillna("")
    priors = own.drop_duplicates("dataset").set_index("dataset")["prior_log_loss"]
    lines = ["| dataset | prior | " + " | ".join(METHODS) + " |"]
    lines.append("|---" * (len(METHODS) + 2) + "|")
    for name, row in wide.iterrows():
        lines.append(f"| {name} | {priors[name]:.2f} | " + " | ".join(row) + " |")
    ran = own["log_loss"].notna() | (own["status"] == "diverged")
    lines += [
        "",
        f"{ran.sum() - len(above(frame))} of {ran.sum()} cells end below the prior. "
        "Of the others, the same at other rates (the default in bold):",
        "",
        "| dataset | method | rate: log loss less the prior's |",
        "|---|---|---|",
    ]
    for cell in above(frame).itertuples():
        same = (frame["dataset"] == cell.dataset) & (frame["method"] == cell.method)
        points = [
            f"**{row.lr:.2g}: {difference(row)}**"
            if row.default
            else f"{row.lr:.2g}: {difference(row)}"
            for row in frame[same].sort_values("lr").itertuples()
        ]
        lines.append(f"| {cell.dataset} | {cell.method} | {', '.join(points)} |")
    return (
        "# Default rates\n\nTest log loss after the default budget, "
        f"{EPOCHS:g} epochs, at the default rate, less that of the class prior (nats; below 0 is "
        f"better than the prior). One seed. Real data: {REAL_ROWS:,} rows at most, the first; "
        f"generated data: {ROWS:,}. `timeout`: stopped after {seconds:g} s, at the epoch that is "
        f"shown; an empty cell was not run. Compiled engine, one thread, {TEST:,} test rows. "
        "Written by `python -m benchmarks.default_rates`.\n\n"
    ) + "\n".join([*lines, "", *LIMITS, ""])


def main() -> None:
    """Run what is not in the table yet; every method is saved when it is done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="data", help="folder of the real datasets")
    parser.add_argument("--out", type=Path, default=Path("reports"), help="folder of the table")
    parser.add_argument("--seconds", type=float, default=20.0, help="budget of a cell")
    options = parser.parse_args()
    path = options.out / "default-rates.csv"
    frame = pd.read_csv(path) if path.exists() else pd.DataFrame(columns=["dataset", "method"])
    rows: list[dict[str, Any]] = frame.to_dict("records")  # type: ignore[assignment]
    there = {(row["dataset"], row["method"]) for row in rows}
    for name, make in problems(options.data):
        left = [method for method in METHODS if (name, method) not in there]
        dataset = make() if left else None
        for method in left:
            assert dataset is not None
            own = {"dataset": name, "method": method, "prior_log_loss": dataset.info.prior_log_loss}
            result = [own | run(method, dataset, EPOCHS, 1.0, options.seconds) | {"default": True}]
            if len(above(pd.DataFrame(result))):
                tried = (run(method, dataset, EPOCHS, f, options.seconds) for f in FACTORS)
                result += [own | cell | {"default": False} for cell in tried]
            rows += result
            pd.DataFrame(rows).to_csv(path, index=False, float_format="%.6g")
    (options.out / "default-rates.md").write_text(table(pd.DataFrame(rows), options.seconds))


if __name__ == "__main__":
    main()
