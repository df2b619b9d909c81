"""Which package may import which stands in pyproject.toml; import-linter checks it."""

from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports


def test_imports_point_one_way():
    assert lint_imports(no_cache=True) == EXIT_STATUS_SUCCESS
