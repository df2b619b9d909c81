"""Noise-contrastive estimation as a method."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from xcbench.core.dataset import Info
from xcbench.core.objectives import Objective, Pairs
from xcbench.core.objectives.nce import nce
from xcbench.core.objectives.negative_sampling import Contrast
from xcbench.core.samplers import Negatives, Sampler, noise
from xcbench.methods.method import Method, over_gram
from xcbench.methods.method import sampler as distinct
from xcbench.methods.options import SampledOptions
from xcbench.options import option


@dataclass
class NCEOptions(SampledOptions):
    """Options of noise-contrastive estimation."""

    score_ridge: float = option(
        0.0,
        "lambda of lambda f² on the scores of the true class and, on average, of the drawn ones",
        at_least=0,
    )


def of_noise(settings: NCEOptions) -> bool:
    """Whether classes are drawn from a noise distribution as it is."""
    return settings.sampling in method.noises


def objective(settings: NCEOptions, info: Info) -> Objective:
    """With the mean over the draws of a noise; else with the sum over uniform draws."""
    if of_noise(settings):
        return Contrast(residual=False, ridge=settings.score_ridge)
    return Pairs(nce, is_bound=False)


def sampler(settings: NCEOptions, info: Info) -> Sampler:
    """Noise, or distinct classes."""
    if of_noise(settings):
        return negatives(settings, corrects=False)
    return distinct(settings, info)


def negatives(settings: SampledOptions, corrects: bool) -> Negatives:
    """Noise as the settings say."""
    distribution = noise(settings.sampling, settings.exponent, **asdict(settings.tree))
    return Negatives(distribution, settings.m, corrects)


def impossible(settings: NCEOptions) -> str:
    """The ridge on scores is part of one of the two objectives."""
    if settings.score_ridge and not of_noise(settings):
        return (
            f"method.score_ridge={settings.score_ridge:g} needs noise that may be the true class; "
            "set method.sampling=uniform, frequency or tree, or use method.ridge"
        )
    return ""


method = Method(
    "nce",
    NCEOptions,
    objective,
    over_gram(6.0),
    samplings=("shared", "others", "all"),
    noises=("uniform", "frequency", "tree"),
    sampler=sampler,
    impossible=impossible,
)
