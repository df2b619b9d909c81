"""``xcbench verify sample=…``: what counts as equal, and what the seeds of a grid allow."""

from __future__ import annotations

import tiny_paper
from tiny_paper import Place
from xcbench.papers import Paper, verification


def drawn(place: Place) -> list[verification.Drawn]:
    reports = place.path / "reports"
    settings = {**place.settings, "force": "true"}
    return verification.draw([Paper("tiny", tiny_paper.GRIDS)], reports, settings, 3, 0)


def test_rows_of_the_same_code_are_equal(place: Place) -> None:
    table = verification.compare(drawn(place))
    assert len(table) == 3
    assert verification.summary(table) == "3 cells trained again: 3 equal to 1e-06"
    assert verification.differing(table).empty


def test_a_number_within_the_spread_of_the_seeds_holds_and_another_does_not(
    place: Place,
) -> None:
    item = next(it for it in drawn(place) if it.row["method"] == "umax")
    losses = item.seeds["train_log_loss"].astype(float)
    assert len(losses) == 2 and losses.std(ddof=1) > 1e-6
    for deviations, said in ((2, "1 within the spread of the seeds"), (40, "1 not, by")):
        row = item.row.copy()
        row["train_log_loss"] += deviations * losses.std(ddof=1)
        moved = verification.Drawn(item.paper, row, item.seeds, item.job)
        assert said in verification.summary(verification.compare([moved]))
