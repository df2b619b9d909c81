"""What was found, in sentences."""

from __future__ import annotations

from xcbench.papers import Grid
from xcbench.papers import columns as c
from xcbench.papers.findings import Findings
from xcbench.papers.scent.experiments import LOSSES, LOSSES_CODE, rows


def findings(say: Findings) -> list[str]:
    """Paragraphs of what was found."""
    falling = rows(LOSSES, "SOX, falling weights (softmax A&R)").on("omniglot")

    def less(grid: Grid, dataset: str) -> str:
        """SCENT less BSGD."""
        ours, peer = (rows(grid, system).on(dataset) for system in ("SCENT", "BSGD"))
        return say.difference(ours, peer, c.TRAIN_LOG_LOSS, ".3f")

    def test(grid: Grid, system: str, dataset: str) -> str:
        return say.mean(rows(grid, system).on(dataset), c.TEST_LOG_LOSS, ".2f")

    def trained(system: str) -> str:
        return say.mean(rows(LOSSES, system).on("citeulike"), c.TRAIN_LOG_LOSS, ".2f")

    return [
        f"""
With classes drawn uniformly, as in the text, SCENT ends at the lowest training loss of the paper's
systems on Omniglot alone. On citeulike SOX ({trained("SOX")}) and the softplus of ASGD
({trained("ASGD (softplus)")}) end below it ({trained("SCENT")}), and U-max ({trained("U-max")}) is
not told from it. SCENT less BSGD (complementary sum sampling) is {less(LOSSES, "omniglot")} nats on
Omniglot, {less(LOSSES, "citeulike")} on citeulike and {less(LOSSES, "bibtex")} on Bibtex. U-max,
ASGD and its softplus are far behind on Omniglot and Bibtex.
""",
        f"""
With the classes of the minibatch, as in the code, SCENT is below every system but BSGD, which ends
below it on all data: SCENT less BSGD is {less(LOSSES_CODE, "omniglot")} on Omniglot,
{less(LOSSES_CODE, "citeulike")} on citeulike and {less(LOSSES_CODE, "bibtex")} on Bibtex. In the
paper's figure SCENT is the lowest.
""",
        f"""
A low training loss is no low test loss here: rates are chosen by the training loss, as the figure
shows it, and the epochs overfit. On Omniglot the test loss of SCENT is
{test(LOSSES, "SCENT", "omniglot")}, that of ASGD {test(LOSSES, "ASGD", "omniglot")}. The paper's
collections are far larger.
""",
        f"""
SOX with a fixed weight is between BSGD and ASGD on Omniglot and Bibtex. With weights that fall, as
in softmax A&R and in the authors' code, it ends at
{say.mean(falling, c.TRAIN_LOG_LOSS, ".3f")} on Omniglot, with a fixed one at
{say.mean(rows(LOSSES, "SOX").on("omniglot"), c.TRAIN_LOG_LOSS, ".3f")}.
""",
        f"""
With the classes of the code (labels of the minibatch, uncorrected) the objective counts a class by
its popularity. On Bibtex the test loss of BSGD is then {test(LOSSES_CODE, "BSGD", "bibtex")}, with
uniform classes {test(LOSSES, "BSGD", "bibtex")}.
""",
        say.claim_counts,
    ]
