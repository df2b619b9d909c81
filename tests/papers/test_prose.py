"""Claims in prose and findings: effects with intervals, hand-made verdicts."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from xcbench.errors import UserError
from xcbench.papers import LOSS, Measured, front, prose, stated
from xcbench.papers import columns as c
from xcbench.papers.findings import DISAGREES, Findings, paragraphs
from xcbench.papers.prose import Quality, Statement, above, below
from xcbench.papers.rows import RATIO, Rows, between
from xcbench.show import effects
from xcbench.show.formats import NONE


def rows(
    grid: str, method: str, losses: list[float], lr: float = 0.1, **more: object
) -> list[dict]:
    return [
        {
            "grid": grid,
            "cell": f"{grid}-{method}-{lr}-{seed}",
            "status": "done",
            "dataset": "toy",
            "method": method,
            "lr": lr,
            "seed": seed,
            LOSS: loss,
            **more,
        }
        for seed, loss in enumerate(losses)
    ]


def measured(*parts: list[dict]) -> Measured:
    return Measured(pd.DataFrame([row for part in parts for row in part]), pd.DataFrame())


A, B = Rows("g", "toy", "a"), Rows("g", "toy", "b")
OF = c.TRAIN_LOG_LOSS


def test_the_interval_is_that_of_a_t_test() -> None:
    apart = [0.3, 0.1, 0.2, 0.25, 0.05]
    effect = effects.effect(apart)
    test = stats.ttest_1samp(apart, 0).confidence_interval(0.95)
    assert (effect.low, effect.high) == pytest.approx((test.low, test.high))
    assert (effect.mean, effect.seeds) == (pytest.approx(0.18), 5)
    assert math.isnan(effects.effect([1.0]).low)


def test_differences_are_of_the_same_seed() -> None:
    results = measured(rows("g", "a", [1.0, 2.0, 3.0]), rows("g", "b", [0.5, 1.0])).results
    assert between(results, A, B, OF) == [0.5, 1.0]
    assert between(results, A, B, OF, RATIO) == [2.0, 2.0]


def test_what_was_run_once_stands_beside_every_seed() -> None:
    results = measured(rows("g", "a", [1.0, 2.0, 4.0]), rows("g", "b", [0.5])).results
    assert between(results, A, B, OF) == [0.5, 1.5, 3.5]
    assert between(results, B, A, OF) == [-0.5, -1.5, -3.5]
    assert between(results, B, A, OF, RATIO) == [0.5, 0.25, 0.125]
    assert between(results, B, B, OF) == [0.0]


def test_one_seed_of_several_that_ended_stands_for_itself() -> None:
    ended = rows("g", "b", [0.5, 0.0, 0.0])
    diverged = [{**row, "status": "diverged", LOSS: math.nan} for row in ended[1:]]
    results = measured(rows("g", "a", [1.0, 2.0, 4.0]), ended[:1], diverged).results
    assert between(results, A, B, OF) == [0.5] and between(results, B, A, OF) == [-0.5]


def test_the_best_rate_is_quoted_on_other_seeds() -> None:
    # Rate 1 is lower on seeds 0 and 1 alone: it is chosen on them, and quoted where it is worse.
    lucky, other = rows("g", "a", [0.1, 0.1, 9.0, 9.0, 9.0], lr=1), rows("g", "a", [1.0] * 5)
    numbers = replace(A, best=True).numbers(measured(lucky, other).results, OF)
    assert dict(numbers) == {2: 9.0, 3: 9.0, 4: 9.0}
    alone = measured(rows("g", "a", [1.0])).results  # no seed is left to choose a rate on
    assert replace(A, best=True).numbers(alone, OF).empty


def test_several_rows_a_seed_are_refused() -> None:
    results = measured(rows("g", "a", [1.0]), rows("g", "a", [2.0], lr=1)).results
    with pytest.raises(UserError, match="several rows per seed"):
        A.numbers(results, OF)
    assert list(replace(A, where={c.LR: 1}).numbers(results, OF)) == [2.0]


def judged(statement: Statement, result: Measured) -> pd.Series:
    return prose.table("umax", [statement], result).iloc[0]


LOWER = Statement("Section 1", "A is below B", left=A, right=B, of=OF, holds=below(0))


def test_a_claim_holds_where_its_whole_interval_does() -> None:
    b = rows("g", "b", [1.0, 1.0, 1.0])
    for losses, verdict, reason in (
        ([0.5, 0.6, 0.55], "holds", ""),
        ([0.5, 1.6, 0.55], "inconclusive", "the interval goes both ways"),
        ([1.5, 1.6, 1.55], "does not hold", ""),
    ):
        result = judged(LOWER, measured(rows("g", "a", losses), b))
        assert (result["verdict"], result["reason"]) == (verdict, reason)
        assert result["effect"] == pytest.approx(np.mean(losses) - 1)


def test_one_seed_tells_nothing_unless_nothing_is_random() -> None:
    result = measured(rows("g", "a", [0.5]), rows("g", "b", [1.0]))
    one = judged(LOWER, result)
    assert (one["verdict"], one["reason"]) == ("not testable here", "one seed, no interval")
    exact = judged(replace(LOWER, exact=True), result)
    assert exact["verdict"] == "holds" and math.isnan(exact["low"])


def test_a_row_with_few_seeds_says_why() -> None:
    lower, higher = rows("g", "a", [0.5, 0.6, 0.5, 0.7, 0.6]), rows("g", "b", [1.0] * 5)
    result = measured(lower, higher)
    assert judged(LOWER, result)["reason"] == ""
    lost = [{**row, "status": "diverged"} if row["seed"] == 3 else row for row in lower]
    ended = judged(LOWER, measured(lost, higher))
    assert (ended["seeds"], ended["reason"]) == (4, "1 of 5 seeds did not end")
    best = replace(LOWER, left=replace(A, best=True), right=replace(B, best=True))
    assert judged(best, result)["reason"] == prose.CHOSEN
    few = replace(LOWER, few="hours")
    assert judged(few, measured(lower[:3], higher))["reason"] == "hours"
    assert judged(few, result)["reason"] == ""


def test_holms_method_against_its_definition() -> None:
    """Holm (1979): the tests from the least p on, as long as p is below 0.05 / (tests left)."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        p = rng.uniform(0, 0.1, 6) ** 2 * 10
        passing, order = set(), np.argsort(p)
        for left, i in zip(range(6, 0, -1), order, strict=True):
            if p[i] > 0.05 / left:
                break
            passing.add(int(i))
        adjusted = effects.holm([*p, np.nan])
        assert {i for i in range(6) if adjusted[i] <= 0.05} == passing
        assert math.isnan(adjusted[6])


