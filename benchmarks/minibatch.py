"""A minibatch of one-vs-each with classes drawn for each observation (``sampling=others``).

Drawing classes and fetching rows (CSR) stand outside the clock, for all candidates. What is timed
are scores, objective, gradient and step, and whatever other layout of the rows a candidate wants
(dense, transposed), since every minibatch has other rows. All candidates move the same weights by
the same step, which is checked before. Ours also computes the value of the objective.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from benchmarks import c_loops
from benchmarks.shapes import Work, eurlex, omniglot, shape
from benchmarks.table import Row
from benchmarks.timing import interleaved
from xcbench.core.dataset import Dataset
from xcbench.methods.one_vs_each import OneVsEachOptions

GOAL = 2.5
RATE = 1e-3


class Batch:
    """A minibatch as peers want it.

    Attributes
    ----------
    W, turned : weights (K, D), and (D, K) for `csr`; a variant moves one of them in place.
    rows : the rows (B, D), sparse.
    classes : (B, 1+S), the true class first.
    weight : classes that a drawn class stands for.
    """

    def __init__(self, work: Work, W: np.ndarray) -> None:
        chunk = work.chunk
        assert chunk.classes is not None
        self.W, self.turned = W.copy(), np.ascontiguousarray(W.T)
        self.rows = sp.csr_array(chunk.rows.matrix())
        self.classes = chunk.classes
        self.row = np.arange(len(self.classes))[:, None]
        self.weight = float(np.exp(chunk.log_weight))

    @property
    def columns(self) -> sp.csr_array:
        """The rows transposed, made anew."""
        return sp.csr_array(self.rows.T)

    @property
    def X(self) -> np.ndarray:
        """The rows dense, made anew."""
        return np.asarray(self.rows.toarray())

    def numbers(self, scores: np.ndarray) -> np.ndarray:
        """What a row is multiplied by before it is added to a class: minus rate times grad."""
        grad = self.weight / (1 + np.exp(scores[:, :1] - scores[:, 1:]))
        return np.asarray(-RATE * np.column_stack([-grad.sum(axis=1), grad]))

    def coefficients(self, numbers: np.ndarray) -> np.ndarray:
        """The numbers (B, C) among zeros (B, K)."""
        result = np.zeros((len(numbers), len(self.W)), np.float32)
        result[self.row, self.classes] = numbers
        return result


def per_observation(batch: Batch) -> None:
    """Gather and scatter the cells of an observation's classes and features."""
    W, rows = batch.W, batch.rows
    bounds = list(zip(rows.indptr[:-1].tolist(), rows.indptr[1:].tolist(), strict=True))
    cells = [
        (np.ix_(chosen, rows.indices[a:b]), rows.data[a:b])
        for chosen, (a, b) in zip(batch.classes, bounds, strict=True)
    ]
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
    scores = (batch.rows @ batch.turned)[batch.row, batch.classes]
    batch.turned += batch.columns @ batch.coefficients(batch.numbers(scores))


NUMPY: dict[str, Callable[[Batch], None]] = {
    "NumPy, gather per observation": per_observation,
    "NumPy, grouped by class": by_class,
    "NumPy, W[S] and einsum": gathered,
    "NumPy, dense BLAS, all scores": dense,
    "SciPy CSR, all scores": csr,
}


