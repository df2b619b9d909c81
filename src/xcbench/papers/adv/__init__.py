"""Extreme classification via adversarial softmax approximation (Bamler and Mandt 2020)."""
