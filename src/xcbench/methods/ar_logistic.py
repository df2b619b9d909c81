"""Augment and reduce of multinomial logistic regression as a method."""

from xcbench.core.objectives.augment_reduce import LOGISTIC
from xcbench.methods.augment_reduce import latent

method = latent(LOGISTIC, "logistic")
