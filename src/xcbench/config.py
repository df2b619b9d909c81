"""Schema of every option: the only list of options there is.

The files under ``conf/`` fill these dataclasses; Hydra refuses unknown keys and wrong types, and
`read` checks ranges.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hydra.core.config_store import ConfigStore
from omegaconf import MISSING, DictConfig, OmegaConf

from xcbench.engines import ENGINES
from xcbench.options import check, option


# ---------------------------------------------------------------- datasets
@dataclass
class Expected:
    """Shape a raw file must have; 0 leaves a number open."""

    train: int = option(0, "training rows")
    test: int = option(0, "test rows")
    features: int = option(0, "features")
    labels: int = option(0, "labels, before the protocol picks classes")


@dataclass
class Protocol:
    """How raw rows become a problem with one label a row; part of a cell's identity."""

    label: str = option(
        "smallest",
        "label of a multi-label row: first in the file, smallest id, the one with the fewest "
        "training rows (ties: smallest id); `each`: one row per label",
        choices=("first", "smallest", "rarest", "each"),
    )
    classes: str = option(
        "train_and_test",
        "which rows define the classes; with `train`, test rows of other classes are dropped; with "
        "`train_usable`, a test row takes its label among the classes of training; with "
        "`declared`, every label is a class, also one without any row",
        choices=("train", "train_and_test", "train_usable", "declared"),
    )
    divide_by: float = option(1.0, "constant that divides every feature", above=0)
    row_norm: str = option("none", "normalisation of every row", choices=("none", "l2"))
    unlabelled: str = option(
        "drop", "rows without any label: dropped, or one more class", choices=("drop", "class")
    )
    min_rows: int = option(1, "labels of fewer rows, training and test, do not count", at_least=1)
    features: int = option(
        0, "the first so many features, 0: all; rows that have none of them are dropped", at_least=0
    )
    rows: int = option(0, "the first so many training and test rows, 0: all", at_least=0)
    featureless: str = option(
        "keep", "rows without any feature: kept, or dropped", choices=("keep", "drop")
    )
    split: str = option(
        "given",
        "training and test part: the given ones; a random fraction of all rows that are left; "
        "or that fraction of the rows of every label (the smallest of a row)",
        choices=("given", "random", "per_label"),
    )
    split_train: float = option(0.75, "fraction of training rows", above=0, at_most=1)
    split_seed: int = option(0, "seed of the drawn split", at_least=0)
    tfidf: bool = option(False, "multiply by idf = log((1 + rows) / (1 + rows with it)) + 1")
    column_scale: str = option(
        "none", "divide every feature by its largest training value", choices=("none", "max")
    )
    constant: float = option(
        0.0, "value of a feature appended to every row, 0: none", at_least=-1e9, at_most=1e9
    )
    svd: int = option(
        0,
        "replace the features, once they have their values, by so many coordinates of a truncated "
        "SVD of the training rows, 0: none",
        at_least=0,
    )


@dataclass
class Synthetic:
    """A dataset drawn from a planted linear model (`xcbench.datasets.synthetic`)."""

    train: int = option(10000, "training rows", at_least=1)
    test: int = option(2000, "test rows", at_least=1)
    features: int = option(2000, "features", at_least=2)
    classes: int = option(1000, "classes", at_least=2)
    nonzeros: float = option(30.0, "mean non-zero features per row", at_least=1)
    class_exponent: float = option(1.0, "class k has frequency ∝ k^-exponent", at_least=0)
    feature_exponent: float = option(0.8, "feature j has popularity ∝ j^-exponent", at_least=0)
    signal: float = option(
        0.2, "share of a row's tokens from its class's own features", above=0, at_most=1
    )
    seed: int = option(0, "seed of the generator", at_least=0)


@dataclass
class Categories:
    """Observations of one of K values, without features (`xcbench.datasets.categories`)."""

    train: int = option(1000000, "training observations", at_least=1)
    test: int = option(10000, "test observations", at_least=1)
    classes: int = option(10000, "values", at_least=2)
    seed: int = option(0, "seed of the generator", at_least=0)