def test_the_p_value_is_that_of_a_t_test() -> None:
    apart = [0.3, 0.1, 0.2, 0.25, 0.05]
    assert effects.p_value(apart, [0.0]) == pytest.approx(stats.ttest_1samp(apart, 0).pvalue)
    nearest = stats.ttest_1samp(apart, 0.3).pvalue
    assert effects.p_value(apart, [-1, 0.3]) == pytest.approx(nearest)
    assert math.isnan(effects.p_value([1.0], [0.0]))


def test_a_family_of_tests_is_corrected() -> None:
    """Ten datasets, of which one passes by a little: with ten tests it does not."""
    differences = [-0.5, -0.1, -0.4, -0.2, -0.9]
    p = stats.ttest_1samp(differences, 0).pvalue
    assert 0.01 < p < 0.05
    result = measured(
        *(
            [{**row, "dataset": f"d{i}"} for row in rows("g", "a", [1 + x for x in differences])]
            + [{**row, "dataset": f"d{i}"} for row in rows("g", "b", [1.0] * 5)]
            for i in range(10)
        )
    )
    sides = {"left": Rows("g", method="a"), "right": Rows("g", method="b")}
    said = replace(LOWER, **sides, datasets=[f"d{i}" for i in range(10)])
    table = prose.table("umax", [said], result)
    assert set(table["verdict"]) == {"inconclusive"}
    assert table["reason"].str.contains("Holm's correction for 10 tests").all()
    assert judged(replace(said, datasets=["d0"]), result)["verdict"] == "holds"


def test_an_untrained_method_wins_and_loses_nothing() -> None:
    """NCE on Bibtex: 4.990, where equal probabilities of 148 classes have 4.997."""
    nce = rows("g", "b", [4.990, 4.991, 4.989], **{"shape.classes": 148})
    low = rows("g", "a", [0.5, 0.6, 0.55], **{"shape.classes": 148})
    result = judged(LOWER, measured(low, nce))
    assert result["verdict"] == "not tested"
    assert "untrained" in result["reason"] and "4.997" in result["reason"]
    trained = [{**row, LOSS: 4.5} for row in nce]
    assert judged(LOWER, measured(low, trained))["verdict"] == "holds"


