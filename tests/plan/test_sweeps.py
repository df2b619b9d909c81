"""Sweeps composed a few times only, against Hydra's own composition of every point."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import pytest
from hydra import compose
from hydra.errors import HydraException, MissingConfigException
from omegaconf.errors import OmegaConfBaseException

from xcbench.config import composing, layers, presets
from xcbench.config.refused_points import explain
from xcbench.errors import UserError
from xcbench.plan import sweeps
from xcbench.plan.sweeps import Composer, ExperimentComposer

POINTS = [
    ["dataset=bibtex", "method=umax", "variant=umax/code", "seed=0"],
    ["dataset=bibtex", "method=umax", "variant=umax/code", "seed=3"],  # split_seed: ${seed}
    ["dataset=bibtex", "method=umax", "variant=umax/paper", "seed=3"],
    ["rates=umax/table2", "dataset=mnist", "method=ove", "seed=1"],  # the rate of both
    ["rates=umax/table2", "dataset=mnist", "method=ove", "seed=2", "method.lr=7"],
    ["rates=umax/table2", "dataset=mnist", "method=ove", "seed=2", "method.lr=null"],
    ["method.lr=0.1", "budget.epochs=2"],
    ["method.lr=1e-3", "budget.epochs='3'"],
    ["method.lr=null", "budget.epochs=2.5"],
    ["budget.seconds=null", "dtype=float64", "method.bias=false"],
    ["budget.seconds=1", "dtype=float32", "method.bias=true"],
    ["dataset.folders=[a,b]", "seed=1"],
    ["dataset.folders=[c]", "seed=1"],
    ["+dataset.files={train: one.txt}", "seed=1"],
    ["dataset.source={note: two}", "seed=1"],
    ["dataset=zipf", "dataset.synthetic.train=10", "dataset.synthetic.seed=${seed}", "seed=4"],
    ["dataset=zipf", "dataset.synthetic.train=20", "dataset.synthetic.seed=${seed}", "seed=5"],
    ["++method.negatives=2", "seed=0"],
    ["++method.negatives=3", "seed=0"],
    ["grid=a", "data_dir=somewhere"],
    ["grid=b", "data_dir=elsewhere"],
    ["dataset=eurlex", "dataset.name=mine", "seed=1"],
]


@pytest.fixture(scope="module", autouse=True)
def inside() -> Iterator[None]:
    with sweeps.hydra({}):
        yield


@pytest.fixture(scope="module")
def composer() -> Composer:
    return Composer(lambda point: compose("config", overrides=point))


@pytest.mark.parametrize("point", POINTS, ids=" ".join)
def test_a_point_is_what_hydra_composes(composer: Composer, point: list[str]) -> None:
    # Twice: what was composed for one point must not be touched by another.
    expected = composing.read(compose("config", overrides=point))
    for _ in range(2):
        config = composer.read(point)
        assert asdict(config) == asdict(expected)
        assert type(config.method) is type(expected.method)


@pytest.mark.parametrize(
    ("words", "files"), [([], set()), (["variant=umax/code", "method=ove"], {"umax"})]
)
def test_papers_that_are_not_asked_for_are_not_read(
    monkeypatch: pytest.MonkeyPatch, words: list[str], files: set[str]
) -> None:
    read = set()
    parse = presets._content
    monkeypatch.setattr(
        presets, "_content", lambda path, changed: read.add(path.stem) or parse(path, changed)
    )
    compose("config", overrides=words)
    assert read == files


def test_points_that_differ_in_values_are_composed_once() -> None:
    composed = []

    def count(point: list[str]):
        composed.append(point)
        return compose("config", overrides=point)

    composer = Composer(count)
    read = [
        composer.read([f"method={m}", f"method.lr={lr}", f"seed={s}"])
        for m in ("ove", "umax")
        for lr in (1, 10)
        for s in (0, 1)
    ]
    assert len(composed) == 2
    assert [(it.method.name, it.method.lr, it.seed) for it in read] == [
        (m, lr, s) for m in ("ove", "umax") for lr in (1.0, 10.0) for s in (0, 1)
    ]
    assert len({id(it.budget) for it in read}) == 1  # not one a method


def last_pair(experiment: str) -> list[str]:
    """Words of the last dataset and method that an experiment sweeps, which no layer chooses."""
    preset = presets.find("experiment", experiment)
    assert preset is not None
    swept = preset.hydra.sweeper.params
    last = (f"{group}={str(swept[group]).rpartition(',')[2]}" for group in ("dataset", "method"))
    return [f"experiment={experiment}", *last]


LAID = [
    *(last_pair(name) for name in presets.names("experiment")),
    ["experiment=board", "dataset=bibtex", "method=umax"],
    [
        *("experiment=board", "dataset=bibtex", "method=umax", "budget.times=[]"),
        "evaluation.metrics=[precision_at_1,precision_at_3]",
    ],
    ["experiment=umax/table3_paper", "dataset=bibtex", "method=ove", "variant=umax/code", "seed=3"],
    ["experiment=umax/table3_paper", "dataset=mnist", "method=umax", "rates=umax/tuned"],
]


@pytest.mark.parametrize("point", LAID, ids=" ".join)
def test_layers_laid_together_are_what_hydra_composes(point: list[str]) -> None:
    words = (word.split("=") for word in point)
    choices = {name: value for name, value in words if name != "seed" and "." not in name}
    expected = composing.read(compose("config", overrides=point))
    assert layers.lay(choices) is not None
    assert asdict(ExperimentComposer().read(point)) == asdict(expected)


@pytest.mark.parametrize(
    "words",
    [
        ["method.nonsense=1"],
        ["rates.nonsense=1"],
        ["method.lr=fast"],
        ["budget.epochs=null"],
        ["budget.times=[soon]"],
        ["budget.times=[1,[2]]"],
        ["evaluation.metrics=1"],
        ["variant=umax/nonsense"],
        ["variant=umax/code", "method=nonsense"],
        ["dataset=nonsense"],
        ["+method.lr=1"],
        ["seed=${nothing}"],
    ],
    ids=" ".join,
)
def test_a_mistake_in_an_experiment_is_told_as_hydra_tells_it(words: list[str]) -> None:
    def told(composer: Composer) -> str:
        point = ["experiment=umax/figure2", "dataset=mnist", "method=umax", *words]
        try:
            return repr(composer.read(point))
        except (UserError, HydraException, OmegaConfBaseException) as error:
            return explain(error)

    by_hydra = Composer(lambda point: compose("config", overrides=point))
    assert told(ExperimentComposer()) == told(by_hydra)


def refusal(composer: Composer, word: str) -> str:
    """What a person is told, be it by us or by Hydra."""
    with pytest.raises((UserError, HydraException, OmegaConfBaseException)) as caught:
        composer.read([word])
    return explain(caught.value)


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ("seed=1", "seed=one", "seed=one"),
        ("method.lr=1", "method.lr=fast", "method.lr=fast"),
        ("method.bias=true", "method.bias=maybe", "method.bias=maybe"),
        ("budget.epochs=1", "budget.epochs=null", "budget.epochs=null"),
        ("budget.epochs=1", "budget.epochs=-1", "greater than 0"),
        ("budget.share=1", "budget.share=2", "at most 1"),
        ("seed=1", "seed=${nothing}", "nothing"),
    ],
)
def test_a_wrong_value_after_a_right_one(
    composer: Composer, first: str, second: str, said: str
) -> None:
    composer.read([first])  # the second is not composed any more
    refused = refusal(composer, second)
    assert said in refused
    assert "\n" not in refused


def test_a_point_leaves_nothing_to_the_next(composer: Composer) -> None:
    rates = ("1", "fast", "${seed}", "2", "null")
    points = [[f"method.lr={rate}", f"seed={seed}"] for seed, rate in enumerate(rates)]
    configurations, problems = composer.read_all(points)
    assert [(it.method.lr, it.seed) for it in configurations] == [(1, 0), (2, 2), (2, 3), (None, 4)]
    assert list(problems.values()) == [[points[1]]]


@pytest.mark.parametrize("word", ["method.nonsense=1", "nonsense=1", "dataset.nonsense.x=1"])
def test_an_unknown_key(composer: Composer, word: str) -> None:
    refused = refusal(composer, word)
    assert word.partition("=")[0].removesuffix(".x") in refused
    assert "\n" not in refused


def test_points_without_a_configuration_stand_beside_the_others(composer: Composer) -> None:
    right = [["dataset=zipf", "dataset.synthetic.train=5", "seed=1"], ["method.lr=0.5"]]
    part = [["dataset=digits", f"dataset.synthetic.train={n}"] for n in (5, 6)]
    wrong = [["method.lr=fast"], ["method.lr=-1"], ["nonsense=1"]]
    configurations, problems = composer.read_all([part[0], *right, *wrong, part[1]])
    assert [it.method.lr for it in configurations] == ["auto", 0.5]
    assert sorted(map(len, problems.values())) == [1, 1, 1, 2]
    (reason,) = [reason for reason, points in problems.items() if points == part]
    assert "inside a part that is empty" in reason and "`xcbench options`" in reason
    with pytest.raises(MissingConfigException):  # a misspelt name is a mistake in the whole sweep
        composer.read_all([*right, ["dataset=mnits"]])


def test_all_combinations_in_the_order_of_hydra() -> None:
    made = list(sweeps.points({"method": "ove,umax", "seed": "range(0,2)", "dtype": "float64"}))
    assert made == [
        [f"method={m}", f"seed={s}", "dtype=float64"] for m in ("ove", "umax") for s in (0, 1)
    ]


def test_wanted_values_of_an_experiment() -> None:
    def points(**overrides: str) -> list[tuple[str, str, int]]:
        sweep = sweeps.of_experiment("umax/steps_split", overrides)
        return [(it.dataset.name, it.method.name, it.seed) for it in sweep.configurations]

    whole = points()
    assert len(whole) == len(set(whole)) == 2 * 3 * 3
    assert points(method="implicit,umax", seed="1.0", dataset="bibtex") == [
        ("bibtex", "umax", 1),  # in the order of the experiment
        ("bibtex", "implicit", 1),
    ]
    assert points(dataset="mnist") == []
    assert points(seed="0,7") == points(seed="0")


def test_what_an_experiment_does_not_sweep_is_set_everywhere() -> None:
    sweep = sweeps.of_experiment("umax/optimum", {"seed": "1,2", "budget.epochs": "3"})
    assert sweep.swept == ("dataset", "method")
    assert {(it.seed, it.budget.epochs) for it in sweep.configurations} == {(1, 3.0), (2, 3.0)}
    assert len(sweep.configurations) == 6
