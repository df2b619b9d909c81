"""How inexact margins are, as a table and a figure: recall and (epsilon, delta) of the oracles.

SimpleLSH hashes weights as they are, scaled SimpleLSH divides them by the longest. Weights much
shorter than 1, or than the longest, have nearly the code of P(0).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from xcbench.papers import Measured
from xcbench.papers.memoir.theory.margins import DELTAS, FILE, GRAPH, read
from xcbench.papers.report import all_but
from xcbench.papers.rows import without_twins
from xcbench.show import pictures, style
from xcbench.show.formats import NONE
from xcbench.show.pictures import Drawing
from xcbench.show.section import Section
from xcbench.show.table import Table

CAPTION = (
    "Recall of margin oracles against batches, and the delta of each epsilon after the last one, "
    "on MEMOIR-l2's weights with the code's settings; means and ranges over the oracles' "
    "random numbers. "
    "Epsilon is in units of the mean absolute score of the best rival; the exact oracle has recall "
    "1 and epsilon 0."
)


def problems(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Measurements by dataset, with and without the constant feature."""
    for (dataset, constant), group in frame.groupby(["dataset", "constant"], sort=False):
        yield f"{dataset}, {constant} the constant", group


def section(measured: Measured, folder: Path) -> list[Section]:
    """The theory made visible, from the committed table."""
    title = "How inexact the margins of an oracle are"
    rows = without_twins(read(measured.folder / FILE))
    if rows.empty:
        text = "Not measured: `xcbench paper memoir grid=margins` measures it."
        return [Section(title, [text])]
    drawn = pictures.save([Drawing("inexact", partial(draw, rows), CAPTION)], folder)
    return [Section(title, tables=[table(rows)], figures=[*drawn.values()])]


def table(frame: pd.DataFrame) -> Table:
    """Recall and epsilon by weights and oracle, means over the oracles' random numbers."""
    lines = []
    for title, rows in problems(frame):
        for (batches, oracle), group in rows.groupby(["batches", "oracle"], sort=False):
            mean = group.mean(numeric_only=True)
            lines.append(
                {
                    "rows": title,
                    "batches": f"{batches:.0f}",
                    "longest / median weights": f"{mean['longest']:.3g}",
                    "rows of one rival %": f"{100 * mean['commonest']:.1f}",
                    "oracle": oracle,
                    "recall": f"{mean['recall']:.3f}",
                    **{
                        f"epsilon at {delta:g}": f"{mean[f'epsilon_at_{delta:g}']:.3g}"
                        for delta in DELTAS
                    },
                }
            )
        if GRAPH not in set(rows["oracle"]):
            lines.append({"rows": title, "oracle": GRAPH, "recall": "not run: no package"})
    caption = (
        "Recall of margin oracles, and the epsilon that the error of a margin exceeds with a "
        "probability of delta at most, over the mean absolute score of the best rival; on 2,000 "
        "test rows (1,000 synthetic ones), weights of one seed. Rows of one rival: the largest "
        "share of rows whose best rival is the same class. SimpleLSH takes weights as they are, "
        "scaled SimpleLSH over the longest: weights much shorter than 1, or than the longest, "
        "have nearly the code of P(0)"
    )
    shown = pd.DataFrame(lines).fillna(NONE)
    return Table(caption, shown, all_but(shown, "rows", "oracle"))


def draw(frame: pd.DataFrame) -> Figure:
    """Draw recall against batches, and delta against epsilon after the last one."""
    titled = list(problems(frame))
    names = list(dict.fromkeys(frame["oracle"]))
    looks: style.Styles = {
        name: {"color": style.OTHERS[i], "linestyle": style.DASHES[i]}
        for i, name in enumerate(names)
    }
    fig, panels = style.panels(8, 2.7 * len(titled), len(titled), 2, squeeze=False)
    for (left, right), (title, at) in zip(panels, titled, strict=True):
        for name, group in at.groupby("oracle", sort=False):
            look, by = looks[str(name)], group.groupby("batches")["recall"]
            left.plot(by.mean().index, by.mean(), marker="o", markersize=3, **look)
            left.fill_between(by.min().index, by.min(), by.max(), color=look["color"], alpha=0.2)
            last = group[group["batches"] == group["batches"].max()].mean(numeric_only=True)
            right.plot([last[f"epsilon_at_{delta:g}"] for delta in DELTAS], DELTAS, **look)
        batches = sorted(at["batches"].unique())
        left.set(ylabel="recall", xscale="log", ylim=(0, 1), title=title)
        left.set_xticks(batches, [f"{n:g}" for n in batches])
        left.minorticks_off()
        right.set(ylabel="delta", yscale="log")
        right.set_xscale("symlog", linthresh=0.1)
        right.set_xlim(left=-0.02)
    left.set_xlabel("batches")
    right.set_xlabel("epsilon, over the mean |best rival's score|")
    style.legend(fig, "", looks)
    return fig
