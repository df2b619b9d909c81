"""Choice of the MLflow store: that of the runs folder, a database, or a server.

The default is ``<runs_dir>/mlflow.db``. ``tracking_uri`` or ``MLFLOW_TRACKING_URI`` name another
store, which may be shared; only runs of this folder are changed there.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from filelock import Timeout

from xcbench.errors import UserError
from xcbench.system import durable, locks
from xcbench.track import mlflow_files
from xcbench.track.mlflow_api import Api

EXPERIMENT = "xcbench"  # the first one of a new store
VARIABLE = "MLFLOW_TRACKING_URI"
DATABASES = ("sqlite", "postgresql", "mysql", "mssql")
SERVERS = ("http", "https", "databricks", "file")
LOCK_SECONDS = 60.0  # wait for another process that tracks

ENVIRONMENT = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    "MLFLOW_SQLALCHEMYSTORE_POOLCLASS": "NullPool",  # no connection outlives a replaced store
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0",  # a server that is down is asked again later
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "20",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
}


@dataclass(frozen=True)
class Target:
    """A store, and the folder whose cells it holds.

    Attributes
    ----------
    home : absolute path of the runs folder.
    uri : address of the store; "" for the folder's.
    """

    home: Path
    uri: str = ""

    @classmethod
    def of(cls, runs_dir: Path, uri: str | None = None) -> Target:
        """Store named by the setting, else by the environment, else the folder's.

        Raises
        ------
        UserError
            If MLflow has no store of that kind.
        """
        uri = uri or os.environ.get(VARIABLE) or ""
        scheme = uri.partition(":")[0]
        if uri and scheme.partition("+")[0].lower() not in (*DATABASES, *SERVERS):
            raise UserError(
                f"tracking_uri={scheme}{':…' if ':' in uri else ''} is no MLflow store; give "
                f"http://HOST:PORT of a server, or a database ({', '.join(DATABASES)})"
            )
        return cls(runs_dir.absolute(), uri)

    @property
    def is_local(self) -> bool:
        """Whether it is the folder's store, which has no other runs."""
        return not self.uri

    @property
    def file(self) -> Path:
        """File of the folder's store."""
        return self.home / "mlflow.db"

    @property
    def key(self) -> str:
        """Name of the store among the files of the folder."""
        return hashlib.sha256(self.uri.encode()).hexdigest()[:12] if self.uri else "own"

    @property
    def store(self) -> str:
        """Address for MLflow."""
        return self.uri or _uri(self.file)

    @property
    def name(self) -> str:
        """Name for messages, without a password."""
        return re.sub(r"(?<=://)[^@/]*@", "", self.uri) if self.uri else str(self.file)

    @property
    def is_server(self) -> bool:
        """Whether it is a server, with a UI."""
        return self.uri.startswith(("http:", "https:", "databricks"))

    @property
    def artifacts(self) -> str | None:
        """Folder of artifacts, never the working directory; None lets a server choose."""
        return None if self.is_server else (self.home / "artifacts").as_uri()

    def opened(self, file: Path | None = None) -> Api:
        """Open the store and its experiment; creates them if missing.

        Parameters
        ----------
        file : used instead of the folder's store.
        """
        uri = _uri(file) if file else self.store
        if not file:
            self._refuse_links()
            self._complete()
        mlflow = client(uri)
        if self.is_local and mlflow.get_experiment_by_name(EXPERIMENT) is None:
            mlflow.delete_experiment("0")  # the empty one that MLflow creates
        identity = experiment(mlflow, EXPERIMENT, self.artifacts)
        folder = "" if self.is_local else self.folder
        return Api(mlflow, identity, folder)

    def _refuse_links(self) -> None:
        """Refuse the folder's store where it, or its journal, leads to another file."""
        journals = [Path(f"{self.file}{suffix}") for suffix in mlflow_files.JOURNALS]
        for path in [self.file, *journals] if self.is_local else ():
            if path.is_symlink() or (path.exists() and path.stat().st_nlink > 1):
                raise UserError(
                    f"{path} is a link, which MLflow would follow; remove it, or set "
                    "tracking_uri=sqlite:///FILE; the cells are safe"
                )

    def _complete(self) -> None:
        """Make the store if it is a file that is missing or was left half made."""
        file = mlflow_files.path(self.store)
        if file is None or (
            file.exists() and (not mlflow_files.is_hollow(file) or _opens(self.store))
        ):
            return
        durable.sweep(file.parent)
        with mlflow_files.anew(file, replacing=False) as fresh:
            client(_uri(fresh)).get_experiment_by_name(EXPERIMENT)
            mlflow_files.remove_hollow(file, fresh)

    @property
    def folder(self) -> str:
        """Id of the folder, which marks its runs in a shared store."""
        path = self.home / "mlflow-folder"
        if not path.exists():
            durable.write(path, secrets.token_hex(8))
        return path.read_text("utf-8").strip()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Lock for writing; several processes that create a store at once would break it.

        Raises
        ------
        UserError
            If another process holds the lock for too long, or the store fails.
        """
        try:
            with locks.alone(self.home / "mlflow.lock", f"writes {self.name}", LOCK_SECONDS):
                yield
        except UserError:
            raise
        except Timeout:
            raise UserError(
                f"another process has been writing {self.name} for {LOCK_SECONDS:.0f} s; the cells "
                "are safe, run `xcbench track` when it has finished"
            ) from None
        except Exception as error:  # a damaged store meets each layer of MLflow in its own way
            what = (
                "rebuilds the store from them" if self.is_local else "or the next launch sends them"
            )
            raise UserError(
                f"{self.name} cannot be used ({_first(error)}); the cells are safe and "
                f"`xcbench track` {what}"
            ) from None


def client(uri: str) -> Any:
    """Import MLflow without telemetry and log messages."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    from mlflow import MlflowClient

    for name in ("mlflow", "alembic", "urllib3"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # what matters is raised
    return MlflowClient(tracking_uri=uri)


def _opens(uri: str) -> bool:
    """Whether MLflow can use a store."""
    try:
        client(uri).get_experiment_by_name(EXPERIMENT)
    except Exception:  # each layer of MLflow has its own
        return False
    return True


def experiment(mlflow: ModuleType, name: str, artifacts: str | None) -> str:
    """Id of an experiment; creates it if missing."""
    there = mlflow.get_experiment_by_name(name)
    return str(there.experiment_id if there else mlflow.create_experiment(name, artifacts))


def _first(error: BaseException) -> str:
    """The first sentence of an error; of a server that is down, that it is."""
    import requests

    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, requests.ConnectionError | requests.Timeout):
            return "it does not answer"
        cause = cause.__cause__ or cause.__context__
    return (str(error).splitlines() or [type(error).__name__])[0].split(". ")[0]


def _uri(file: Path) -> str:
    if set("%?") & set(str(file)):  # read as an escape and as options
        raise UserError(f"{file} cannot be an MLflow store: rename its folder without % and ?")
    return f"sqlite:///{file}"
