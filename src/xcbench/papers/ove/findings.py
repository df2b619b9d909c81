"""What was found of the one-vs-each paper: tables that it lacks, and sentences."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pandas as pd

from xcbench.papers import Lines, Measured
from xcbench.papers import columns as c
from xcbench.papers.findings import Findings
from xcbench.papers.ove import theory
from xcbench.papers.ove.experiments import (
    DATASETS,
    FIGURE1A,
    FIGURE2,
    FIGURE3,
    FIGURE3_ASCENT,
    GROUPED,
    MEASURED,
    METHODS,
    OBJECTIVE,
    SGD,
    SMALL,
    TABLE2,
    TABLE2_ASCENT,
    TABLE2_BIBTEX_SPLITS,
    TABLE2_EARLY,
    measured,
    printed,
)
from xcbench.papers.rows import having, number, values, within
from xcbench.show.formats import NONE

SHOWN = {"param_norm": "norm", "test_error": "error", "test_nlpd": "nlpd"}
DIGITS = {"param_norm": 3, "test_error": 4, "test_nlpd": 4}
TOLERANCES = {"param_norm": 0.05, "test_error": 0.005, "test_nlpd": 0.02}  # asked of the optima
AT_THE_OPTIMUM = {"softmax": "SOFT", "ove": "OVE"}
NAME = {ours: name for name, ours in DATASETS.items()}


def close_at_the_optimum(rows: pd.DataFrame) -> str:
    """Whether an optimum has every printed number as closely as asked (MNIST, 20NEWS)."""
    rows = having(
        rows, {"grid": "table2", "dataset": ["mnist", "20news"], "method": [*AT_THE_OPTIMUM]}
    )
    if rows.empty:
        return NONE
    dataset, method = (rows[name].iloc[0] for name in ("dataset", "method"))
    there = {it: printed(NAME[dataset], AT_THE_OPTIMUM[method], it) for it in MEASURED}
    names = [it for it in MEASURED if not pd.isna(there[it])]
    differences = [values(rows, MEASURED[it]).mean - there[it] for it in names]
    return within(differences, [TOLERANCES[it] for it in names])


def splits(of_paper: Measured) -> Lines:
    """BIBTEX on random splits: mean ± spread, lowest to highest, beside the printed numbers."""
    for method, metric in product(METHODS, MEASURED):
        rows = TABLE2_BIBTEX_SPLITS.rows(of_paper.results, method=METHODS[method])
        column = MEASURED[metric]
        here, there = values(rows, column), printed("BIBTEX", method, metric)
        if method == SGD or not here.values or pd.isna(there):
            continue
        low, high = min(here.values), max(here.values)
        yield {
            "method": method,
            "metric": SHOWN[metric],
            "printed": number(there, 3),
            "given split": measured(of_paper.results, "BIBTEX", method, column).text(),
            "random splits": here.text(),
            "lowest to highest": f"{low:.4f} to {high:.4f}",
            "splits": str(len(here.values)),
            "printed lies inside": "yes" if low <= there <= high else "no",
        }


def early(of_paper: Measured) -> Lines:
    """BOUCHARD stopped on its way to the optimum, beside the printed numbers."""
    for dataset in SMALL:
        for where, rows in _stops(of_paper.results, DATASETS[dataset]):
            cells = {
                name: values(rows, MEASURED[it]).text(DIGITS[it]) for it, name in SHOWN.items()
            }
            yield {"dataset": dataset, "BOUCHARD": where, **cells}
        there = {name: number(printed(dataset, "BOUCHARD", it), 3) for it, name in SHOWN.items()}
        yield {"dataset": dataset, "BOUCHARD": "printed", **there}


def _stops(results: pd.DataFrame, dataset: str) -> Iterator[tuple[str, pd.DataFrame]]:
    wanted = {"dataset": dataset, "method": "bouchard"}
    settings = ["method.iterations", "lr", "budget.epochs"]  # no column where nothing was run
    results = results.reindex(columns=results.columns.union(settings))
    for limit, rows in TABLE2_EARLY.rows(results, **wanted).groupby("method.iterations"):
        yield f"L-BFGS, {limit:.0f} iterations", rows
    steps = TABLE2_ASCENT.rows(results, **wanted)
    for way, rows in steps.groupby(steps["lr"] * steps["budget.epochs"]):
        yield f"gradient steps, rate times number {way:.1f}", rows
    yield "optimum", TABLE2.rows(results, **wanted)


def bounds(of_paper: Measured) -> Lines:
    """Penalised objectives at their optimum, and where the stochastic one ends."""
    for dataset in SMALL:
        here = {name: measured(of_paper.results, dataset, name, OBJECTIVE) for name in METHODS}
        exact, ove, bouchard = (here[name].mean for name in ("SOFT", "OVE", "BOUCHARD"))
        word = "yes" if exact > ove > bouchard else "no"
        complete = not pd.isna(exact + ove + bouchard)
        texts = {name: value.text(0) for name, value in here.items()}
        yield {"dataset": dataset, **texts, "SOFT > OVE > BOUCHARD": word if complete else NONE}


def findings(say: Findings) -> list[str]:
    """Paragraphs of what was found."""
    return [
        f"""