@dataclass
class Blobs:
    """Gaussian classes in the plane, around a circle (`xcbench.datasets.blobs`)."""

    train: int = option(200, "training rows", at_least=1)
    test: int = option(1000, "test rows", at_least=1)
    classes: int = option(5, "classes", at_least=2)
    radius: float = option(1.2, "distance of the centres of the classes from 0", at_least=0)
    spread: float = option(0.5, "standard deviation of a class along either axis", above=0)
    seed: int = option(0, "seed of the generator", at_least=0)


@dataclass
class Download:
    """One file to fetch: a data file itself, or an archive of several."""

    urls: list[str] = option([], "addresses of the same file, tried in order")
    files: dict[str, str] = option(
        {}, "role → member of the archive; empty: what is fetched is the file itself"
    )
    bytes: int = option(0, "size of what is fetched, 0: not known", at_least=0)


@dataclass
class Source:
    """Where the files come from; part of no identity."""

    page: str = option("", "where a person finds them")
    downloads: list[Download] = option(
        [], "what to fetch: a list of {urls: [URL, …], files: {role: member}, bytes: SIZE}"
    )
    note: str = option("", "what has to be done by hand")


@dataclass
class Dataset:
    """Where a dataset comes from and how it is used."""

    name: str = option(MISSING, "name in tables and figures")
    reader: str = option(MISSING, "file format, or maker of the data")
    folders: list[str] = option([], "folders under data_dir to look in, in order")
    files: dict[str, str] = option({}, "role → file name, also with .xz, .gz or .bz2 behind it")
    sha256: dict[str, list[str]] = option({}, "role → accepted SHA-256 of the uncompressed file")
    source: Source = field(default_factory=Source)
    expected: Expected = field(default_factory=Expected)
    protocol: Protocol = field(default_factory=Protocol)
    synthetic: Synthetic | None = None
    categories: Categories | None = None
    blobs: Blobs | None = None
    missing: str = option(
        "twin",
        "without the files: run on the synthetic twin, refuse, or record the cell as skipped",
        choices=("twin", "error", "skip"),
    )
    train: str = option("", "path of your own training file, for dataset=file")
    test: str = option("", "path of your own test file, for dataset=file")

    def __post_init__(self) -> None:
        """Take files of the user's own as they are given, by default under the first one's name."""
        own = {"train": self.train, "test": self.test}
        if self.reader == "own":
            self.files = {
                role: str(Path(path).expanduser().absolute()) for role, path in own.items() if path
            }
            stem = Path(self.train).name.split(".")[0]
            self.name = self.name or re.sub(r"[^\w+-]+", "-", stem)


# ---------------------------------------------------------------- methods
@dataclass
class Method:
    """Options every method has. The model is f_c(x) = x·w_c + b_c."""

    name: str = option(MISSING, "name of the method")
    lr: float | None = option(
        None,
        "learning rate of the first epoch; empty: the method's default rule",
        above=0,
    )
    ridge: float = option(
        0.0, "lambda of lambda/2 ||(w, b)||² added to the sum over observations", at_least=0
    )
    bias: bool = option(True, "fit biases b")


@dataclass
class Stochastic(Method):
    """Options of a method that visits minibatches of observations."""

    n: int = option(100, "observations in a minibatch", at_least=1)
    step: str = option(
        "sgd",
        "how weights move: `sgd`; `ar`: the augment-and-reduce paper's adaptive step, on N/n times "
        "the minibatch's gradient, whose rate falls with the root of the iterations; `adagrad`, "
        "on the minibatch's summed gradient",
        choices=("sgd", "ar", "adagrad"),
    )
    root_decay: float = option(
        0.0,
        "with step=adagrad, a of the factor sqrt(a / (t + a)) of the rate after t iterations; "
        "0: none",
        at_least=0,
    )
    accumulator: str = option(
        "all",
        "with step=ar, averages of squared gradients that decay in an iteration: all, or those "
        "of coordinates with a gradient",
        choices=("all", "touched"),
    )
    decay: float = option(
        0.9,
        "the rate is multiplied by this after each epoch; with step=ar, every 2000 iterations",
        above=0,
        at_most=1,
    )
    start: str = option(
        "zero",
        "weights before training: zero; `normal` draws of standard deviation 0.1, biases 0.001; "
        "`glorot`: uniform draws of variance 2/(K + D), biases 1/K; `normalised`: zero, biases "
        "-log K",
        choices=("zero", "normal", "glorot", "normalised"),
    )
    order: str = option(
        "shuffled",
        "visit rows by a fresh permutation an epoch, in file order, or independent draws",
        choices=("shuffled", "file", "iid"),
    )
    passes: int = option(1, "passes over the rows that count as one epoch", at_least=1)


