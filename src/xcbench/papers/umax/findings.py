"""What was found, in sentences."""

from __future__ import annotations

from xcbench.papers import columns as c
from xcbench.papers.findings import Findings
from xcbench.papers.umax import tables
from xcbench.papers.umax.experiments import (
    FIGURE2,
    FIGURE3,
    OPTIMUM,
    PAIRS,
    PRIOR,
    SEVERAL,
    STEPS_DRAWN,
    STEPS_FACTOR,
    STEPS_ORDER,
    STEPS_U0,
    STEPS_WORK,
    TABLE3_PAPER,
)
from xcbench.papers.umax.experiments import TABLE3_TUNED as TUNED
from xcbench.papers.umax.statements import at_best

LOSS = c.TRAIN_LOG_LOSS
PROPOSED, RAMAN = (
    FIGURE2("delicious", "umax", {c.DOUBLE_SUM: it}, best=True) for it in ("proposed", "raman")
)
OF_TEN, OF_ONE = (  # samples and classes a step, at the best rate
    SEVERAL("bibtex", "implicit", {c.BATCH_SIZE: it}, best=True) for it in (10, 1)
)
FAST_OF_TEN, FAST_OF_ONE = (  # at a rate of 10
    SEVERAL("bibtex", "implicit", {c.LR: 10, c.BATCH_SIZE: it}) for it in (10, 1)
)


