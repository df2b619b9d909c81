"""Share of the variance of the final log loss that each choice explains."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

from xcbench.board.tuning import ENDED
from xcbench.papers import run as papers
from xcbench.show.summary import best


def shares(rows: pd.DataFrame, loss: str, factors: list[str]) -> pd.DataFrame:
    """Analysis of variance of the logarithm of the log loss: share of squares and p, by factor.

    Parameters
    ----------
    rows : several for each combination of the factors, ideally equally many.
    """
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    table = rows.dropna(subset=[loss, *factors])
    table = table.assign(y=np.log(table[loss].clip(lower=1e-12)))
    terms = " + ".join(f"C(Q('{name}'))" for name in factors)
    pairs = " + ".join(
        f"C(Q('{one}')):C(Q('{other}'))"
        for place, one in enumerate(factors)
        for other in factors[place + 1 :]
    )
    fitted = anova_lm(ols(f"y ~ {terms} + {pairs}", table).fit(), typ=2)
    names = {f"C(Q('{name}'))": name for name in factors}
    index = [
        " × ".join(names.get(part, part) for part in str(term).split(":")) for term in fitted.index
    ]
    return pd.DataFrame(
        {
            "choice": index,
            "share of squares": (fitted["sum_sq"] / fitted["sum_sq"].sum()).to_numpy(),
            "degrees of freedom": fitted["df"].to_numpy(),
            "F": fitted["F"].to_numpy(),
            "p": fitted["PR(>F)"].to_numpy(),
        }
    )


def installed() -> bool:
    """Whether statsmodels is installed."""
    return find_spec("statsmodels") is not None


CROSSED = ("crossed", "figure1")  # grids of the adv paper: five objectives × three samplers


def design(reports: Path) -> pd.DataFrame:
    """Shares of objective and sampler, from rows in which every pair occurs.

    The rows are those of the adv paper on citeulike, each at its tuned rate. Each objective keeps
    the optimizer of its paper, so the objective's share includes the optimizer's effect.
    """
    rows = papers.tables(reports / "adv")["runs"].intact.rows
    some = rows[rows["grid"].isin(CROSSED) & (rows["dataset"] == "citeulike")]
    some = some[some["status"].isin(ENDED)]
    if some.empty:
        return pd.DataFrame()
    named = some.assign(
        objective=some["method"], sampler=some["method.sampler"].replace("others", "uniform")
    )
    return shares(named, "test_log_loss", ["objective", "sampler"])


def choices(reports: Path) -> pd.DataFrame:
    """Shares of objective, sampler and optimizer on Bibtex, every combination at its best rate.

    Uses the rows of ``experiment=board-crossed``; validation rows choose the rate. Combinations
    that never trained are left out: fitting the tree takes the board's whole time limit.
    """
    path = reports / "board" / "crossed.csv"
    if not path.exists():
        return pd.DataFrame()
    rows = pd.read_csv(path)
    rows = rows.assign(
        objective=rows["method"],
        sampler=rows["method.sampler"].replace("others", "uniform"),
        optimizer=rows["method.optimizer"],
    )
    factors = ["objective", "sampler", "optimizer"]
    chosen = [best(variant) for _, variant in rows.groupby(factors)]
    ended = pd.concat(chosen)
    ended = ended[ended["status"].isin(ENDED) & (ended["observations"] > 0)]
    return shares(ended, "test_log_loss", factors)
