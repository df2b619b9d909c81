"""From cells to the final table: the best rate of every variant, mean and spread over seeds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from xcbench.core.metrics import in_tables, of_column
from xcbench.methods.options import AUTO
from xcbench.show.variants import natural
from xcbench.store.cell import ENDED, FINAL, STATUSES, Cell
from xcbench.store.results import BY

TRAINING, VALIDATION = "train_log_loss", "validation_log_loss"  # by which rates are chosen
PRIOR, REFERENCE = "class prior", "reference"  # method and status of a row that was not trained


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Make the final table.

    Parameters
    ----------
    rows : labelled frame of cells, one row a cell (see `variants.label`).

    Returns
    -------
    DataFrame
        One row per dataset and method variant. ``lr`` is the best rate, ``chosen_by`` the metric
        that chose it, and ``edge`` is ``lower`` or ``upper`` if that rate is at an end of the grid.
        Further columns are seeds, status, message, epoch and train_seconds. For each metric there
        are the mean over the cells that ended, ``_spread``, the standard deviation over seeds
        (blank for one seed), and ``_best``. The latter marks the best mean of the dataset, among
        rows in which every cell ended. Precision is included if a dataset has several labels a row.
    """
    variants = rows.groupby(["dataset_label", "method_label"])
    table = pd.DataFrame([_row(group) for _, group in variants])
    order = sorted(
        table.index,
        key=lambda i: [natural(str(table.at[i, name])) for name in ("dataset", "method")],
    )
    table = table.loc[order].reset_index(drop=True)
    every_cell_ended = table.pop("every_cell_ended").astype(bool)
    metrics = {name: metric for name, metric in in_tables().items() if name in table}
    for name, metric in metrics.items():
        fair = metric.key(table[name].where(every_cell_ended))
        best = fair == fair.groupby(table["dataset"]).transform("min")
        table.insert(list(table).index(f"{name}_spread") + 1, f"{name}_best", best)
    return table


def at_best_rate(
    variant: pd.DataFrame, criterion: str = TRAINING, tuned: Sequence[str] = ()
) -> pd.DataFrame:
    """Cells of one variant at its best rate; all of them if no rate has a value of the criterion.

    The best rate has the best mean of the criterion. Only rates with the largest number of finished
    seeds compete, so rates at which every seed ended, if any. With further tuned columns, a
    combination of rate and their values is chosen. Rates that trials found count as one.
    """
    metric = of_column(criterion)
    names = ["lr", *(name for name in tuned if name in variant)]
    points = variant.assign(lr=variant["lr"].mask(by_trial(variant)))
    point = points.groupby(names, dropna=False).ngroup()  # a method without a rate has one
    ended = variant["status"].isin(ENDED)
    values = variant.reindex(columns=[criterion])[criterion]
    means = values.where(ended).groupby(point).mean().dropna()
    if means.empty:
        return variant
    seeds = ended.groupby(point).sum()[means.index]
    return variant[point == metric.key(means[seeds == seeds.max()]).idxmin()]


def by_trial(cells: pd.DataFrame) -> pd.Series:
    """Whether trials found the rate of a cell (``method.lr=auto``)."""
    return cells.reindex(columns=[BY])[BY].eq(AUTO)


def best(variant: pd.DataFrame) -> pd.DataFrame:
    """Cells of a variant at its best rate, chosen by validation rows if there are any."""
    return at_best_rate(variant, criterion(variant))


def criterion(variant: pd.DataFrame) -> str:
    """Metric by which the rate of a variant is chosen."""
    losses = variant.reindex(columns=[VALIDATION]).loc[variant["status"].isin(ENDED), VALIDATION]
    return VALIDATION if losses.notna().any() else TRAINING


