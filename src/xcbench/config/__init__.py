"""From a command line and files of settings to checked configurations: `sweeps` is the entry."""
