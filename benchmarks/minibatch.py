"""Minibatches of one-vs-each and of softmax A&R, with classes drawn for each sample.

Drawing classes and fetching rows (CSR) stand outside the clock, for all candidates. What is timed
are scores, objective, gradient and step, and whatever other layout of the rows a candidate wants
(dense, transposed), since every minibatch has other rows. All candidates move the same weights by
the same step, which is checked before. Ours also computes the value of the objective.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import c_loops
from benchmarks.shapes import Work, eurlex, omniglot, shape
from benchmarks.table import Candidate, Row, ratios
from xcbench.core.dataset import Dataset
from xcbench.methods.ar_softmax import SoftmaxAugmentReduceOptions
from xcbench.methods.augment_reduce import LatentAugmentReduceOptions
from xcbench.methods.ove import OneVsEachOptions

GOAL = 2.5
RATE = 1e-3
LOOP_GOAL = 8.0
LOOP_RATE = 0.02


class Batch:
    """A minibatch as peers want it.

    Attributes
    ----------
    W : weights (K, D), which a variant moves in place; in order ``F`` for products with (D, K).
    rows : the rows (B, D), sparse.
    classes : (B, 1+S), the true class first.
    weight : classes that a drawn class stands for.
    """

    def __init__(self, work: Work, start: np.ndarray, order: Any = "C") -> None:
        self.start, self.W = start, np.array(start, order=order)
        self.rows = sp.csr_array(work.chunk.rows.matrix())
        self.classes = work.classes
        self.row = np.arange(len(self.classes))[:, None]
        self.weight = float(np.exp(work.chunk.log_weight))

    @property
    def columns(self) -> sp.csr_array:
        """The rows transposed, made anew."""
        return sp.csr_array(self.rows.T)

    @property
    def X(self) -> np.ndarray:
        """The rows dense, made anew."""
        return np.asarray(self.rows.toarray())

    def cells(self) -> Iterator[tuple[Any, np.ndarray]]:
        """Of every row the place of its weights in W, and its values."""
        bounds, rows = self.rows.indptr.tolist(), self.rows
        for chosen, a, b in zip(self.classes, bounds[:-1], bounds[1:], strict=True):
            yield np.ix_(chosen, rows.indices[a:b]), rows.data[a:b]

    def numbers(self, scores: np.ndarray) -> np.ndarray:
        """What a row is multiplied by before it is added to a class: minus rate times grad."""
        grad = self.weight / (1 + np.exp(scores[:, :1] - scores[:, 1:]))
        return np.asarray(-RATE * np.column_stack([-grad.sum(axis=1), grad]))

    def coefficients(self, numbers: np.ndarray) -> np.ndarray:
        """The numbers (B, C) among zeros (B, K)."""
        result = np.zeros((len(numbers), len(self.W)), np.float32)
        result[self.row, self.classes] = numbers
        return result

    def moved(self) -> np.ndarray:
        """How far the weights are from the start."""
        return self.W - self.start


def per_observation(batch: Batch) -> None:
    """Gather and scatter the cells of a sample's classes and features."""
    W, cells = batch.W, [*batch.cells()]
    scores = np.stack([W[cell] @ values for cell, values in cells])
    numbers = batch.numbers(scores).astype(np.float32)
    for (cell, values), number in zip(cells, numbers, strict=True):
        W[cell] += np.multiply.outer(number, values)


