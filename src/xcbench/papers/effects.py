"""Effects between rows of the committed tables, seed by seed, with intervals.

A few words select rows, ``grid dataset method column=value …``: ``table2 20news ove``,
``figure3 bibtex umax lr=0.1``. With ``best`` among them the first half of the seeds chooses a rate
by the training log loss. The rows are those of the other half: on the seeds that chose it, a
minimum over rates would be too low.

Words that begin with ``…`` continue others in their grid and dataset.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from xcbench.errors import UserError
from xcbench.papers import LOSS
from xcbench.papers.frames import ended, evaluated, part
from xcbench.report.summary import at_best_rate

CONFIDENCE = 0.95
BEST, SAME = "best", "…"


@dataclass(frozen=True)
class Effect:
    """A mean over seeds and its interval, of Student's t; the ends are nan of one seed."""

    mean: float
    low: float
    high: float
    seeds: int


def effect(values: Sequence[float]) -> Effect:
    """Mean and 95 % interval of independent numbers."""
    numbers = np.asarray(values, float)
    if len(numbers) < 2:
        return Effect(
            float(numbers.mean()) if len(numbers) else np.nan, np.nan, np.nan, len(numbers)
        )
    error = numbers.std(ddof=1) / np.sqrt(len(numbers))
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(numbers) - 1) * error)
    mean = float(numbers.mean())
    return Effect(mean, mean - half, mean + half, len(numbers))


def p_value(values: Sequence[float], bounds: Sequence[float]) -> float:
    """Largest p of two-sided t-tests of a mean against bounds; nan of one value."""
    if len(values) < 2:
        return np.nan
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    if not error:
        return float(any(bound == np.mean(values) for bound in bounds))
    t = min(abs(np.mean(values) - bound) for bound in bounds) / error
    return float(2 * stats.t.sf(t, len(values) - 1))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p of a family of tests; nan, where nothing was tested, does not count."""
    adjusted, largest = np.full(len(p_values), np.nan), 0.0
    tested = [i for i in np.argsort(p_values) if not np.isnan(p_values[i])]
    for rank, i in enumerate(tested):
        largest = max(largest, min(1.0, (len(tested) - rank) * p_values[i]))
        adjusted[i] = largest
    return [float(p) for p in adjusted]


def rows(results: pd.DataFrame, words: str) -> pd.DataFrame:
    """Rows that ended, as the head of this file has it."""
    return ended(selection(results, words))


def selection(results: pd.DataFrame, words: str) -> pd.DataFrame:
    """The same rows with those that did not end."""
    named, settings, best = _parsed(words)
    selected = part(results, **named)
    for name, value in settings.items():
        among = selected[name] if name in selected else pd.Series(dtype=object)
        number = pd.to_numeric(among, errors="coerce")
        same = np.isclose(number, float(value)) if _is_number(value) else among.astype(str) == value
        selected = selected[same] if name in selected else selected[:0]
    if best and len(ended(selected)):
        selected = _at_best(selected)
    return selected[selected["status"] != "skipped"]


def numbers(results: pd.DataFrame, words: str, column: str) -> pd.Series:
    """A column, or an expression of columns, by seed.

    Raises
    ------
    UserError
        If two rows have the same seed, as where a setting is not told.
    """
    selected = rows(results, words)
    by_seed = evaluated(selected, column).groupby(selected["seed"])
    if len(selected) and (by_seed.size() > 1).any():
        raise UserError(
            f"'{words}' selects several rows per seed: name the setting in which they differ"
        )
    return by_seed.first().dropna()


def between(results: pd.DataFrame, one: str, other: str, column: str, by: str = "") -> list[float]:
    """Differences of two sets of rows in a column, or with ``by=ratio`` ratios, seed by seed."""
    return differences(numbers(results, one, column), numbers(results, other, column), by)


def differences(first: pd.Series, second: pd.Series, by: str = "") -> list[float]:
    """Differences of two columns by seed, or with ``by=ratio`` ratios, of the common seeds.

    What was run once, as no random number is in it, stands beside every seed.
    """
    if len(second) == 1 and len(first) > 1:
        second = pd.Series(second.iloc[0], first.index)
    if len(first) == 1 and len(second) > 1:
        first = pd.Series(first.iloc[0], second.index)
    common = first.index.intersection(second.index)
    first, second = first.loc[common], second.loc[common]
    return [float(value) for value in (first / second if by == "ratio" else first - second)]


def continued(one: str, other: str) -> str:
    """Words, told in full where they go on after the grid and the dataset of others."""
    if not other.startswith(SAME):
        return other
    return " ".join([*one.split()[:2], other.removeprefix(SAME).strip()])


def _parsed(words: str) -> tuple[dict[str, str], dict[str, str], bool]:
    """Grid, dataset and method; other columns; whether the best rate is meant."""
    pairs = [word.partition("=") for word in words.split() if word != BEST]
    settings = {name: value for name, equals, value in pairs if equals}
    names = ("grid", "dataset", "method")
    plain = [name for name, equals, _ in pairs if not equals]
    return dict(zip(names, plain, strict=False)), settings, BEST in words.split()


def _at_best(selected: pd.DataFrame) -> pd.DataFrame:
    """Rows at the rate that is best on the first half of the seeds, of the other half."""
    seeds = sorted(selected["seed"].unique())
    half = seeds[: len(seeds) // 2]
    if not half:
        return selected[:0]
    chosen = at_best_rate(selected[selected["seed"].isin(half)], LOSS)["lr"]
    return selected[selected["lr"].isin(chosen) & ~selected["seed"].isin(half)]


def _is_number(text: str) -> bool:
    return text[:1].isdigit() or text[:1] == "-"
