"""Augment and reduce of multinomial probit regression as a method."""

from xcbench.core.objectives.augment_reduce import PROBIT
from xcbench.methods.augment_reduce import latent

method = latent(PROBIT, "probit")