SOLVERS = ("lbfgs", "minibatch")


@dataclass
class FullBatch(Stochastic):
    """Options of a method whose optimum over all rows and all classes a library can find."""

    solver: str = option(
        "minibatch", "full batch L-BFGS over all classes, or minibatch SGD", choices=SOLVERS
    )
    tolerance: float = option(1e-5, "L-BFGS stops at this largest |gradient| per row", above=0)
    iterations: int = option(2000, "L-BFGS stops after this many iterations", at_least=1)


@dataclass
class Softmax(FullBatch):
    """Options of exact softmax."""

    solver: str = option("lbfgs", "full batch L-BFGS, or minibatch SGD", choices=SOLVERS)


@dataclass
class Tree:
    """Options of the adversarial tree (`xcbench.samplers.tree`), for sampling=tree."""

    dimensions: int = option(16, "principal components of x that it sees", at_least=1)
    pca: str = option(
        "whitened",
        "`whitened`: of features of unit variance, components brought to unit variance too; "
        "`plain`: of the features as they are, for features that come from an SVD or PCA",
        choices=("whitened", "plain"),
    )
    ridge: float = option(
        0.1,
        "lambda_n of lambda_n (||w||² + b²) in a node's objective; half of R, as the published "
        "code writes it",
        above=0,
    )
    discrete_step: str = option(
        "as_text",
        "classes change sides by their scores under the current weights (Eq. 9), or under the "
        "first eigenvector, as the published code has it",
        choices=("as_text", "as_published"),
    )


@dataclass
class Sampled(Stochastic):
    """Options of a method that draws negative classes."""

    m: int = option(5, "classes drawn", at_least=1)
    sampling: str = option(
        "shared",
        "`shared`: one draw of distinct classes a minibatch, hits of the true class kept; "
        "`others`: distinct classes an observation, never the true one; "
        "`any`: an observation's draws over all classes, a hit of the true class kept; "
        "`drop_hits`: the same with hits removed and the rest rescaled; "
        "`all`: every other class, m is ignored; "
        "`frequency`: an observation's draws with replacement among the others, a class of c "
        "training rows with probability ∝ (c + 1)^exponent; `tree`: the same with probabilities "
        "of a tree that sees the row; or the name of a sampler from outside. For methods that "
        "tell classes from noise, `uniform`, `frequency` and `tree` may draw the true class too",
    )
    tree: Tree = field(default_factory=Tree)
    exponent: float = option(1.0, "of class frequencies in sampling=frequency", at_least=0)
    ridge_on: str = option(
        "all",
        "classes that feel the ridge in a step: `all`, or `drawn`: the true and the drawn ones, "
        "each by 1 over the probability of a visit, weights projected (double sums; n=1)",
        choices=("all", "drawn"),
    )


@dataclass
class OneVsEach(FullBatch, Sampled):
    """Options of one-vs-each."""


@dataclass
class Grouped(OneVsEach):
    """Options of one-vs-each with a group of classes handled exactly."""

    sampling: str = option("others", "`others` or `all`, of the classes outside the group")
    group: int = option(
        10, "classes in the group: those of most training rows but the true one", at_least=0
    )


@dataclass
class Bouchard(FullBatch, Sampled):
    """Options of Bouchard's bound, with a local variable alpha per row."""

    sampling: str = option("others", "as for sampled methods")