def by_class(batch: Batch) -> None:
    """A class's observations together: a product of their dense rows with its weights."""
    W, width = batch.W, batch.classes.shape[1]
    flat = batch.classes.ravel()
    order = np.argsort(flat, kind="stable")
    distinct, first = np.unique(flat[order], return_index=True)
    groups = np.split(order, first[1:])
    scores = np.empty(flat.size, np.float32)
    everything = batch.X
    taken = [everything[group // width] for group in groups]
    for k, group, X in zip(distinct, groups, taken, strict=True):
        scores[group] = X @ W[k]
    numbers = batch.numbers(scores.reshape(-1, width)).astype(np.float32).ravel()
    for k, group, X in zip(distinct, groups, taken, strict=True):
        W[k] += numbers[group] @ X


def gathered(batch: Batch) -> None:
    """W[S] and einsum, 16 observations at a time; the gradient is a dense product."""
    X = batch.X
    scores = np.concatenate(
        [
            np.einsum("bcd,bd->bc", batch.W[batch.classes[i : i + 16]], X[i : i + 16])
            for i in range(0, len(X), 16)
        ]
    )
    batch.W += batch.coefficients(batch.numbers(scores)).T @ X


def dense(batch: Batch) -> None:
    """All scores by a dense product, and a dense product for the gradient."""
    X = batch.X
    scores = (X @ batch.W.T)[batch.row, batch.classes]
    batch.W += batch.coefficients(batch.numbers(scores)).T @ X


def csr(batch: Batch) -> None:
    """All scores by SciPy's sparse product, which wants weights (D, K)."""
    turned = batch.W.T
    scores = (batch.rows @ turned)[batch.row, batch.classes]
    turned += batch.columns @ batch.coefficients(batch.numbers(scores))


NUMPY: dict[str, Callable[[Batch], None]] = {
    "NumPy, gather per observation": per_observation,
    "NumPy, grouped by class": by_class,
    "NumPy, W[S] and einsum": gathered,
    "NumPy, dense BLAS, all scores": dense,
    "SciPy CSR, all scores": csr,
}


def torch_variants(batches: tuple[Batch, Batch, Batch]) -> dict[str, Candidate]:
    """Steps in PyTorch, each with weights of its own; the first and the last batch in order F."""
    import torch
    from torch.nn.functional import embedding_bag, softplus

    warnings.filterwarnings("ignore", "Sparse", UserWarning)  # torch: CSR is young, unchecked
    batch, by_row, by_column = batches
    classes, values = torch.from_numpy(batch.classes), torch.from_numpy(batch.rows.data)
    features = torch.from_numpy(batch.rows.indices.astype(np.int64))
    offsets = torch.from_numpy(batch.rows.indptr[:-1].astype(np.int64))
    bag, dense_W = torch.from_numpy(batch.W.T), torch.from_numpy(by_row.W)
    sparse_W = torch.from_numpy(by_column.W.T)

    def sparse(rows: sp.csr_array) -> torch.Tensor:
        indices = (torch.from_numpy(it.astype(np.int64)) for it in (rows.indptr, rows.indices))
        return torch.sparse_csr_tensor(*indices, torch.from_numpy(rows.data), rows.shape)

    def loss(scores: torch.Tensor) -> torch.Tensor:
        chosen = scores.gather(1, classes)
        return batch.weight * softplus(chosen[:, 1:] - chosen[:, :1]).sum()

    def step(W: torch.Tensor, scores: Callable[[], torch.Tensor]) -> None:
        (gradient,) = torch.autograd.grad(loss(scores()), W)
        with torch.no_grad():
            W.sub_(gradient, alpha=RATE)

    def by_hand(rows: torch.Tensor) -> None:
        with torch.no_grad():
            scores = (rows @ sparse_W).requires_grad_()
        (grad,) = torch.autograd.grad(loss(scores), scores)
        with torch.no_grad():
            sparse_W.sub_(sparse(batch.columns) @ grad, alpha=RATE)

    bags = partial(embedding_bag, features, bag, offsets, mode="sum", per_sample_weights=values)
    return {
        "torch EmbeddingBag, all scores": Candidate(
            partial(step, bag.requires_grad_(), bags), batch.moved
        ),
        "torch dense GEMM, all scores": Candidate(
            partial(step, dense_W.requires_grad_(), lambda: torch.from_numpy(batch.X) @ dense_W.T),
            by_row.moved,
        ),
        "torch sparse CSR, all scores": Candidate(
            partial(by_hand, sparse(batch.rows)), by_column.moved
        ),
    }


def one_vs_each(dataset: Dataset, n: int, m: int) -> list[Row]:
    """Seconds an iteration, against the fastest of the NumPy and of the PyTorch variants."""
    settings = OneVsEachOptions(
        name="ove", lr=RATE, batch_size=n, negatives=m, sampler="others", bias=False
    )
    plain = Work(dataset, settings, "numpy", rows=n)
    start = np.asarray(np.random.default_rng(0).normal(size=plain.model.V.shape), np.float32)

    def compiled(step: Callable[[Work], Callable[[], object]]) -> Candidate:
        """A step on weights of its own, in the layout of the compiled engine."""
        work = Work(dataset, settings, "numba", n, start)
        return Candidate(step(work), lambda: work.model.V - start)

    candidates = {"ours": compiled(lambda work: work.updates)}
    for name, variant in NUMPY.items():
        batch = Batch(plain, start, "F" if variant is csr else "C")
        candidates[name] = Candidate(partial(variant, batch), batch.moved)
    batches = Batch(plain, start, "F"), Batch(plain, start), Batch(plain, start, "F")
    candidates |= torch_variants(batches)
    loops = {name: it for name, it in c_loops.libraries().items() if name in c_loops.FLAGS}
    for name, library in loops.items():
        candidates[name] = compiled(partial(c_loops.minibatch, library, rate=RATE))
    return ratios(
        f"{n} x {m}, {shape(dataset)}",
        candidates,
        {"NumPy": GOAL, "torch": GOAL, **dict.fromkeys(loops, c_loops.GOAL)},
        unit="s/iteration",
        limits=("torch", loops),
    )


class AugmentReduceLoop(Batch):
    """Algorithm 1 of augment and reduce in NumPy, with a dense gradient and averages of squares."""

    def __init__(self, work: Work, start: np.ndarray) -> None:
        super().__init__(work, start)
        self.scale = len(work.local) / len(self.classes)
        self.s, self.g = np.zeros_like(start), np.zeros_like(start)
        self.eta, self.t = np.full(len(self.classes), 2.0), 0

    def iteration(self) -> None:
        """E step, gradient and step on the coordinates that have one."""
        self.t += 1
        alpha = 2**-0.9
        W, g, s = self.W, self.g, self.s
        g[...] = 0.0
        for i, (cell, values) in enumerate(self.cells()):
            psi = W[cell] @ values
            odds = self.weight * np.exp(psi[1:] - psi[0])
            self.eta[i] = (1 - alpha) * self.eta[i] + alpha * (1 + odds.sum())
            grad = self.scale * odds / self.eta[i]
            g[cell] += np.multiply.outer(np.append(-grad.sum(), grad), values)
        at = np.nonzero(g)
        fresh = 1.0 if self.t == 1 else 0.1
        s[at] = (1 - fresh) * s[at] + fresh * g[at] ** 2
        W[at] -= LOOP_RATE * self.t**-0.5 * g[at] / (1 + np.sqrt(s[at]))


def softmax_augment_reduce(dataset: Dataset, n: int, m: int) -> list[Row]:
    """Seconds an iteration of softmax A&R, of the loop, and of OVE under the same optimizer."""
    common: dict[str, Any] = {
        "lr": LOOP_RATE,
        "batch_size": n,
        "negatives": m,
        "sampler": "others",
        "bias": False,
    }
    touched: dict[str, Any] = {"optimizer": "ar", "accumulator": "touched"}
    size = dataset.info.classes, dataset.info.features
    start = np.asarray(np.random.default_rng(0).normal(0, 0.1, size), np.float32)
    softmax = SoftmaxAugmentReduceOptions(name="ar_softmax", **common, **touched)
    ours = Work(dataset, softmax, "numba", n, start)
    loop = AugmentReduceLoop(Work(dataset, softmax, "numpy", n), start)
    others = {
        "OVE, same optimiser": OneVsEachOptions(name="ove", **common, **touched),
        "OVE, SGD": OneVsEachOptions(name="ove", **common),
        "probit A&R": LatentAugmentReduceOptions(name="ar_probit", **common, **touched),
    }
    return ratios(
        f"{n} x {m}, {shape(dataset)}",
        {
            "ours": Candidate(ours.updates, lambda: ours.model.V - start),
            "NumPy, per observation": Candidate(loop.iteration, loop.moved),
            **{
                name: Candidate(Work(dataset, settings, "numba", n, start).updates)
                for name, settings in others.items()
            },
        },
        {"NumPy, per observation": LOOP_GOAL},
        unit="s/iteration",
    )


def run() -> list[Row]:
    """EURLex's and Omniglot's shapes, with the minibatches of the augment-and-reduce paper."""
    return one_vs_each(eurlex(), 379, 50) + one_vs_each(omniglot(), 541, 50)


def augment_reduce() -> list[Row]:
    """As `run`, for softmax A&R."""
    return softmax_augment_reduce(eurlex(), 379, 50) + softmax_augment_reduce(omniglot(), 541, 50)
