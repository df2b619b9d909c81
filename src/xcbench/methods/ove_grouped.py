"""One-vs-each with a group of classes handled exactly, as a method."""

from __future__ import annotations

from dataclasses import dataclass

from xcbench.core.dataset import Info
from xcbench.core.objectives.grouped import Grouped
from xcbench.core.samplers import GroupFirst, Sampler
from xcbench.methods.method import Method, over_drawn, stochastic
from xcbench.methods.ove import OneVsEachOptions
from xcbench.options import option


@dataclass
class GroupedOptions(OneVsEachOptions):
    """Options of one-vs-each with a group of classes handled exactly."""

    sampler: str = option("others", "`others` or `all`, of the classes outside the group")
    group: int = option(
        10, "classes in the group: those of most training rows but the true one", at_least=0
    )


def sampler(settings: GroupedOptions, info: Info) -> Sampler:
    """The group, and m classes of the rest or all of them."""
    some = stochastic(settings) and settings.sampler == "others"
    return GroupFirst(info.classes, settings.negatives if some else info.classes, settings.group)


def impossible(settings: GroupedOptions) -> str:
    """Its sampler is its own, and the group's classes take part in every step."""
    if settings.sampler not in ("others", "all"):
        return (
            f"method.sampler={settings.sampler} is not possible for ove_grouped, whose sampler "
            "knows the group; set method.sampler=others or all"
        )
    if settings.l2_on == "drawn":
        return "method.l2_on=drawn does not know the group of ove_grouped; set it to all"
    return ""


method = Method(
    "ove_grouped",
    GroupedOptions,
    lambda settings, info: Grouped(settings.group),
    over_drawn(32.0),
    samplers=("others", "all"),
    impossible=impossible,
    sampler=sampler,
)
