"""Noise-contrastive estimation as a method."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from xcbench.core.dataset import Info
from xcbench.core.objectives import Objective, Pairwise
from xcbench.core.objectives.nce import nce
from xcbench.core.objectives.negative_sampling import BinaryLogistic
from xcbench.core.samplers import Negatives, Sampler, noise
from xcbench.methods.method import Method, over_gram
from xcbench.methods.method import sampler as distinct
from xcbench.methods.options import SampledOptions
from xcbench.options import option


@dataclass
class NCEOptions(SampledOptions):
    """Options of noise-contrastive estimation."""

    sampler: str = option("others", "as for sampled methods", former="shared")
    score_l2: float = option(
        0.0,
        "lambda of lambda f² on the scores of the true class and, on average, of the drawn ones",
        at_least=0,
    )


def of_noise(settings: NCEOptions) -> bool:
    """Whether classes are drawn from a noise distribution as it is."""
    return settings.sampler in method.noises


def objective(settings: NCEOptions, info: Info) -> Objective:
    """With the mean over the draws of a noise; else with the sum over uniform draws."""
    if of_noise(settings):
        return BinaryLogistic(residual=False, l2=settings.score_l2)
    return Pairwise(nce, is_bound=False)


def sampler(settings: NCEOptions, info: Info) -> Sampler:
    """Noise, or distinct classes."""
    if of_noise(settings):
        return negatives(settings, corrects=False)
    return distinct(settings, info)


def negatives(settings: SampledOptions, corrects: bool) -> Negatives:
    """Noise as the settings say."""
    distribution = noise(
        settings.sampler, settings.exponent, settings.smoothing, **asdict(settings.tree)
    )
    return Negatives(distribution, settings.negatives, corrects)


def impossible(settings: NCEOptions) -> str:
    """The l2 penalty on scores is part of one of the two objectives."""
    if settings.score_l2 and not of_noise(settings):
        return (
            f"method.score_l2={settings.score_l2:g} needs noise that may be the true class; "
            "set method.sampler=uniform, frequency or tree, or use method.l2"
        )
    return ""


method = Method(
    "nce",
    NCEOptions,
    objective,
    over_gram(6.0),
    samplers=("shared", "others", "all"),
    noises=("uniform", "frequency", "tree"),
    sampler=sampler,
    impossible=impossible,
)