def test_equal_sides_test_nothing_and_an_untrained_rate_is_no_good_one() -> None:
    nce = rows("g", "a", [4.990, 4.991, 4.989], **{"shape.classes": 148})
    same = measured(nce, [{**row, "method": "b"} for row in nce])
    equal = judged(LOWER, same)
    assert (equal["verdict"], equal["reason"]) == ("not tested", stated.SAME)
    best = [{**row, "method": "b", LOSS: 0.9} for row in nce]
    ratio = replace(LOWER, by=RATIO, holds=below(1.1))
    assert judged(ratio, measured(nce, best))["verdict"] == "does not hold"
    assert stated.SAME in judged(ratio, same)["reason"]


def test_where_nothing_can_happen_nothing_is_tested() -> None:
    from xcbench.papers.umax import tables

    def of(umax: float, vanilla: float) -> Measured:
        pair = rows("figure3", "umax", [umax] * 2), rows("figure3", "vanilla", [vanilla] * 2)
        return measured(*pair)

    assert "no reset acted" in str(tables.umax_ended(of(3.394341, 3.394341), "toy"))
    assert tables.umax_ended(of(3.394341, 3.5), "toy") == [1.0, 1.0]


def test_the_codes_settings_count_where_the_texts_fail() -> None:
    high, low = [2.0, 2.1, 2.2], [0.5, 0.6, 0.55]
    b = [*rows("text", "b", [1.0] * 3), *rows("code", "b", [1.0] * 3)]
    said = replace(
        LOWER,
        left={"paper": Rows("text", "toy", "a"), "code": Rows("code", "toy", "a")},
        right={"paper": Rows("text", "toy", "b"), "code": Rows("code", "toy", "b")},
    )
    interval = "does not hold (1.1 [0.852, 1.35])"  # 1.1 ± 4.303 · 0.1 / √3
    for text, code, verdict, other in (
        (low, low, "holds", ""),
        (low, high, "holds", f"the code's settings: {interval}"),
        (high, low, "holds with the code's settings", f"the text's settings: {interval}"),
        (high, high, "does not hold", ""),
        ([], low, "holds with the code's settings", "the text's settings: not testable here ("),
    ):
        result = measured(rows("text", "a", text), rows("code", "a", code), b)
        row = judged(said, result)
        assert row["verdict"] == verdict
        assert other in row["reason"] and (other or "settings:" not in row["reason"])


def test_a_resource_counts_with_the_quality_of_the_same_variant() -> None:
    """The text's settings have the memory at a fifth of the accuracy, the code's may have both."""
    seeds = range(3)

    def of(grid: str, method: str, mib: float, error: float) -> list[dict]:
        cells = rows(grid, method, [1.0] * 3)
        return [
            {**cell, "model_mib": mib, "test_error": error + 0.001 * seed}
            for cell, seed in zip(cells, seeds, strict=True)
        ]

    said = Statement(
        "Section 1",
        "A is smaller than B",
        left={"paper": Rows("text", "toy", "a"), "code": Rows("code", "toy", "a")},
        right=Rows("rival", "toy", "b"),
        by=RATIO,
        of=c.MODEL_MIB,
        holds=below(1),
    )
    quality = Quality(1 - c.TEST_ERROR, RATIO, above(0.67))
    rival = of("rival", "b", 10.0, 0.2)
    small_and_bad = of("text", "a", 2.0, 0.84)
    for code, alone, together in (
        (of("code", "a", 3.0, 0.2), "holds", "holds with the code's settings"),
        (of("code", "a", 3.0, 0.8), "holds", "does not hold"),
        (of("code", "a", 30.0, 0.2), "holds", "does not hold"),
    ):
        result = measured(small_and_bad, code, rival)
        assert judged(said, result)["verdict"] == alone
        row = judged(replace(said, together=quality), result)
        assert row["verdict"] == together
        if together == "does not hold":
            assert "1 - test_error (ratio) is 0.2, not above 0.67" in row["reason"]
    spread = [{**cell, "test_error": error} for cell, error in zip(
        of("text", "a", 2.0, 0.0), (0.1, 0.6, 0.3), strict=True)]  # fmt: skip
    row = judged(replace(said, together=quality), measured(spread, rival))
    assert row["verdict"] == "inconclusive" and "goes both ways" in row["reason"]
    missing = [{**cell, "test_error": math.nan} for cell in spread]
    assert judged(replace(said, together=quality), measured(missing, rival))["verdict"] not in (
        "holds",
        "does not hold",
    )


