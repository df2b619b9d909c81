"""Claims of the U-max paper that are made of several numbers, and notes of its ratios."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from xcbench.papers import LOSS, Measured, published
from xcbench.papers.frames import values
from xcbench.papers.measures import Number
from xcbench.papers.replication import Claim, Key, Variant, command
from xcbench.papers.umax.experiments import FIGURE2, TABLE3_CODE
from xcbench.papers.umax.names import DATASETS, METHODS, VARIANTS, recorded


def diverged(number: Number, variant: str, rows: pd.DataFrame) -> str:
    """Which seeds diverged."""
    seeds = values(rows, LOSS).diverged
    return f"seeds {seeds} diverged" if seeds else ""


def claims(results: pd.DataFrame, by_number: dict[Key, Claim]) -> dict[Key, Claim]:
    """All claims, of numbers that were not run without Implicit SGD beside their method."""
    ratio = "relative_final_train_log_loss"
    averages = {method: _average(results, method) for method in METHODS}
    factor = averages["Vanilla SGD"]
    factor = replace(factor, reason=f"Table 3, column Vanilla SGD: {factor.reason}")
    names = "Implicit SGD vs previous state of the art", "U-max proposed vs Raman double sum"
    return {
        key: claim
        if claim.variants
        else replace(claim, command=claim.command.replace(",implicit", ""))
        for key, claim in by_number.items()
    } | {
        **{("Table 3", "Average", method, ratio): claim for method, claim in averages.items()},
        ("text", "average of 7", names[0], "log_loss_factor"): factor,
        ("text", "Eurlex", names[1], "final_log_loss_factor"): _raman(results),
    }


def _average(results: pd.DataFrame, printed_method: str) -> Claim:
    """Average of a method's ratios (code's settings); the paper's is over all seven datasets."""
    table = published.numbers()
    table = table[(table["paper"] == "umax") & (table["table"] == "Table 3")]
    printed = table[table["method"] == printed_method].set_index("dataset")["value"].astype(float)
    method = METHODS[printed_method]
    rows = TABLE3_CODE.rows(results, method=method)
    ratios = {
        name: values(rows[rows["dataset"] == dataset], f"{recorded(method)} / implicit").mean
        for name, dataset in DATASETS.items()
    }
    ours = pd.Series(ratios).dropna()
    launch = "xcbench paper umax"
    reason = f"an average over {len(DATASETS)} datasets, {len(ours)} of them here"
    if len(ours):
        reason += (
            f": over {', '.join(ours.index)} it is {ours.mean():.2f}, "
            f"the printed numbers give {printed[ours.index].mean():.2f}"
        )
    whole = [Variant("code", [ours.mean()], launch)] if len(ours) == len(DATASETS) else []
    kind = "definition" if method == "implicit" else ""
    return Claim(whole, reason, command=launch, kind=kind)


def _raman(results: pd.DataFrame) -> Claim:
    factors, launch = raman_factors(results), command("umax/figure2", "eurlex")
    pairs = zip(VARIANTS, factors.get("eurlex", ()), strict=False)
    variants = [
        Variant(variant, [factor], launch) for variant, factor in pairs if np.isfinite(factor)
    ]
    where = "" if variants else "on Eurlex, whose files are not here; elsewhere, "
    return Claim(variants, f"{where}mean over the rates ({_shown(factors)})", command=launch)


def raman_factors(results: pd.DataFrame) -> dict[str, tuple[float, float]]:
    """Mean over the rates of log loss on Raman's double sum over the proposed one's, by dataset.

    The first number is against the published comparator, the second against the correct form;
    rates at which either diverged have no part in it.
    """
    factors = {}
    for dataset, runs in FIGURE2.rows(results, status="done").groupby("dataset"):
        loss = runs.pivot_table(LOSS, "lr", "method.double_sum")
        loss = loss.reindex(columns=["raman_code", "raman", "proposed"])
        over = loss.div(loss["proposed"], axis="index").mean()
        factors[str(dataset)] = float(over["raman_code"]), float(over["raman"])
    return factors


def factors(measured: Measured) -> str:
    """Means over the rates of the losses on the two double sums, relative to the paper's."""
    return _shown(raman_factors(measured.results))


def caption(measured: Measured) -> str:
    """What the table of the two double sums shows."""
    return (
        "Final log loss of U-max (5 classes) on the two double sums; mean over the rates of the "
        f"loss relative to the paper's double sum: {factors(measured)} (printed, Eurlex: 3.08)"
    )


def _shown(factors: dict[str, tuple[float, float]]) -> str:
    """`raman_factors` in words; a comparator that was not run is left out."""
    parts = []
    for dataset, (comparator, right) in factors.items():
        published = (
            [f"{comparator:.2f} for the published comparator"] if np.isfinite(comparator) else []
        )
        parts.append(f"{dataset}: {', '.join([*published, f'{right:.2f} for the correct one'])}")
    return "; ".join(parts) or "not run"
