"""What tables of the U-max paper compute: chosen rates, averages, orders of methods."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, product

import numpy as np
import pandas as pd
from omegaconf import OmegaConf

from xcbench import options
from xcbench.core.metrics import of_column
from xcbench.papers import LOSS, Grid, Lines, Measured, published
from xcbench.papers import columns as c
from xcbench.papers.columns import Column
from xcbench.papers.measures import Number
from xcbench.papers.prose import Numbers
from xcbench.papers.replication import Evidence, Key, Variant, command
from xcbench.papers.rows import Values, compared, ended, number, values
from xcbench.papers.umax import experiments
from xcbench.papers.umax.experiments import (
    BIASED,
    DATASET_NAMES,
    DATASETS,
    ERROR,
    FIGURE2,
    FIGURE3,
    METHODS,
    OPTIMUM,
    PRIOR,
    PUBLISHED_NAME,
    STEPS_DRAWN,
    STEPS_FACTOR,
    STEPS_ORDER,
    STEPS_SPLIT,
    STEPS_SPLIT_BIASED,
    STEPS_U0,
    STEPS_WORK,
    TABLE2_CODE,
    TABLE2_PAPER,
    TABLE3_CODE,
    TABLE3_PAPER,
    TABLE3_TUNED,
    TWICE,
    VARIANTS,
    recorded,
)
from xcbench.papers.umax.figures import STORED_TUNED
from xcbench.papers.verdicts import DEVIATES, NO_DATA, Printed, agreement
from xcbench.show.formats import NONE
from xcbench.show.summary import at_best_rate, edge

RATIO = "relative_final_train_log_loss"
EXPECTED = {"classes": "labels", "dimension": "features", "examples": "train"}


def _expected(number: Number) -> float:
    dataset = DATASETS[number.dataset.removesuffix("-13K")]
    settings = OmegaConf.load(options.folder() / "dataset" / f"{dataset}.yaml")
    name = EXPECTED[number.metric.removesuffix("_original")]
    return float(OmegaConf.select(settings, f"expected.{name}", default=0))


def file_size(number: Number, variant: str, rows: pd.DataFrame) -> Values:
    """The size that files must have to be read, where they were."""
    sizes, expected = values(rows, "shape.classes"), _expected(number)
    return replace(sizes, values=(expected,) if sizes.values and expected else ())


def file_reason(number: Number) -> str:
    """What the size is."""
    return f"files of {_expected(number):.0f} are read"


def chosen_rate(rows: pd.DataFrame, column: str) -> float:
    """Rate with the lowest mean loss of a search; nan where it was not run."""
    rows = rows[rows["status"] != "skipped"]
    best = at_best_rate(rows, column)["lr"] if len(ended(rows)) else rows["lr"][:0]
    return float(best.iloc[0]) if best.nunique() == 1 else float("nan")


def tuned_rate(number: Number, variant: str, rows: pd.DataFrame) -> Values:
    """The chosen rate of a method, and those beside it that the seeds do not tell from it."""
    column = recorded(METHODS[number.method], variant)
    rate = chosen_rate(rows, column)
    if not np.isfinite(rate):
        return Values((), skipped=values(rows, LOSS).skipped)
    return Values((rate,), tied=_tied(rows, column, rate))


def _tied(rows: pd.DataFrame, column: str, best: float) -> tuple[float, ...]:
    """Neighbours of a rate whose mean loss is within the larger of the two spreads."""
    lowest = values(_at_rate(rows, best), column)
    losses = {rate: values(_at_rate(rows, rate), column) for rate in (best / 10, best * 10)}
    return tuple(
        rate
        for rate, it in losses.items()
        if it.values
        and not it.diverged
        and it.mean - lowest.mean <= np.nanmax([lowest.spread, it.spread, 0.0])
    )


def _at_rate(rows: pd.DataFrame, rate: float) -> pd.DataFrame:
    return rows[np.isclose(rows["lr"].astype(float), rate, rtol=1e-6)]


def losses_at_neighbours(number: Number, variant: str, rows: pd.DataFrame) -> str:
    """Losses at the chosen rate and at those beside it, to see how sharp the choice is."""
    column = recorded(METHODS[number.method], variant)
    best = chosen_rate(rows, column)
    losses = {rate: _at_rate(rows, rate) for rate in (best / 10, best, best * 10)}
    shown = [f"{rate:g}: {values(it, column).text(3)}" for rate, it in losses.items() if len(it)]
    return "losses of the search: " + ", ".join(shown)


def diverged_seeds(number: Number, variant: str, rows: pd.DataFrame) -> str:
    """Which seeds diverged."""
    seeds = values(rows, LOSS).diverged
    return f"seeds {seeds} diverged" if seeds else ""


def with_averages(results: pd.DataFrame, by_number: dict[Key, Evidence]) -> dict[Key, Evidence]:
    """All evidence, of numbers that were not run without Implicit SGD beside their method."""
    averages = {method: _average(results, method) for method in METHODS}
    factor = averages["Vanilla SGD"]
    factor = replace(factor, reason=f"Table 3, column Vanilla SGD: {factor.reason}")
    names = "Implicit SGD vs previous state of the art", "U-max proposed vs Raman double sum"
    return {
        key: it if it.variants else replace(it, command=it.command.replace(",implicit", ""))
        for key, it in by_number.items()
    } | {
        **{("Table 3", "Average", method, RATIO): average for method, average in averages.items()},
        ("text", "average of 7", names[0], "log_loss_factor"): factor,
        ("text", "Eurlex", names[1], "final_log_loss_factor"): _raman(results),
    }


def _average(results: pd.DataFrame, printed_method: str) -> Evidence:
    """Average of a method's ratios (code's settings); the paper's is over all seven datasets."""
    printed = pd.Series(
        {
            name: published.number("umax", "Table 3", name, printed_method, RATIO)
            for name in DATASETS
        }
    )
    method = METHODS[printed_method]
    rows = TABLE3_CODE.rows(results, method=method)
    ratios = {
        name: values(rows[rows["dataset"] == dataset], Column(recorded(method)) / c.IMPLICIT).mean
        for name, dataset in DATASETS.items()
    }
    ours = pd.Series(ratios).dropna()
    reason = f"an average over {len(DATASETS)} datasets, {len(ours)} of them here"
    if len(ours):
        reason += (
            f": over {', '.join(ours.index)} it is {ours.mean():.2f}, "
            f"the printed numbers give {printed[ours.index].mean():.2f}"
        )
    mean = Variant("code", Values((float(ours.mean()),)), "xcbench paper umax")
    return Evidence(
        [mean] if len(ours) == len(DATASETS) else [],
        reason,
        command=mean.command,
        kind="definition" if method == "implicit" else "",
    )


