"""Noise-contrastive estimation (Mnih and Teh 2012; Gutmann and Hyvärinen 2010)."""

from __future__ import annotations

from xcbench import config
from xcbench.datasets import Info
from xcbench.method import Method, over_gram
from xcbench.method import sampler as distinct
from xcbench.objectives import Numbers, Objective, Pairs, Triple, sigmoid, softplus
from xcbench.objectives.negative_sampling import Contrast, negatives
from xcbench.samplers import Sampler


def nce(true: Numbers, drawn: Numbers, log_weight: Numbers, share: float) -> Triple:
    """softplus(-(f_y - log q)) + sum_k softplus(f_k - log q), q the expected count of a class.

    For uniform noise -log q is the log-weight, one number for all classes; each pair carries its
    share of the true class's term. The normaliser is fixed to 1, so minus the value bounds nothing.
    Samplers that never hit the true class, or that weigh classes, have no such q; noise that knows
    the true class's own (`uniform`, `frequency`, `tree`) goes by `Contrast`.
    """
    logit_true, logit_drawn = true + log_weight, drawn + log_weight
    value = share * softplus(-logit_true) + softplus(logit_drawn)
    return value, -share * sigmoid(-logit_true) + 0.0 * drawn, sigmoid(logit_drawn)


def of_noise(settings: config.NCE) -> bool:
    """Whether classes are drawn from a noise distribution as it is."""
    return settings.sampling in method.noises


def objective(settings: config.NCE, info: Info) -> Objective:
    """With the mean over the draws of a noise; else with the sum over uniform draws."""
    if of_noise(settings):
        return Contrast(residual=False, ridge=settings.score_ridge)
    return Pairs(nce, is_bound=False)


def sampler(settings: config.NCE, info: Info) -> Sampler:
    """Noise, or distinct classes."""
    if of_noise(settings):
        return negatives(settings, corrects=False)
    return distinct(settings, info)


def impossible(settings: config.NCE) -> str:
    """The ridge on scores is part of one of the two objectives."""
    if settings.score_ridge and not of_noise(settings):
        return (
            f"method.score_ridge={settings.score_ridge:g} needs noise that may be the true class; "
            "set method.sampling=uniform, frequency or tree, or use method.ridge"
        )
    return ""


method = Method(
    "nce",
    config.NCE,
    objective,
    over_gram(4.0),
    samplings=("shared", "others", "all"),
    noises=("uniform", "frequency", "tree"),
    sampler=sampler,
    impossible=impossible,
)
