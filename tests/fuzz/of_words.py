"""Command lines and configurations."""

from __future__ import annotations

from functools import cache

from fuzz.edits import Target
from xcbench.config import composing, overrides
from xcbench.plan import sweeps


def command_line(content: bytes) -> None:
    """Words of a launch, one a line."""
    words = content.decode("utf-8", "replace").split("\n")
    overrides.for_hydra(words)


NAMES = ("seed", "method.lr", "method.l2", "budget.epochs", "budget.checkpoints", "dtype")
NAMES += ("method.negatives", "method.batch_size", "dataset.protocol.rows", "evaluation.metrics")


@cache
def composer() -> sweeps.Composer:
    from hydra import compose

    composing.register()
    opened = sweeps.hydra()
    opened.__enter__()
    return sweeps.Composer(lambda words: compose("config", overrides=words))


def configuration(content: bytes) -> None:
    """A first byte that says which option, then its value."""
    name = NAMES[content[0] % len(NAMES)] if content else NAMES[0]
    value = content[1:].decode("utf-8", "replace").replace("\n", " ")
    composer().possible([["dataset=digits", "method=umax", f"{name}={value}"]])


def targets() -> dict[str, Target]:
    """Words of a launch, and values of its options."""
    return {
        "command_line": Target(
            command_line, (b"-m\nseed=0,1\nmethod.lr=0.1", b"only.ove.lr=1"), quotes=True
        ),
        "configuration": Target(configuration, (b"\x000", b"\x010.1", b"\x05float64"), quotes=True),
    }