def _raman(results: pd.DataFrame) -> Evidence:
    factors, launch = raman_factors(results), command("umax/figure2", "eurlex")
    pairs = zip(VARIANTS, factors.get("eurlex", ()), strict=False)
    variants = [
        Variant(variant, Values((factor,)), launch)
        for variant, factor in pairs
        if np.isfinite(factor)
    ]
    where = "" if variants else "on Eurlex, whose files are not here; elsewhere, "
    return Evidence(
        variants, f"{where}mean over the rates ({factors_text(results)})", command=launch
    )


def raman_factors(results: pd.DataFrame) -> dict[str, tuple[float, float]]:
    """Mean over the rates of log loss on Raman's double sum over the proposed one's, by dataset.

    The first number is against the published comparator, the second against the correct form;
    rates at which either diverged have no part in it.
    """
    factors = {}
    for dataset, runs in FIGURE2.rows(results, status="done").groupby("dataset"):
        loss = runs.pivot_table(LOSS, "lr", "method.double_sum").reindex(
            columns=["raman_code", "raman", "proposed"]
        )
        over = loss.div(loss["proposed"], axis="index").mean()
        factors[str(dataset)] = float(over["raman_code"]), float(over["raman"])
    return factors


def double_sums_caption(measured: Measured) -> str:
    """What the table of the two double sums shows."""
    return (
        "Final log loss of U-max (5 classes) on the two double sums; mean over the rates of the "
        f"loss relative to the paper's double sum: {factors_text(measured.results)} "
        "(printed, Eurlex: 3.08)"
    )


