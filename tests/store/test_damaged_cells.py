"""Cells of somebody else whose fields are of other types are one sentence."""

from __future__ import annotations

import random
import resource
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_damage import planned, sealed_again

from calling import command
from fuzz import edits
from xcbench.cli import show
from xcbench.cli.command import Request
from xcbench.errors import UserError
from xcbench.store import cells
from xcbench.system import sealed

EDITS = 25


def test_show_of_damaged_fields_is_the_cell_or_one_sentence(tmp_path: Path, capsys) -> None:
    """Drawn edits of ``cell.json``, its checksum right."""
    name, draw, refused = planned().cell, random.Random(0), 0
    cells.save(tmp_path, planned(content={}))
    path = cells.folder(tmp_path, name) / "cell.json"
    good = path.read_bytes()
    for _ in range(EDITS):
        said = edits.parsed(edits.edited(good, draw.randbytes(3)))
        path.write_bytes(edits.resealed(good, said))
        try:
            assert show.show(Request("show", [name], {"runs_dir": str(tmp_path)})) == 0
        except UserError as error:
            assert len(str(error).splitlines()) == 1
            refused += 1
    assert refused > EDITS // 10


INPUTS: dict[str, dict[str, Any]] = {
    "labels cut": {"labels": np.arange(2)},
    "labels twice": {"labels": np.zeros(3, int)},
    "factors not finite": {"factors": np.array([1, np.inf])},
    "no axes": {"axes": np.ones(2)},
}


@pytest.mark.parametrize("edit", INPUTS)
def test_predict_of_damaged_inputs_is_one_sentence(tmp_path: Path, capsys, edit: str) -> None:
    inputs = {"first": np.array(1), "width": np.array(2), "factors": np.ones(2)}
    inputs |= {"axes": np.ones((2, 0)), "labels": np.arange(3)}
    cells.save(tmp_path, planned(inputs=inputs))
    where = cells.folder(tmp_path, planned().cell)
    (tmp_path / "rows.svm").write_text("1:1\n")
    words = ("predict", planned().cell, tmp_path / "rows.svm", f"runs_dir={tmp_path}")
    assert command(capsys, *words)
    np.savez(where / cells.INPUTS, **{**inputs, **INPUTS[edit]})
    sealed_again(where)
    said = command(capsys, *words, code=2)
    assert "inputs.npz cannot be read" in said


@pytest.mark.parametrize("tag", ["!!python/object/apply:os.system [touch executed]", "!mine 3"])
def test_a_tag_in_a_configuration_is_one_sentence(workspace, tag: str) -> None:
    folder = workspace.path / "mine" / "experiment"
    folder.mkdir(parents=True)
    (folder / "tag.yaml").write_text(f"# @package _global_\nseed: {tag}\n")
    done = workspace.run("--config-dir", "mine", "experiment=tag", "mlflow=false")
    done.refused("tag.yaml")
    assert not (workspace.path / "executed").exists()


def bomb(step: str) -> str:
    """Thirty lines, each twice the one before."""
    lines = [f"a{number}: &a{number} {step.format(f'*a{number - 1}')}" for number in range(1, 30)]
    return "\n".join(["a0: &a0 {x: 1}", *lines, "seed: 0"])


BOMBS = {
    "lists": bomb("[{0}, {0}]"),
    "maps": bomb("{{x: {0}, y: {0}}}"),
    "merged": bomb("{{<<: [{0}, {0}], y: {0}}}"),
    "itself": "a: &a [*a]",
    "deep": f"a: {'[' * 5000}{']' * 5000}",
    "not so deep": f"a: {'[' * 90}{']' * 90}",
    "long": f"a: [{'1, ' * 400_000}]",
}
# A process that does expand one of these ends soon, and takes no memory from others.
MEASURED = ((resource.RLIMIT_AS, 4 << 30), (resource.RLIMIT_CPU, 15))


@pytest.mark.parametrize("name", BOMBS)
def test_a_configuration_without_measure_is_one_sentence(workspace, name: str) -> None:
    folder = workspace.path / "mine" / "experiment"
    folder.mkdir(parents=True)
    (folder / "large.yaml").write_text(f"# @package _global_\n{BOMBS[name]}\n")
    words = ("--config-dir", "mine", "experiment=large", "mlflow=false")
    done = workspace.run(*words, limits=MEASURED)
    done.refused("large.yaml")


def test_aliases_within_measure_are_read(workspace) -> None:
    folder = workspace.path / "mine" / "experiment"
    folder.mkdir(parents=True)
    (folder / "few.yaml").write_text("# @package _global_\nseed: &s 1\nbudget: {epochs: *s}\n")
    done = workspace.run(
        "--config-dir", "mine", "experiment=few", "mlflow=false", "plan=true"
    ).succeeded()
    assert "seed=1" in done.out, done.text


def test_a_checksum_that_fits_makes_no_cell(tmp_path: Path) -> None:
    cells.save(tmp_path, planned())
    path = cells.folder(tmp_path, planned().cell) / "cell.json"
    content = sealed.loads(path.read_bytes())
    for name, value in (("seed", "0"), ("shape", {"classes": None}), ("seconds", []), ("lr", 1)):
        path.write_text(sealed.dumps({**content, name: value}))
        with pytest.raises(cells.Damaged):
            cells.load(tmp_path, planned().cell)