def test_the_first_page_says_where_both_sides_are_the_same() -> None:
    def row(dataset: str, verdict: str, effect: str, reason: str) -> stated.Stated:
        said = ("umax", "4.3", "A is below B", "", "loss", effect, "", "", verdict, "5", reason)
        return stated.Stated(*said, f"run.py dataset={dataset}")

    claim = stated.Claim(
        (
            row("mnist", "holds", "-0.25", ""),
            row("bibtex", "not tested", "", stated.SAME),
            row("toy", "not tested", "", "'a' is untrained"),
            row("news", "not tested", "", stated.SAME),
        )
    )
    assert front.sentence(claim) == (
        "A is below B: holds on mnist (-0.25); both sides are the same, to all digits on "
        "bibtex, news."
    )


def test_readings_of_a_claim_stand_side_by_side() -> None:
    def row(reading: str, dataset: str, verdict: str, effect: str) -> stated.Stated:
        numbers = (effect, "", "") if effect else ("", "", "")
        said = ("umax", "4.3", "A is below B", reading, f"loss, g {dataset}: a less b")
        return stated.Stated(*said, *numbers, verdict, "5", "", f"run.py dataset={dataset}")

    table = stated.readings(
        [
            row("at tuned rates", "mnist", "holds", "-0.5"),
            row("at tuned rates", "bibtex", "not tested", ""),
            row("at best rates", "mnist", "does not hold", "0.25"),
            row("", "mnist", "holds", "1"),
        ]
    )
    assert table.fillna("").to_dict("records") == [
        {
            "claim": "A is below B",
            "dataset": "mnist",
            "at tuned rates": "holds, -0.5",
            "at best rates": "does not hold, 0.25",
        },
        {
            "claim": "A is below B",
            "dataset": "bibtex",
            "at tuned rates": "not tested",
            "at best rates": "",
        },
    ]


def test_a_finding_that_contradicts_a_claim_says_so() -> None:
    rows_of = [
        {"claim": "A wins", "reading": "", "verdict": verdict, "command": f"x dataset={name}",
         "measured": ""}
        for name, verdict in (("mnist", "holds"), ("bibtex", "does not hold"))
    ]  # fmt: skip
    empty = pd.DataFrame({"kind": [], "verdict": []})
    made = Measured(pd.DataFrame(), pd.DataFrame())
    say = Findings("umax", made, empty, pd.DataFrame(rows_of))
    assert say.claimed("A wins", holds="mnist", fails="bibtex") == ""
    assert "bibtex: does not hold" in say.claimed("A wins", holds="mnist bibtex")
    assert "mnist: no such claim" in say.claimed("B wins", holds="mnist")
    assert DISAGREES in say.claimed("A wins", fails="mnist")


def test_what_was_not_run_is_not_testable() -> None:
    result = judged(replace(LOWER, left=Rows("g", "mnist", "a")), measured(rows("g", "a", [1.0])))
    assert result["verdict"] == "not testable here" and "mnist" in result["reason"]


def test_a_finding_by_hand() -> None:
    result = measured(rows("g", "a", [0.5, 0.7]), rows("g", "b", [1.0, 1.0]))
    claims = pd.DataFrame({"verdict": ["holds", "does not hold"]})
    say = Findings("ove", result, pd.DataFrame({"kind": [], "verdict": []}), claims)
    made = paragraphs(
        [
            f"""
a {say.mean(A, OF, ".1f")},
{say.spread(A, OF, ".2f")}
""",
            f"""
{say.difference(A, B, OF, ".2f")}; {say.mean(Rows("g", "toy", "c"), c.TEST_ERROR)};
{say.printed("Table 2", "MNIST", "SOFT", "test_error")}; {say.claims("holds")}
""",
            "",
        ]
    )
    # Of -0.5 and -0.3: 12.706 (t of one degree of freedom) times 0.1414 over the root of 2.
    assert made == ["a 0.6, 0.60 ± 0.14", f"-0.40 [-1.67, +0.87]; {NONE}; 0.074; 1"]
