"""Every method at its defaults against the class prior, and at other rates where it fails.

Another table has what the rule's rate, and ``lr=auto``, lose against the best of nine rates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import expit, logsumexp

import xcbench
from benchmarks.shapes import built, settings_of
from benchmarks.table import Kept, markdown
from xcbench.config.settings import Budget, Evaluation
from xcbench.core.dataset import Dataset, Split
from xcbench.core.statistics import describe
from xcbench.data.synthetic import power_law
from xcbench.errors import UserError
from xcbench.estimators.early_stopping import FEW_ROWS, automatic
from xcbench.methods import registry
from xcbench.methods.method import default_rate
from xcbench.train import rate, training
from xcbench.train.training import Lane

Named = tuple[str, Callable[[], Dataset]]  # a dataset by name, made when it is asked for
KEYS = ["dataset", "method"]
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
ROWS = 20_000  # training rows of generated data
REAL_ROWS = 20_000  # the first ones of real data; mnist and omniglot have more
GRID = [10 ** (h / 2) for h in range(-4, 5)]  # nine rates around a default one, to find the best
BUDGETS = (5, 20)  # epochs; one training gives the losses at both
TRIED = ("one_hot K=1,000", "dense K=1,000", "normalised K=1,000", "digits", "20news", "bibtex",
    "delicious")  # fmt: skip
FIRST = "default-rates-first.csv"  # at method.init=zero, method.step=gradient and their rates
KEPT_EPOCH = (
    f"Where a class has fewer than {FEW_ROWS} rows, the best epoch by rows held out is kept, as "
    "estimators do by default."
)
FACTORS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)  # of the rule's rate, where trials do not suffice


def generated(form: str, K: int, N: int = ROWS) -> Dataset:
    """Rows of classes with a power law of frequencies."""
    rng, total = np.random.default_rng([K, FORMS.index(form)]), N + TEST
    frequencies = power_law(K, 1.0)
    X: Any
    if form == "one_hot":  # the word before, of a chain in which every word has a few successors
        D = min(K, 5000)
        word = rng.choice(D, total, p=power_law(D, 1.0))
        follows = rng.choice(K, (D, 5), p=frequencies)
        y = np.where(
            rng.random(total) < 0.5,
            follows[word, rng.integers(0, 5, total)],
            rng.choice(K, total, p=frequencies),
        )
        X = sp.csr_array((np.ones(total, np.float32), word, np.arange(total + 1)), shape=(total, D))
    else:
        y = rng.choice(K, total, p=frequencies)
        if form == "dense":
            X = (rng.normal(size=(K, 50))[y] + rng.normal(size=(total, 50))).astype(np.float32)
        else:
            X = documents(rng, y, K, 2000)
        if form == "normalised":
            length = np.sqrt(np.asarray(X.multiply(X).sum(axis=1))).ravel()
            X = sp.csr_array(X.multiply(1 / np.maximum(length, 1e-9)[:, None]), dtype=np.float32)
    train, test = Split(X[:N], y[:N]), Split(X[N:], y[N:])
    info = describe(f"{form} K={K:,}", "", True, train, test, K)
    return Dataset(info, train, test, np.bincount(y[:N], minlength=K))


def documents(rng: np.random.Generator, y: np.ndarray, K: int, D: int) -> sp.csr_array:
    """Word counts of documents of unequal length: half of a class's ten words, half of all."""
    of_class = rng.integers(0, D, (K, 10))
    length = np.minimum(rng.geometric(0.03, len(y)), 500)
    row = np.repeat(np.arange(len(y)), length)
    common = rng.choice(D, len(row), p=power_law(D, 1.0))
    specific = of_class[y[row], rng.integers(0, 10, len(row))]
    word = np.where(rng.random(len(row)) < 0.3, specific, common)
    one = np.ones(len(row), np.float32)
    return sp.csr_array(sp.coo_array((one, (row, word)), (len(y), D)).tocsr())