Exact softmax and one-vs-each are reproduced at their optimum on MNIST and 20NEWS. The
settings: lambda = 1 on the sum over samples, biases inside the penalty and the norm, pixels
divided by 255, and raw word counts. Of all results {say.verdicts("result", "reproduced")} are
reproduced, {say.verdicts("result", "close")} close and {say.verdicts("result", "deviates")}
deviate. An optimum has no seeds, because nothing is random in it.
""",
        f"""
On 20NEWS softmax has an error of {say.mean(TABLE2("20news", "softmax"), c.TEST_ERROR)} and an
nlpd of {say.mean(TABLE2("20news", "softmax"), c.TEST_LOG_LOSS)} (printed
{say.printed("Table 2", "20NEWS", "SOFT", "test_error")},
{say.printed("Table 2", "20NEWS", "SOFT", "test_nlpd")}). One-vs-each has a norm of
{say.mean(TABLE2("20news", "ove"), c.PARAM_NORM, ".3f")}, an error of
{say.mean(TABLE2("20news", "ove"), c.TEST_ERROR)} and an nlpd of
{say.mean(TABLE2("20news", "ove"), c.TEST_LOG_LOSS)} (printed
{say.printed("Table 2", "20NEWS", "OVE", "param_norm")},
{say.printed("Table 2", "20NEWS", "OVE", "test_error")},
{say.printed("Table 2", "20NEWS", "OVE", "test_nlpd")}). On MNIST softmax has an error of
{say.mean(TABLE2("mnist", "softmax"), c.TEST_ERROR)} and an nlpd of
{say.mean(TABLE2("mnist", "softmax"), c.TEST_LOG_LOSS)} (printed
{say.printed("Table 2", "MNIST", "SOFT", "test_error")},
{say.printed("Table 2", "MNIST", "SOFT", "test_nlpd")}), and one-vs-each has a norm of
{say.mean(TABLE2("mnist", "ove"), c.PARAM_NORM, ".3f")} (printed
{say.printed("Table 2", "MNIST", "OVE", "param_norm")}).
""",
        f"""
The ranking of norms in Section 4.2 does not hold on MNIST at the optimum.
{
            say.claimed(
                "One-vs-each is nearer to the parameters of softmax than Bouchard's bound",
                holds="20news bibtex",
                fails="mnist",
            )
        }
