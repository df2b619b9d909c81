"""Configurations to jobs: what runs, what is there and still holds."""
