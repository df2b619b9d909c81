"""What a launch leaves on the disk: cells, their curves, what their code was."""
