"""Printed numbers beside measured ones: verdicts, the replication table, and what twins are not."""

from __future__ import annotations

import numpy as np
import pytest

from xcbench.papers import published, replication, verdicts
from xcbench.papers.replication import KEY, Evidence, Variant
from xcbench.papers.rows import Values

# ---------------------------------------------------------------- agreement
R, C, D = verdicts.REPRODUCED, verdicts.CLOSE, verdicts.DEVIATES


@pytest.mark.parametrize(
    ("value", "metric", "unit", "values", "expected"),
    [
        ("0.27", "test_nlpd", "nats", [0.2749], R),  # rounds to it
        ("0.27", "test_nlpd", "nats", [0.2651], R),
        ("0.10", "test_error", "fraction", [0.1049], R),  # 4.9 %, but the digits
        ("0.100", "test_error", "fraction", [0.1029], C),  # 2.9 %
        ("0.100", "test_error", "fraction", [0.1031], D),
        ("0.924", "test_accuracy", "fraction", [0.9164], D),  # 0.8 % of it, 10 % of the error
        ("0.924", "test_accuracy", "fraction", [0.9223], C),  # 2.2 % of the error
        ("44.1", "accuracy", "%", [45.7], C),  # 2.9 % of an error of 55.9
        ("44.1", "accuracy", "%", [45.8], D),
        ("27.4", "macro_f1", "%", [29.5], C),  # 2.9 % of what it lacks
        ("-2.62e6", "bound", "nats", [-2.62e6 * 1.029], C),
        ("-2.62e6", "bound", "nats", [-2.62e6 * 1.031], D),
        ("-2.62e6", "bound", "nats", [2.62e6], D),
        ("2e2", "x", "", [249.0], R),  # the printed digit is the hundreds'
        ("2e2", "x", "", [251.0], D),
        ("5.73", "x", "ratio", [5.0, 5.0, 5.0, 5.8], D),  # four seeds make no range
        ("5.73", "x", "ratio", [5.0, 5.0, 5.0, 5.0, 5.8], R),
        ("5.73", "x", "ratio", [5.0, 5.0, 5.0, 5.0, 5.7], D),
        ("<1", "macro_f1", "%", [0.9], R),
        ("<1", "macro_f1", "%", [1.1], D),
        ("1.0", "x", "", [float("nan")], D),
    ],
)
def test_agreement(value: str, metric: str, unit: str, values: list[float], expected: str) -> None:
    assert verdicts.agreement(verdicts.Printed(value, metric, unit), values) == expected


@pytest.mark.parametrize(
    ("value", "unit", "values", "expected"),
    [
        ("147", "count", [147.0], R),
        ("147", "count", [148.0], D),  # 0.7 %
        ("147", "count (as printed)", [148.0], D),
        ("147", "count", [146.0, 147.5], R),  # drawn splits
        ("1e1", "power of ten", [10.0], R),
        ("1e-3", "power of ten", [0.1 * 0.01], R),  # 0.001 but for the last bit
        ("1e1", "power of ten", [9.9], D),
    ],
)
def test_sizes_and_rates_are_equal_or_not(
    value: str, unit: str, values: list[float], expected: str
) -> None:
    name = "tuned_initial_learning_rate" if unit.startswith("power") else "train_examples"
    kind = verdicts.kind(name, unit)
    assert verdicts.agreement(verdicts.Printed(value, name, unit, kind), values) == expected


def test_what_is_as_near_to_another_method_is_not_close() -> None:
    def agreement(*others: float, value: float = 0.1029) -> str:
        printed = verdicts.Printed("0.100", "test_error", others=others)
        return verdicts.agreement(printed, [value])

    assert agreement(0.090, 0.108) == C
    assert agreement(0.105) == D  # nearer to the other
    assert agreement(0.1058) == D  # as near
    assert agreement(0.100) == C  # the other prints the same
    assert agreement(0.1004, value=0.1004) == R  # rounds to it, whatever the others print


def test_what_is_close_is_within_three_standard_errors() -> None:
    printed = verdicts.Printed("0.1000", "test_error")
    wide = [0.1006, 0.1016, 0.1026, 0.1036, 0.1046]  # all above it
    z = (np.mean(wide) - 0.1) / (np.std(wide, ddof=1) / np.sqrt(5))
    assert 3 < z < 4
    assert verdicts.distance(printed, wide) == pytest.approx(z)
    assert verdicts.agreement(printed, wide) == D
    wider = [0.1001, 0.1002, 0.1026, 0.1050, 0.1051]  # the same mean, z of 2.4
    assert verdicts.agreement(printed, wider) == C
    near = [0.1020, 0.1021, 0.1022, 0.1023, 0.1024]  # 2.2 %, and 31 standard errors
    assert verdicts.agreement(printed, near) == D
    assert verdicts.agreement(printed, near[:4]) == C  # too few to have a standard error
    assert np.isnan(verdicts.distance(printed, near[:4]))


