"""What a launch leaves on the disk: `cells.save` and `cells.load`, and `results.frame` of many."""