@dataclass
class DoubleSum(Sampled):
    """Options of the double-sum formulation of softmax with a local variable u per row."""

    n: int = option(1, "observations in a minibatch", at_least=1)
    m: int = option(1, "classes drawn", at_least=1)
    sampling: str = option("others", "as for sampled methods")
    u0: str = option("log_classes", "start of u: log K, or 0", choices=("log_classes", "zero"))
    double_sum: str = option(
        "proposed",
        "the U-max paper's own double sum (Eq. 6); the one of Raman et al. (Eq. 8); or that one "
        "with the two mistakes of the code published with the paper",
        choices=("proposed", "raman", "raman_as_published"),
    )


@dataclass
class NCE(Sampled):
    """Options of noise-contrastive estimation."""

    score_ridge: float = option(
        0.0,
        "lambda of lambda f² on the scores of the true class and, on average, of the drawn ones",
        at_least=0,
    )


@dataclass
class NegativeSampling(NCE):
    """Options of negative sampling."""

    m: int = option(1, "classes drawn; their mean counts", at_least=1)
    sampling: str = option(
        "tree",
        "`uniform`, `frequency` or `tree`: an observation's draws with replacement over all "
        "classes, hits of the true class kept",
    )
    step: str = option("adagrad", "how weights move", choices=("sgd", "ar", "adagrad"))
    decay: float = option(
        1.0, "the rate is multiplied by this after each epoch", above=0, at_most=1
    )
    ridge_scores: str = option(
        "corrected",
        "scores that feel score_ridge: `corrected` ones, f + log p_n (Eq. 6), or `raw` ones, f, as "
        "published for uniform and frequency sampling",
        choices=("corrected", "raw"),
    )


@dataclass
class Umax(DoubleSum):
    """Options of U-max."""

    delta: float = option(1.0, "u is reset when it lies this far below its bound", above=0)


@dataclass
class AugmentReduce(Sampled):
    """Options of augment and reduce, with a variational distribution per row."""

    step: str = option("ar", "as for stochastic methods", choices=("sgd", "ar"))
    sampling: str = option("others", "as for sampled methods")
    local_clock: str = option(
        "epochs",
        "t in the step size (1 + t)^-0.9 of the local variables, counted from 1",
        choices=("epochs", "iterations"),
    )
    local_lr: float = option(1.0, "factor of the step size of the local variables", above=0)


@dataclass
class SoftmaxAugmentReduce(AugmentReduce):
    """Options of softmax A&R."""

    local_lr: float = option(
        1.0, "factor of the step size of the local variables", above=0, at_most=1
    )
    eta0: float = option(2.0, "start of the local variable eta", at_least=1)


@dataclass
class LatentAugmentReduce(AugmentReduce):
    """Options of multinomial probit and logistic A&R."""

    local_lr: float = option(0.01, "factor of the step size of the local variables", above=0)
    entropy: bool = option(
        True, "the entropy has its share in the step of the scale (the published code left it out)"
    )


@dataclass
class Memoir(Method):
    """Options of MEMOIR, multi-class SVMs on sparse weights; the defaults are as published."""

    bias: bool = option(False, "not possible: the paper appends a feature that is always 1")
    n: int = option(0, "observations in a batch, 0: 100 floor(sqrt K)", at_least=0)
    iterations: int = option(0, "batches in all, 0: as budget.epochs says", at_least=0)
    slowdown: float = option(0.02, "the rate of step t is lr / (1 + slowdown t)", at_least=0)
    strength: float = option(1.0, "of the penalty, beside the mean loss", at_least=0)
    hinge: bool = option(True, "only observations of a margin below 1 move weights")
    order: str = option(
        "balanced",
        "a batch draws, with replacement, classes uniformly and rows of them, or rows uniformly",
        choices=("balanced", "iid"),
    )
    batch: str = option(
        "mean", "a batch moves weights by the mean or the sum of its rows", choices=("mean", "sum")
    )
    margins: str = option(
        "before",
        "of the weights before the batch, or of the current ones, which the shrinking and the rows "
        "before in the batch have moved",
        choices=("before", "current"),
    )
    prediction: str = option(
        "cosine", "class of the highest cosine or inner product", choices=("cosine", "inner")
    )
    average: bool = option(False, "evaluate the mean of the weights after every step")
    oracle: str = option(
        "exact",
        "what finds the rival class: `exact` the highest score; `random`: any class with weights; "
        "`simple_lsh`: the nearest code; `graph`: a walk on a small-world graph (nmslib)",
        choices=("exact", "random", "simple_lsh", "graph"),
    )
    bits: int = option(64, "of a code, for simple_lsh", at_least=1, at_most=64)


