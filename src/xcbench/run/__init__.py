"""From configurations to jobs, cells, results and MLflow."""
