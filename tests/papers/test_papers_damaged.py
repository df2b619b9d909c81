"""Damaged tables of a paper: refused in one sentence, or their cells run again."""

from __future__ import annotations

import pandas as pd
import pytest

from tiny_paper import Place
from xcbench.errors import UserError


def _cut(text: str) -> str:
    return text[: len(text) // 2]


def _without_status(text: str) -> str:
    return text.replace(",status,", ",state,", 1)


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        (_cut, "cut off"),
        (_without_status, "no row matches its checksum"),
        (lambda text: text.replace("checksum", "check"), "no column 'checksum'"),
        (lambda text: "", "cut off"),
        (lambda text: "\n", "No columns"),
        (lambda text: 'a,"b\n', "EOF inside string"),
        (lambda text: text + "1," * 500 + "\n", "Expected"),
    ],
    ids=["cut", "column", "older", "empty", "blank", "quote", "long"],
)
@pytest.mark.parametrize("part", ["tuning", "runs"])
def test_a_damaged_table_is_one_sentence(place: Place, damage, what: str, part: str) -> None:
    path = place.file(part)
    path.write_text(damage(path.read_text()))
    damaged = path.read_bytes()
    with pytest.raises(UserError) as caught:
        place.launch()
    said = str(caught.value)
    assert str(path) in said
    assert what in said
    assert "\n" not in said
    assert path.read_bytes() == damaged


def _last_digit(line: str) -> str:
    """A row with another training log loss."""
    words = line.split(",")
    at = next(i for i, word in enumerate(words) if word.count(".") == 1 and len(word) > 8)
    words[at] = words[at][:-1] + str((int(words[at][-1]) + 1) % 10)
    return ",".join(words)


def test_a_changed_digit_runs_its_cell_again(
    finished: Place, place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    path, whole = place.file("runs"), place.table("runs", "sums")
    lines = path.read_text().split("\n")
    lines[-2] = _last_digit(lines[-2])
    path.write_text("\n".join(lines))
    place.launch(part="report")
    said = capsys.readouterr().err
    assert said.startswith(f"warning: {path}: ") and said.count("\n") == 1
    seen = pd.read_csv(path.with_name("seen.csv"), dtype={"cell": str})
    assert {*whole["cell"]} - {*seen["cell"]} == {lines[-2].split(",")[1]}
    place.launch(part="runs")
    capsys.readouterr()
    place.launch(part="report")
    assert "warning" not in capsys.readouterr().err
    clocks = ["train_seconds", "commit", "curve_checksum", "checksum"]
    order = ["cell"]
    pd.testing.assert_frame_equal(
        *(
            table.drop(columns=clocks).sort_values(order, ignore_index=True)
            for table in (place.table("runs", "sums"), whole)
        )
    )


def test_bytes_that_are_no_text(place: Place) -> None:
    place.file("runs").write_bytes(b"\xff\xfe\x00\n")
    with pytest.raises(UserError, match="cannot be read"):
        place.launch(part="report")