@pytest.mark.parametrize(
    ("kind", "text", "code", "verdict"),
    [
        ("result", R, R, R),
        ("result", C, R, C),  # the text's comes first
        ("result", D, R, verdicts.REPRODUCED_WITH_CODE),
        ("result", D, C, verdicts.CLOSE_WITH_CODE),
        ("result", "", R, verdicts.CODE_ALONE),
        ("result", "", C, verdicts.CODE_ALONE),
        ("result", D, "", D),
        ("result", D, D, D),
        ("size", "", R, R),
        ("size", D, R, verdicts.REPRODUCED_WITH_CODE),
        ("rate", D, verdicts.NOT_DECIDED, verdicts.NOT_DECIDED),
        ("rate", verdicts.NOT_DECIDED, R, verdicts.NOT_DECIDED),
        ("fitted", R, "", verdicts.FITTED),
        ("fitted", D, "", D),
        ("definition", R, R, verdicts.DEFINITION),
        ("time", D, D, verdicts.TIME),
    ],
)
def test_verdict(kind: str, text: str, code: str, verdict: str) -> None:
    assert verdicts.verdict(kind, text, code) == verdict


@pytest.mark.parametrize(
    ("metric", "value", "verdict"),
    [
        ("accuracy", "NA", verdicts.NOT_PRINTED),
        ("train_time", "NA", verdicts.NOT_PRINTED),
        ("train_time", "3", verdicts.TIME),
        ("time_per_epoch", "3", verdicts.TIME),
        ("minibatch_observations_n", "100", verdicts.SETTING),
        ("ridge_mu", "0", verdicts.SETTING),
        ("test_error", "0.1", verdicts.NOT_YET),
    ],
)
def test_without_a_run(metric: str, value: str, verdict: str) -> None:
    assert verdicts.without_run(verdicts.kind(metric, ""), value) == verdict


def test_prints_of_the_other_methods_are_in_the_same_unit() -> None:
    others = published.others("memoir", "Table 3", "LSHTC1", "RecallTree", "total_memory")
    assert max(others) > 1000  # printed in GB
    assert len(others) == 8


def variant(name: str, *values: float, command: str = "", **others: tuple[float, ...]) -> Variant:
    return Variant(name, Values(values, **others), command)


def row(*variants: Variant, reason: str = "because") -> dict[str, object]:
    printed = dict.fromkeys(KEY, "x") | {"value": "2.00", "unit": ""}
    return replication.row(printed, Evidence(variants, reason))


def test_the_text_comes_first() -> None:
    right, wrong = [2.0, 2.01], [3.0, 3.0]
    text, published_one = "paper", "code"
    cases = [
        (right, right, verdicts.REPRODUCED, text),
        (right, wrong, verdicts.REPRODUCED, text),
        (wrong, right, verdicts.REPRODUCED_WITH_CODE, published_one),
        (wrong, wrong, verdicts.DEVIATES, published_one),
        (right, [], verdicts.REPRODUCED, text),
        ([], right, verdicts.CODE_ALONE, published_one),
        (wrong, [], verdicts.DEVIATES, text),
    ]
    for of_text, of_code, verdict, shown in cases:
        made = row(
            variant(text, *of_text, command="a"), variant(published_one, *of_code, command="b")
        )
        assert (made["verdict"], made["variant"]) == (verdict, shown)
        values = of_text if shown == text else of_code
        assert made["command"] == ("a" if shown == text else "b")
        assert made["measured"] == pytest.approx(np.mean(values))
        assert made["spread"] == pytest.approx(np.std(values, ddof=1))
        assert made["difference"] == pytest.approx(np.mean(values) - 2)
        assert made["seeds"] == 2


def test_what_only_the_code_reproduces_says_how_far_the_text_is() -> None:
    text = [1.96, 1.961, 1.962, 1.963, 1.964]  # 2 % and 54 standard errors below
    made = row(variant("paper", *text), variant("code", *[2.0] * 5))
    assert made["verdict"] == verdicts.REPRODUCED_WITH_CODE
    error = np.std(text, ddof=1) / np.sqrt(5)
    far = f"{(2 - np.mean(text)) / error:.1f} standard errors away"
    assert far in str(made["reason"]) and "text's settings" in str(made["reason"])


def test_a_rate_beside_equal_ones_is_not_decided() -> None:
    def verdict(rate: float, *tied: float) -> object:
        printed = dict.fromkeys(KEY, "x") | {"value": "1e1", "unit": "power of ten"}
        printed["metric"] = "tuned_initial_learning_rate"
        return replication.row(printed, Evidence([variant("paper", rate, tied=tied)]))["verdict"]

    assert verdict(10.0) == verdicts.REPRODUCED
    assert verdict(10.0, 100.0) == verdicts.NOT_DECIDED
    assert verdict(1.0, 10.0) == verdicts.NOT_DECIDED
    assert verdict(1.0, 0.1) == D


def test_a_mean_over_surviving_seeds_says_of_how_many() -> None:
    made = row(variant("paper", *[2.0] * 4, diverged=(4,)))
    assert made["seeds"] == "4 of 5"


def test_without_a_reading_and_without_a_reason() -> None:
    assert row()["verdict"] == verdicts.NO_DATA
    assert row(variant("paper", 3.0), reason="")["reason"]
    assert np.isnan(row(variant("paper", 3.0))["spread"])