@dataclass
class MemoirL2(Memoir):
    """Options of MEMOIR-l2."""

    hinge: bool = option(False, "only observations of a margin below 1 move weights")


@dataclass
class MemoirL1(Memoir):
    """Options of MEMOIR-l1."""

    strength: float = option(5e-6, "of the penalty, beside the mean loss", at_least=0)


@dataclass
class Unbiased(Method):
    """Options of a method without biases."""

    bias: bool = option(False, "not possible")


@dataclass
class Liblinear(Method):
    """Options of LIBLINEAR's SVMs; with `bias`, b is penalised as a weight is."""

    C: float = option(1.0, "weight of the losses against ||W||²/2", above=0)
    tolerance: float = option(0.1, "at which the library stops, its own default", above=0)
    iterations: int = option(1000, "at which the library stops, its own default", at_least=1)


@dataclass
class OneVsRest(Liblinear):
    """Options of one-vs-rest; the MEMOIR paper's C on its smaller datasets."""

    C: float = option(10.0, "weight of the losses against ||W||²/2", above=0)


@dataclass
class LabelTree(Method):
    """Options of napkinXC's probabilistic label tree; the defaults are the library's."""

    C: float = option(10.0, "weight of the losses in LIBLINEAR", above=0)
    arity: int = option(2, "children of a node", at_least=2)
    leaves: int = option(100, "classes in the node above them, at most", at_least=2)
    trees: int = option(1, "in an ensemble", at_least=1)


@dataclass
class RecallTree(Method):
    """Options of Vowpal Wabbit's RecallTree; the MEMOIR paper's settings for LSHTC1."""

    bits: int = option(24, "the table has 2^bits weights; the paper took 30", at_least=1)
    rate: float = option(1.0, "learning rate of the library (-l)", above=0)
    loss: str = option("hinge", "loss of its classifiers", choices=("hinge", "logistic"))
    passes: int = option(5, "over the rows", at_least=1)


# ---------------------------------------------------------------- the launch
@dataclass
class Budget:
    """How long a cell trains and how often it is evaluated."""

    epochs: float = option(20.0, "passes over the training rows", above=0)
    checkpoints: int = option(
        10, "evenly spaced evaluations after the one at the start", at_least=1
    )
    share: float = option(
        1.0,
        "share of the training rows, the first ones, that training sees; epochs are passes over "
        "them, losses and errors are still those of all rows",
        above=0,
        at_most=1,
    )
    seconds: float | None = option(
        None, "training seconds after which a cell ends with status timeout", above=0
    )
    memory: float | None = option(
        None, "GiB; a cell that is estimated to need more is skipped, and says so", above=0
    )