def findings(say: Findings) -> list[str]:
    """Paragraphs of what was found."""
    return [
        # What the printed ratios are.
        f"""
The printed ratios are what the authors' code gives, not what the text describes. With the
code's settings {say.verdicts("result", "reproduced with")} results of Table 3 are reproduced
and {say.verdicts("result", "close with")} are close. With the text's settings none is, except
the 1 of Implicit SGD, which is 1 by definition. {say.verdicts("result", "deviates")} deviate.
Every interval is a 95 % interval over seeds.
""",
        f"""
Text and code differ in three settings; here they change one at a time (training log loss).
Starting u at 0 instead of log K takes U-max from
{say.mean(STEPS_ORDER("bibtex", "umax"), LOSS, ".2f")} to
{say.mean(STEPS_U0("bibtex", "umax"), LOSS, ".2f")} on Bibtex and from
{say.mean(STEPS_ORDER("delicious", "umax"), LOSS, ".2f")} to
{say.mean(STEPS_U0("delicious", "umax"), LOSS, ".2f")} on Delicious. Five classes
instead of one take U-max from {say.mean(STEPS_U0("mnist", "umax"), LOSS, ".2f")}
to {say.mean(STEPS_WORK("mnist", "umax"), LOSS, ".2f")} on MNIST. Three passes an
epoch take Implicit SGD from
{say.mean(STEPS_U0("bibtex", "implicit"), LOSS, ".2f")} to
{say.mean(STEPS_WORK("bibtex", "implicit"), LOSS, ".2f")} on Bibtex.
""",
        f"""
Algorithm 1 to the letter draws rows independently and multiplies every step by N (Eq. 7). At
the printed rates independent draws change little. U-max ends at
{say.spread(STEPS_DRAWN("bibtex", "umax"), LOSS, ".3f")} on Bibtex
({say.spread(TABLE3_PAPER("bibtex", "umax"), LOSS, ".3f")} with passes over the
rows), Implicit SGD at
{say.spread(STEPS_DRAWN("bibtex", "implicit"), LOSS, ".3f")}
({say.spread(TABLE3_PAPER("bibtex", "implicit"), LOSS, ".3f")}). With the factor N
the printed rates are too high. Vanilla SGD diverges on Bibtex and Delicious with every seed,
and U-max ends at {say.mean(STEPS_FACTOR("bibtex", "umax"), LOSS, ".0f")} and
{say.mean(STEPS_FACTOR("delicious", "umax"), LOSS, ".0f")}. Implicit SGD alone
still trains, to {say.spread(STEPS_FACTOR("bibtex", "implicit"), LOSS, ".3f")} and
{say.spread(STEPS_FACTOR("delicious", "implicit"), LOSS, ".2f")}. So the printed
rates are those of the code, which has no factor N.
""",
        """
The columns OVE, NCE and IS of Table 3 are not log losses, because their evaluation applies
softmax to probabilities. The authors chose the rates of these methods by the same saturated
number. All findings below use the correct log loss and the text's settings.
""",
        # Which method is better, at tuned rates and at the best.
        f"""
Implicit SGD ends at a lower loss than U-max, with rates tuned on a tenth of the rows.
{
            say.claimed(
                "Implicit SGD ends at a lower log loss than U-max",
                "at tuned rates",
                holds="mnist bibtex delicious citeulike",
            )
        }
The difference is
{say.difference(TUNED("mnist", "implicit"), TUNED("mnist", "umax"), LOSS, ".3f")}
on MNIST,
{say.difference(TUNED("bibtex", "implicit"), TUNED("bibtex", "umax"), LOSS, ".2f")}
on Bibtex and
{
            say.difference(
                TUNED("delicious", "implicit"),
                TUNED("delicious", "umax"),
                LOSS,
                ".2f",
            )
        }
on Delicious.
""",
        f"""
Compared with IS, a biased method, Implicit SGD has the lower loss on Bibtex alone
{
            say.claimed(
                "Implicit SGD outperforms the biased method IS",
                "at tuned rates",
                holds="bibtex",
                fails="mnist delicious citeulike",
            )
        }
({say.difference(TUNED("bibtex", "implicit"), TUNED("bibtex", "is"), LOSS, ".3f")}).
IS is lower on MNIST
({say.difference(TUNED("mnist", "implicit"), TUNED("mnist", "is"), LOSS)}),
on Delicious
({say.difference(TUNED("delicious", "implicit"), TUNED("delicious", "is"), LOSS, ".3f")})
and on citeulike
({say.difference(TUNED("citeulike", "implicit"), TUNED("citeulike", "is"), LOSS, ".3f")}).
""",
        f"""
The next losses are at the best of all rates, chosen on two seeds and measured on the three
others. On Bibtex Implicit SGD has
{say.spread(at_best("implicit", "bibtex"), LOSS, ".3f")} and IS
{say.spread(at_best("is", "bibtex"), LOSS, ".3f")}. On Delicious
Implicit SGD has
{say.spread(at_best("implicit", "delicious"), LOSS, ".3f")}, IS
{say.spread(at_best("is", "delicious"), LOSS, ".3f")} and OVE
{say.spread(at_best("ove", "delicious"), LOSS, ".3f")}. On MNIST
Implicit SGD has {say.spread(at_best("implicit", "mnist"), LOSS)}, IS
{say.spread(at_best("is", "mnist"), LOSS)} and OVE
{say.spread(at_best("ove", "mnist"), LOSS)}. At the tuned rates on MNIST,
IS has {say.spread(TUNED("mnist", "is"), LOSS)}, Implicit
SGD {say.spread(TUNED("mnist", "implicit"), LOSS)} and OVE
{say.spread(TUNED("mnist", "ove"), LOSS)}. They differ by more than their
spread.
""",
        f"""
U-max has a higher loss than OVE and IS on every dataset.
{
            say.claimed(
                "U-max outperforms the biased method IS",
                "at tuned rates",
                fails="mnist bibtex delicious citeulike",
            )
        }
On Bibtex and citeulike its reset never acts at rates at which training converges: it ends at
the loss of vanilla SGD, to all stored digits (at the best rate on Bibtex
{say.difference(at_best("umax", "bibtex"), at_best("vanilla", "bibtex"), LOSS)}).
On MNIST the reset lets it train at a rate of `0.1`, at which vanilla SGD diverges with every seed:
at the best rate of each it is lower, by
{say.difference(at_best("umax", "mnist"), at_best("vanilla", "mnist"), LOSS)}.
At rates of 1 and above vanilla SGD diverges with every seed on Bibtex and Delicious, U-max
with none.
""",
        # The factor of the abstract, and the optimum.
        f"""
The headline factor of
{
            say.printed(
                "text",
                "average of 7",
                "Implicit SGD vs previous state of the art",
                "log_loss_factor",
            )
        }
compares Implicit SGD, at three passes an epoch, with vanilla SGD. The abstract claims it
against the biased methods.
""",
        f"""
The loss of exact softmax is an upper bound on the optimum. L-BFGS reaches
{say.mean(OPTIMUM("mnist", "softmax"), LOSS, ".3f")} on MNIST,
{say.mean(OPTIMUM("bibtex", "softmax"), LOSS, ".3f")} on Bibtex and
{say.mean(OPTIMUM("delicious", "softmax"), LOSS, ".3f")} on Delicious, and without
a penalty more iterations lower the loss further. No method is near these losses after 50
epochs, unbiased or not. Implicit SGD is above them by
{say.difference(at_best("implicit", "bibtex"), OPTIMUM("bibtex", "softmax"), LOSS, ".2f")}
on Bibtex and by at least
{say.difference(at_best("implicit", "delicious"), OPTIMUM("delicious", "softmax"), LOSS, ".2f")}
on Delicious. So within 50 epochs bias is not what limits the methods.
""",
        f"""
Without an l2 penalty that optimum is not worth reaching. The test log loss of exact softmax
is {say.mean(OPTIMUM("bibtex", "softmax"), c.TEST_LOG_LOSS, ".1f")} on Bibtex and
{say.mean(OPTIMUM("delicious", "softmax"), c.TEST_LOG_LOSS, ".1f")} on Delicious.
""",
        # Double sums, tuning, classes and minibatches.
        f"""
The double sum (Figure 2): the loss on Raman's sum over the loss on the paper's, as a mean
over the rates, is {tables.factors_text(say.measured.results)}. Printed, on Eurlex, is
{say.printed("text", "Eurlex", "U-max proposed vs Raman double sum", "final_log_loss_factor")}.
The printed mean includes rates at which training mostly diverges, and the code that it
compares with has two errors. At the best rate of each sum, the loss on the paper's minus that
on Raman's is
{say.difference(PROPOSED, RAMAN, LOSS, ".3f")}
on Delicious (the rate of each chosen on two seeds, the losses those of three others).
""",
        f"""
Tuning on a tenth of the rows misleads for U-max with many classes. On citeulike the tuned
rate ends at {say.mean(TUNED("citeulike", "umax"), LOSS, ".0f")} on all
rows, a tenth of that rate at
{say.mean(FIGURE3("citeulike", "umax", {c.LR: 0.1}), LOSS, ".1f")}.
""",
        f"""
One choice is ours: Bibtex has
{say.mean(TUNED("bibtex", "implicit", {c.SEED: 0}), c.CLASSES, ".0f")} classes here,
those of training and test part together. The paper prints
{say.printed("Table 1", "Bibtex", "", "classes")}, the classes of a random three quarters of
the rows. The training part of Mulan's split alone (`classes=train`) has two classes fewer
than ours. We did not measure how this choice changes the losses.
""",
        f"""
With a row for every article and tag of citeulike (K =
{say.mean(PAIRS("citeulike", "is"), c.CLASSES, ".0f")}, one seed) IS ends at
{say.mean(PAIRS("citeulike", "is"), LOSS, ".2f")} and Implicit SGD at
{say.mean(PAIRS("citeulike", "implicit"), LOSS, ".2f")}.
""",
        f"""
Minibatches (appendix F.3): after 20 epochs on Bibtex, at the best of three rates, ten samples
and ten classes a step take Implicit SGD to
{say.spread(OF_TEN, LOSS, ".3f")}
and one of each to
{say.spread(OF_ONE, LOSS, ".3f")}
(chosen on two seeds, measured on three). At a rate of 10 the larger steps take
{say.ratio(FAST_OF_TEN, FAST_OF_ONE, c.TRAIN_SECONDS, ".0f")}
times as long.
""",
        # Claims, and methods that start at the class prior.
        f"""
{say.claim_counts}
""",
        f"""
At the tuned rates NCE loses by its cold start. With biases that start at the class prior it ends
at {say.mean(PRIOR("bibtex", "nce"), LOSS, ".2f")} on Bibtex, from zero at
{say.mean(TUNED("bibtex", "nce"), LOSS, ".2f")}; on citeulike at
{say.mean(PRIOR("citeulike", "nce"), LOSS, ".2f")} instead of
{say.mean(TUNED("citeulike", "nce"), LOSS, ".2f")}. The rates are a cause too:
at the best of all, NCE from zero has
{say.mean(at_best("nce", "bibtex"), LOSS, ".2f")} on Bibtex. U-max gains
{say.difference(TUNED("bibtex", "umax"), PRIOR("bibtex", "umax"), LOSS, ".2f")}
on Bibtex, but its steps still explode on citeulike. Rates found on a tenth of the rows are
lower from the prior, where nothing has to be found fast: training losses of Implicit SGD and
IS are higher than from zero on Bibtex, Delicious and citeulike.
""",
        f"""
With the class prior the methods are closer. On test rows of Delicious Implicit SGD has
{say.mean(PRIOR("delicious", "implicit"), c.TEST_LOG_LOSS, ".2f")}, IS
{say.mean(PRIOR("delicious", "is"), c.TEST_LOG_LOSS, ".2f")}, OVE
{say.mean(PRIOR("delicious", "ove"), c.TEST_LOG_LOSS, ".2f")} and NCE
{say.mean(PRIOR("delicious", "nce"), c.TEST_LOG_LOSS, ".2f")}; from zero they have
{say.mean(TUNED("delicious", "implicit"), c.TEST_LOG_LOSS, ".2f")},
{say.mean(TUNED("delicious", "is"), c.TEST_LOG_LOSS, ".2f")},
{say.mean(TUNED("delicious", "ove"), c.TEST_LOG_LOSS, ".2f")} and
{say.mean(TUNED("delicious", "nce"), c.TEST_LOG_LOSS, ".2f")}.
""",
    ]
