"""Cells whose samplers see the model: any number of workers, killed or not, gives the same bits."""

from __future__ import annotations

import signal

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal
from test_resume import numbers, wait_for

from workspace import NewWorkspace, Workspace

SAMPLERS = ("softmax", "kernel", "rff", "midx")
SWEEP = (
    *("-m", "mlflow=false", "dataset=digits", "method=css", "budget.epochs=20", "engine=numpy"),
    *(f"method.sampler={','.join(SAMPLERS)}", "method.kernel.dimensions=8", "method.negatives=2"),
    *("method.rff.features=32", "method.midx.codewords=4", "budget.checkpoints=2", "seed=0,1"),
)


def curves(workspace: Workspace) -> pd.DataFrame:
    return numbers(workspace.frame("--curves"))


@pytest.fixture(scope="module")
def alone(new_workspace: NewWorkspace) -> pd.DataFrame:
    """Curves of the sweep by one worker, in one go."""
    workspace = new_workspace("alone")
    workspace.run(*SWEEP, "workers=1").succeeded()
    found = curves(workspace)
    assert found["cell"].nunique() == 2 * len(SAMPLERS)
    assert (found.groupby("cell")["train_log_loss"].last() < 1.0).all()
    return found


def test_two_workers_give_the_same(workspace: Workspace, alone: pd.DataFrame) -> None:
    workspace.run(*SWEEP, "workers=2").succeeded()
    assert_frame_equal(curves(workspace), alone, check_exact=True)


def test_a_killed_sweep_ends_with_the_same(workspace: Workspace, alone: pd.DataFrame) -> None:
    with workspace.start(*SWEEP) as process:
        wait_for(lambda: len(workspace.cells()) >= 2, process)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    before = len(workspace.cells())
    assert 2 <= before < 2 * len(SAMPLERS)
    done = workspace.run(*SWEEP).succeeded()
    assert f"{before} of them were there already" in done.out
    assert_frame_equal(curves(workspace), alone, check_exact=True)
