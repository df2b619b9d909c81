"""The toy experiments of the one-vs-each paper, small, from their commands to their figures."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from scipy.optimize import minimize
from scipy.special import expit, softmax

from xcbench.committed import results_cache
from xcbench.data import blobs, categories
from xcbench.data.settings import BlobsSettings, CategoriesSettings
from xcbench.errors import UserError
from xcbench.papers import Measured
from xcbench.papers.ove import experiments, figures
from xcbench.show.pictures import save
from xcbench.store import cells, grids

SMALL = {
    "figure1c": ("budget.epochs=20", "budget.checkpoints=20"),
    "figure2": (
        "dataset.categories.train=3000",
        "dataset.categories.classes=20",
        "method.lr=0.001",
        "budget.checkpoints=4",
    ),
}


@pytest.fixture(scope="module")
def measured(new_workspace):
    """Results, curves and the folder of the runs."""
    workspace = new_workspace("ove")
    rows, curves = [], []
    for grid in ("figure1a", "figure1b", "figure1c", "figure2"):
        done = workspace.run(f"experiment=ove/{grid}", "mlflow=false", *SMALL.get(grid, ()))
        assert done.code == 0, done.text
        runs_dir = workspace.path / "runs"
        names = grids.members(runs_dir, f"ove-{grid}")
        saved = [cells.load(runs_dir, name) for name in names]
        assert {cell.status for cell in saved} == {"done"}
        tables = results_cache.ResultsCache.of(grid, saved)
        rows.append(tables.rows)
        curves.append(tables.curves)
    return pd.concat(rows, ignore_index=True), pd.concat(curves, ignore_index=True), runs_dir


@pytest.fixture(scope="module")
def table(measured, tmp_path_factory):
    results, _, runs_dir = measured
    path = tmp_path_factory.mktemp("report") / "toy-weights.csv"
    return experiments.collect_weights(experiments.cells_with_weights(results), runs_dir, path)


def test_figure1a(measured, table):
    (ax,) = figures.figure1a(measured[0], table).axes
    bars = {to_hex(c[0].get_facecolor()): [bar.get_height() for bar in c] for c in ax.containers}
    spec = CategoriesSettings(train=200, test=1000, classes=10, seed=10)
    counts = np.bincount(categories.make(spec)[0].labels, minlength=10)
    assert counts.min() > 0
    for method in ("softmax", "ove"):
        np.testing.assert_allclose(bars[figures.COLOURS[method]], counts / 200, atol=1e-5)
    bouchard = np.array(bars[figures.COLOURS["bouchard"]])
    assert (bouchard > counts / 200)[counts.argsort()[-2:]].all()
    assert (bouchard < counts / 200)[counts.argsort()[:4]].all()
    assert bouchard.sum() == pytest.approx(1, abs=1e-5)


def test_figure1b(measured, table):
    """Scores without biases: every boundary is a ray from 0, five of each method."""
    (ax,) = figures.figure1b(measured[0], table).axes
    spec = BlobsSettings(**dict(train=200, test=1000, classes=5, radius=1.2, spread=0.5, seed=0))
    X = blobs.make(spec)[0].X
    drawn = np.concatenate([scatter.get_offsets() for scatter in ax.collections[:5]])
    np.testing.assert_allclose(np.sort(drawn, axis=0), np.sort(X, axis=0))
    boundaries = ax.collections[5:]
    assert len(boundaries) == 3 * 5
    exact = experiments.weight_matrix(
        table, measured[0].query("grid == 'figure1b'")["cell"].iloc[-1]
    )
    assert exact.shape == (5, 2)
    on = boundaries[0].get_paths()[0].vertices  # of class 0 under exact softmax
    scores = on[np.linalg.norm(on, axis=1) > 0.3] @ exact.T
    two = np.sort(scores, axis=1)[:, -2:]
    np.testing.assert_allclose(two[:, 1], two[:, 0], atol=0.05)
    np.testing.assert_allclose(scores[:, 0], two[:, 1], atol=0.05)


def test_figure1c(measured):
    """Its lines are the optima that SciPy finds from the formulas of the paper."""
    results, curves, _ = measured
    (ax,) = figures.figure1c(results, curves).axes
    *optima, estimate = ax.lines
    raw = blobs.make(BlobsSettings())[0]
    X, y, rows = raw.X.astype(float), raw.labels, np.arange(200)

    def bound(name):
        def negative(theta):
            """Minus the bound and its gradient, in W and in the alphas."""
            f, alpha = X @ theta[:10].reshape(5, 2).T, theta[10:]
            true = f[rows, y]
            if name == "softmax":
                value, grad = np.logaddexp.reduce(f, axis=1) - true, softmax(f, axis=1)
                grad[rows, y] -= 1
            elif name == "ove":
                grad = expit(f - true[:, None])
                value = np.logaddexp(0, f - true[:, None]).sum(axis=1) - np.log(2)
                grad[rows, y] -= grad.sum(axis=1)
            else:
                grad = expit(f - alpha[:, None])
                value = alpha - true + np.logaddexp(0, f - alpha[:, None]).sum(axis=1)
                alpha = 1 - grad.sum(axis=1)
                grad[rows, y] -= 1
            return value.sum(), np.concatenate([(grad.T @ X).ravel(), alpha])

        start = np.zeros(210 if name == "bouchard" else 10)
        return -minimize(negative, start, jac=True).fun

    for line, method in zip(optima, figures.NAMES, strict=True):
        assert line.get_ydata()[0] == pytest.approx(bound(method), rel=1e-4)
    assert estimate.get_xdata().tolist() == list(range(0, 401, 20))
    assert estimate.get_ydata()[1] < -300 < estimate.get_ydata()[-1] < -50


def test_figure2(measured, table):
    results, curves, _ = measured
    analytic, stochastic, error = figures.figure2(results, curves, table).axes
    frequency = analytic.lines[0].get_ydata()
    assert frequency.sum() == pytest.approx(1e4) and (np.diff(frequency) <= 0).all()
    own = results.query("grid == 'figure2'")
    first = own[own["seed"] == 0].iloc[0]
    difference = np.abs(stochastic.lines[0].get_ydata() - frequency).sum() / 1e4
    assert difference == pytest.approx(first["train_l1_error"], rel=1e-4)
    assert error.lines[0].get_ydata()[-1] == pytest.approx(own["train_l1_error"].mean())
    assert error.lines[0].get_xdata()[-1] == 600


def test_figures_are_saved_and_say_what_is_missing(measured, table, tmp_path):
    results, curves, runs_dir = measured
    without = results[(results["method"] != "bouchard") & (results["grid"] != "figure2")]
    experiments.collect_weights(
        experiments.cells_with_weights(without), runs_dir, tmp_path / experiments.TOY_WEIGHTS
    )
    pictures = save(figures.toy_drawings(Measured(without, curves, tmp_path)), tmp_path)
    assert list(pictures) == ["figure1a", "figure1b", "figure1c"]
    assert all(picture.png.stat().st_size > 10_000 for picture in pictures.values())
    for make, data in ((figures.figure1a, table), (figures.figure1c, curves)):
        (text,) = make(without, data).axes[0].texts
        assert text.get_text().endswith("not kept: Bouchard")


def test_the_table_outlives_the_runs(measured, tmp_path):
    results, _, runs_dir = measured
    wanted, path = experiments.cells_with_weights(results), tmp_path / "weights.csv"
    assert wanted.query("grid == 'figure2'")["seed"].tolist() == [0]
    whole = experiments.collect_weights(wanted, runs_dir, path)
    assert set(whole["cell"]) == set(wanted["cell"])
    kept_rows = experiments.collect_weights(wanted.iloc[:2], tmp_path / "no runs", path)
    assert set(kept_rows["cell"]) == set(wanted["cell"].iloc[:2])
    for name in wanted["cell"].iloc[:2]:
        saved = cells.weights(runs_dir, cells.load(runs_dir, name))
        np.testing.assert_allclose(
            experiments.weight_matrix(kept_rows, name),
            np.column_stack([saved["W"], saved["b"]]),
            rtol=1e-6,
        )
    assert experiments.weight_matrix(kept_rows, wanted["cell"].iloc[-1]) is None
    path.write_text("cell\nx\n")
    with pytest.raises(UserError, match="cannot be read"):
        experiments.collect_weights(wanted, runs_dir, path)
