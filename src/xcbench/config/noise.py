"""Options of methods that tell a row's class from noise."""

from __future__ import annotations

from dataclasses import dataclass

from xcbench.config.methods import Sampled
from xcbench.options import option


@dataclass
class NCE(Sampled):
    """Options of noise-contrastive estimation."""

    score_ridge: float = option(
        0.0,
        "lambda of lambda f² on the scores of the true class and, on average, of the drawn ones",
        at_least=0,
    )


@dataclass
class NegativeSampling(NCE):
    """Options of negative sampling."""

    m: int = option(1, "classes drawn; their mean counts", at_least=1)
    sampling: str = option(
        "tree",
        "`uniform`, `frequency` or `tree`: an observation's draws with replacement over all "
        "classes, hits of the true class kept",
    )
    step: str = option("adagrad", "how weights move", choices=("sgd", "ar", "adagrad"))
    decay: float = option(
        1.0, "the rate is multiplied by this after each epoch", above=0, at_most=1
    )
    ridge_scores: str = option(
        "corrected",
        "scores that feel score_ridge: `corrected` ones, f + log p_n (Eq. 6), or `raw` ones, f, as "
        "published for uniform and frequency sampling",
        choices=("corrected", "raw"),
    )
