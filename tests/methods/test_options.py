"""Options: ranges, and which of them make an identity."""

from dataclasses import dataclass, field, make_dataclass
from pathlib import Path

import pytest

from xcbench.config.settings import Config
from xcbench.data.settings import DatasetSettings, SyntheticSettings
from xcbench.errors import UserError
from xcbench.methods.umax import UmaxOptions
from xcbench.options import changed, check, option
from xcbench.plan import planning


@dataclass
class Inner:
    size: int = option(3, "a size", at_least=1)


@dataclass
class Outer:
    rate: float = option(0.5, "a rate", above=0)
    kind: str = option("a", "a kind", choices=("a", "b"))
    names: list[str] = option(["x"], "names")
    inner: Inner = field(default_factory=Inner)


def test_only_what_differs_from_its_default_makes_an_identity():
    assert changed(Outer()) == {}
    settings = Outer(rate=0.1, inner=Inner(size=4))
    assert changed(settings) == {"rate": 0.1, "inner": {"size": 4}}
    later = make_dataclass("Later", [("new", int, option(7, "came later"))], bases=(Outer,))
    assert changed(later(rate=0.1, inner=Inner(size=4))) == changed(settings)


@pytest.mark.parametrize(
    "settings, sentence",
    [
        (Outer(rate=0.0), "rate=0.0 is not possible: it must be greater than 0"),
        (Outer(rate=float("nan")), "rate=nan is not possible: it must be a finite number"),
        (Outer(kind="c"), "kind=c is not possible: it must be one of a, b"),
        (Outer(inner=Inner(size=0)), "inner.size=0 is not possible: it must be at least 1"),
    ],
)
def test_a_value_out_of_range_is_one_sentence(settings, sentence):
    with pytest.raises(UserError, match=sentence.replace(".", r"\.")):
        check(settings)


def test_an_identity_stays_what_it_is(tmp_path):
    """Users keep their finished cells: a new option must not change the identity of an old cell.

    If this fails on purpose (a method's version rose, a default got another meaning), every cell
    of the kind runs again; say so in CHANGELOG.md.
    """
    dataset = DatasetSettings(
        name="pinned",
        reader="synthetic",
        synthetic=SyntheticSettings(train=30, test=10, features=20, classes=3, nonzeros=4),
    )
    settings = Config(
        dataset=dataset,
        method=UmaxOptions(name="umax", lr=0.1, init="zero", step="gradient"),
        engine="numpy",
        runs_dir=str(tmp_path),
        data_dir=str(Path("nowhere")),
    )
    (job,) = planning.jobs([settings])
    assert job.cell.cell == "dc3c67b288ac7ef6"
