"""What was found, in sentences."""

from __future__ import annotations

from xcbench.papers import columns as c
from xcbench.papers.findings import Findings
from xcbench.papers.scent.experiments import LOSSES, LOSSES_CODE, rows


def findings(say: Findings) -> list[str]:
    """Paragraphs of what was found."""
    ours, peer = rows(LOSSES, "SCENT"), rows(LOSSES, "BSGD")
    falling = rows(LOSSES, "SOX, falling weights (softmax A&R)").on("omniglot")
    return [
        f"""
SCENT ends at the lowest training loss of the paper's systems on Omniglot and citeulike, as it does
in the paper's figure. What it gains over BSGD (complementary sum sampling) is small there:
{say.difference(ours.on("omniglot"), peer.on("omniglot"), c.TRAIN_LOG_LOSS, ".3f")} nats on
Omniglot, {say.difference(ours.on("citeulike"), peer.on("citeulike"), c.TRAIN_LOG_LOSS, ".3f")} on
citeulike, {say.difference(ours.on("bibtex"), peer.on("bibtex"), c.TRAIN_LOG_LOSS, ".3f")} on
Bibtex. U-max, ASGD and its softplus are far behind on Omniglot and Bibtex.
""",
        f"""
A low training loss is no low test loss here: rates are chosen by the training loss, as the figure
shows it, and the epochs overfit. On Omniglot the test loss of SCENT is
{say.mean(ours.on("omniglot"), c.TEST_LOG_LOSS, ".2f")}, that of ASGD
{say.mean(rows(LOSSES, "ASGD").on("omniglot"), c.TEST_LOG_LOSS, ".2f")}. The paper's collections are
far larger.
""",
        f"""
SOX with a fixed weight is between BSGD and ASGD. With weights that fall, as in softmax A&R and in
the authors' code, it ends at
{say.mean(falling, c.TRAIN_LOG_LOSS, ".3f")} on Omniglot, with a fixed one at
{say.mean(rows(LOSSES, "SOX").on("omniglot"), c.TRAIN_LOG_LOSS, ".3f")}.
""",
        f"""
With the classes of the code (labels of the minibatch, uncorrected) the objective counts a class by
its popularity. On Bibtex the test loss of BSGD is then
{say.mean(rows(LOSSES_CODE, "BSGD").on("bibtex"), c.TEST_LOG_LOSS, ".2f")}, with uniform classes
{say.mean(peer.on("bibtex"), c.TEST_LOG_LOSS, ".2f")}.
""",
        say.claim_counts,
    ]