Bouchard's norm is {say.mean(TABLE2("mnist", "bouchard"), c.PARAM_NORM, ".3f")}, nearer to
that of softmax than one-vs-each ({say.mean(TABLE2("mnist", "ove"), c.PARAM_NORM, ".3f")}). It
holds on 20NEWS ({say.mean(TABLE2("20news", "bouchard"), c.PARAM_NORM, ".3f")} against
{say.mean(TABLE2("20news", "ove"), c.PARAM_NORM, ".3f")}) and BIBTEX
({say.mean(TABLE2("bibtex", "bouchard"), c.PARAM_NORM, ".3f")} against
{say.mean(TABLE2("bibtex", "ove"), c.PARAM_NORM, ".3f")}).
{
            say.claimed(
                "One-vs-each is nearer to the parameters of softmax than Bouchard's bound",
                holds="20news bibtex",
                fails="mnist",
            )
        }
""",
        f"""
Bouchard's error is below that of softmax on MNIST and 20NEWS, as printed; on the published
split of BIBTEX it is not ({say.mean(TABLE2("bibtex", "bouchard"), c.TEST_ERROR)} against
{say.mean(TABLE2("bibtex", "softmax"), c.TEST_ERROR)}).
{
            say.claimed(
                "Bouchard's bound has a lower test error than exact softmax",
                holds="mnist 20news",
                fails="bibtex",
            )
        }
Over ten random splits of BIBTEX it is lower: its error minus that of softmax is
{
            say.difference(
                TABLE2_BIBTEX_SPLITS("bibtex", "bouchard"),
                TABLE2_BIBTEX_SPLITS("bibtex", "softmax"),
                c.TEST_ERROR,
            )
        }.
""",
        f"""
Bouchard's printed norms on 20NEWS and MNIST,
{say.printed("Table 2", "20NEWS", "BOUCHARD", "param_norm")} and
{say.printed("Table 2", "MNIST", "BOUCHARD", "param_norm")}, are not those of its optimum
({say.mean(TABLE2("20news", "bouchard"), c.PARAM_NORM, ".3f")} and
{say.mean(TABLE2("mnist", "bouchard"), c.PARAM_NORM, ".3f")}). On 20NEWS an early stop
comes within 1 % of all printed numbers. On MNIST no point that we tried has all three printed
numbers (tables below).
""",
        f"""
The split does not explain BIBTEX. Over ten random splits of the same sizes the nlpd of
softmax is {say.spread(TABLE2_BIBTEX_SPLITS("bibtex", "softmax"), c.TEST_LOG_LOSS, ".3f")} and
that of one-vs-each
{say.spread(TABLE2_BIBTEX_SPLITS("bibtex", "ove"), c.TEST_LOG_LOSS, ".3f")}. Both are below
the printed {say.printed("Table 2", "BIBTEX", "SOFT", "test_nlpd")} and
{say.printed("Table 2", "BIBTEX", "OVE", "test_nlpd")}; we do not know why.
""",
        f"""
The paper does not print the rates of OVE-SGD. We chose ours to reach the printed norm. Where
they reach it, the verdict is fitted, not reproduced: on MNIST
({say.spread(FIGURE3("mnist", "ove"), c.PARAM_NORM, ".3f")}, printed
{say.printed("Table 2", "MNIST", "OVE-SGD", "param_norm")}). On 20NEWS the norm is
{say.spread(FIGURE3("20news", "ove"), c.PARAM_NORM, ".3f")} (printed
{say.printed("Table 2", "20NEWS", "OVE-SGD", "param_norm")}), on BIBTEX
{say.spread(FIGURE3("bibtex", "ove"), c.PARAM_NORM, ".3f")} (printed
{say.printed("Table 2", "BIBTEX", "OVE-SGD", "param_norm")}). The product of rate and
iterations decides the norm: a run that starts at zero passes through the printed norm on its
way to the optimum.
""",
        f"""
OVE-SGD comes near the optimum of one-vs-each. Its nlpd minus that of the optimum is
{say.difference(FIGURE3("20news", "ove"), TABLE2("20news", "ove"), c.TEST_LOG_LOSS)} on 20NEWS,
{say.difference(FIGURE3("bibtex", "ove"), TABLE2("bibtex", "ove"), c.TEST_LOG_LOSS)} on BIBTEX and
{say.difference(FIGURE3("mnist", "ove"), TABLE2("mnist", "ove"), c.TEST_LOG_LOSS)} on MNIST.
""",
        f"""