def torch_variants(batch: Batch) -> dict[str, tuple[Callable[[], None], Callable[[], np.ndarray]]]:
    """Steps in PyTorch and the weights (K, D) they move, each with weights of its own."""
    import torch
    from torch.nn.functional import embedding_bag, softplus

    classes = torch.from_numpy(batch.classes)
    weight = batch.weight
    features = torch.from_numpy(batch.rows.indices.astype(np.int64))
    offsets = torch.from_numpy(batch.rows.indptr[:-1].astype(np.int64))
    values = torch.from_numpy(batch.rows.data)

    warnings.filterwarnings("ignore", "Sparse", UserWarning)  # torch: CSR is young, unchecked

    def sparse(rows: sp.csr_array) -> torch.Tensor:
        return torch.sparse_csr_tensor(
            torch.from_numpy(rows.indptr.astype(np.int64)),
            torch.from_numpy(rows.indices.astype(np.int64)),
            torch.from_numpy(rows.data),
            rows.shape,
        )

    rows = sparse(batch.rows)

    def loss(scores: torch.Tensor) -> torch.Tensor:
        chosen = scores.gather(1, classes)
        return weight * softplus(chosen[:, 1:] - chosen[:, :1]).sum()

    def stepping(
        W: torch.Tensor, scores: Callable[[torch.Tensor], torch.Tensor]
    ) -> Callable[[], None]:
        def step() -> None:
            (gradient,) = torch.autograd.grad(loss(scores(W)), W)
            with torch.no_grad():
                W.sub_(gradient, alpha=RATE)

        return step

    def transposed() -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(batch.W.T)).requires_grad_()

    bag, dense_W, sparse_W = transposed(), torch.from_numpy(batch.W.copy()), transposed()
    dense_W.requires_grad_()

    def by_hand() -> None:
        with torch.no_grad():
            scores = (rows @ sparse_W).requires_grad_()
        (grad,) = torch.autograd.grad(loss(scores), scores)
        with torch.no_grad():
            sparse_W.sub_(sparse(batch.columns) @ grad, alpha=RATE)

    return {
        "torch EmbeddingBag, all scores": (
            stepping(
                bag,
                lambda W: embedding_bag(
                    features, W, offsets, mode="sum", per_sample_weights=values
                ),
            ),
            lambda: bag.detach().numpy().T,
        ),
        "torch dense GEMM, all scores": (
            stepping(dense_W, lambda W: torch.from_numpy(batch.X) @ W.T),
            lambda: dense_W.detach().numpy(),
        ),
        "torch sparse CSR, all scores": (by_hand, lambda: sparse_W.detach().numpy().T),
    }


def compare(dataset: Dataset, n: int, m: int) -> list[Row]:
    """Seconds an iteration, against the fastest of the NumPy and of the PyTorch variants."""
    settings = OneVsEachOptions(
        name="ove", lr=RATE, batch_size=n, negatives=m, sampler="others", bias=False
    )
    work = Work.of(dataset, settings, "numba", rows=n)
    plain = Work.of(dataset, settings, "numpy", rows=n)
    start = np.asarray(np.random.default_rng(0).normal(size=work.model.V.shape), np.float32)
    work.model.V[:] = start
    work.updates()
    moved: np.ndarray = work.model.V - start
    steps: dict[str, Callable[[], object]] = {"ours": work.updates}
    for name, variant in NUMPY.items():
        batch = Batch(plain, start)
        steps[name] = lambda variant=variant, batch=batch: variant(batch)  # type: ignore[misc]
        steps[name]()
        _same(name, (batch.turned.T if variant is csr else batch.W) - start, moved)
    for name, (step, weights) in torch_variants(Batch(plain, start)).items():
        steps[name] = step
        step()
        _same(name, weights() - start, moved)
    for name, loops in c_loops.libraries().items():
        if name in c_loops.APART:  # the same loop: a minibatch sums every score apart
            continue
        in_c = Work.of(dataset, settings, "numba", rows=n)
        in_c.model.V[:] = start
        steps[name] = c_loops.minibatch(loops, in_c, RATE)
        steps[name]()
        _same(name, in_c.model.V - start, moved)
    seconds = interleaved(steps)
    peers = sorted(seconds.keys() - {"ours"}, key=seconds.__getitem__)
    fastest = [next(name for name in peers if name.startswith(kind)) for kind in ("NumPy", "torch")]
    goals = dict.fromkeys(c_loops.FLAGS, c_loops.GOAL) | dict.fromkeys(fastest, GOAL)
    where = f"{n} x {m}, {shape(dataset)}"
    rows = [
        Row(f"vs {name}, s/iteration", where, seconds["ours"], seconds[name], goals.get(name, 0.0))
        for name in peers
    ]
    return rows + c_loops.limits("", "s/iteration", where, seconds, fastest[1])


def _same(name: str, moved: np.ndarray, expected: np.ndarray) -> None:
    error = np.linalg.norm(moved - expected) / np.linalg.norm(expected)
    assert error < 1e-4, f"{name} takes another step: relative difference {error:.1e}"


def run() -> list[Row]:
    """EURLex's and Omniglot's shapes, with the minibatches of the augment-and-reduce paper."""
    return compare(eurlex(), 379, 50) + compare(omniglot(), 541, 50)