def priors(rows: pd.DataFrame, cells: Iterable[Cell]) -> pd.DataFrame:
    """Class prior as a reference row of the final table, for each dataset that was loaded.

    Test log loss of the training frequencies, and test error of the most frequent class. Both are
    blank for cells of older versions, which lack these numbers.
    """
    label = dict(zip(rows["cell"], rows["dataset_label"], strict=True))
    shapes: dict[str, dict[str, object]] = {}
    for cell in cells:
        if cell.shape:
            shapes.setdefault(label[cell.cell], {}).update(cell.shape)
    return pd.DataFrame(
        {
            "dataset": dataset,
            "method": PRIOR,
            "edge": "",
            "chosen_by": "",
            "seeds": 0,
            "status": REFERENCE,
            "message": "",
            "test_log_loss": shape.get("prior_log_loss", float("nan")),
            "test_error": shape.get("majority_error", float("nan")),
        }
        for dataset, shape in shapes.items()
    )


def with_references(trained: pd.DataFrame, references: pd.DataFrame) -> pd.DataFrame:
    """The final table with the reference row of each dataset below its methods."""
    marks = [str(name) for name in trained if str(name).endswith("_best")]
    table = pd.concat([trained, references.reindex(columns=trained.columns)], ignore_index=True)
    table = table.astype({"seeds": trained["seeds"].dtype})
    table[marks] = table[marks].eq(True)
    place = {label: number for number, label in enumerate(trained["dataset"].unique())}
    order = table["dataset"].map(place).sort_values(kind="stable").index
    return table.loc[order].reset_index(drop=True)


def edge(variant: pd.DataFrame, lr: float) -> str:
    """Whether a rate is the lowest or highest of at least two rates."""
    run = variant.loc[variant["status"].isin(FINAL), "lr"]
    if run.nunique() < 2 or lr not in (run.min(), run.max()):
        return ""
    return "lower" if lr == run.min() else "upper"


def status(cells: pd.DataFrame) -> str:
    """The common status, such as ``done``, or counts: ``2 done, 1 diverged``."""
    statuses = cells["status"]
    return str(statuses.iloc[0]) if statuses.nunique() == 1 else counted(statuses)


def counted(statuses: pd.Series) -> str:
    """How often each status occurs: ``2 done, 1 diverged``."""
    counts = statuses.value_counts()
    return ", ".join(f"{counts[word]} {word}" for word in STATUSES if word in counts)


def message(cells: pd.DataFrame) -> str:
    """Why cells failed or were skipped, and which rates a row covers, if more than one."""
    without_result = cells.loc[cells["status"].isin(["failed", "skipped"]), "message"]
    reasons = [" ".join(str(reason).split()) for reason in without_result.dropna().unique()]
    rates = sorted(cells["lr"].dropna().unique())
    if len(rates) > 1:
        of = "rates found" if by_trial(cells).all() else "at every rate"
        reasons.append(f"{of}: " + ", ".join(f"{rate:g}" for rate in rates))
    return "; ".join(reasons)


def _row(variant: pd.DataFrame) -> dict[str, object]:
    cells = best(variant)
    has_ended = cells["status"].isin(ENDED)
    by_trials = bool(by_trial(cells).all())
    no_best = cells["lr"].nunique() > 1 and not by_trials  # nothing to average
    ended = cells[has_ended & (not no_best)]
    lr = float("nan" if no_best else cells["lr"].quantile(interpolation="lower"))
    row: dict[str, object] = {
        "dataset": cells["dataset_label"].iloc[0],
        "method": cells["method_label"].iloc[0],
        "lr": lr,
        "chosen_by": "" if cells["lr"].isna().all() else criterion(variant),
        "edge": edge(variant, lr) if len(ended) and not by_trials else "",
        "seeds": cells["seed"].nunique(),
        "status": status(cells),
        "message": message(cells),
        "epoch": ended["epoch"].mean(),
        "train_seconds": ended["train_seconds"].mean(),
    }
    for name in [name for name in in_tables() if name in ended]:
        row[name] = ended[name].mean()
        row[f"{name}_spread"] = ended[name].std(ddof=1)
    return row | {"every_cell_ended": has_ended.all()}
