"""``budget.share``: training on the first rows alone, measured on all of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hydra import compose

from workspace import SMALL, Workspace
from xcbench.config import composing
from xcbench.errors import UserError
from xcbench.plan import sweeps
from xcbench.store import cells, results

SHARE = 0.33
ROWS = 100  # of training; floor(0.33 · 100) = 33
FEATURES, CLASSES = 20, 6


def write(path: Path, rows: list[str]) -> None:
    path.write_text("\n".join([f"{len(rows)} {FEATURES} {CLASSES}", *rows]) + "\n")


@pytest.fixture(scope="module")
def lines() -> tuple[list[str], list[str]]:
    """Training and test rows in the repository's format; every class is among the first rows."""
    rng = np.random.default_rng(3)

    def row(label: int) -> str:
        columns = sorted(rng.choice(FEATURES, 4, replace=False))
        return f"{label} " + " ".join(f"{j}:{rng.random() + 0.1:.4f}" for j in columns)

    labels = [*range(CLASSES), *rng.integers(0, CLASSES, ROWS - CLASSES)]
    return [row(label) for label in labels], [row(label) for label in range(CLASSES)]


def launch(workspace: Workspace, folder: str, rows: list[str], test: list[str], *words: str):
    """Train on the rows; gives weights, the last checkpoint and the curve."""
    place = workspace.path / folder
    place.mkdir()
    write(place / "train.txt", rows)
    write(place / "test.txt", test)
    files = f"dataset.train={place}/train.txt", f"dataset.test={place}/test.txt"
    more = ("save_weights=true", f"runs_dir={folder}/runs", "method.lr=0.5", "engine=numpy")
    workspace.run("dataset=file", *files, *SMALL, *more, *words).succeeded()
    (path,) = (place / "runs" / "cells").glob("*/weights.npz")
    with np.load(path) as content:
        weights = dict(content)
    return weights, results.frame(cells.load_all(place / "runs"), curves=True)


@pytest.mark.parametrize(
    "method",
    [
        ("method=umax", "method.l2=0.5"),  # the l2 penalty of a step is lambda over the rows seen
        ("method=implicit", "method.order=file", "method.passes=2"),
        ("method=ove", "method.batch_size=10", "method.l2=0.5"),
        ("method=umax", "method.l2=0.5", "method.l2_on=drawn"),
    ],
    ids=lambda words: words[0] + " " + words[-1],
)
def test_the_first_rows_by_hand(
    workspace: Workspace, lines: tuple[list[str], list[str]], method: tuple[str, ...]
) -> None:
    train, test = lines
    seen = train[:33]
    shared, curve = launch(workspace, "shared", train, test, f"budget.share={SHARE}", *method)
    apart, alone = launch(workspace, "apart", seen, test, *method)
    for name, values in apart.items():
        assert np.any(values)
        np.testing.assert_array_equal(shared[name], values)
    for name in ("epoch", "iteration", "observations", "test_log_loss", "test_error"):
        assert list(curve[name]) == list(alone[name])
    if "method.l2=0.5" in method:
        expected = 0.5 / (2 * 33) * sum(np.sum(np.float64(w) ** 2) for w in apart.values())
        assert curve["l2_term"].iloc[-1] == pytest.approx(expected, rel=1e-5)


def test_losses_are_those_of_all_rows(
    workspace: Workspace, lines: tuple[list[str], list[str]]
) -> None:
    train, test = lines
    words = ("method=umax", "method.bias=true", f"budget.share={SHARE}")
    weights, curve = launch(workspace, "shared", train, test, *words)
    X, y = np.zeros((ROWS, FEATURES)), np.zeros(ROWS, int)
    for i, line in enumerate(train):
        label, *pairs = line.split()
        y[i] = int(label)
        for j, value in (pair.split(":") for pair in pairs):
            X[i, int(j)] = float(value)
    scores = X @ weights["W"].astype(float).T + weights["b"]
    losses = np.log(np.exp(scores).sum(1)) - scores[np.arange(ROWS), y]
    end = curve.iloc[-1]
    assert end["train_log_loss"] == pytest.approx(losses.mean(), rel=1e-5)
    assert abs(losses.mean() - losses[:33].mean()) > 1e-3  # else the test shows nothing
    assert end["train_error"] == pytest.approx((scores.argmax(1) != y).mean())
    assert end["observations"] == 33


@pytest.mark.parametrize(("share", "rows"), [(0.29, 29), (0.57, 57), (0.339, 33), (1e-6, 1)])
def test_the_number_of_rows_is_rounded_down(
    workspace: Workspace, lines: tuple[list[str], list[str]], share: float, rows: int
) -> None:
    # 0.29 · 100 and 0.57 · 100 are below 29 and 57 in binary.
    _, curve = launch(workspace, "shared", *lines, "method=umax", f"budget.share={share}")
    assert curve["observations"].iloc[-1] == rows


@pytest.mark.parametrize("share", ["0", "-1", "1.01", "nan"])
def test_impossible_shares(share: str) -> None:
    with sweeps.hydra({}), pytest.raises(UserError, match=r"budget\.share") as caught:
        composing.read(compose("config", overrides=["dataset=digits", f"budget.share={share}"]))
    assert "\n" not in str(caught.value)
