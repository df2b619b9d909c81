"""MLflow, a window onto the cells."""