def factors_text(results: pd.DataFrame) -> str:
    """`raman_factors` in words; a comparator that was not run is left out."""
    parts = []
    for dataset, (comparator, right) in raman_factors(results).items():
        published = (
            [f"{comparator:.2f} for the published comparator"] if np.isfinite(comparator) else []
        )
        parts.append(f"{dataset}: {', '.join([*published, f'{right:.2f} for the correct one'])}")
    return "; ".join(parts) or "not run"


HIGH_RATE = 1.0


def _diverged(measured: Measured, dataset: str, method: str) -> pd.DataFrame:
    """Whether a cell diverged, by rate and seed."""
    rows = FIGURE3(dataset, method).all_of(measured.results)
    return (rows["status"] == "diverged").groupby([rows["lr"], rows["seed"]]).mean().unstack()


def diverged_more(measured: Measured, dataset: str) -> list[float]:
    """At what more of the high rates vanilla SGD diverges than U-max, seed by seed."""
    difference = _diverged(measured, dataset, "vanilla") - _diverged(measured, dataset, "umax")
    return [float(share) for share in difference[difference.index >= HIGH_RATE].mean()]


def umax_ended(measured: Measured, dataset: str) -> Numbers:
    """Whether U-max ends at a rate of 0.1, seed by seed; no test where its reset never acts."""
    losses = [
        FIGURE3(dataset, method, {c.LR: 0.1}).numbers(measured.results, c.TRAIN_LOG_LOSS)
        for method in ("umax", "vanilla")
    ]
    if len(losses[0]) and losses[0].equals(losses[1]):
        return "U-max ends at the loss of vanilla SGD, to all digits: no reset acted"
    diverged = _diverged(measured, dataset, "umax")
    return [1 - float(lost) for lost in diverged[np.isclose(diverged.index, 0.1)].sum()]


SEARCH = "learning-rate search on first 10% of the data"
LAST = 49  # zero-based epoch of the last stored checkpoint
PAIRS = tuple(product(DATASETS.items(), METHODS.items()))  # names as printed and ours


def _stored_ends() -> pd.DataFrame:
    """Last checkpoints of the authors' stored runs, by dataset and method as printed."""
    authors = experiments.author_runs()
    end = authors[(authors["run"] == STORED_TUNED) & (authors["epoch_index_zero_based"] == LAST)]
    return end.set_index(["dataset", "method"])


def stored_runs(measured: Measured) -> Lines:
    """Final losses and errors beside the runs that the authors stored."""
    ends = _stored_ends().to_dict("index")
    for (printed, dataset), (name, method) in PAIRS:
        stored = ends.get((printed, name))
        if stored is None:
            continue
        rows = TABLE3_CODE.rows(measured.results, dataset=dataset, method=method)
        loss = values(rows, recorded(method))
        text = f"{stored['train_log_loss_recorded']:.4f}"
        verdict = DEVIATES if loss.diverged else NO_DATA
        if loss.values:
            ends_of_others = [ends.get((printed, it)) for it in METHODS if it != name]
            others = [end["train_log_loss_recorded"] for end in ends_of_others if end]
            verdict = agreement(Printed(text, others=others), loss.values)
        percent = 100 * (loss.mean / float(text) - 1)
        yield {
            "dataset": printed,
            "method": name,
            "stored": text,
            "measured, same evaluation": loss.text(),
            "difference": NONE if np.isnan(percent) else f"{percent:+.1f} %",
            "verdict": verdict,
            "correct log loss": values(rows, LOSS).text(),
            "stored train error": f"{stored['train_error']:.4f}",
            "train error": values(rows, ERROR).text(),
        }


def rates(measured: Measured) -> Lines:
    """Printed rates, the authors' stored search, and ours under both variants."""
    authors = experiments.author_runs()
    search = (
        authors[authors["run"] == SEARCH]
        .dropna(subset=["train_log_loss_recorded"])
        .sort_values("train_log_loss_recorded", key=of_column(LOSS).key)
    )
    for (printed, dataset), (name, method) in PAIRS:
        trials = search[(search["dataset"] == printed) & (search["method"] == name)]
        text = published.number("umax", "Table 2", printed, name, "tuned_initial_learning_rate")
        line = {
            "dataset": printed,
            "method": name,
            "printed": f"{text:g}",
            "best of the stored search": _rate(trials["initial_learning_rate"].head(1)),
        }
        for variant, grid in {"code": TABLE2_CODE, "paper": TABLE2_PAPER}.items():
            rows = grid.rows(measured.results, dataset=dataset, method=method)
            rate = chosen_rate(rows, recorded(method, variant))
            line[f"ours, {variant}"] = _at_edge(rows, rate) if np.isfinite(rate) else NO_DATA
        yield line