With the penalty subtracted, the bounds have the printed order on all three datasets: softmax
is the highest, then one-vs-each, then Bouchard.
{
            say.claimed(
                "One-vs-each is tighter than Bouchard's bound at their optima (less the penalty, "
                "a row)",
                holds="mnist 20news bibtex",
            )
        }
Without the penalty one-vs-each lies above softmax on 20NEWS and BIBTEX, because its weights
differ.
""",
        f"""
The paper reaches the optima by gradient ascent, at rates that it does not print. On BIBTEX,
over all rows and classes at `lr=0.001`, a thousand iterations climb to
{say.mean(FIGURE3_ASCENT("bibtex", "softmax"), OBJECTIVE, ".0f")}
(softmax),
{
            say.mean(
                FIGURE3_ASCENT("bibtex", "ove", {c.BATCH_SIZE: 4880}),
                OBJECTIVE,
                ".0f",
            )
        }
(one-vs-each) and
{say.mean(FIGURE3_ASCENT("bibtex", "bouchard"), OBJECTIVE, ".0f")}
(Bouchard). Their optima are
{say.mean(TABLE2("bibtex", "softmax"), OBJECTIVE, ".0f")},
{say.mean(TABLE2("bibtex", "ove"), OBJECTIVE, ".0f")} and
{say.mean(TABLE2("bibtex", "bouchard"), OBJECTIVE, ".0f")}. We did
not run the printed 10^6 iterations. After a thousand on MNIST softmax has
{say.mean(FIGURE3_ASCENT("mnist", "softmax"), OBJECTIVE, ".0f")}, one-vs-each
{say.mean(FIGURE3_ASCENT("mnist", "ove"), OBJECTIVE, ".0f")} and Bouchard
{say.mean(FIGURE3_ASCENT("mnist", "bouchard"), OBJECTIVE, ".0f")}; on 20NEWS they have
{say.mean(FIGURE3_ASCENT("20news", "softmax"), OBJECTIVE, ".0f")},
{say.mean(FIGURE3_ASCENT("20news", "ove"), OBJECTIVE, ".0f")} and
{say.mean(FIGURE3_ASCENT("20news", "bouchard"), OBJECTIVE, ".0f")}, far from their optima.
""",
        f"""
"Remarkably close" (Section 3): on the toy data in the plane the parameters of one-vs-each are
{theory.distance(say.measured, "ove"):.3f} from those of softmax (Eq. 17). Those of Bouchard's
bound are {theory.distance(say.measured, "bouchard"):.3f} from them. With ten values the
frequencies by one-vs-each have a sum of absolute errors of
{say.mean(FIGURE1A("ten-values", "ove"), c.TRAIN_L1_ERROR, ".0e")}, those by Bouchard's bound
of {say.mean(FIGURE1A("ten-values", "bouchard"), c.TRAIN_L1_ERROR, ".3f")}. With 10,000 values
OVE-SGD ends at a sum of absolute errors of
{say.spread(FIGURE2("categories", "ove"), c.TRAIN_L1_ERROR)}.
""",
        f"""
A group of classes with an exact softmax (Eq. 6) tightens the bound. On BIBTEX the penalised
bound per row is {say.mean(TABLE2("bibtex", "ove"), c.BOUND - c.L2_TERM, ".3f")} without a
group, {say.mean(GROUPED("bibtex", "ove_grouped", {c.GROUP: 10}), c.BOUND - c.L2_TERM, ".3f")}
with 10 classes in it, and
{say.mean(GROUPED("bibtex", "ove_grouped", {c.GROUP: 100}), c.BOUND - c.L2_TERM, ".3f")} with
100. Exact softmax has {say.mean(TABLE2("bibtex", "softmax"), c.BOUND - c.L2_TERM, ".3f")}.
""",
        f"""
{say.claim_counts}
""",
    ]
