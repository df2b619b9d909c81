"""What a process imports before the suite forks commands from it: all of it, once."""

import importlib
import pkgutil

import numba

import xcbench

LATE = (  # what the libraries import when they are first used
    "antlr4.LL1Analyzer",
    "cffi",
    "http.server",
    "hydra._internal.core_plugins.basic_launcher",
    "mlflow.store.tracking.sqlalchemy_store",
    "pandas.io.formats.csvs",
    "pytest",
    "scipy.optimize",
    "sklearn.datasets",
    "sklearn.svm",
)
OPTIONAL = tuple(f"xcbench.run.executors.{name}" for name in ("slurm", "dask", "ray"))  # engines
OWN = (module.name for module in pkgutil.walk_packages(xcbench.__path__, "xcbench."))
for name in (*LATE, *OWN):
    if not name.endswith("__main__") and name not in OPTIONAL:
        importlib.import_module(name)
numba.njit(lambda x: x + 1)(1)
