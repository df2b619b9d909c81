"""The training loop of one model: steps, the clock, evaluation."""