def _rate(rates: pd.Series) -> str:
    """The rate that all rows have; a dash where they are none, or differ."""
    return f"{rates.iloc[0]:g}" if rates.nunique() == 1 else NONE


def _at_edge(rows: pd.DataFrame, rate: float) -> str:
    """A rate, and whether it ends its grid."""
    where = edge(rows, rate)
    return f"{rate:g}" + (f" ({where} edge)" if where else "")


# ---------------------------------------------------------------- from the text to the print
STEPS: dict[
    str, tuple[Grid | None, Grid | None]
] = {  # what changes → its grid for the double sums, and for the biased methods
    "Algorithm 1: drawn rows, the printed rate times N": (STEPS_FACTOR, None),
    "less the factor N": (STEPS_DRAWN, None),
    "passes over the rows, our tuned rate": (TABLE3_TUNED, TABLE3_TUNED),
    "+ the printed rate": (TABLE3_PAPER, TABLE3_PAPER),
    "+ random 75 % of all rows": (STEPS_SPLIT, STEPS_SPLIT_BIASED),
    "+ rows in file order": (STEPS_ORDER, TABLE3_CODE),
    "+ u starts at 0": (STEPS_U0, None),
    "+ 5 classes, or 3 passes": (STEPS_WORK, None),
    "+ draws of the true class": (TABLE3_CODE, None),
    "+ softmax twice in the evaluation": (None, TABLE3_CODE),
}


def steps(measured: Measured) -> Lines:
    """From the text's number to the printed one, a step at a time (final training loss)."""
    stored = _stored_ends()["train_log_loss_recorded"]
    for printed, (name, method) in product(("MNIST", "Bibtex", "Delicious"), METHODS.items()):
        line = {"dataset": printed, "method": name}
        for step, grids in STEPS.items():
            grid = grids[method in BIASED]
            if printed == "MNIST" and step.startswith("+ random"):
                grid = None
            column = TWICE if "twice" in step else LOSS
            wanted = {"dataset": DATASETS[printed], "method": method}
            line[step] = (
                values(grid.rows(measured.results, **wanted), column).text(3) if grid else ""
            )
        yield line | {"stored by the authors": f"{stored.get((printed, name), np.nan):.3f}"}


# ---------------------------------------------------------------- beyond the paper
ENDS = {  # column and digits
    "log loss": (LOSS, 3),
    "train error": (ERROR, 4),
    "test log loss": ("test_log_loss", 3),
    "test error": ("test_error", 4),
}


def beyond(measured: Measured) -> Lines:
    """Correct log losses and errors, tuned on a tenth and at the best rate of all, with optimum."""
    for dataset, shown in DATASET_NAMES.items():
        for method, name in PUBLISHED_NAME.items():
            tuned = TABLE3_TUNED.rows(measured.results, dataset=dataset, method=method)
            full = FIGURE3(dataset, method).all_of(measured.results)
            if not (tuned["status"] != "skipped").any() and full.empty:
                continue
            best = at_best_rate(full)
            one = best["lr"].nunique() == 1
            yield {
                "dataset": shown,
                "method": name,
                "tuned rate": _rate(tuned["lr"]),
                "log loss, tuned": values(tuned, LOSS).text(3),
                "best rate": _at_edge(full, best["lr"].iloc[0]) if one else NONE,
                **_ends(best),
            }
        optimum = OPTIMUM(dataset).of(measured.results).head(1)
        if len(optimum):
            yield {"dataset": shown, "method": _solver(optimum.iloc[0]), **_ends(optimum)}


def warm_start(measured: Measured) -> Lines:
    """Losses from weights of zero and from the class prior, each at rates tuned on a tenth."""
    pairs = product(DATASET_NAMES.items(), PUBLISHED_NAME.items())
    for (dataset, shown), (method, name) in pairs:
        cold, warm = (grid(dataset, method).of(measured.results) for grid in (TABLE3_TUNED, PRIOR))
        if len(warm):
            yield {
                "dataset": shown,
                "method": name,
                "from zero": values(cold, LOSS).text(3),
                "from the class prior": values(warm, LOSS).text(3),
                "test, from zero": values(cold, "test_log_loss").text(3),
                "test, from the class prior": values(warm, "test_log_loss").text(3),
                "rate": _rate(warm["lr"]),
            }


