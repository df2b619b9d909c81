"""The machine below: files that survive, locks, memory, processes, the terminal."""
