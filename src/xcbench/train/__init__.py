"""The training loop of one model or of several in lockstep: `training.run`."""
