"""Options that methods share: minibatches, full batches, drawn classes."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from omegaconf import MISSING

from xcbench.options import group, option

AUTO = "auto"  # a rate that is found by trial (`xcbench.train.rate`)


@dataclass
class MethodOptions:
    """Options every method has. The model is f_c(x) = x·w_c + b_c.

    Attributes
    ----------
    tuned : option that a search tunes with the rate; empty: none.
    """

    tuned = ""

    name: str = option(MISSING, "name of the method")
    lr: Any = option(  # float, AUTO or None; OmegaConf cannot merge a union of types
        AUTO,
        "learning rate of the first epoch; `auto`: found by short trials on training rows, around "
        "the method's rule; null: that rule",
        above=0,
        words=(AUTO,),
        former=None,
    )
    l2: float = option(
        0.0, "lambda of lambda/2 ||(w, b)||² added to the sum over samples", at_least=0
    )
    bias: bool = option(True, "fit biases b")

    def __post_init__(self) -> None:
        """A rate is one number, however it is written: 1, 1.0 or a text."""
        if self.lr is not None:
            with suppress(TypeError, ValueError):
                self.lr = float(self.lr)


def start_option(default: str, former: str = "zero") -> Any:
    """Declare how weights begin, with the default of a method."""
    return option(
        default,
        "weights before training: zero; `normal` draws of standard deviation 0.1, biases 0.001; "
        "`glorot`: uniform draws of variance 2/(K + D), biases 1/K; `normalised`: zero, biases "
        "-log K; `prior`: zero, biases at the class frequencies (n_c + 1)/(N + K), local states "
        "where they belong with these",
        choices=("zero", "normal", "glorot", "normalised", "prior"),
        former=former,
    )


@dataclass
class StochasticOptions(MethodOptions):
    """Options of a method that visits minibatches of samples."""

    tuned = "l2"

    batch_size: int = option(100, "samples in a minibatch", at_least=1)
    optimizer: str = option(
        "sgd",
        "`sgd`; `ar`: the adaptive step of the augment-and-reduce paper, whose rate falls with "
        "the root of the iterations; `adagrad`, on the minibatch's summed gradient",
        choices=("sgd", "ar", "adagrad"),
    )
    lr_root_decay: float = option(
        0.0,
        "with optimizer=adagrad, a of the factor sqrt(a / (t + a)) of the rate after t iterations; "
        "0: none",
        at_least=0,
    )
    accumulator: str = option(
        "all",
        "with optimizer=ar, which averages of squared gradients decay in an iteration: all, or "
        "those with a gradient",
        choices=("all", "touched"),
    )
    lr_decay: float = option(
        0.9,
        "the rate is multiplied by this after each epoch; with optimizer=ar, every 2000 iterations",
        above=0,
        at_most=1,
    )
    lr_schedule: str = option(
        "geometric",
        "how the rate falls. `geometric`: by lr_decay after each epoch. `linear`: in a straight "
        "line that would reach 0 at the end of the budget, for 2 epochs as for 50; without "
        "lr_decay. Not with optimizer=ar",
        choices=("geometric", "linear"),
    )
    init: str = start_option("prior")
    order: str = option(
        "shuffled",
        "visit rows in a new random order each epoch, in file order, or by independent draws",
        choices=("shuffled", "file", "iid"),
    )
    passes: int = option(1, "passes over the rows that count as one epoch", at_least=1)


SOLVERS = ("lbfgs", "minibatch")


@dataclass
class FullBatchOptions(StochasticOptions):
    """Options of a method whose optimum over all rows and all classes a library can find."""

    solver: str = option(
        "minibatch", "full batch L-BFGS over all classes, or minibatch SGD", choices=SOLVERS
    )
    tolerance: float = option(1e-5, "L-BFGS stops at this largest |gradient| per row", above=0)
    iterations: int = option(2000, "L-BFGS stops after this many iterations", at_least=1)


@dataclass
class TreeOptions:
    """Options of the adversarial tree (`xcbench.core.samplers.tree`), for sampler=tree."""

    dimensions: int = option(16, "principal components of x that it sees", at_least=1)
    pca: str = option(
        "plain",
        "`plain` takes features and components as they are; `whitened` scales both to unit "
        "variance, as in the published code; `unit_variance` scales components alone",
        choices=("plain", "whitened", "unit_variance"),
        former="whitened",
    )
    l2: float = option(
        0.1,
        "lambda_n of lambda_n (||w||² + b²) in a node's objective; half of R, as the published "
        "code writes it",
        above=0,
    )
    discrete_step: str = option(
        "paper",
        "how classes change sides: by scores under the current weights (Eq. 9), or under the "
        "first eigenvector, as in the published code",
        choices=("paper", "code"),
    )
    initial_split: str = option(
        "halves",
        "classes' first sides: `halves` of the centred class sums along the first eigenvector, as "
        "in the published code, or by `scores` under it (Eq. 9)",
        choices=("halves", "scores"),
    )
    newton_steps: int = option(
        1,
        "Newton steps before each discrete step; 0: to the optimum, as discrete_step=code always",
        at_least=0,
    )


@dataclass
class ClusterOptions:
    """Options of clusters of classes (`xcbench.core.samplers.clusters`), for sampler=clusters."""

    size: int = option(0, "classes in a cluster at most; 0: the root of K", at_least=0)
    near: float = option(0.5, "share of draws from the cluster", at_least=0, at_most=0.99)


@dataclass
class KernelOptions:
    """Options of the quadratic kernel (`xcbench.core.samplers.kernel`), for sampler=kernel."""

    alpha: float = option(100.0, "of alpha (h·w_k)² + 1", above=0)
    dimensions: int = option(
        0,
        "0: h·w_k is the score of the class, exact, at the cost of all scores; else coordinates "
        "of a random projection, from a tree in which a draw costs their square times log K",
        at_least=0,
        at_most=256,
    )


@dataclass
class FourierOptions:
    """Options of random Fourier features (`xcbench.core.samplers.rff`), for sampler=rff."""

    features: int = option(1024, "frequencies; a draw costs these times log K", at_least=1)
    nu: float = option(4.0, "inverse temperature of the directions' softmax", above=0, at_most=20)
    dimensions: int = option(
        128, "coordinates of a random projection of x and w_k, where there are more", at_least=1
    )


@dataclass
class MIDXOptions:
    """Options of product quantisation (`xcbench.core.samplers.midx`), for sampler=midx."""

    codewords: int = option(32, "of either half of the weights", at_least=1, at_most=1024)
    dimensions: int = option(
        64, "coordinates of a random projection of x and w_k, where there are more", at_least=1
    )


@dataclass
class InBatchOptions:
    """Options of the labels of a minibatch as negatives, for sampler=in_batch."""

    correction: str = option(
        "new",
        "what a draw stands for: `new`, unbiased, the true class as it is; `old`, every score less "
        "the log of its class's frequency, that of the true class too; `none`",
        choices=("new", "old", "none"),
    )
    mix: float = option(
        0.0, "share of uniform draws, which a minibatch shares", at_least=0, at_most=0.99
    )


@dataclass
class SampledOptions(StochasticOptions):
    """Options of a method that draws negative classes.

    Attributes
    ----------
    projects : whether weights are projected where the l2 penalty acts on drawn classes.
    """

    projects = False

    negatives: int = option(5, "classes drawn", at_least=1)
    sampler: str = option(
        "others",
        "how negatives are drawn. `shared`: distinct classes, the same for a minibatch, the "
        "true class possible. `others`: distinct classes for each sample, never the true one. "
        "`any`: for each sample among all classes. `drop_hits`: the same without the true "
        "class, the rest rescaled. `all`: every other class. `frequency`: with replacement, a "
        "class of c training rows with probability ∝ (c + smoothing)^exponent. `tree`: with the "
        "probabilities of a tree that sees the row. `clusters`: with replacement, half of them of "
        "the true class's cluster, whose rows are alike. `in_batch`: the labels of the other rows "
        "of the minibatch. `softmax`, `kernel`, `rff` and `midx`: with replacement, by the scores "
        "of the model as it was at most `refresh` rows before, exact or approximate. Or a "
        "sampler of your own. NCE and negative sampling may draw the true class with `uniform`, "
        "`frequency` and `tree`",
    )
    tree: TreeOptions = group(TreeOptions, chooser="sampler")
    clusters: ClusterOptions = group(ClusterOptions, chooser="sampler")
    in_batch: InBatchOptions = group(InBatchOptions, chooser="sampler")
    kernel: KernelOptions = group(KernelOptions, chooser="sampler")
    rff: FourierOptions = group(FourierOptions, chooser="sampler")
    midx: MIDXOptions = group(MIDXOptions, chooser="sampler")
    refresh: int = option(
        200,
        "rows between two looks at the model of a sampler that sees it, in whole minibatches; "
        "tree or codewords are made anew at each",
        at_least=1,
    )
    exponent: float = option(1.0, "of class frequencies in sampler=frequency", at_least=0)
    smoothing: float = option(
        1.0,
        "added to every class's count of training rows in sampler=frequency; 0: empirical "
        "frequencies, by which a class without a row is never drawn",
        at_least=0,
    )
    l2_on: str = option(
        "all",
        "classes that a step penalises: `all`; or `drawn`, the true and the drawn ones, "
        "weighted by 1 over the probability of a visit (double sums; batch_size=1)",
        choices=("all", "drawn"),
    )
