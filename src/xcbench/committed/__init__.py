"""Measured rows in the tables of git: written, read, and whether they still hold."""
