"""MLflow, a window onto the cells: `mlflow_target.Target` records, `tracking` rebuilds."""
