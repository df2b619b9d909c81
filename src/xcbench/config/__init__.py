"""Schema of every option: the only list of options there is.

The files under ``conf/`` fill these dataclasses; Hydra refuses unknown keys and wrong types, and
`read` checks ranges.
"""

from xcbench.config.augment_reduce import AugmentReduce, LatentAugmentReduce, SoftmaxAugmentReduce
from xcbench.config.baselines import LabelTree, Liblinear, OneVsRest, RecallTree, Unbiased
from xcbench.config.composing import folder, program, read, register, resolved, typed
from xcbench.config.datasets import (
    Blobs,
    Categories,
    Dataset,
    Download,
    Expected,
    Protocol,
    Source,
    Synthetic,
)
from xcbench.config.launch import Budget, Config, Evaluation
from xcbench.config.memoir import Memoir, MemoirL1, MemoirL2
from xcbench.config.methods import FullBatch, Method, Sampled, Stochastic, Tree
from xcbench.config.noise import NCE, NegativeSampling
from xcbench.config.softmax import Bouchard, DoubleSum, Grouped, OneVsEach, Softmax, Umax

__all__ = [
    "NCE",
    "AugmentReduce",
    "Blobs",
    "Bouchard",
    "Budget",
    "Categories",
    "Config",
    "Dataset",
    "DoubleSum",
    "Download",
    "Evaluation",
    "Expected",
    "FullBatch",
    "Grouped",
    "LabelTree",
    "LatentAugmentReduce",
    "Liblinear",
    "Memoir",
    "MemoirL1",
    "MemoirL2",
    "Method",
    "NegativeSampling",
    "OneVsEach",
    "OneVsRest",
    "Protocol",
    "RecallTree",
    "Sampled",
    "Softmax",
    "SoftmaxAugmentReduce",
    "Source",
    "Stochastic",
    "Synthetic",
    "Tree",
    "Umax",
    "Unbiased",
    "folder",
    "program",
    "read",
    "register",
    "resolved",
    "typed",
]
