"""Options of baselines: class sums, and what libraries train."""

from __future__ import annotations

from dataclasses import dataclass

from xcbench.methods.options import MethodOptions
from xcbench.options import option

LABELS = "classes that a row trains: its `own` one, or `all` of its label set"


@dataclass
class UnbiasedOptions(MethodOptions):
    """Options of a method without biases."""

    bias: bool = option(False, "not possible")


@dataclass
class LiblinearOptions(MethodOptions):
    """Options of LIBLINEAR's SVMs; with `bias`, b is penalised as a weight is."""

    tuned = "C"

    C: float = option(1.0, "weight of the losses against ||W||²/2", above=0)
    tolerance: float = option(0.1, "at which the library stops, its own default", above=0)
    iterations: int = option(1000, "at which the library stops, its own default", at_least=1)


@dataclass
class OneVsRestOptions(LiblinearOptions):
    """Options of one-vs-rest; the MEMOIR paper's C on its smaller datasets."""

    C: float = option(10.0, "weight of the losses against ||W||²/2", above=0)
    labels: str = option("own", LABELS, choices=("own", "all"))


@dataclass
class LogisticOptions(MethodOptions):
    """Options of one-vs-rest logistic regression; scikit-learn's defaults."""

    tuned = "C"

    C: float = option(1.0, "weight of the losses against ||W||²/2", above=0)
    tolerance: float = option(1e-4, "at which the library stops, its own default", above=0)
    iterations: int = option(100, "at which the library stops, its own default", at_least=1)
    labels: str = option("all", LABELS, choices=("own", "all"))


@dataclass
class SGDOptions(MethodOptions):
    """Options of one-vs-rest SGD; scikit-learn's defaults, but the logistic loss."""

    tuned = "alpha"

    loss: str = option("log_loss", "loss of its classifiers", choices=("log_loss", "hinge"))
    alpha: float = option(1e-4, "weight of ||w||²/2 against the mean loss", above=0)
    tolerance: float = option(1e-3, "at which the library stops, its own default", above=0)
    iterations: int = option(1000, "passes at which it stops, its own default", at_least=1)
    labels: str = option("all", LABELS, choices=("own", "all"))


@dataclass
class LabelTreeOptions(MethodOptions):
    """Options of napkinXC's probabilistic label tree; the defaults are the library's."""

    tuned = "C"

    C: float = option(10.0, "weight of the losses in LIBLINEAR", above=0)
    arity: int = option(2, "children of a node", at_least=2)
    leaves: int = option(100, "classes in the node above them, at most", at_least=2)
    trees: int = option(1, "in an ensemble", at_least=1)
    labels: str = option("own", LABELS, choices=("own", "all"))


@dataclass
class HierarchicalSoftmaxOptions(MethodOptions):
    """Options of napkinXC's hierarchical softmax; the defaults are the library's."""

    tuned = "C"

    C: float = option(10.0, "weight of the losses in LIBLINEAR", above=0)
    arity: int = option(2, "children of a node", at_least=2)
    leaves: int = option(100, "classes in the node above them, at most", at_least=2)


@dataclass
class PrunedOptions(MethodOptions):
    """Options of napkinXC's one-vs-rest; the defaults are the library's."""

    tuned = "C"

    C: float = option(10.0, "weight of the losses in LIBLINEAR", above=0)
    threshold: float = option(0.1, "weights below this are 0", at_least=0)
    labels: str = option("all", LABELS, choices=("own", "all"))


@dataclass
class OmikujiOptions(MethodOptions):
    """Options of omikuji; the defaults are Parabel's.

    Bonsai is ``balanced=false arity=100 depth=3``; AttentionXML's tree is ``collapse=5``.
    """

    tuned = "C"

    C: float = option(1.0, "weight of the losses", above=0)
    trees: int = option(3, "in an ensemble", at_least=1)
    arity: int = option(2, "children of a node", at_least=2)
    leaves: int = option(100, "classes in the node above them, at most", at_least=2)
    depth: int = option(20, "of a tree, at most", at_least=1)
    balanced: bool = option(True, "children of equal sizes")
    collapse: int = option(0, "layers that become one", at_least=0)
    threshold: float = option(0.1, "weights below this are 0", at_least=0)
    beam: int = option(10, "nodes that a prediction follows in a layer", at_least=1)
    labels: str = option("all", LABELS, choices=("own", "all"))


@dataclass
class RecallTreeOptions(MethodOptions):
    """Options of Vowpal Wabbit's RecallTree; the MEMOIR paper's settings for LSHTC1."""

    tuned = "rate"

    bits: int = option(24, "the table has 2^bits weights; the paper took 30", at_least=1)
    rate: float = option(1.0, "learning rate of the library (-l)", above=0)
    loss: str = option("hinge", "loss of its classifiers", choices=("hinge", "logistic"))
    passes: int = option(5, "over the rows", at_least=1)


@dataclass
class LibMultiLabelOptions(MethodOptions):
    """Options of LibMultiLabel's one-vs-rest; the defaults are the library's, but the bias."""

    tuned = "C"

    loss: str = option(
        "squared_hinge", "of LIBLINEAR's classifiers", choices=("squared_hinge", "logistic")
    )
    C: float = option(1.0, "weight of the losses against ||w||²/2", above=0)
    tolerance: float = option(0.1, "at which LIBLINEAR stops, its own default", above=0)
    labels: str = option("all", LABELS, choices=("own", "all"))


@dataclass
class LibMultiLabelTreeOptions(LibMultiLabelOptions):
    """Options of LibMultiLabel's label tree; the defaults are the library's, but the bias."""

    arity: int = option(100, "children of a node", at_least=2)
    depth: int = option(10, "of the tree, at most", at_least=1)
    beam: int = option(10, "nodes that a prediction follows in a layer", at_least=1)
