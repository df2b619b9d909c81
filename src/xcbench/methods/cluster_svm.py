"""One-vs-rest machines within clusters of labels as a method."""

from __future__ import annotations

from dataclasses import dataclass

from xcbench.core import label_clusters
from xcbench.core.dataset import Info
from xcbench.core.solvers.cluster_svm import CORES, TOGETHER, ClusterMachines
from xcbench.methods.baselines import Baseline
from xcbench.methods.options import MethodOptions
from xcbench.options import option

RIVALS = 50  # rows of other labels near the margin of a rare one


@dataclass
class ClusterOptions(MethodOptions):
    """Options of machines within clusters."""

    tuned = "C"

    size: int = option(0, "labels in a cluster at most; 0: the root of K", at_least=0)
    clusterings: int = option(1, "how many, from other starts; their answers are added", at_least=1)
    C: float = option(0.5, "weight of the squared hinge losses against ||w||² / 2", above=0)
    tolerance: float = option(0.1, "a machine ends at this largest violation", above=0)
    passes: int = option(10, "over the rows of a machine, at most", at_least=1, former=20)
    threshold: float = option(0.01, "weights nearer to 0 are dropped", at_least=0)
    unit: bool = option(True, "rows are scaled to length 1, here and in prediction")


def solver(s: ClusterOptions, info: Info) -> ClusterMachines:
    """The machines."""
    size = cluster_size(s, info)
    return ClusterMachines(size, s.clusterings, s.C, s.tolerance, s.passes, s.threshold, s.unit)


def cluster_size(settings: ClusterOptions, info: Info) -> int:
    """Labels in a cluster at most: as many as there are clusters, where nothing is set."""
    return settings.size or label_clusters.root(info.classes)


def memory(settings: ClusterOptions, info: Info, itemsize: int, epochs: float) -> float:
    """Bytes of dense machines that train together, of their rows, and of sparse machines.

    A row has a sign, a dual variable and a mark in every machine that trains. A machine has the
    features of rows that it keeps near its margin: those of its label, as many of others, and some
    more where the label is rare.
    """
    near = 2 * info.train / info.classes + RIVALS
    numbers = info.classes * min(info.features, info.nonzeros_per_row * near)
    size = cluster_size(settings, info)
    at_once = min(CORES, -(-max(size, info.classes // size) // TOGETHER))
    dense = at_once * TOGETHER * (8 * info.features + 17 * info.train)
    rows = 12 * info.train * info.nonzeros_per_row
    return dense + rows + settings.clusterings * (itemsize + 4) * numbers


method = Baseline("cluster_svm", ClusterOptions, solver=solver, memory=memory, needs_features=True)
