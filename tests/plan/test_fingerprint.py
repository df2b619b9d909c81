"""Fingerprints of behaviour, and the rows that they keep valid."""

from __future__ import annotations

import json
from dataclasses import is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from omegaconf import OmegaConf

from xcbench import papers
from xcbench.committed.results_cache import ResultsCache
from xcbench.config.settings import Budget, Evaluation
from xcbench.core.dataset import Dataset, Split
from xcbench.data import external, labelled_rows
from xcbench.data.settings import DatasetSettings, Protocol
from xcbench.methods import registry
from xcbench.methods.method import Method
from xcbench.methods.options import SampledOptions, TreeOptions
from xcbench.options import Options, changed, declared, default_of
from xcbench.plan import code, fingerprint
from xcbench.plan.code import Change, Code
from xcbench.plan.fingerprint import Case
from xcbench.train import evaluator, training
from xcbench.train.course import Course

ROOT = Path(__file__).resolve().parents[2]


def dataset(name: str) -> DatasetSettings:
    entry = OmegaConf.to_container(OmegaConf.load(external.catalogue()[name]))
    assert isinstance(entry, dict)
    entry.pop("defaults", None)
    settings = OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(DatasetSettings), entry))
    assert isinstance(settings, DatasetSettings)
    return settings


def case(
    method: str,
    data: str | DatasetSettings = "bibtex",
    evaluation: Evaluation | None = None,
    budget: Budget | None = None,
    **options: object,
) -> Case:
    settings = registry.builtin()[method].schema(name=method, **options)
    data = dataset(data) if isinstance(data, str) else data
    conditions = evaluation or Evaluation(), budget or Budget()
    return Case.of(data, False, method, settings, *conditions, dtype="float32", engine="numpy")


def test_every_dataset_of_the_catalogue_has_a_sample() -> None:
    for name in external.catalogue():
        numbers = fingerprint.numbers(case("prior", name))
        assert np.isfinite(numbers["data"]).all() and numbers["test_log_loss"]


@pytest.mark.parametrize("method", ["ove", "umax", "ar_softmax", "nce", "memoir_l2", "softmax"])
def test_a_fingerprint_is_the_same_twice_and_tells_methods_apart(method: str) -> None:
    numbers = fingerprint.numbers(case(method))
    assert fingerprint.numbers(case(method)) == numbers
    json.dumps(numbers, allow_nan=False)
    assert "weights" in fingerprint.differences(fingerprint.numbers(case("is")), numbers)


def test_of_a_method_that_no_seed_controls_the_data_alone_are_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = registry.find("ove")
    unseeded = replace(found, thing=replace(found.thing, seeded=False))
    monkeypatch.setattr(registry, "find", lambda name: unseeded)
    assert list(fingerprint.numbers(case("ove"))) == ["data"]


def test_rate_and_penalty_are_no_part_of_a_case_but_that_there_is_one_is() -> None:
    assert case("umax", lr=0.3) == case("umax", lr=0.1)
    assert case("umax", l2=1e-3) == case("umax", l2=2.0) != case("umax")
    assert case("umax", negatives=5) != case("umax", negatives=4)


HELD_OUT = {"validation": 0.25, "validation_from": "train"}
DIVIDED = Split.divided
CASES = {  # of code that acts with these settings alone
    "patience": {"evaluation": Evaluation(**HELD_OUT), "budget": Budget(patience=3, gain=0.01)},
    "seen": {"evaluation": Evaluation(validation=0.02, validation_from="train_seen")},
    "share": {"budget": Budget(share=0.1)},
    "ratio": {"budget": Budget(ratio=1.5)},
    "costs": {"evaluation": Evaluation(costs=True)},
    "rows": {"evaluation": Evaluation(rows=20_000)},
    "curve_rows": {"evaluation": Evaluation(curve_rows=2_000)},
    "every": {"evaluation": Evaluation(every=50)},
    "features": {"data": DatasetSettings(name="mine", reader="own", train="x", features=2**20)},
}


