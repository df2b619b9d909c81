"""Augment and reduce (Ruiz, Titsias, Dieng and Blei 2018): softmax, probit and logistic A&R."""

from __future__ import annotations

from xcbench.papers import declared

paper = declared("ar")
