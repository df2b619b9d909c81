"""Unbiased scalable softmax optimization (Fagan and Iyengar 2018): U-max and Implicit SGD."""

from __future__ import annotations

from xcbench.papers import declared

paper = declared("umax")
