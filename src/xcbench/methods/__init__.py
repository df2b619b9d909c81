"""Methods, one a file: options, default rate, the objective that is minimised."""
