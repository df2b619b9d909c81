"""Tables, figures, statistics and pages, of whatever rows."""