def trained(name: str, dataset: Dataset, factor: float | None, seconds: float) -> dict[str, Any]:
    """One cell: final losses and errors at a factor of the method's rule; None: by trial."""
    method, settings, info = registry.builtin()[name], settings_of(name), dataset.info
    try:
        registry.check(method, settings, info)
    except UserError as error:
        return {"status": f"refused: {error}"}
    if rule := automatic(method, len(dataset.train), info.classes):
        dataset = dataset.held_out(rule.validation_fraction, 0)
    if factor is None:
        lr = rate.search(method, settings, info, dataset, "numba", "float32", 0, Budget(EPOCHS)).lr
    else:
        lr = factor * default_rate(method, settings, info)
    solver, model = built(dataset, replace(settings, lr=lr))
    budget = Budget(epochs=EPOCHS, checkpoints=1, seconds=seconds, clock="processor")
    if rule:  # evaluated after every epoch, and never ended before the last
        budget = replace(budget, checkpoints=int(EPOCHS), patience=rule.n_iter_no_change)
    evaluation = Evaluation(train_rows=1000, rows=2000, curve_rows=1 if rule else 0)
    (trace,) = training.run([Lane(solver, model)], dataset, 0, budget, evaluation)
    curve = trace.curve
    last, kept = curve.iloc[-1], curve.iloc[-1]
    if rule and trace.status != "diverged":
        kept = curve.iloc[int(curve["validation_log_loss"].argmin())]
    return {
        "lr": float(f"{lr:.4g}"),
        "epochs": round(float(last.epoch), 2),
        "kept": round(float(kept.epoch), 2),
        "status": trace.status,
        "log_loss": kept.test_log_loss,
        "error": kept.test_error,
        "seconds": round(trace.train_seconds, 1),
    }


