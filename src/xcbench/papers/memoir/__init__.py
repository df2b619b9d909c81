"""MEMOIR: multi-class extreme classification with inexact margin (Belyy and Sholokhov 2018)."""

from __future__ import annotations

from xcbench.papers import declared
from xcbench.papers.memoir import margins

paper = declared("memoir", {"margins": margins.measure})
