"""Which sampler is worth its cost? Sampled softmax with every sampler, at equal draws and seconds.

The method is complementary sum sampling (`css`), which any sampler estimates without bias. Each
training has the same epochs; each sampler has its own rate for each number of draws, the best by
rows that are held out from training, and three seeds. Exact softmax by minibatches and the class
prior stand beside. ``python -m benchmarks sampler_study``
trains what is missing in ``reports/samplers.csv``, and writes ``reports/samplers.md`` with two
figures.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import xcbench
from benchmarks.measure import ROOT
from benchmarks.shapes import built, settings_of
from benchmarks.table import Kept, markdown
from xcbench.core.dataset import Dataset, Split
from xcbench.core.metrics import evaluate
from xcbench.core.solvers import Streams
from xcbench.methods import registry
from xcbench.methods.method import default_rate
from xcbench.show import style
from xcbench.show.pictures import Drawing, save

UNIT = {"protocol__row_norm": "l2"}
DATASETS: dict[str, dict[str, Any]] = {
    "bibtex": UNIT | {"protocol__tfidf": True},
    "delicious": UNIT,
    "20news": UNIT | {"protocol__tfidf": True},
    "omniglot": {},
    "words": {},
    "entities": {},
    "citeulike": UNIT | {"protocol__tfidf": True, "protocol__svd": 100},
}
DRAWS = (1, 2, 5, 10, 20, 50, 100)
SAMPLERS: dict[str, dict[str, Any]] = {
    "uniform": {"sampler": "others"},
    "frequency": {"sampler": "frequency"},
    "tree": {"sampler": "tree"},
    "clusters": {"sampler": "clusters"},
    "in_batch": {"sampler": "in_batch"},
    "midx": {"sampler": "midx"},
    "kernel": {"sampler": "kernel"},
    "softmax": {"sampler": "softmax"},
}
EXACT = "exact"
FEW_DRAWS = (1, 5, 20, 100)
MANY = 1_000  # classes, above which they are enough
EPOCHS, SEEDS = 5, 3
ROWS = 10_000  # training rows at most
HELD_OUT = 0.15  # of the training rows, for the choice of a rate
STEP, STEPS = 10**0.5, range(-4, 5)  # rates, from the default one
LIMIT = 60.0  # processor seconds of a training; those beyond are not run with more draws


def settings(name: str, draws: int) -> Any:
    """Settings of a sampler's method, without a rate."""
    if name == EXACT:
        return settings_of("softmax")
    in_batch = {"batch_size": draws + 1} if name == "in_batch" else {"negatives": draws}
    return settings_of("css", **SAMPLERS[name], **in_batch)


def trained(data: Dataset, chosen: Any, seed: int) -> tuple[float, Any]:
    """Processor seconds of a training, and its model."""
    solver, model = built(data, chosen)
    started = time.process_time()
    list(solver.fit(data, model, Streams.of(seed), [float(EPOCHS)]))
    return time.process_time() - started, model


def measured(model: Any, split: Split) -> tuple[float, float]:
    """Log loss and precision at 1; infinite where training diverged."""
    if not model.finite():
        return np.inf, 0.0
    values = evaluate(model.corrected, split)
    return values["log_loss"], 1 - values["error"]


def tuned(data: Dataset, name: str, draws: int) -> Any:
    """Settings at the best rate by rows held out, of some about the default one."""
    method, base = registry.builtin()["softmax" if name == EXACT else "css"], settings(name, draws)
    centre = default_rate(method, base, data.info)
    order = np.random.default_rng(0).permutation(len(data.train))
    held = int(HELD_OUT * len(order))
    few = replace(data, train=data.train.take(np.sort(order[held:])))
    judges = data.train.take(np.sort(order[:held]))

    def at(h: int) -> Any:
        return replace(base, lr=float(f"{centre * STEP**h:.3g}"))

    return min(map(at, STEPS), key=lambda asked: measured(trained(few, asked, 0)[1], judges)[0])


def rows(name: str, data: Dataset, kept: Kept) -> Iterator[pd.DataFrame]:
    """What is missing of a dataset; a sampler that is over its time gets no more draws."""
    many = data.info.classes > MANY
    for sampler in (EXACT, *SAMPLERS):
        for draws in (0,) if sampler == EXACT else FEW_DRAWS if many else DRAWS:
            keys = {"dataset": name, "sampler": sampler, "draws": draws}
            if draws >= data.info.classes or kept.has(**keys):
                continue
            chosen, lines = tuned(data, sampler, draws), []
            for seed in range(SEEDS):
                seconds, model = trained(data, chosen, seed)
                loss, right = measured(model, data.test)
                line = {"lr": chosen.lr, "seconds": seconds, "log_loss": loss, "precision": right}
                size = {"K": data.info.classes, "prior": data.info.prior_log_loss}
                lines.append(keys | {"seed": seed} | size | line)
            yield (frame := pd.DataFrame(lines))
            if frame["seconds"].max() > LIMIT:
                break


def means(frame: pd.DataFrame) -> pd.DataFrame:
    """Means over the seeds."""
    keys = ["dataset", "K", "sampler", "draws"]
    return frame.groupby(keys, sort=False).mean(numeric_only=True).reset_index()


