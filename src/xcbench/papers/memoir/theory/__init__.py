"""Theorems 1 to 3 and Eq. 9 of the MEMOIR paper, and how inexact the margins of oracles are."""