def _ends(rows: pd.DataFrame) -> dict[str, str]:
    return {name: values(rows, column).text(digits) for name, (column, digits) in ENDS.items()}


def _solver(row: pd.Series) -> str:
    if row.get("method.solver") == "minibatch":
        return "exact softmax, minibatches"
    message = isinstance(row["message"], str) and row["message"]
    return "exact softmax, L-BFGS" + (f" ({message})" if message else "")


ORDER_CLAIMS = (("implicit", "umax"), ("umax", "vanilla"), ("implicit", "is"), ("umax", "is"))
ORDERED = tuple(dict.fromkeys(chain(*ORDER_CLAIMS)))
ORDER_GRIDS = {
    "code, printed rates": TABLE3_CODE,
    "paper, printed rates": TABLE3_PAPER,
    "paper, tuned on a tenth": TABLE3_TUNED,
    "paper, best of all rates": FIGURE3,
}
LATE = 40.0  # epoch from which a curve should not move any more if it has reached its plateau


def best(results: pd.DataFrame, grid: Grid, dataset: str, method: str) -> pd.DataFrame:
    """Cells of a method that ended, at its best rate."""
    return ended(at_best_rate(grid(dataset, method).all_of(results)))


def order(measured: Measured) -> Lines:
    """Whether one method ends below another, seed by seed."""
    for (dataset, shown), (variant, grid) in product(DATASET_NAMES.items(), ORDER_GRIDS.items()):
        ends = {method: best(measured.results, grid, dataset, method) for method in ORDERED}
        answers = {
            f"{PUBLISHED_NAME[lower]} below {PUBLISHED_NAME[higher]}": compared(
                ends[lower], ends[higher], LOSS, 3, below=True
            )
            for lower, higher in ORDER_CLAIMS
        }
        if {*answers.values()} != {NONE}:
            yield {"dataset": shown, "variant": variant, **answers}


def plateaus(measured: Measured) -> Lines:
    """Whether the biased methods stop improving above the optimum, at their best rates."""
    for dataset, shown in DATASET_NAMES.items():
        optimum = OPTIMUM.rows(measured.results, dataset=dataset)
        floor = float(optimum[LOSS].iloc[0]) if len(optimum) else float("nan")
        for method in (*BIASED, "umax", "implicit"):
            cells = best(measured.results, FIGURE3, dataset, method)
            if cells.empty:
                continue
            rows = measured.curves[measured.curves["cell"].isin(cells["cell"])]
            late = rows[rows["epoch"] >= LATE].sort_values("epoch").groupby("cell")[LOSS]
            fall = (late.first() - late.last())[late.size() > 1].mean()
            end = cells[LOSS].mean()
            yield {
                "dataset": shown,
                "method": PUBLISHED_NAME[method],
                "final log loss": f"{end:.3f}",
                "above the optimum": number(end - floor, 3, "+"),
                f"fall since epoch {LATE:.0f}": number(fall, 4),
                "kind": "biased" if method in BIASED else "unbiased",
            }


def winners(measured: Measured) -> Iterator[str]:
    """Sentences with the lowest training and test loss of every dataset, at the best rates."""
    for dataset, shown in DATASET_NAMES.items():
        ends = {
            PUBLISHED_NAME[method]: cells
            for method in PUBLISHED_NAME
            if len(cells := best(measured.results, FIGURE3, dataset, method))
        }
        if len(ends) < 2:
            continue
        words = []
        for column, what in ((LOSS, "training"), ("test_log_loss", "test")):
            means = pd.Series({name: cells[column].mean() for name, cells in ends.items()})
            ranked = of_column(column).key(means).sort_values(kind="stable").index
            first, second = (ends[name][column] for name in ranked[:2])
            words.append(
                f"{what} log loss {ranked[0]} {first.mean():.3f}, then {ranked[1]} "
                f"{second.mean():.3f}"
            )
        yield f"{shown}: {'; '.join(words)}."
