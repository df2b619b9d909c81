"""``python run.py`` and ``xcbench run``; an error is one sentence."""

from __future__ import annotations

import io
import os
import sys
from contextlib import chdir

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError  # type: ignore[import-untyped]

from xcbench import options
from xcbench.cli.output import UNREAD, end_unread, end_wrong
from xcbench.config import composing, overrides
from xcbench.config.refused_points import COMPOSING, explain, raised_by_hydra
from xcbench.errors import UserError
from xcbench.run import objective
from xcbench.run.execute import run
from xcbench.store import profile
from xcbench.system.processes import INTERRUPTED, end_at_once, end_with_parent, interruptible
from xcbench.system.terminal import guard

NAME = "config"
MISTAKES = (UserError, HydraException, OmegaConfBaseException, YAMLError, OSError)


@interruptible()
def main() -> None:
    """Run ``python run.py`` or ``xcbench run``; an error is one sentence."""
    asked_for = "HYDRA_FULL_ERROR" in os.environ
    os.environ.setdefault("HYDRA_FULL_ERROR", "1")  # Hydra hands errors on instead of printing them
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # not every terminal has "…"
    guard()
    end_at_once()
    profile.LAUNCH.import_until_now()
    profile.LAUNCH.enter("compose")
    composing.register()
    try:
        sys.argv[1:] = overrides.for_hydra(sys.argv[1:])
        hydra.main(version_base="1.3", config_path=str(options.folder()), config_name=NAME)(_task)()
        sys.stdout.flush()
    except BrokenPipeError:
        end_unread(UNREAD)
    except (*MISTAKES, *COMPOSING) as error:
        mistake = isinstance(error, MISTAKES)
        if asked_for or not (mistake or raised_by_hydra(error)):
            raise
        end_wrong(explain(error) + ("" if mistake else f"; in {' '.join(sys.argv[1:])}"))
    except KeyboardInterrupt:
        print("\ninterrupted: what is finished is saved", file=sys.stderr)
        sys.exit(INTERRUPTED)


def _task(composed: DictConfig) -> float | None:
    """One configuration: a single run, or a point of a sweep under another launcher.

    Returns
    -------
    float or None
        Under another launcher its objective, for a sweeper that wants one.

    Raises
    ------
    UserError
        If its cell failed there.
    """
    complete = HydraConfig.get().mode != RunMode.MULTIRUN
    with chdir(HydraConfig.get().runtime.cwd):  # hydra.job.chdir moves no folder of ours
        if not complete:  # in a process of the launcher
            end_with_parent()
            settings = composing.read(composed)
            run([settings], complete)
            return None if settings.plan else objective.of_point(settings)
        try:
            code = run([composing.read(composed)])
        except BrokenPipeError:
            raise
        except MISTAKES as error:  # one that Hydra sees, it prints too
            end_wrong(explain(error))
    if code:
        sys.exit(code)
    return None
