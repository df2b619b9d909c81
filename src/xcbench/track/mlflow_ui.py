"""The MLflow UI of a store, on this computer only."""

from __future__ import annotations

import os
import socket
import sys
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

from xcbench.errors import UserError, reason
from xcbench.system.processes import end_kept, interruptible, start_kept
from xcbench.track import tracking
from xcbench.track.mlflow_runs import SUMMARY
from xcbench.track.mlflow_target import Target

# The experiment of a store is its first one. Of many runs MLflow shows the first ten: the best.
ORDER = quote(f"metrics.`{SUMMARY}last_test_log_loss`", safe="")
CHARTS = (
    "#/experiments/1/runs?compareRunsMode=CHART&workflowType=machine_learning"
    f"&orderByKey={ORDER}&orderByAsc=true"
)
ENVIRONMENT = {
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",  # more processes, for features not used here
    "MLFLOW_LOGGING_LEVEL": "WARNING",
    "UVICORN_LOG_LEVEL": "warning",
    "PYTHONWARNINGS": "ignore",
}


def serve(runs_dir: Path, port: int = 5000, uri: str | None = None) -> int:
    """Run the MLflow UI on this computer until Ctrl-C; for a server, print its address.

    Parameters
    ----------
    runs_dir : folder of the store; an empty one is created if there is none.
    port : port of the UI.
    uri : as of `tracking.Target.of`.

    Returns
    -------
    int
        0 if a signal stopped it, else the exit code of the server.

    Raises
    ------
    UserError
        If the port is taken or the store cannot be used.
    """
    target = Target.of(runs_dir, uri)
    if target.is_server:
        print(f"the runs are on the MLflow server {target.name}")
        return 0
    if not find_spec("flask"):
        raise UserError("the pages of MLflow are not installed: pip install 'xcbench[ui]'")
    try:
        with socket.create_server(("127.0.0.1", port)):
            pass
    except (OSError, OverflowError) as error:
        raise UserError(
            f"port {port} cannot be used ({reason(error)}); choose another one, for example 5001"
        ) from None
    tracking.track(runs_dir, [], uri=uri)
    command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--workers", "1", "--no-serve-artifacts"]
    command += ["--default-artifact-root", str(target.artifacts)]
    store = {"MLFLOW_BACKEND_STORE_URI": target.store}  # a list of processes shows no password
    environment = {**ENVIRONMENT, **os.environ, **store}
    page = f"http://127.0.0.1:{port}/{CHARTS if target.is_local else '#/experiments'}"
    print(f"ready in about ten seconds (Ctrl-C stops it): {page}", flush=True)
    with interruptible():
        server = start_kept(command, environment)
        try:
            return server.wait()
        except KeyboardInterrupt:
            return 0
        finally:
            end_kept(server)
