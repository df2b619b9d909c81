"""A panel of learning curves: one line a label, and in words what no line can show.

Panels are drawn from *runs*, a frame with one row a checkpoint: ``label`` (the line it belongs
to), ``cell``, ``status``, ``epoch`` and ``loss``. A cell without a curve has one row without loss.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from xcbench.core.metrics import of_column
from xcbench.show import style
from xcbench.show.curves import draw_line, over_seeds
from xcbench.store.cell import ENDED

LOSS = "train_log_loss"
COLUMNS = ["label", "cell", "status", "epoch", "loss"]
PHRASES = {  # what a note calls the status of a cell
    "diverged": "diverged",
    "timeout": "out of time",
    "failed": "failed",
    "skipped": "not run",
}
DASHES = ["-", "--", "-."]
NOTE = 7.5  # points
FOLD = 46  # characters of a note that fit above one of three panels side by side
SOFT = "#444444"


def by_rate(rates: Iterable[float]) -> style.Styles:
    """Looks by learning rate, the highest first: colours that also fall in lightness, and dashes.

    Neighbours differ in their dashes too, so that they can be told apart in grey.
    """
    ordered = sorted(set(rates), reverse=True)
    colours = matplotlib.colormaps["viridis"](np.linspace(0, 0.88, len(ordered)))
    return {
        f"{rate:g}": {
            "color": matplotlib.colors.to_hex(colour),
            "linestyle": DASHES[i % len(DASHES)],
        }
        for i, (rate, colour) in enumerate(zip(ordered, colours, strict=True))
    }


def lines(runs: pd.DataFrame, labels: Iterable[str]) -> dict[str, pd.DataFrame]:
    """Mean and range over the seeds that ended (else over all seeds), by label."""
    drawn = {}
    for label in labels:
        part = runs[runs["label"] == label]
        ended = part["status"].isin(ENDED)
        line = over_seeds(part[ended] if ended.any() else part, "loss", "epoch")
        if len(line):
            drawn[label] = line
    return drawn


def top(runs: pd.DataFrame, times: float) -> float:
    """Where an axis ends: at a multiple of the typical first value, or of the lowest value."""
    losses = runs.dropna(subset=["loss"])
    first = losses.groupby("cell")["loss"].first().median()
    return times * float(np.fmax(first, losses["loss"].min())) if len(losses) else np.inf


def fit(axes: Iterable[Axes], frames: Iterable[pd.DataFrame], end: float, log: bool) -> None:
    """Let panels show the same range: all values up to ``end``.

    An axis that spans less than a factor of two is linear: a logarithmic one has hardly a tick.
    """
    values = pd.concat([runs["loss"] for runs in frames]).dropna()
    inside = values[values <= end]
    for ax in axes if len(inside) else ():
        style.scale_y(ax, inside, log and inside.max() > 2 * inside.min() > 0)


def draw(ax: Axes, runs: pd.DataFrame, looks: style.Styles, end: float) -> int:
    """Draw a panel; a note above it names every line that is not all there.

    Lines are means over the seeds that ended, with a band from the lowest to the highest. Where
    no seed ended, the line is what came before, and ends in a cross.

    Parameters
    ----------
    ax : the panel.
    runs : its runs.
    looks : what the panel is expected to show: looks by label.
    end : where the axis ends; lines that go beyond are named.

    Returns
    -------
    int
        Number of lines of the note, for `head`.
    """
    drawn = lines(runs, looks)
    for label, line in drawn.items():
        draw_line(ax, line, looks[label] | {"label": label})
        if not runs.loc[runs["label"] == label, "status"].isin(ENDED).any():
            last = line.iloc[-1]
            ax.plot([last["at"]], [last["mean"]], "x", color=looks[label]["color"], mew=1.6)
    if (runs["status"] == "skipped").all():
        words = "not run: data" if len(runs) else "no run"
        ax.text(0.5, 0.5, words, transform=ax.transAxes, ha="center", va="center", color=SOFT)
        ax.tick_params(left=False, labelleft=False)
        remarks: list[str] = []
    else:
        means = {label: line["mean"] for label, line in drawn.items()}
        beyond = style.outside(means, of_column(LOSS), end)
        remarks = notes(runs, looks)
        remarks += [f"off the axis: {', '.join(beyond)}"] if beyond else []
    return _write_above(ax, "; ".join(remarks))


def head(axes: Iterable[Axes], headings: Iterable[str], above: int) -> None:
    """Write the headings of columns above notes of at most so many lines."""
    for ax, heading in zip(axes, headings, strict=True):
        ax.set_title(heading, pad=6 + 1.3 * NOTE * above)


def notes(runs: pd.DataFrame, labels: Iterable[str]) -> list[str]:
    """Say which labels diverged, failed, are missing: ``diverged: 10 (1 of 3 seeds), 100``."""
    named: dict[str, list[str]] = {}
    for label in labels:
        part = runs[runs["label"] == label]
        status = part.groupby("cell")["status"].first()
        if status.empty:
            named.setdefault("missing", []).append(label)
        elif status.isin(ENDED).any() and part["loss"].isna().all():
            named.setdefault("not evaluated", []).append(label)
        for word, phrase in PHRASES.items():
            count = int((status == word).sum())
            share = "" if count == len(status) else f" ({count} of {len(status)} seeds)"
            if count:
                named.setdefault(phrase, []).append(label + share)
    return [f"{phrase}: {', '.join(which)}" for phrase, which in named.items()]


def _write_above(ax: Axes, text: str) -> int:
    """Write a note above a panel and return its number of lines."""
    words = re.sub(r" \([^)]*\)", lambda match: match[0].replace(" ", "\N{NO-BREAK SPACE}"), text)
    folded = textwrap.wrap(words, FOLD, break_on_hyphens=False)
    ax.annotate(
        "\n".join(folded).replace("\N{NO-BREAK SPACE}", " "),
        (0, 1),
        (0, 2),
        xycoords="axes fraction",
        textcoords="offset points",
        va="bottom",
        fontsize=NOTE,
        color=SOFT,
    )
    return len(folded)
