"""The board: every method on every task under one protocol, with the same tuning budget."""
