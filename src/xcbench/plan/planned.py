"""What a launch would do with its cells, before it runs any."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from xcbench.data import Missing
from xcbench.plan import stored
from xcbench.plan.code import Change
from xcbench.plan.job import Job
from xcbench.plan.planning import memory_estimate
from xcbench.plan.stored import STALE
from xcbench.units import MIB

TO_RUN, VALID = "to run", "valid"


@dataclass(frozen=True)
class Planned:
    """A job, and what a launch would do with it.

    Attributes
    ----------
    state : what its cell lacks, such as data; `STALE`; the status of a cell that is there; or
        `TO_RUN`.
    change : what changed of the code of the cell that is there.
    """

    job: Job
    state: str
    change: Change = Change()

    @property
    def line(self) -> str:
        """The job for people, with its estimate of memory."""
        why = f"  ({self.change.reason})" if self.state == STALE else ""
        memory = memory_estimate(self.job) / MIB
        return f"{self.job.cell.cell}  {self.state:10} {memory:8.0f} MiB  {self.job.label}{why}"


def states(jobs: Sequence[Job], runs_dir: Path) -> Iterator[Planned]:
    """What a launch would do with each of its jobs."""
    there = stored.look_up(runs_dir, jobs)
    for job in jobs:
        cell = there.get(job.cell.cell)
        change = cell.change if cell else Change()
        lacking = job.info.lacking if isinstance(job.info, Missing) else ""
        status = cell.status if cell else None
        yield Planned(job, lacking or (STALE if change else status) or TO_RUN, change)