@pytest.mark.parametrize(
    ("part", "owner", "name", "new"),
    [
        ("patience", Course, "_wait", lambda self, measured, patience: None),
        ("seen", Split, "divided", lambda self, share, seed, seen: DIVIDED(self, share, seed)),
        ("share", Dataset, "first", lambda self, share: self),
        ("ratio", training, "checkpoints", lambda budget, passes: [passes]),
        ("costs", evaluator, "costs", lambda model, split: {"model_mib": 2.0, "nonzeros": 1.0}),
        ("rows", Split, "sample", lambda self, size: self),
        ("curve_rows", Split, "sample", lambda self, size: self),
        ("every", Course, "record", lambda self, measured, seconds=0.0: None),
        ("features", labelled_rows, "hashed", lambda X, places: X[:, :places]),
    ],
)
def test_a_change_of_code_that_few_settings_reach_is_seen(
    part: str, owner: object, name: str, new: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = case("ove", **CASES[part])  # type: ignore[arg-type]
    numbers = fingerprint.numbers(settings)
    assert fingerprint.numbers(settings) == numbers
    monkeypatch.setattr(owner, name, new)  # type: ignore[arg-type]
    assert fingerprint.differences(numbers, fingerprint.numbers(settings))


def test_a_step_ten_times_as_large_is_another_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = fingerprint.numbers(case("ove"))
    built = training.built

    def faster(method: Method, settings: Options, *others: Any) -> tuple[Any, Any]:
        return built(method, replace(settings, lr=10 * settings.lr), *others)

    monkeypatch.setattr(training, "built", faster)
    assert fingerprint.differences(numbers, fingerprint.numbers(case("ove"))) == ["rate"]


@pytest.mark.parametrize("init", ["normal", "glorot"])
def test_rounding_moves_nothing_where_the_start_is_drawn(init: str) -> None:
    """Another order of the features would give them other starts."""
    its = case("ar_softmax", init=init)
    noisy = fingerprint.numbers(its, noise=1)
    assert fingerprint.differences(fingerprint.numbers(its), noisy) == []


def test_differences_are_beyond_rounding() -> None:
    old = {"a": [1.0, 2.0], "b": [0.5], "c": []}
    close = {"a": [1.0 + 1e-7, 2.0], "b": [0.5], "c": []}
    assert fingerprint.differences(old, close) == []
    assert fingerprint.differences(old, {**close, "a": [1.0, 2.001]}) == ["a"]
    assert fingerprint.differences(old, {"a": [1.0, 2.0], "c": []}) == ["b"]
    assert fingerprint.differences(old, {**old, "d": [0.0]}) == ["d"]


TASKS = sorted(path.name for path in (ROOT / "reports" / "board" / "cells").iterdir())


@pytest.mark.parametrize("folder", [*papers.NAMES, *(f"board/cells/{task}" for task in TASKS)])
def test_every_record_beside_committed_rows_has_a_fingerprint(folder: str) -> None:
    """Without one, any change of the source makes its rows stale."""
    for part in papers.PARTS:
        if (ROOT / "reports" / folder / f"{part}.csv").exists():
            codes = ResultsCache.read(ROOT / "reports" / folder, part).codes
            assert codes and all(record.numbers for record in codes.values())


def test_another_digest_with_the_same_numbers_holds() -> None:
    record = code.today(case("ove"))
    assert not code.change(record)
    moved = replace(record, digest="000000000000")
    assert code.change(moved) == Change()
    assert code.renewed(moved) == record and moved.name == record.name


def test_changed_numbers_are_stale_and_say_what_changed() -> None:
    record = code.today(case("ove"))
    assert record.numbers is not None

    def with_other(column: str) -> Code:
        numbers = {**record.numbers, column: [9.0 + it for it in record.numbers[column]]}
        return replace(record, digest="0", numbers=numbers)

    metric = code.change(with_other("test_error"))
    assert metric.parts == ("test_error",) and not metric.trains
    assert code.change(with_other("weights")).trains
    assert code.change(with_other("data")).reason == "changed: data"
    assert code.change(replace(record, digest="0", numbers=None)).reason == "its code changed"
    assert code.change(None).reason == "its code was not recorded"


def test_of_a_library_that_ends_at_an_optimum_the_end_counts() -> None:
    """How many steps lead there differs between processors."""
    record = code.today(case("softmax"))
    assert record.numbers is not None
    numbers = dict(record.numbers)
    for name in ("iteration", "epoch", "observations", "bound"):
        numbers[name] = [7.0, *numbers[name]]
    numbers["largest_gradient"] = [it / 2 for it in numbers["largest_gradient"]]
    assert code.change(replace(record, digest="0", numbers=numbers)) == Change()
    numbers["bound"] = [it + 0.001 for it in numbers["bound"]]
    assert code.change(replace(record, digest="0", numbers=numbers)).parts == ("bound",)


def test_what_rounding_alone_moves_is_not_taken_for_changed_code() -> None:
    """The tree's splits of these rows are ties, which noise decides."""
    record = code.today(case("negative_sampling"))
    other = fingerprint.numbers(record.case, noise=99)
    assert record.numbers is not None and fingerprint.differences(record.numbers, other)
    change = code.change(replace(record, digest="0", numbers=other))
    assert not change and change.unchecked.startswith("rounding alone moves ")
    stable = code.today(case("ove"))
    assert not fingerprint.differences(stable.numbers, fingerprint.numbers(stable.case, noise=99))


def test_code_that_cannot_run_here_is_not_taken_for_changed() -> None:
    record = replace(code.today(case("ove")), digest="0")
    elsewhere = replace(record, case=replace(record.case, method="shared.evil.method"))
    change = code.change(elsewhere)
    assert not change and change.unchecked == "method shared.evil.method is not installed"


def test_a_record_of_another_method_of_the_same_name_tells_nothing() -> None:
    record = code.today(case("ove"))
    assert not code.change(record, "ove")
    assert code.change(record, "mine.method").reason == "its code changed"


def test_first_defaults_stay() -> None:
    """Identities leave out an option at its first default: whoever has another one must differ.

    A new default needs ``former=`` in its option; a new option, a line here.
    """
    schemas = {"budget": Budget, "evaluation": Evaluation, "protocol": Protocol}
    schemas |= {f"method.{name}": method.schema for name, method in registry.builtin().items()}
    today = {
        f"{name}.{option}": str(entry.metadata.get("former", default_of(entry)))
        for name, schema in schemas.items()
        for option, entry in declared(schema)
        if not is_dataclass(default_of(entry))
    }
    first = json.loads((Path(__file__).parent / "first_defaults.json").read_bytes())
    assert today == first


DRAWING = [
    name for name, it in registry.builtin().items() if isinstance(it.schema(name), SampledOptions)
]


@pytest.mark.parametrize("pca", ["plain", "whitened"])
@pytest.mark.parametrize("method", DRAWING)
def test_a_record_has_the_settings_of_its_cell(method: str, pca: str) -> None:
    """It names what differs from the first defaults, as an identity does."""
    tree = TreeOptions(pca=pca)
    record = case(method, sampler="tree", tree=tree)
    settings = registry.builtin()[method].schema(name=method, sampler="tree", tree=tree)
    restored = fingerprint.options(record)
    assert isinstance(restored, SampledOptions) and restored.tree == tree
    assert changed(restored) == changed(settings)
