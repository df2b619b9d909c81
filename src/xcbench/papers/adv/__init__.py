"""Extreme classification via adversarial softmax approximation (Bamler and Mandt 2020)."""

from __future__ import annotations

from xcbench.papers import declared

paper = declared("adv")