def page(frame: pd.DataFrame) -> str:
    """The table: log loss by sampler and draws, and what stands beside it."""
    if frame.empty:
        return ""
    mean = means(frame)
    lines = []
    for (dataset, K), part in mean.groupby(["dataset", "K"], sort=False):
        for sampler, points in part.groupby("sampler", sort=False):
            shown = {f"m={row.draws}": f"{row.log_loss:.3f}" for row in points.itertuples()}
            head = {"data (K)": f"{dataset} ({K:,})", "sampler": sampler}
            seconds = f"{points['seconds'].min():.2g} to {points['seconds'].max():.2g}"
            if sampler == EXACT:
                shown = {"m=1": f"{points['log_loss'].iloc[0]:.3f} with all classes"}
            lines.append({**head, **shown, "seconds": seconds})
    columns = ["data (K)", "sampler", *(f"m={draws}" for draws in DRAWS), "seconds"]
    table = pd.DataFrame(lines).reindex(columns=columns).fillna("")
    return f"{markdown(table)}\n{answers(mean)}\n"


def answers(mean: pd.DataFrame) -> str:
    """What the table says, a sentence a dataset."""
    texts = []
    for dataset, part in mean.groupby("dataset", sort=False):
        sampled = part[part["sampler"] != EXACT]
        exact = part[part["sampler"] == EXACT].iloc[0]
        few = sampled[sampled["draws"] == 5].sort_values("log_loss")
        if few.empty:
            continue
        within = sampled[sampled["seconds"] <= exact.seconds].sort_values("log_loss")
        best = few.iloc[0]
        text = (
            f"- {dataset}: of five draws those of {best.sampler} are worth most, "
            f"{best.log_loss:.3f}; the worst are those of {few.iloc[-1].sampler}, "
            f"{few.iloc[-1].log_loss:.3f} (prior {exact.prior:.3f}). "
        )
        if within.empty:
            text += f"No sampler ends within the {exact.seconds:.2g} s of exact softmax."
        else:
            first = within.iloc[0]
            text += (
                f"Within the {exact.seconds:.2g} s of exact softmax, which has "
                f"{exact.log_loss:.3f}, the best is {first.sampler} with {first.draws} draws, "
                f"{first.log_loss:.3f} in {first.seconds:.2g} s."
            )
        texts.append(text)
    return "\n".join(texts)


def figure(frame: pd.DataFrame, axis: str, label: str) -> Figure:
    """Log loss and error over draws or seconds, a column a dataset."""
    mean = means(frame)
    names = [*mean["dataset"].unique()]
    shared = {"sharex": "col" if axis == "draws" else False, "squeeze": False}
    fig, panels = style.panels(0.5 + 2.9 * len(names), 5, 2, len(names), **shared)
    colours = dict(zip(SAMPLERS, style.OTHERS, strict=False))
    for column, dataset in zip(panels.T, names, strict=True):
        part = mean[mean["dataset"] == dataset]
        column[0].set_title(f"{dataset} ({part['K'].iloc[0]:,})")
        column[1].set_xlabel(label)
        exact = part[part["sampler"] == EXACT].iloc[0]
        column[0].axhline(exact.prior, color="#7f7f7f", linestyle=":")
        for ax, value in zip(column, ("log_loss", "precision"), strict=True):
            ax.set_xscale("log")
            if axis == "draws":
                ax.axhline(exact[value], color="black", linestyle="--")
            else:
                ax.plot([exact.seconds], [exact[value]], "kD", markersize=5)
            for sampler, colour in colours.items():
                points = part[part["sampler"] == sampler].sort_values("draws")
                ax.plot(points[axis], points[value], color=colour, marker=".")
        top = min(1.2 * exact.prior, part["log_loss"].max() * 1.03)
        column[0].set_ylim(part["log_loss"].min() * 0.97, top)
    panels[0, 0].set_ylabel("test log loss (nats)")
    panels[1, 0].set_ylabel("test precision at 1")
    looks: style.Styles = {name: {"color": colour} for name, colour in colours.items()}
    looks |= {"exact softmax": {"color": "black", "linestyle": "--"}}
    looks |= {"class prior": {"color": "#7f7f7f", "linestyle": ":"}}
    style.legend(fig, "", looks)
    return fig


def run() -> None:
    """Train what is missing; write the page and its figures."""
    keys = ["dataset", "sampler", "draws"]
    reports = ROOT / "reports"
    kept = Kept(reports / "samplers.csv", keys, reports / "samplers.md", "samplers", page, "%.6g")
    for name, options in DATASETS.items():
        data = xcbench.load_dataset(
            name, data_dir=os.environ.get("XCBENCH_DATA", "data"), protocol__rows=ROWS, **options
        )
        for row in rows(name, data, kept):
            kept.add(row)
    frame, folder = kept.rows(), Path(reports / "samplers")
    folder.mkdir(exist_ok=True)
    save(
        [
            Drawing(f"by-{axis}", partial(figure, frame, axis, label), f"Losses over {label}.")
            for axis, label in (("draws", "draws a row"), ("seconds", "seconds of training"))
        ],
        folder,
    )
    kept.write()
