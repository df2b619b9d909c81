"""Compositional entropic risk (Wei et al. 2026): SCENT beside U-max, SOX, ASGD and BSGD."""
