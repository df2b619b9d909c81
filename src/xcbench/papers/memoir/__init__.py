"""MEMOIR: multi-class extreme classification with inexact margin (Belyy and Sholokhov 2018)."""
