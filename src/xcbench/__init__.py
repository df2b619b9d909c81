"""xcbench: a reproducible benchmark of linear classifiers over very many classes."""

__version__ = "0.1.0"
