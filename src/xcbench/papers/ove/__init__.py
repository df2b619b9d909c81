"""One-vs-each approximation to softmax (Titsias 2016): OVE, OVE-SGD, Bouchard's bound."""

from __future__ import annotations

from xcbench.papers import declared
from xcbench.papers.ove import norms, weights

TOY = ("figure1a", "figure1b", "figure2")
TABLE2 = ("table2", "table2_bibtex_splits", "table2_early", "table2_ascent", "grouped", "figure3")

paper = declared("ove", dict.fromkeys(TOY, weights.measure) | dict.fromkeys(TABLE2, norms.measure))