@dataclass
class Evaluation:
    """What is computed at a checkpoint besides log loss and error."""

    softmax_twice: bool = option(
        False,
        "add columns *_log_loss_softmax_twice: the log loss with softmax applied to probabilities, "
        "as in the published baselines of the U-max paper",
    )
    validation: float = option(
        0.0,
        "share of the test rows, drawn but always the same, that is set aside: columns "
        "validation_* for choosing rates and checkpoints; test_* are those of the other rows",
        at_least=0,
        at_most=0.9,
    )
    top_k: int = option(
        0,
        "add columns *_hit_at_<top_k>: share of rows whose class is among the top_k of the highest "
        "scores (with one class a row, precision@k is this share / k); 0: off",
        at_least=0,
    )
    macro_f1: bool = option(
        False,
        "add columns *_macro_f1, as scikit-learn has it, and *_macro_f1_of_means, of macro-"
        "precision and macro-recall",
    )
    costs: bool = option(
        False,
        "add columns predict_seconds (all test rows), nonzeros and model_mib of the weights, "
        "peak_mib of the process in training, train_mib beyond what was there when it began",
    )
    clip: float = option(
        0.0,
        "add columns *_log_loss_clipped: the mean of losses of at most so many nats a row, 26 in "
        "the published evaluation of the augment-and-reduce paper; 0: off",
        at_least=0,
    )
    importance: int = option(
        0,
        "of probit and logistic methods, add columns *_log_loss_importance: the log loss by "
        "importance sampling with so many draws of N(5, 5²) a row, 1000 in the augment-and-reduce "
        "paper, clipped at clip, or at 26 where that is 0; 0: off",
        at_least=0,
    )
    rows: int = option(
        0,
        "evaluate at most so many rows of either part, the same for every cell, and add columns "
        "*_log_loss_standard_error where these are not all; 0: all",
        at_least=0,
    )
    every: int = option(
        1,
        "evaluate at every so-many-th checkpoint and at the last; the others have clocks and bound "
        "alone",
        at_least=1,
    )


@dataclass
class Config:
    """One cell, and how to launch it."""

    dataset: Dataset = MISSING
    method: Method = MISSING
    budget: Budget = field(default_factory=Budget)
    evaluation: Evaluation = field(default_factory=Evaluation)
    seed: int = option(0, "seed of every random draw of a cell", at_least=0)
    dtype: str = option("float32", "weights and scores", choices=("float32", "float64"))
    engine: str = option(
        "auto",
        "what runs the hot loops; auto: Numba where it is installed, else NumPy",
        choices=ENGINES,
    )
    experiment: Any = None
    rates: Any = None
    grid: str = option("last", "name under which the launch's cells are remembered")
    plan: bool = option(False, "list the cells and their memory, run nothing")
    force: bool = option(False, "run cells again that are already there")
    workers: int = option(1, "processes that run cells side by side", at_least=1)
    mlflow: bool = option(True, "record finished cells in MLflow")
    save_weights: bool = option(
        False, "keep the final weights in the cell's folder, for `xcbench predict`"
    )
    fetch: bool = option(
        True, "fetch missing files of up to 100 MiB; XCBENCH_FETCH=0 switches this off too"
    )
    data_dir: str = option("data", "where dataset files are looked for")
    runs_dir: str = option("runs", "where cells, caches and the MLflow store go")
    reports_dir: str = option("reports", "where reports go")


def register() -> None:
    """Make the schemas known to Hydra; the files under ``conf/`` refer to them."""
    store = ConfigStore.instance()
    store.store(group="schema", name="config", node=Config, package="_global_")
    store.store(group="schema/dataset", name="dataset", node=Dataset)


def folder() -> Path:
    """Configuration files: inside the installed package, else at the top of the checkout."""
    inside = Path(__file__).parent / "conf"
    return inside if inside.is_dir() else Path(__file__).parents[2] / "conf"


def read(composed: DictConfig) -> Config:
    """Turn a composed configuration into a checked `Config`.

    Raises
    ------
    UserError
        If a value is out of range.
    """
    return resolved(typed(composed))


def typed(composed: DictConfig) -> DictConfig:
    """Our own part of a composed configuration, with the type of every option."""
    own = OmegaConf.masked_copy(composed, [str(key) for key in composed if key != "hydra"])
    made = OmegaConf.merge(OmegaConf.structured(Config), own)
    assert isinstance(made, DictConfig)
    return made


def resolved(composed: DictConfig) -> Config:
    """Checked `Config` of a typed configuration.

    Raises
    ------
    UserError
        If a value is out of range.
    """
    settings = OmegaConf.to_object(composed)
    assert isinstance(settings, Config)
    check(settings)
    return settings
