"""From configurations to jobs, cells, results and MLflow.

The module is callable: ``xcbench.run(method="umax", dataset="digits", lr=[0.01, 0.1])`` runs a grid
and returns the tidy frame of its cells. See `xcbench.run.harness.run`.
"""

import sys
from types import ModuleType
from typing import Any


class _Called(ModuleType):
    """The package, of the same name as the function."""

    def __call__(self, **options: Any) -> object:
        """Run every combination of some values, and give the tidy frame of its cells."""
        from xcbench.run import harness

        return harness.run(**options)


sys.modules[__name__].__class__ = _Called
