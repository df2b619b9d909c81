"""Commands in the process of the tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from xcbench.cli import main


def command(capsys: pytest.CaptureFixture[str], *words: str | Path, code: int = 0) -> str:
    """What a command prints; where it fails, the one sentence that it says."""
    with pytest.raises(SystemExit) as ended:
        main.main([str(word) for word in words])
    out, err = capsys.readouterr()
    assert ended.value.code == code and "Traceback" not in out + err, err
    if not code:
        return out
    assert err.startswith("error: ") and err.count("\n") == 1 and err[:-1].isprintable(), err
    return err
