"""Settings become jobs: `planning.jobs` makes them, `planned.states` says which still hold."""