def losses(name: str, dataset: Dataset, lr: float, seconds: float) -> list[tuple[float, float]]:
    """Test log loss, and seconds, at the ends of `BUDGETS`.

    Infinite where it diverged, or was too slow.
    """
    budget = Budget(BUDGETS[-1], BUDGETS[-1] // BUDGETS[0], seconds=seconds, clock="processor")
    evaluation = Evaluation(train_rows=100, rows=1000)
    lane = Lane(*built(dataset, settings_of(name, lr=lr)))
    (trace,) = training.run([lane], dataset, 0, budget, evaluation)
    ends = trace.curve.set_index("epoch").reindex(BUDGETS)[["test_log_loss", "train_seconds"]]
    return [(float(loss), float(taken)) for loss, taken in ends.fillna(np.inf).to_numpy()]


def against_the_best(name: str, dataset: Dataset, seconds: float) -> Iterator[dict[str, Any]]:
    """What the default rate, and the one that trials find, lose against the best of nine rates."""
    method, settings, info = registry.builtin()[name], settings_of(name), dataset.info
    default = default_rate(method, settings, info)
    by_factor = {
        factor: losses(name, dataset, float(f"{factor * default:.3g}"), seconds) for factor in GRID
    }
    for place, epochs in enumerate(BUDGETS):
        best = min(row[place][0] for row in by_factor.values())
        gain = float(info.prior_log_loss or 0.0) - best
        found = rate.search(method, settings, info, dataset, "numba", "float32", 0, Budget(epochs))
        at_found = losses(name, dataset, found.lr, seconds)
        for rule, lr, loss, trial_seconds in (
            ("default", default, by_factor[1.0], 0.0),
            ("auto", found.lr, at_found, found.seconds),
        ):
            log_loss, train_seconds = loss[place]
            yield {
                "classes": info.classes,
                "rule": rule,
                "epochs": epochs,
                "lr": lr,
                "log_loss": log_loss,
                "best": best,
                "share": (log_loss - best) / gain if gain > 0 else np.nan,
                "trial_seconds": trial_seconds,
                "train_seconds": train_seconds,
            }


def found_table(frame: Any) -> str:
    """Medians and ninth deciles over the datasets, a row a method."""

    def deciles(rows: Any) -> Any:
        share = rows["share"]
        return pd.DataFrame({"median": share.median(), "ninth decile": share.quantile(0.9)})

    by_method = deciles(frame.groupby(["rule", "epochs", "method"]))
    of_all = deciles(frame.groupby(["rule", "epochs"])).assign(method="all")
    shown = pd.concat([of_all.reset_index(), by_method.reset_index()])
    shown = shown[["rule", "epochs", "method", "median", "ninth decile"]]
    methods = frame.groupby("dataset", sort=False)["method"].nunique()
    not_all = [
        f"Of `{name}` only {number} of {len(METHODS)} methods were measured.\n"
        for name, number in methods.items()
        if number < len(METHODS)
    ]
    clock = frame["trial_seconds"] + frame["train_seconds"]
    tried = frame.assign(part=frame["trial_seconds"] / clock)[frame["rule"] == "auto"]
    takes = tried.pivot_table("part", "method", ["epochs", "classes"]).round(2)
    takes.columns = [f"{epochs} epochs, K={K:,}" for epochs, K in takes.columns]
    return (
        "# The default rate and the rate by trial\n\nTest log loss at the default rate, and at "
        "`method.lr=auto`, less that at the best of nine rates, sqrt(10) apart around the default "
        "one, divided by what the best gains over the class prior: 0 is the best rate, 1 no gain "
        "at all. A rate by trial may be better than all nine. Datasets where no rate gains have "
        "no share. Written by `python -m benchmarks found_rates`.\n\n"
        f"{''.join(not_all)}\n{markdown(shown.round(3))}\n\n## What trials take\n\n"
        "Their share of the training clock, means over the datasets of so many classes.\n\n"
        f"{markdown(takes.reset_index())}\n"
    )


def first_table(frame: pd.DataFrame, first: pd.DataFrame) -> str:
    """Methods at the present and at the first defaults, side by side."""
    of_default = [rows[rows["default"] & rows["log_loss"].notna()] for rows in (frame, first)]
    both = of_default[0].merge(of_default[1], on=KEYS, suffixes=("", "_first"))
    gained = both.assign(
        below=both["log_loss"] < both["prior_log_loss"],
        below_first=both["log_loss_first"] < both["prior_log_loss_first"],
        difference=both["log_loss"] - both["log_loss_first"],
    ).groupby("method", sort=False)
    shown = pd.DataFrame(
        {
            "datasets": gained.size(),
            "below the prior": gained["below"].sum(),
            "at the first defaults": gained["below_first"].sum(),
            "median difference": gained["difference"].median().round(3),
            "most": gained["difference"].max().round(3),
            "least": gained["difference"].min().round(3),
        }
    )
    return (
        "\n## Against the first defaults\n\nThe defaults at first: weights from zero, steps along "
        "the gradient, and their rates. The difference is the log loss at the present defaults "
        "less that at the first ones, below 0 where it is lower.\n\n"
        f"{markdown(shown.reset_index())}\n"
    )


def problems(data: str) -> Iterator[Named]:
    """Every dataset, by name; made when it is asked for."""
    data_by_name = [
        (f"{form} K={K:,}", partial(generated, form, K))
        for K in (CLASSES[1], CLASSES[0], CLASSES[2])
        for form in FORMS
    ]
    yield from data_by_name[: 2 * len(FORMS)]
    for name in SHIPPED:
        rows = 0 if name in SYNTHETIC else REAL_ROWS
        yield name, partial(xcbench.load_dataset, name, data_dir=data, protocol__rows=rows)
    yield from data_by_name[2 * len(FORMS) :]


def difference(row: Any) -> str:
    """Log loss of a cell less the prior's, and what kept it from its budget."""
    if pd.isna(row.log_loss):
        return str(row.status).split(":")[0]
    late = f" (timeout, epoch {row.epochs:.1f})" if row.status == "timeout" else ""
    untrained = " (untrained)" if row.kept == 0 else ""
    return f"{row.log_loss - row.prior_log_loss:+.2f}{late}{untrained}"


def above(frame: Any) -> Any:
    """Cells at their default rate that do not end below the prior."""
    ran = frame["log_loss"].notna() | (frame["status"] == "diverged")
    return frame[frame["default"] & ran & ~(frame["log_loss"] < frame["prior_log_loss"])]


def by_method(frame: Any) -> str:
    """Final log loss at the default rate less the prior's, a row a dataset; and how many are below.

    An empty cell was not run, and is not counted.
    """
    default = frame[frame["default"]]
    shown = default.assign(below=[difference(row) for row in default.itertuples()])
    shown["prior"] = default["prior_log_loss"].map("{:.2f}".format)
    order = default["dataset"].unique()
    wide = shown.pivot(index=["dataset", "prior"], columns="method", values="below")
    wide = wide.reindex(order, level="dataset").reindex(columns=[*METHODS]).fillna("")
    ran = (default["log_loss"].notna() | (default["status"] == "diverged")).sum()
    untrained = (default["kept"] == 0) & (default["log_loss"] < default["prior_log_loss"])
    counted = (
        f"{ran - len(above(frame))} of {ran} cells end below the prior. In {untrained.sum()} of "
        "them no epoch was better than the weights before training, the class prior "
        "(n_c + 1)/(N + K): `untrained`."
    )
    return f"{markdown(wide.reset_index())}\n{counted}"


def table(frame: Any, seconds: float) -> str:
    """Final log loss less the prior's; other rates of cells not below it."""
    failed, lines = above(frame), []
    for cell in failed.itertuples():
        same = (frame["dataset"] == cell.dataset) & (frame["method"] == cell.method)
        points = [
            f"**{row.lr:.2g}: {difference(row)}**"
            if row.default
            else f"{row.lr:.2g}: {difference(row)}"
            for row in frame[same].sort_values("lr").itertuples()
        ]
        lines.append([cell.dataset, cell.method, ", ".join(points)])
    others = pd.DataFrame(lines, columns=["dataset", "method", "rate: log loss less the prior's"])
    return (
        "# Default rates\n\nTest log loss after the default budget, "
        f"{EPOCHS:g} epochs, at the rate that trials find (`method.lr=auto`), less that of the "
        "class prior (nats; below 0 is better than the prior). One seed. Real data: "
        f"{REAL_ROWS:,} rows at most, the first; generated data: {ROWS:,}. `timeout`: stopped "
        f"after {seconds:g} s, at the epoch that is shown; an empty cell was not run. {KEPT_EPOCH} "
        f"Compiled engine, one thread, {TEST:,} test rows. "
        f"Written by `python -m benchmarks default_rates`.\n\n{by_method(frame)} Of the others, "
        f"the same at other rates (that of the trials in bold):\n\n{markdown(others)}\n"
    ) + limit_of_css()


def limit_of_css() -> str:
    """Why css ends above the prior."""
    K, draws = CLASSES[0], settings_of("css").negatives
    return (
        "`css` minimises the log of an estimated sum, whose mean over few draws is below the log "
        "loss. So its optimum is another one: without features, class frequencies by a power law "
        f"and {draws} draws of {K}, it lies {css_above_prior(K, draws):.2f} nats above "
        "the class prior (its objective, minimised by L-BFGS on drawn sets). "
        "Where a feature is alone in a row, its weights are such a problem.\n"
    )


def css_above_prior(K: int, draws: int, repeats: int = 4000) -> float:
    """Log loss at the optimum of css without features, less the entropy of the classes."""
    p, rng = power_law(K, 1.0), np.random.default_rng(0)
    y = np.repeat(np.arange(K), repeats)
    drawn = rng.integers(0, K - 1, (len(y), draws))
    drawn += drawn >= y[:, None]  # never the true class

    def mean(bias: np.ndarray) -> tuple[float, np.ndarray]:
        odds = bias[drawn] - bias[y][:, None] + np.log((K - 1) / draws)
        log_sum, weight = logsumexp(odds, axis=1), p[y] / repeats
        grad = weight * expit(log_sum)
        shares = np.exp(odds - log_sum[:, None]) * grad[:, None]
        by_class = np.bincount(drawn.ravel(), shares.ravel(), K) - np.bincount(y, grad, K)
        return float((weight * np.logaddexp(0, log_sum)).sum()), by_class

    bias = minimize(
        mean, np.log(p), jac=True, method="L-BFGS-B", options={"gtol": 1e-8, "ftol": 1e-13}
    ).x
    return float((p * (np.log(p) - bias + logsumexp(bias))).sum())


def measure(
    csv: Path,
    page: Callable[[pd.DataFrame], str],
    data: Iterable[Named],
    rows: Callable[[str, Dataset], Iterable[dict[str, Any]]],
) -> None:
    """Measure what is not in the table yet, a method on a dataset at a time; write the page."""
    kept = Kept(csv, KEYS, csv.with_suffix(".md"), "", page, "%.6g")
    for name, make in data:
        dataset = cache(make)
        for method in METHODS:
            if not kept.has(dataset=name, method=method):
                new = pd.DataFrame(rows(method, dataset()))
                kept.add(new.assign(dataset=name, method=method))
    kept.write()


def run(data: str = "data", out: str = "reports", seconds: str = "20") -> None:
    """Every method at the rate of its trials, and at others where that does not suffice.

    Parameters
    ----------
    data, out : folders of the real datasets, and of the table.
    seconds : budget of a cell.
    """
    folder, limit = Path(out), float(seconds)

    def rows(method: str, dataset: Dataset) -> list[dict[str, Any]]:
        prior = {"prior_log_loss": dataset.info.prior_log_loss}
        cells = [{"default": True, **trained(method, dataset, None, limit), **prior}]
        factors = FACTORS if len(above(pd.DataFrame(cells))) else ()
        others = (trained(method, dataset, factor, limit) for factor in factors)
        return [*cells, *({"default": False, **cell, **prior} for cell in others)]

    def page(frame: pd.DataFrame) -> str:
        return table(frame, limit) + first_table(frame, pd.read_csv(folder / FIRST))

    measure(folder / "default-rates.csv", page, problems(data), rows)


def trials(data: str = "data", out: str = "reports", seconds: str = "20") -> None:
    """What the default rates and those by trial lose."""
    tried = [named for named in problems(data) if named[0] in TRIED]
    rows = partial(against_the_best, seconds=float(seconds))
    measure(Path(out) / "found-rates.csv", found_table, tried, rows)
