"""Measured rows in the tables of git, and which of them hold: `results_cache.ResultsCache`."""
